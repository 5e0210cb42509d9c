"""Drafts as the contract shows them. A file may say anything where its program allowed it: what no value of
the contract can say is null, and a character that would not be seen is shown as its number.
"""

from collections.abc import Iterator
from typing import Any, Final, Literal, TypeVar, cast

from typing_extensions import TypeForm

from mail4agent_api.codec import decode_value
from mail4agent_api.errors import RefusalError, TooLargeError
from mail4agent_api.mail import Line, Selector, Word
from mail4agent_api.mailbox import MailboxTime
from mail4agent_api.outbox import (
    Decider,
    DecisionReason,
    DraftArguments,
    DraftDigest,
    DraftFile,
    DraftPath,
    DraftRow,
    DraftShown,
    OutboxDraft,
    OutboxEntry,
    OutboxId,
    ReleaseIntent,
)

from .canonical import ARGS_MAX, ARGS_MAX_BYTES, canonical
from .item import OutboxItem, Status
from .listing import Row
from .review import one_line
from .shown import shown, shown_line
from .view import DraftView

T = TypeVar("T")
#: Bytes of a piece of a shown text.
PIECE_BYTES: Final = 16_384
_U32_MAX: Final = 2**32 - 1
Warned = Literal[
    "private", "untrusted", "hidden_characters", "edited", "no_sink", "outcome_unknown", "failed_before",
    "files_changed",
]  # fmt: skip


def entry_of(row: Row, *, in_flight: bool) -> OutboxEntry:
    """A draft as a list shows it."""
    return OutboxEntry(
        id=OutboxId(row.id),
        status=_maybe(Word, str(row.status)) or "unknown",
        tool=_maybe(Line, row.tool) or "unknown",
        kind=row.kind.value,
        summary=one_line(shown_line(row.summary), 512),
        session_id=_maybe(Selector, row.session_id),
        staged_by=_maybe(Decider, row.staged_by),
        taint=row.taint,
        edited=row.edited,
        created_at=_maybe(MailboxTime, row.created_at),
        resolved_at=_maybe(MailboxTime, row.resolved_at),
        attempts=min(row.attempts, _U32_MAX),
        outcome_unknown=row.status == Status.RELEASING and not in_flight,
        error=_said(row.error),
        reason=_said(row.reason),
        decided_by=_maybe(Decider, row.decided_by),
        superseded_by=_maybe(OutboxId, row.superseded_by),
    )


def for_its_stager(entry: OutboxEntry) -> OutboxEntry:
    """An entry for the run that staged the draft: of why it failed, our sentence alone.

    What the far side said of it stands behind the first colon. Those are a stranger's words, and a run with
    tools reads none; whoever reviews the draft does.
    """
    if entry.error is None:
        return entry
    return entry.model_copy(update={"error": entry.error.partition(": ")[0]})


def draft_of(
    item: OutboxItem, digest: str, sink: str | None, *, in_flight: bool, intact: bool
) -> OutboxDraft:
    """A whole draft, or none of it.

    Raises TooLargeError for one that is past what may be staged, which an original's file may be: whoever
    releases it reads the file itself.
    """
    size = max(len(canonical(item.args)), len(canonical(item.args_before)))
    if size > ARGS_MAX_BYTES:
        raise TooLargeError(field="args", limit=ARGS_MAX_BYTES, actual=size)
    view = DraftView.of(item.args)
    # A great draft takes a while to be looked through.
    hidden = view.hidden()
    if len(view.other) > ARGS_MAX:
        raise TooLargeError(field="args", limit=ARGS_MAX, actual=len(view.other))
    entry = entry_of(Row.of(item), in_flight=in_flight)
    release = item.release
    return OutboxDraft(
        entry=entry,
        digest=DraftDigest(digest),
        args=_arguments(item.args),
        args_before=_arguments(item.args_before),
        view=DraftShown(
            headers=[_row(name, text) for name, text in view.headers],
            body=None if view.body is None else _row(view.body_field or "", view.body),
            other=[_row(name, text) for name, text in view.other],
            hidden=hidden,
        ),
        workspace=_maybe(DraftPath, item.workspace),
        sink=_maybe(Line, sink),
        files=[DraftFile(path=file.path, size=file.size, sha256=file.sha256) for file in item.files],
        warnings=list(_warnings(entry, hidden, sink, intact=intact)),
        release=None
        if release is None
        else ReleaseIntent(
            attempt=release.attempt,
            by=release.by,
            digest=DraftDigest(release.digest),
            started_at=release.started_at,
        ),
        sent_as=_maybe(Line, item.sent_as),
        decided_at=_maybe(MailboxTime, item.decided_at),
    )


def _warnings(entry: OutboxEntry, hidden: int, sink: str | None, *, intact: bool) -> Iterator[Warned]:
    """What a reviewer is told before anything else, each leg of the taint by itself."""
    said: list[tuple[Warned, bool]] = [
        ("private", entry.taint.private),
        ("untrusted", entry.taint.untrusted),
        ("hidden_characters", hidden > 0),
        ("edited", entry.edited),
        ("no_sink", sink is None),
        ("outcome_unknown", entry.outcome_unknown),
        ("failed_before", entry.error is not None),
        ("files_changed", not intact),
    ]
    return (warning for warning, holds in said if holds)


def _arguments(args: Any) -> DraftArguments | None:
    return DraftArguments(**cast(dict[str, Any], args)) if isinstance(args, dict) else None


def _row(name: str, text: str) -> DraftRow:
    return DraftRow(name=shown_line(name) or "(empty)", text=list(_pieces(shown(text))))


def _pieces(text: str) -> Iterator[str]:
    """A text in pieces that fit, none of them inside a character."""
    raw, at = text.encode(), 0
    while at < len(raw):
        piece = raw[at : at + PIECE_BYTES].decode("utf-8", "ignore")
        yield piece
        at += len(piece.encode())


def _said(text: str | None) -> str | None:
    """What a file says of why, as far as a reason goes."""
    if not text:
        return None
    return _maybe(DecisionReason, text) or _maybe(DecisionReason, one_line(shown(text), 2_048))


def _maybe(kind: TypeForm[T], text: str | None) -> T | None:
    try:
        return None if text is None else decode_value(kind, text)
    except RefusalError:
        return None
