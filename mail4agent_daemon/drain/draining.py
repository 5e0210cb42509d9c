"""Draining: a lease, pages past a number, each row into home and only then out of the box.

Whatever stops it, wherever, the next drain finds each row in the box, or in home, or in both; home knows one
that it holds already. A row that cannot be taken now stays where it is and stops none behind it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from typing import Any, Final, Protocol, TypeVar, cast

from mail4agent_api.errors import (
    AlreadyExistsError,
    EpochChangedError,
    LeaseLostError,
    MalformedError,
    RequestTooLargeError,
    TooLargeError,
    UnauthenticatedError,
)
from mail4agent_api.frontdoor import FrontdoorIngestRequest, FrontdoorReceipt
from mail4agent_api.intake import BoxAcked, BoxAttachment, BoxLease, BoxReleased
from mail4agent_core.frontdoor.record import SEQ_MAX

from .box import BoxError, BoxRefusedError
from .rows import LYING, UNREADABLE, Row, remains, whole, without_files

LEASE_SECS: Final = 60
#: A lease that is older is renewed before the next call: that call may take a while.
RENEW_SECS: Final = 15.0
PAGE_ROWS: Final = 100
#: Files that cannot be fetched, one after the other, until the box is taken for gone.
UNREACHABLE_MAX: Final = 3

T = TypeVar("T")
Ingest = Callable[[FrontdoorIngestRequest], FrontdoorReceipt]


class BoxPort(Protocol):
    """The box, as ``BoxClient`` asks it."""

    def lease(self, holder: str, secs: int) -> BoxLease:
        """Take the lease, or renew it."""
        ...

    def release(self, holder: str) -> BoxReleased:
        """Give it back."""
        ...

    def queue(self, holder: str, epoch: str, after: int, *, wait_secs: int, limit: int) -> Any:
        """A page."""
        ...

    def blob(self, blob: str, most: int) -> bytes:
        """A file, at most one byte more than ``most``."""
        ...

    def ack(self, holder: str, epoch: str, seqs: list[int]) -> BoxAcked:
        """Have rows deleted."""
        ...


@dataclass(slots=True)
class Tally:
    """What became of rows."""

    #: Rows that were looked at.
    drained: int = 0
    written: int = 0
    already_held: int = 0
    #: Those written or held that a person has to look at.
    invalid: int = 0
    acknowledged: int = 0
    #: Those that stay in the box.
    left: int = 0

    def add(self, other: Tally) -> None:
        """Count another page's too."""
        for name, count in asdict(other).items():
            setattr(self, name, getattr(self, name) + count)


@dataclass(slots=True)
class _Page:
    epoch: str
    tally: Tally = field(default_factory=Tally)
    #: Rows that are safe at home.
    safe: list[int] = field(default_factory=list[int])


