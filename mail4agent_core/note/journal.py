"""The journal of a run: ``events.jsonl``, appended to by several programs, read by everybody.

A line counts when it ends in a line feed and holds an envelope. What does not is passed over and counted; a
last line without its line feed is torn and is reported by name. Reading changes nothing; the next append
moves a torn line to ``events.jsonl.torn`` first, because a record glued to it would be read by nobody else.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

from .faults import LedgerError
from .files import append, locked, opened, read_from, set_tail_aside, sync_folder
from .record import Record

NAME: Final = "events.jsonl"
#: A longer line holds no record.
LINE_MAX_BYTES: Final = 16 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Torn:
    """A last line that was not written to its end."""

    #: Where it begins, in bytes.
    offset: int
    size: int


@dataclass(frozen=True, slots=True)
class Reading:
    """What a stretch of a journal holds."""

    records: tuple[Record, ...]
    #: Where the next reading goes on: behind the last whole line.
    end: int
    #: Lines that hold no envelope, blank ones left out.
    unreadable: int = 0
    torn: Torn | None = None


def read(path: Path, offset: int = 0) -> Reading:
    """The records from an offset on; nothing for a journal that is not there yet. Raises LedgerError.

    ``offset`` is 0 or the ``end`` of a reading before.
    """
    try:
        with opened(path) as handle:
            raw = read_from(handle, offset)
    except FileNotFoundError:
        return Reading((), offset)
    return reading(raw, offset)


def reading(raw: bytes, offset: int = 0) -> Reading:
    """The records of bytes that begin at an offset of a journal."""
    whole = raw.rfind(b"\n") + 1
    records: list[Record] = []
    unreadable = 0
    # Only a line feed ends a line: U+2028 and its like stand in texts.
    for line in raw[:whole].split(b"\n"):
        if not line or line.isspace():
            continue
        record = Record.of(line) if len(line) <= LINE_MAX_BYTES else None
        if record is None:
            unreadable += 1
        else:
            records.append(record)
    torn = Torn(offset + whole, len(raw) - whole) if len(raw) > whole else None
    return Reading(tuple(records), offset + whole, unreadable, torn)


@dataclass(slots=True)
class Appender:
    """Appends under one stream's name, numbering on from what the stream has."""

    path: Path
    stream: str
    next_seq: int = 0
    #: The torn lines that were moved aside, oldest first.
    mended: list[Torn] = field(default_factory=list[Torn])

    def follow(self, records: Sequence[Record]) -> None:
        """Number on from records that were read: a process id that is used again finds its stream used."""
        own = [record.seq for record in records if record.stream == self.stream]
        self.next_seq = max(self.next_seq, max(own, default=-1) + 1)

    def append(self, records: Sequence[Record]) -> tuple[Record, ...]:
        """Append records of this stream, all or none, durable before it returns; returns them numbered.

        Records of another stream keep the number that they have. Raises LedgerError.
        """
        numbered: list[Record] = []
        seq = self.next_seq
        for record in records:
            own = record.stream == self.stream
            numbered.append(replace(record, seq=seq) if own else record)
            seq += own
        raw = b"".join(record.line() for record in numbered)
        if any(len(line) > LINE_MAX_BYTES for line in raw.split(b"\n")):
            raise LedgerError(self.path, f"takes no line of more than {LINE_MAX_BYTES} bytes")
        fresh = not self.path.exists()
        with (
            suppress(FileNotFoundError),
            opened(self.path, write=True, create=True) as handle,
            locked(handle, self.path),
        ):
            size = os.fstat(handle).st_size
            torn = set_tail_aside(handle, self.path)
            if torn:
                self.mended.append(Torn(size - len(torn), len(torn)))
            append(handle, self.path, raw)
            self.next_seq = seq
            if fresh:
                sync_folder(self.path.parent)
            return tuple(numbered)
        raise LedgerError(self.path.parent, "is not there")
