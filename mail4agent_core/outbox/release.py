"""How a draft leaves: once, as it was read, and with a record of whoever said so.

``begin`` writes an intent before anything leaves and ``finish`` records what came of it; between the two the
sink is called, and the lock of the outbox is free. A crash in between leaves the intent open: whether the
draft left is unknown, nothing releases it again by itself, and a person settles it.
"""

from __future__ import annotations

import hmac
from contextlib import ExitStack
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from mail4agent_api.errors import (
    DraftChangedError,
    MalformedError,
    NotPendingError,
    OutcomeUnknownError,
)
from mail4agent_core.files import FolderBusyError

from .canonical import checked_args
from .digest import attempt_key, digest_of
from .item import Intent, OutboxItem, Status
from .review import one_line
from .sink import Outgoing, StagedFile
from .store import OutboxStore

_NOTE_MAX_BYTES: Final = 2_048


class Step(StrEnum):
    """What may happen to a draft."""

    EDIT = "edit"
    WITHDRAW = "withdraw"
    SUPERSEDE = "supersede"
    REJECT = "reject"
    BEGIN = "begin"
    FINISH_SENT = "finish sent"
    FINISH_NOT_SENT = "finish not sent"
    FINISH_UNKNOWN = "finish unknown"
    SETTLE_SENT = "settle sent"
    SETTLE_NOT_SENT = "settle not sent"


#: Where each step leads. What is not listed is refused.
STEPS: Final[dict[tuple[Status, Step], Status]] = {
    (Status.PENDING, Step.EDIT): Status.PENDING,
    (Status.PENDING, Step.WITHDRAW): Status.WITHDRAWN,
    (Status.PENDING, Step.SUPERSEDE): Status.SUPERSEDED,
    (Status.PENDING, Step.REJECT): Status.REJECTED,
    (Status.PENDING, Step.BEGIN): Status.RELEASING,
    (Status.RELEASING, Step.FINISH_SENT): Status.SENT,
    (Status.RELEASING, Step.FINISH_NOT_SENT): Status.PENDING,
    (Status.RELEASING, Step.FINISH_UNKNOWN): Status.RELEASING,
    (Status.RELEASING, Step.SETTLE_SENT): Status.SENT,
    (Status.RELEASING, Step.SETTLE_NOT_SENT): Status.PENDING,
}
_SETTLING: Final = {Step.SETTLE_SENT, Step.SETTLE_NOT_SENT}


def after(item: OutboxItem, step: Step, *, in_flight: bool) -> Status:
    """Where a step leads from an item as it is. ``in_flight``: somebody is releasing it right now.

    Raises NotPendingError; OutcomeUnknownError for one whose release nobody carries on; MalformedError where
    there is nothing to settle.
    """
    status = Status(item.status) if item.status in set(Status) else None
    found = None if status is None else STEPS.get((status, step))
    if found is not None and not (step in _SETTLING and in_flight):
        return found
    if status is Status.PENDING:
        raise MalformedError(field="id", reason="must be a draft whose outcome is unknown")
    if status is Status.RELEASING and not in_flight:
        raise OutcomeUnknownError(id=item.id)
    raise NotPendingError(id=item.id, status=one_line(item.status, 64) or "unknown")


@dataclass(frozen=True, slots=True)
class Delivered:
    """It left; ``sent_as`` is the far side's name for it."""

    sent_as: str | None = None


@dataclass(frozen=True, slots=True)
class NotSent:
    """Certainly nothing left."""

    error: str


@dataclass(frozen=True, slots=True)
class Unknown:
    """Nobody can say whether it left."""

    error: str


Outcome = Delivered | NotSent | Unknown


