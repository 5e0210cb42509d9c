"""A draft as a person reads it at a terminal: all of it, and nothing of it as a control sequence.

Every line of the draft's own is set off, names of arguments too, so that no text in it can pass for what this
program says of it. A terminal continues a long line at its left edge, which is this program's: a row that is
too long for it goes on behind a mark.
"""

from __future__ import annotations

import os
import shutil
import unicodedata
from collections.abc import Iterator, Sequence
from typing import Any, TextIO

from mail4agent_api.outbox import DraftArguments, DraftRow, OutboxDraft, OutboxEntry
from mail4agent_core.outbox.difference import diff_args
from mail4agent_core.outbox.shown import shown, shown_line
from mail4agent_core.outbox.view import provider_ids
from mail4agent_daemon.draft_warnings import warnings_of

_FRAME = "  | "
_OWN = "  "
_GOES_ON = "  : "
_LABEL = 14
#: Columns that are counted on, however narrow a terminal says it is.
_COLUMNS_MIN = 20
_TAB = 8


def arguments_of(args: DraftArguments | None) -> dict[str, Any]:
    """The arguments as plain JSON values."""
    return {} if args is None else dict(args.model_extra or {})


def text_of(row: DraftRow) -> str:
    """The whole text of an argument."""
    return "".join(row.text)


def columns_of(stream: TextIO) -> int | None:
    """How wide a terminal is; None for what is none."""
    if not stream.isatty():
        return None
    try:
        columns = os.get_terminal_size(stream.fileno()).columns
    except (OSError, ValueError):
        columns = 0
    # One that does not know goes by what its environment says.
    return max(columns or shutil.get_terminal_size().columns, _COLUMNS_MIN)


def folded(line: str, columns: int | None) -> Iterator[str]:
    """A line in rows that a terminal does not break. Every character is in one of them."""
    if columns is None or len(line) * _TAB <= columns:
        yield line
        return
    row, at = list[str](), 0
    for character in line:
        wide = _width(character, at)
        if at + wide > columns:
            yield "".join(row)
            row, at = [_GOES_ON], len(_GOES_ON)
            wide = _width(character, at)
        row.append(character)
        at += wide
    yield "".join(row)


def _width(character: str, at: int) -> int:
    """Columns at most: where terminals differ the greater, so that none of them breaks a row."""
    if character == "\t":
        return _TAB - at % _TAB
    wide = unicodedata.east_asian_width(character) in "WF" or unicodedata.category(character) in {"Cn", "Co"}
    return 2 if wide else 1


def whole(draft: OutboxDraft, columns: int | None = None) -> Iterator[str]:
    """Every line of a draft, first what must be known of it; in rows of a terminal of so many columns."""
    for line in _as_it_is(draft):
        yield from folded(line, columns)
    if draft.files:
        yield "files, as they were when it was staged:"
    for file in draft.files:
        *rows, last = folded(f"{_FRAME}{shown_line(file.path)}", columns)
        yield from rows
        # In one piece, to be copied: these say nothing of the draft's, wherever a terminal breaks them.
        yield f"{last}  {file.size} bytes  sha256 {file.sha256}"
    for line in _about(draft):
        yield from folded(line, columns)


def _as_it_is(draft: OutboxDraft) -> Iterator[str]:
    entry = draft.entry
    yield f"draft {entry.id}  {entry.status}  {entry.kind}"
    for name, meaning in warnings_of(draft):
        yield f"! {name.upper()}: {meaning}"
    if entry.error:
        yield from _field("! last error", shown_line(entry.error))
    yield from _field("tool", shown_line(entry.tool))
    yield from _field("leaves through", shown_line(draft.sink) if draft.sink else "nothing")
    staged = " ".join(filter(None, (entry.staged_by or "unknown", entry.created_at)))
    yield from _field("staged by", shown_line(staged))
    if draft.workspace:
        yield from _field("workspace", shown_line(draft.workspace))
    yield ""
    for row in draft.view.headers:
        yield from _field(_OWN + row.name, text_of(row))
    if draft.view.body is not None:
        yield f"{_OWN}{draft.view.body.name}:"
        yield from _framed(text_of(draft.view.body))
    for row in draft.view.other:
        yield from _field(_OWN + row.name, text_of(row))


def _about(draft: OutboxDraft) -> Iterator[str]:
    entry = draft.entry
    yield from _sources(draft)
    if entry.edited:
        yield "changed since it was drafted:"
        changes = diff_args(arguments_of(draft.args_before), arguments_of(draft.args))
        yield from _framed(shown(changes.rstrip("\n")))
    yield from _ended(entry, draft)
    yield f"digest {draft.digest}"


def _field(name: str, text: str) -> Iterator[str]:
    """A name with its text; a longer one, or one of several lines, below it."""
    if "\n" in text or len(text) > 200:
        yield f"{name}:"
        yield from _framed(text)
    else:
        label = _LABEL + (len(_OWN) if name.startswith(_OWN) else 0)
        yield f"{name + ':':<{label}} {text}"


def _framed(text: str) -> Iterator[str]:
    for line in text.split("\n"):
        yield f"{_FRAME}{line}"


def _sources(draft: OutboxDraft) -> Iterator[str]:
    """What it answers, by the names that its provider gave."""
    found = provider_ids(arguments_of(draft.args))
    if found:
        named = ", ".join(f"{shown_line(key)} {shown_line(value[:80])}" for key, value in found)
        yield from _field("refers to", named)


def _ended(entry: OutboxEntry, draft: OutboxDraft) -> Iterator[str]:
    if draft.release is not None:
        by, when = shown_line(draft.release.by), draft.release.started_at
        yield from _field("release begun", f"by {by} at {when}, attempt {draft.release.attempt}")
    if entry.decided_by:
        yield from _field("decided by", shown_line(f"{entry.decided_by} {draft.decided_at or ''}".strip()))
    if entry.reason:
        yield from _field("reason", shown(entry.reason))
    if draft.sent_as:
        yield from _field("sent as", shown_line(draft.sent_as))
    if entry.superseded_by:
        yield from _field("superseded by", entry.superseded_by)


def row(entry: OutboxEntry) -> list[str]:
    """A draft as fields of a line."""
    legs = (("private", entry.taint.private), ("untrusted", entry.taint.untrusted))
    tainted = [name for name, is_set in legs if is_set]
    status = "unknown" if entry.outcome_unknown else str(entry.status)
    return [
        str(entry.id),
        status,
        str(entry.kind),
        "+".join(tainted) or "-",
        "edited" if entry.edited else "-",
        shown_line(entry.summary),
    ]


def in_order(entries: Sequence[OutboxEntry]) -> list[OutboxEntry]:
    """What waits first, messages before publications, then what is over; each by age."""
    return sorted(
        entries,
        key=lambda each: (each.status not in {"pending", "releasing"}, each.kind == "publish", each.id),
    )
