"""The journal of a run: ``events.jsonl``, appended to by several programs, read by everybody.

A line counts when it ends in a line feed and holds an envelope. What does not is passed over and counted; a
last line without its line feed is torn and is reported by name. Reading changes nothing; the next append
moves a torn line to ``events.jsonl.torn`` first, because a record glued to it would be read by nobody else.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from .faults import LedgerError
from .files import append, locked, opened, read_from, set_tail_aside, sync_folder
from .record import Record
from .words import Source

NAME: Final = "events.jsonl"
#: A longer line holds no record.
LINE_MAX_BYTES: Final = 16 * 1024 * 1024
#: Bytes that ``readings`` reads at a time.
STEP_BYTES: Final = 1 << 20


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


def readings(path: Path, offset: int = 0) -> Iterator[Reading]:
    """As ``read``, in stretches: who keeps few of a long journal's records never has all of them at once.

    The last stretch tells of a torn line. Raises LedgerError.
    """
    parts: list[bytes] = []
    place = offset
    try:
        with opened(path) as handle:
            while part := os.pread(handle, STEP_BYTES, place):
                place += len(part)
                whole = part.rfind(b"\n") + 1
                if not whole:
                    parts.append(part)
                    continue
                found = reading(b"".join((*parts, part[:whole])), offset)
                parts, offset = [part[whole:]], found.end
                yield found
    except FileNotFoundError:
        pass
    yield Reading((), offset, torn=Torn(offset, place - offset) if place > offset else None)


def stretch(path: Path, offset: int, limit: int, max_bytes: int = 4 << 20) -> Reading:
    """At most ``limit`` records from an offset on, of about ``max_bytes``, but one line at least.

    Raises LedgerError.
    """
    try:
        with opened(path) as handle:
            if offset >= os.fstat(handle).st_size:
                return Reading((), offset)
            raw = os.pread(handle, max_bytes, offset)
            if b"\n" not in raw:
                raw = os.pread(handle, 2 * LINE_MAX_BYTES, offset)
            more = os.fstat(handle).st_size > offset + len(raw)
            if more and b"\n" not in raw:
                return _past_a_line(handle, offset)
    except FileNotFoundError:
        return Reading((), offset)
    records: list[Record] = []
    unreadable, end = 0, 0
    while len(records) < limit and (line_end := raw.find(b"\n", end)) >= 0:
        found = reading(raw[end : line_end + 1])
        records += found.records
        unreadable += found.unreadable
        end = line_end + 1
    rest = raw[end:]
    torn = Torn(offset + end, len(rest)) if rest and not more and b"\n" not in rest else None
    return Reading(tuple(records), offset + end, unreadable, torn)


def _past_a_line(handle: int, offset: int) -> Reading:
    """Behind a line that is too long to be looked at: whoever pages gets past it."""
    place = offset
    while part := os.pread(handle, 1 << 20, place):
        line_end = part.find(b"\n")
        if line_end >= 0:
            return Reading((), place + line_end + 1, 1)
        place += len(part)
    return Reading((), offset, torn=Torn(offset, place - offset))


def reading(raw: bytes, offset: int = 0) -> Reading:
    """The records of bytes that begin at an offset of a journal."""
    whole = raw.rfind(b"\n") + 1
    records: list[Record] = []
    unreadable = 0
    # Only a line feed ends a line: U+2028 and its like stand in texts.
    for line in raw[:whole].split(b"\n"):
        record = Record.of(line) if len(line) <= LINE_MAX_BYTES else None
        if record is not None:
            records.append(record)
        elif line and not line.isspace():
            unreadable += 1
    torn = Torn(offset + whole, len(raw) - whole) if len(raw) > whole else None
    return Reading(tuple(records), offset + whole, unreadable, torn)


#: What a record is numbered with until it is appended.
UNNUMBERED: Final = -1


@dataclass(slots=True)
class Appender:
    """Appends records, numbering each stream on from what the journal has of it."""

    path: Path
    #: The torn lines that were moved aside, oldest first.
    mended: list[Torn] = field(default_factory=list[Torn])
    _next: dict[str, int] = field(default_factory=dict[str, int])

    def follow(self, records: Iterable[Record]) -> None:
        """Number on from records that were read: a process id that is used again finds its stream used."""
        for record in records:
            if record.seq >= self._next.get(record.stream, 0):
                self._next[record.stream] = record.seq + 1

    def append(self, make: Callable[[Reading], Sequence[Record]], offset: int) -> tuple[Record, ...]:
        """Append what ``make`` answers to the records since ``offset``, under the journal's lock.

        All or none, durable before it returns. Records without a number get the next one of their stream.
        Raises LedgerError, and what ``make`` raises.
        """
        fresh = not self.path.exists()
        try:
            with opened(self.path, write=True, create=True) as handle, locked(handle, self.path):
                size = os.fstat(handle).st_size
                torn = set_tail_aside(handle, self.path)
                if torn:
                    self.mended.append(Torn(size - len(torn), len(torn)))
                found = reading(read_from(handle, offset), offset)
                self.follow(found.records)
                numbered = self._numbered(make(found))
                if numbered:
                    append(handle, self.path, b"".join(self._line(record) for record in numbered))
                self.follow(numbered)
        except FileNotFoundError:
            raise LedgerError(self.path.parent, "is not there") from None
        if fresh:
            sync_folder(self.path.parent)
        return numbered

    def _line(self, record: Record) -> bytes:
        line = record.line()
        if len(line) > LINE_MAX_BYTES:
            raise LedgerError(self.path, f"takes no line of more than {LINE_MAX_BYTES} bytes")
        return line

    def _numbered(self, records: Sequence[Record]) -> tuple[Record, ...]:
        given: dict[str, int] = {}
        out: list[Record] = []
        for record in records:
            if record.seq == UNNUMBERED:
                # The pipeline counts from 0, the producers of turns from 1.
                first = 0 if record.source == Source.PIPELINE else 1
                seq = given.get(record.stream, self._next.get(record.stream, first))
                given[record.stream] = seq + 1
                record = record._replace(seq=seq)  # noqa: PLW2901  the numbered one is what is written
            out.append(record)
        return tuple(out)
