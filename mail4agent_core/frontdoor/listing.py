"""What the folder of requests holds, one line a file, remembered while the file stays as it is.

A listing survives whatever lies there: links, folders, pipes, files of other programs and files that were
not written to their end are named and passed over.
"""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Final, NamedTuple

from mail4agent_core.files import Folder

from .record import FILE_MAX_BYTES, Record, UnreadableError, read
from .types import Json

SUFFIX: Final = ".json"
#: Nanoseconds after which the last change of a folder has another time than the next one, on any file system.
SETTLED_NS: Final = 2_000_000_000

FileState = tuple[int, int, int, int]


class Entry(NamedTuple):
    """What a list says of one request; small, whatever the request holds."""

    name: str
    seq: int
    type_id: str
    state: str
    created_at: str
    drained_at: str
    valid: bool
    extracted: bool
    topic: str | None
    reads_like_instructions: bool
    attachments: int
    outbox: tuple[str, ...]
    box_epoch: str | None
    box_seq: int | None

    def __repr__(self) -> str:
        """Its number alone: what else it says may be a stranger's words."""
        return f"Entry(seq={self.seq})"

    @classmethod
    def of(cls, name: str, raw: Mapping[str, Json]) -> Entry:
        """The line of a record's object, which was checked."""
        get = raw.get
        extraction: Mapping[str, Json] | None = get("extraction")
        told: Mapping[str, Json] = extraction or {}
        return cls(
            name,
            raw["seq"],
            raw["type_id"],
            raw["state"],
            raw["created_at"],
            raw["drained_at"],
            get("valid", False),
            extraction is not None,
            None if extraction is None else told.get("topic", ""),
            told.get("reads_like_instructions", False),
            len(get("attachments", ())),
            tuple(get("outbox", ())),
            get("box_epoch"),
            get("box_seq"),
        )


@dataclass(frozen=True, slots=True)
class Unreadable:
    """A file that is no request, and why, in fixed words."""

    name: str
    reason: str


@dataclass(frozen=True, slots=True)
class Listing:
    """Every request, lowest number first, and every file that is none."""

    entries: tuple[Entry, ...]
    unreadable: tuple[Unreadable, ...]
    duplicates: frozenset[int]

    def of(self, seq: int) -> list[Entry]:
        """The files that have a number: one, unless something is wrong."""
        return [entry for entry in self.entries if entry.seq == seq]

    def highest(self) -> int:
        """The highest number that anything here has, by what it holds or by its name."""
        named = (numbered(each.name) for each in self.unreadable)
        return max((*(entry.seq for entry in self.entries), *(number or 0 for number in named)), default=0)


Remembered = dict[str, tuple[FileState, Entry | Unreadable]]


def listed(folder: Folder, remembered: Remembered) -> Listing:
    """Look at the folder. Raises OSError when the folder itself cannot be read."""
    names = [name for name in folder.names() if name.endswith(SUFFIX) and not name.startswith(".")]
    for gone in remembered.keys() - set(names):
        # Two threads may find the same file gone.
        remembered.pop(gone, None)
    found = [each for name in names if (each := _looked_at(folder, name, remembered)) is not None]
    entries = sorted(
        (each for each in found if isinstance(each, Entry)), key=lambda entry: (entry.seq, entry.name)
    )
    unreadable = sorted((each for each in found if isinstance(each, Unreadable)), key=lambda each: each.name)
    return Listing(tuple(entries), tuple(unreadable), _doubled(entries))


class Names:
    """The names of the files, by the numbers that they begin with, kept while the folder stays as it is.

    A clock of a file system is coarse: two changes may leave one time. So the names are kept only when the
    folder's last change was well over as they were listed, and a change since then must show another time.
    """

    def __init__(self, now_ns: Callable[[], int] = time.time_ns) -> None:
        self._now_ns = now_ns
        # Several threads read one store.
        self._lock = threading.Lock()
        self._state: FileState | None = None
        self._names: set[str] = set()
        self._numbered: dict[str, set[str]] = {}

    def of(self, folder: Folder, seq: int) -> list[str]:
        """The files that may have a number: those named so, and those whose name says none."""
        with self._lock:
            now = self._now_ns()
            # Before the names are listed: a change between the two leaves another state than this one.
            state = folder.own_state()
            if self._state is None or self._state != state:
                self._list(folder)
                settled = all(time_ns + SETTLED_NS <= now for time_ns in state[2:])
                self._state = state if settled else None
            return sorted(self._numbered.get(f"{seq:010}-", set()) | self._numbered.get("", set()))

    def _list(self, folder: Folder) -> None:
        names = set(folder.names())
        for gone in self._names - names:
            same = self._numbered.get(_number_of(gone), set())
            same.discard(gone)
            if not same:
                self._numbered.pop(_number_of(gone), None)
        for name in names - self._names:
            if name.endswith(SUFFIX) and not name.startswith("."):
                self._numbered.setdefault(_number_of(name), set()).add(name)
        self._names = names


def _number_of(name: str) -> str:
    """What a name begins with where that is a number and a dash; nothing for any other name."""
    digits = name[:10]
    return name[:11] if name[10:11] == "-" and digits.isascii() and digits.isdigit() else ""


def found(folder: Folder, seq: int, names: Names, remembered: Remembered) -> list[Entry]:
    """The requests that have a number, by the names of the files alone: the others are not looked at."""
    looked = (_looked_at(folder, name, remembered) for name in names.of(folder, seq))
    return [each for each in looked if isinstance(each, Entry) and each.seq == seq]


def _doubled(entries: Iterable[Entry]) -> frozenset[int]:
    return frozenset(seq for seq, count in Counter(entry.seq for entry in entries).items() if count > 1)


def _looked_at(folder: Folder, name: str, remembered: Remembered) -> Entry | Unreadable | None:
    known = remembered.get(name)
    try:
        if known is None or known[0] != folder.state(name):
            read = folder.read_with_state(name, FILE_MAX_BYTES)
            if read is None:
                return Unreadable(name, "is no regular file")
            known = remembered[name] = (read[1], _line(name, read[0]))
    except FileNotFoundError:
        return None
    except OSError:
        return Unreadable(name, "cannot be read")
    return known[1]


def _line(name: str, raw: bytes) -> Entry | Unreadable:
    try:
        entry = Entry.of(name, read(raw))
        if numbered(name) not in {None, entry.seq}:
            # It would be found under one number and listed under another.
            raise UnreadableError("has another number than its name")
    except UnreadableError as failure:
        return Unreadable(name, str(failure))
    return entry


def record_in(folder: Folder, name: str) -> Record:
    """The record in a file. Raises UnreadableError, and OSError where the disk fails."""
    raw = folder.read(name, FILE_MAX_BYTES)
    if raw is None:
        raise UnreadableError("is no regular file")
    return Record.loaded(raw)


def numbered(name: str) -> int | None:
    """The number that a file's name begins with, if it does."""
    digits, dash, _ = name.partition("-")
    return int(digits) if dash and digits.isascii() and digits.isdigit() and len(digits) <= 16 else None
