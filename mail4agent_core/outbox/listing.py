"""What lies in the folder of an outbox, read anew only where a file changed.

A file is remembered under its identity, length and times, so that what another program wrote is seen at once.
A row is what a list shows of an item, without its arguments: ten thousand of them take little.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

from mail4agent_api.mail import Taint
from mail4agent_core.files import Folder

from .canonical import same
from .item import (
    FILE_MAX_BYTES,
    NotAnItemError,
    OutboxItem,
    OutboxKind,
    checked,
    decoded,
    is_item_id,
    kind_of,
    taint_of,
    writing_outcome,
)
from .outcome import WritingOutcome

# A name may hold anything, escapes of a terminal among it: it is logged as ASCII (%a).
log = logging.getLogger(__name__)

ENDING: Final = ".json"


class Row(NamedTuple):
    """An item without its arguments."""

    id: str
    status: str
    tool: str
    kind: OutboxKind
    summary: str
    session_id: str | None
    staged_by: str | None
    taint: Taint
    edited: bool
    created_at: str
    resolved_at: str | None
    attempts: int
    error: str | None
    reason: str | None
    decided_by: str | None
    superseded_by: str | None
    outcome: WritingOutcome | None

    @classmethod
    def of(cls, item: OutboxItem) -> Row:
        """What a list shows of an item."""
        return cls(
            item.id, item.status, item.tool, item.kind, item.summary, item.session_id, item.staged_by,
            item.taint, item.edited(), item.created_at, item.resolved_at, item.attempts, item.error,
            item.reason, item.decided_by, item.superseded_by, item.writing_outcome(),
        )  # fmt: skip

    @classmethod
    def read(cls, value: dict[str, Any]) -> Row:
        """The row of a file's object, which was checked: as ``of`` its item, which is not made."""
        get = value.get
        # A file of the original may have our keys too: they are others' then.
        our = ({} if get("schema") is None else value).get
        status, kind = value["status"], kind_of(value)
        edited = not same(value["args"], value["args_before"])
        return cls(
            value["id"], status, value["tool"], kind, value["summary"], get("session_id"), our("staged_by"),
            taint_of(value), edited, value["created_at"], get("resolved_at"), our("attempts") or 0,
            get("error"), get("reason"), our("decided_by"), our("superseded_by"),
            writing_outcome(kind, status, edited=edited),
        )  # fmt: skip

    def writing_outcome(self) -> WritingOutcome | None:
        """As the item's."""
        return self.outcome


@dataclass(slots=True)
class Rows:
    """Every item, oldest first, and the names of the files that could not be read."""

    rows: list[Row] = field(default_factory=list[Row])
    unreadable: list[str] = field(default_factory=list[str])


_State = tuple[int, int, int, int]


class Listing:
    """Reads the items of one open folder. What it remembers is replaced whole: threads may share it."""

    def __init__(self, folder: Folder) -> None:
        self._folder = folder
        # Two mappings, not one of pairs: each object that is kept makes the collector look at all of them
        # sooner.
        self._remembered: tuple[dict[str, _State], dict[str, Row | None]] = {}, {}

    def ids(self) -> list[str]:
        """The ids that files are named after, readable or not, in order. Raises OSError."""
        stems = (name.removesuffix(ENDING) for name in self._folder.names() if name.endswith(ENDING))
        return sorted(filter(is_item_id, stems))

    def names(self) -> Iterator[str]:
        """The names of what should be items, in order. Raises OSError."""
        yield from sorted(
            name for name in self._folder.names() if name.endswith(ENDING) and not name.startswith(".")
        )

    def read(self, name: str) -> OutboxItem:
        """The item of a file's name. Raises NotAnItemError, FileNotFoundError and OSError."""
        raw = self._folder.read(name, FILE_MAX_BYTES)
        if raw is None:
            raise NotAnItemError("is no regular file")
        return decoded(raw, name.removesuffix(ENDING))

    def rows(self) -> Rows:
        """Every item as a list shows it. Raises OSError where the folder cannot be listed."""
        states_before, rows_before = self._remembered
        states, rows, found = dict[str, _State](), dict[str, Row | None](), Rows()
        for name in self.names():
            state, row = states_before.get(name), None
            try:
                if state is not None and state == self._folder.state(name):
                    row = rows_before[name]
                else:
                    state, row = self._looked_at(name)
            except FileNotFoundError:
                continue
            except OSError as failure:
                log.warning("outbox item %a is skipped this time: %s", name, failure.strerror)
                state = None
            if row is None:
                found.unreadable.append(name)
            else:
                found.rows.append(row)
            if state is not None:
                states[name], rows[name] = state, row
        self._remembered = states, rows
        return found

    def _looked_at(self, name: str) -> tuple[_State | None, Row | None]:
        """What changes when a file does, and its row. Neither for what is no regular file."""
        read = self._folder.read_with_state(name, FILE_MAX_BYTES)
        if read is None:
            log.warning("outbox item %a is skipped: it is no regular file", name)
            return None, None
        raw, state = read
        try:
            return state, Row.read(checked(raw, name.removesuffix(ENDING)))
        except NotAnItemError as failure:
            log.warning("outbox item %a is skipped: it %s", name, failure)
            return state, None