class Drain:
    """One drain of one box. ``clock`` gives seconds, ``now`` a time of RFC 3339, ``tell`` tells a person.

    Raises BoxError, and what ``ingest`` raises where home takes nothing at all.
    """

    def __init__(
        self,
        box: BoxPort,
        ingest: Ingest,
        *,
        holder: str,
        clock: Callable[[], float],
        now: Callable[[], str],
        tell: Callable[[str], None],
    ) -> None:
        self._box = box
        self._ingest = ingest
        self._holder = holder
        self._clock = clock
        self._now = now
        self._tell = tell
        self._epoch: str | None = None
        self._after = self._end = 0
        self._renewed = 0.0
        self._unreachable = 0

    def lease(self) -> None:
        """Take the lease, or renew it. A box that was built anew is read from its beginning."""
        lease = self._box.lease(self._holder, LEASE_SECS)
        self._renewed = self._clock()
        if lease.epoch != self._epoch:
            if self._epoch is not None:
                self._tell("the box was built anew; it is read from its beginning")
            self._epoch, self._after = str(lease.epoch), 0

    def release(self) -> None:
        """Give the lease back."""
        self._box.release(self._holder)

    def from_the_beginning(self) -> None:
        """Look at rows that were left in the box once more."""
        self._after = 0

    def look(self, wait_secs: int) -> list[Row]:
        """The rows of the next page, without taking any in."""
        epoch, after = self._leased(), self._after
        page = self._again(
            lambda: self._box.queue(self._holder, epoch, after, wait_secs=wait_secs, limit=PAGE_ROWS)
        )
        rows = _rows(page, epoch)
        last = cast("dict[str, Any]", page).get("last")
        ends = [row.seq for row in rows if row.seq is not None]
        # A page of rows without numbers has an end all the same.
        if isinstance(last, int) and not isinstance(last, bool) and last <= SEQ_MAX:
            ends.append(last)
        self._end = max(ends, default=after)
        if rows and self._end <= after:
            raise BoxError("the box gave a page of rows without numbers to go on after")
        return rows

    def passed(self) -> None:
        """Go on after the page that was looked at."""
        self._after = self._end

    def page(self, wait_secs: int) -> Tally | None:
        """Take in the next page; None when there is none within the wait, in seconds."""
        rows = self.look(wait_secs)
        if not rows or self._epoch is None:
            return None
        page = _Page(self._epoch)
        for row in rows:
            page.tally.drained += 1
            if not self._take(row, page):
                page.tally.left += 1
        if page.safe:
            self._still(page)
            acked = self._again(lambda: self._box.ack(self._holder, page.epoch, page.safe))
            page.tally.acknowledged = int(acked.deleted)
        # Only now: a page that was stopped in its middle is read again.
        self.passed()
        return page.tally

    def _leased(self) -> str:
        if self._epoch is None or self._clock() - self._renewed > RENEW_SECS:
            self.lease()
        assert self._epoch is not None
        return self._epoch

    def _still(self, page: _Page) -> None:
        """Keep the lease while a page is taken in. Its numbers mean nothing in a box that was built anew."""
        if self._leased() != page.epoch:
            raise BoxRefusedError(EpochChangedError())

    def _again(self, act: Callable[[], T]) -> T:
        """Carry a call out, and once more under a new lease: a box that was started anew knows none."""
        try:
            return act()
        except BoxRefusedError as refused:
            if isinstance(refused.refusal, EpochChangedError):
                # The next lease tells the epoch.
                self._renewed = float("-inf")
            if not isinstance(refused.refusal, LeaseLostError):
                raise
        self.lease()
        return act()

    def _take(self, row: Row, page: _Page) -> bool:
        """Have home take a row in; whether the box may forget it."""
        if row.seq is None:
            self._tell("a row of the box has no number; it cannot be taken in")
            return False
        fault, files = row.fault, dict[str, bytes]()
        if fault is None:
            for each in row.attachments:
                content = self._fetched(page, row.seq, each)
                if content is None:
                    return False
                files[each.field] = content
            if not all(_is_as_said(each, files[each.field]) for each in row.attachments):
                fault = LYING
        self._still(page)
        receipt = self._ingested(page.epoch, row, row.seq, fault, files)
        if receipt is None:
            return False
        page.safe.append(row.seq)
        if receipt.repeated:
            page.tally.already_held += 1
        else:
            page.tally.written += 1
        if not receipt.valid:
            page.tally.invalid += 1
            self._tell(f"request {receipt.seq} is not valid; see mail4agent frontdoor show {receipt.seq}")
        return True

    def _fetched(self, page: _Page, seq: int, attachment: BoxAttachment) -> bytes | None:
        self._still(page)
        try:
            content = self._box.blob(attachment.blob, attachment.size)
        except BoxError as failure:
            refusal = failure.refusal if isinstance(failure, BoxRefusedError) else None
            if isinstance(refusal, UnauthenticatedError):
                raise
            if refusal is None:
                self._unreachable += 1
                if self._unreachable >= UNREACHABLE_MAX:
                    self._unreachable = 0
                    raise
            self._tell(f"a file of row {seq} of the box cannot be fetched now; the row stays there")
            return None
        self._unreachable = 0
        return content

    def _ingested(
        self, epoch: str, row: Row, seq: int, fault: str | None, files: dict[str, bytes]
    ) -> FrontdoorReceipt | None:
        now = self._now()
        try:
            try:
                if fault is None:
                    return self._ingest(whole(row, epoch, now, files))
                if fault != UNREADABLE:
                    return self._ingest(without_files(row, epoch, now, fault))
            except (MalformedError, TooLargeError, RequestTooLargeError):
                pass
            return self._ingest(remains(row, epoch, now))
        except AlreadyExistsError:
            self._tell(f"home holds another submission under the number of row {seq}; the row stays there")
        except (MalformedError, TooLargeError, RequestTooLargeError):
            self._tell(f"home cannot take row {seq} of the box in; the row stays there")
        return None


def _rows(page: Any, epoch: str) -> list[Row]:
    """The rows of a page. Raises BoxError for what is none."""
    if isinstance(page, dict):
        given = cast("dict[str, Any]", page)
        rows = given.get("rows")
        if given.get("epoch") == epoch and isinstance(rows, list):
            every = cast("list[Any]", rows)
            if len(every) <= PAGE_ROWS:
                return [Row.of(each) for each in every]
    raise BoxError("the box gave a page that the contract does not have")


def _is_as_said(attachment: BoxAttachment, content: bytes) -> bool:
    return (
        len(content) == attachment.size
        and f"sha256:{hashlib.sha256(content).hexdigest()}" == attachment.sha256
    )