class Releases:
    """Releases drafts of one store. One object a process: it holds the locks of what is in flight."""

    def __init__(self, store: OutboxStore) -> None:
        self._store = store
        #: Of each item the attempt that is in flight, and its lock.
        self._in_flight: dict[str, tuple[int, ExitStack]] = {}

    def begin(self, id_: str, digest: str, by: str, sink: str | None) -> Outgoing:
        """Open an intent to release the draft that has the digest. It is on disk when this returns.

        ``by`` is who decided, ``sink`` where the settings send it by now. ``finish`` must follow. Raises
        UnknownItemError, NotPendingError, OutcomeUnknownError, and DraftChangedError for another digest and
        for copies that are not what was staged.
        """
        with self._store.disk("outbox.release"), ExitStack() as held:
            # Hashed before the lock is taken: 32 MiB take a while. Nothing of ours changes a copy.
            intact = self._intact(id_)
            held.enter_context(self._store.locked())
            item = self._store.existing(id_)
            status = after(item, Step.BEGIN, in_flight=self._store.in_flight(id_))
            if not intact or not hmac.compare_digest(digest_of(item, sink), digest):
                raise DraftChangedError(id=id_)
            # What an original's file holds was never judged.
            args = checked_args(item.args)
            flight = ExitStack()
            try:
                flight.enter_context(self._store.attempting(id_))
                attempt = item.attempts + 1
                self._store.write(
                    item.changed(
                        status=status,
                        release=Intent(attempt, by, digest, self._store.now()),
                        attempts=attempt,
                        sink=sink,
                    )
                )
            except FolderBusyError:
                raise NotPendingError(id=id_, status=Status.RELEASING) from None
            except BaseException:
                flight.close()
                raise
            self._in_flight[id_] = attempt, flight
        return Outgoing(
            item_id=id_,
            tool=item.tool,
            kind=item.kind,
            args=args,
            staged_by=item.staged_by,
            workspace=item.workspace,
            files=tuple(
                StagedFile(file.path, file.size, file.sha256, self._store.copies.path_of(id_, file.sha256))
                for file in item.files
            ),
            attempt=attempt,
            idempotency_key=attempt_key(id_, digest),
        )

    def _intact(self, id_: str) -> bool:
        item = self._store.existing(id_)
        return item.status != Status.PENDING or self._store.copies.are_as_recorded(id_, item.files)

    def finish(self, outgoing: Outgoing, outcome: Outcome) -> OutboxItem:
        """Record what came of an attempt. Where this fails the outcome is unknown.

        Raises NotPendingError when the attempt is no longer the item's.
        """
        id_ = outgoing.item_id
        try:
            with self._store.disk("outbox.release"), self._store.locked():
                item = self._store.existing(id_)
                intent = item.release
                if intent is None or intent.attempt != outgoing.attempt:
                    raise NotPendingError(id=id_, status=one_line(item.status, 64) or "unknown")
                item = _finished(item, intent, outcome, self._store.now())
                self._store.write(item)
        finally:
            # A late end lets go of no later attempt.
            if self._in_flight.get(id_, (None,))[0] == outgoing.attempt:
                self.abandon(id_)
        if item.status == Status.SENT:
            self._store.forget_attempts(id_)
        return item

    def abandon(self, id_: str) -> None:
        """Let go of an attempt that nobody will finish: its outcome is unknown from here on."""
        _, flight = self._in_flight.pop(id_, (None, None))
        if flight is not None:
            flight.close()

    def settle(self, id_: str, *, sent: bool, by: str) -> OutboxItem:
        """Record what a person found out about a draft whose outcome is unknown.

        Raises UnknownItemError, NotPendingError (also while somebody is releasing it), and MalformedError for
        a draft whose outcome is no question.
        """
        with self._store.disk("outbox.settle"), self._store.locked():
            item = self._store.existing(id_)
            step = Step.SETTLE_SENT if sent else Step.SETTLE_NOT_SENT
            status = after(item, step, in_flight=self._store.in_flight(id_))
            now = self._store.now()
            item = item.changed(
                status=status,
                release=None,
                decided_by=by,
                decided_at=now,
                resolved_at=now if sent else None,
                error=None if sent else item.error,
            )
            self._store.write(item)
        if sent:
            self._store.forget_attempts(id_)
        return item


def _finished(item: OutboxItem, intent: Intent, outcome: Outcome, now: str) -> OutboxItem:
    """The item after an attempt. Whoever asked for the release has decided it, when it left."""
    match outcome:
        case Delivered(sent_as):
            return item.changed(
                status=after(item, Step.FINISH_SENT, in_flight=True),
                release=None,
                resolved_at=now,
                error=None,
                decided_by=intent.by,
                decided_at=now,
                sent_as=None if sent_as is None else one_line(sent_as, 512) or None,
            )
        case NotSent(error):
            return item.changed(
                status=after(item, Step.FINISH_NOT_SENT, in_flight=True),
                release=None,
                error=one_line(error, _NOTE_MAX_BYTES) or "not sent",
            )
        case Unknown(error):
            return item.changed(
                status=after(item, Step.FINISH_UNKNOWN, in_flight=True),
                error=one_line(error, _NOTE_MAX_BYTES) or "the outcome is unknown",
            )
