"""What else may become of a draft that nobody has decided: edited, rejected, withdrawn, superseded.

Each names who did it and when. A reviewer names the digest of what was read; a run needs none to take back
what it staged itself.
"""

from __future__ import annotations

import hmac
from collections.abc import Callable, Iterable
from typing import Any, Final

from mail4agent_api.codec import decode_value
from mail4agent_api.errors import DraftChangedError, MalformedError, TooLargeError, UnknownItemError
from mail4agent_api.outbox import DecisionReason

from .canonical import checked_args
from .copies import named_files
from .digest import digest_of
from .item import FileRecord, OutboxItem, OutboxKind
from .release import Step, after
from .review import summarize
from .store import Operation, OutboxStore

#: Bytes of a reason.
REASON_MAX_BYTES: Final = 2_048


class Decisions:
    """Decides drafts of one store. Every method may raise UnknownItemError, NotPendingError and
    OutcomeUnknownError.
    """

    def __init__(self, store: OutboxStore) -> None:
        self._store = store

    def edit(  # noqa: PLR0917
        self, id_: str, digest: str, args: Any, by: str, sink: str | None, file_args: Iterable[str] = ()
    ) -> OutboxItem:
        """Give a message other arguments. The files that they name were staged with the draft.

        Raises DraftChangedError when it is not what the editor opened, MalformedError for a publication and
        for what is no arguments, TooLargeError.
        """
        found = checked_args(args)
        paths = named_files(found, file_args)

        def change(item: OutboxItem) -> OutboxItem:
            if item.kind is OutboxKind.PUBLISH:
                raise MalformedError(
                    field="id",
                    reason="must be a message; a publication is edited at its source and staged again",
                )
            if not hmac.compare_digest(digest_of(item, sink), digest):
                raise DraftChangedError(id=id_)
            return item.changed(
                args=found, summary=summarize(item.tool, found), files=_still_named(item.files, paths)
            )

        return self._decided("outbox.edit", id_, Step.EDIT, by, change)

    def reject(self, id_: str, digest: str | None, reason: str, by: str, sink: str | None) -> OutboxItem:
        """Decide that a draft does not leave. ``digest`` is what was read; None for a library that has no
        reader to name it.

        Raises DraftChangedError, and MalformedError and TooLargeError for a reason that is none.
        """
        said = checked_reason(reason)

        def change(item: OutboxItem) -> OutboxItem:
            if digest is not None and not hmac.compare_digest(digest_of(item, sink), digest):
                raise DraftChangedError(id=id_)
            return item.changed(reason=said, error=None, resolved_at=self._store.now())

        return self._decided("outbox.reject", id_, Step.REJECT, by, change)

    def withdraw(self, id_: str, by: str, own: str | None = None, reason: str | None = None) -> OutboxItem:
        """Take a draft back. With ``own``, an account, only what that account staged is there."""
        said = None if reason is None else checked_reason(reason)

        def change(item: OutboxItem) -> OutboxItem:
            return item.changed(reason=said, resolved_at=self._store.now())

        return self._decided("outbox.withdraw", id_, Step.WITHDRAW, by, change, own)

    def supersedable(self, id_: str, own: str | None) -> OutboxItem:
        """A draft that another may replace. Raises what ``supersede`` does."""
        item = self._store.existing(id_)
        _need_own(item, own)
        after(item, Step.SUPERSEDE, in_flight=self._store.in_flight(id_))
        return item

    def supersede(self, id_: str, successor: str, by: str, own: str | None = None) -> OutboxItem:
        """Put a draft that was staged since in the place of another. Both keep their files.

        A repeat for the same successor changes nothing.
        """
        item = self._store.existing(id_)
        if item.superseded_by == successor and id_ != successor:
            _need_own(item, own)
            return item
        if id_ == successor:
            raise MalformedError(field="id", reason="must be another draft than the one in its place")

        def change(item: OutboxItem) -> OutboxItem:
            # One that is over takes no place: with two that stand for each other nothing is left to read.
            after(self._store.existing(successor), Step.SUPERSEDE, in_flight=False)
            return item.changed(superseded_by=successor, resolved_at=self._store.now())

        return self._decided("outbox.supersede", id_, Step.SUPERSEDE, by, change, own)

    def _decided(  # noqa: PLR0917
        self,
        operation: Operation,
        id_: str,
        step: Step,
        by: str,
        change: Callable[[OutboxItem], OutboxItem],
        own: str | None = None,
    ) -> OutboxItem:
        """Read again under the lock, judge the step, change, write."""
        with self._store.disk(operation), self._store.locked():
            item = self._store.existing(id_)
            _need_own(item, own)
            status = after(item, step, in_flight=self._store.in_flight(id_))
            item = change(item).changed(status=status, decided_by=by, decided_at=self._store.now())
            self._store.write(item)
        return item


def account_of(staged_by: str | None) -> str | None:
    """The account of an address as text."""
    return None if staged_by is None else staged_by.partition("/")[0]


def _need_own(item: OutboxItem, own: str | None) -> None:
    """Another account's draft is not there for whoever may only see their own."""
    if own is not None and account_of(item.staged_by) != own:
        raise UnknownItemError(id=item.id)


def checked_reason(text: str) -> str:
    """A reason. Raises TooLargeError, MalformedError."""
    size = len(text.encode("utf-8", "surrogatepass"))
    if size > REASON_MAX_BYTES:
        raise TooLargeError(field="reason", limit=REASON_MAX_BYTES, actual=size)
    if not text.strip():
        raise MalformedError(field="reason", reason="must not be blank")
    return decode_value(DecisionReason, text)


def _still_named(files: tuple[FileRecord, ...], paths: list[str]) -> tuple[FileRecord, ...]:
    """The files that the arguments still name. None is added: what was not staged was not copied."""
    kept = tuple(
        file
        for file in files
        if any(file.path == path or file.path.startswith(f"{path.rstrip('/')}/") for path in paths)
    )
    for path in paths:
        if not any(file.path == path or file.path.startswith(f"{path.rstrip('/')}/") for file in kept):
            raise MalformedError(field="args", reason="must name no file that was not staged with the draft")
    return kept
