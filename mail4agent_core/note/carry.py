"""The carry store: where the notes carried to a node wait for its next dispatch.

The format is the original's, and both programs lock the same file. The store decides nothing: what a
dispatch is composed with is the journal's, so a lost store loses nothing and a left-over entry adds nothing.
That is why one that was torn is mended, where the original stops until a person comes.
"""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, TypeVar

import jiter

from .faults import InvalidError, LedgerError
from .files import (
    append,
    locked,
    made_folder,
    opened,
    read_from,
    refuse_link,
    set_tail_aside,
    sync_folder,
)
from .instants import is_exact, spelled
from .note import Note, trimmed
from .record import json_line
from .words import CARRY_FOLDER, Addressee

_SUFFIX: Final = ".carried.jsonl"
HEADER: Final = json_line({"schema_version": 1, "kind": "onemessagebus-carry-store"})
SCHEMA: Final = "agent.note@1"
#: A longer name of a store is cut.
NAME_MAX_BYTES: Final = 200
_HEAD_BYTES: Final = 150
_HEADER_MAX_BYTES: Final = 512
_NO_STORE: Final = "it is not a carry store of a version that is known"
_KEPT: Final = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-")

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Carried:
    """One entry of a store."""

    ts: str
    addressee: Addressee
    text: str
    criterion: str | None = None
    note_id: str | None = None


def escaped(node: str) -> str:
    """A node's id as one segment of a path: every byte but letters, digits, ``_`` and ``-`` as ``%XX``."""
    return "".join(chr(byte) if byte in _KEPT else f"%{byte:02X}" for byte in node.encode())


def store_name(node: str, *, folds_case: bool = False) -> str:
    """The name of a node's store.

    The original's, where it has at most 200 bytes and the folder tells upper case from lower; else its first
    150 bytes, ``~`` and 16 hexadecimal digits of the SHA-256 of the id. ``~`` is escaped in the first form,
    so no name is of both.
    """
    whole = escaped(node)
    if len(whole) + len(_SUFFIX) <= NAME_MAX_BYTES and not (folds_case and whole != whole.lower()):
        return whole + _SUFFIX
    return f"{whole[:_HEAD_BYTES]}~{hashlib.sha256(node.encode()).hexdigest()[:16]}{_SUFFIX}"


def store_of(folder: Path, node: str) -> Path:
    """Where a node's store is, under the folder of a run; the original's name first, where it is there.

    Raises LedgerError where the folder of stores is a link.
    """
    notes = folder / CARRY_FOLDER
    refuse_link(notes)
    if len(original := escaped(node) + _SUFFIX) <= 255 and _is_named(notes, original):
        return notes / original
    return notes / store_name(node, folds_case=_folds_case(notes))


def _is_named(folder: Path, name: str) -> bool:
    """Whether a folder holds exactly this name: one that folds case finds others too."""
    return os.path.lexists(folder / name) and (not _folds_case(folder) or folder / name in folder.iterdir())


def _folds_case(folder: Path) -> bool:
    """Whether a folder takes upper and lower case for one."""
    try:
        upper = os.lstat(folder.with_name(folder.name.upper()))
        return os.path.samestat(upper, os.lstat(folder))
    except OSError:
        return False


def carry(folder: Path, node: str, note: Note, *, now_ms: int, note_id: str | None = None) -> bool:
    """Put a note into a node's store; returns whether a torn line had to be moved aside first.

    Called when the journal says ``carried``, so that the store holds nothing that the record does not owe.
    Raises LedgerError naming the notes folder when that cannot be made, InvalidError naming node and store.
    """
    made_folder(folder / CARRY_FOLDER)
    store = store_of(folder, node)
    message = note.json() if note_id is None else {**note.json(), "note_id": note_id}
    line = json_line({"ts": spelled(now_ms), "schema": SCHEMA, "message": message})
    try:
        fresh = not os.path.lexists(store)
        with opened(store, write=True, create=True) as handle, locked(handle, store):
            mended = _mended(handle, store)
            _entries(read_from(handle))
            append(handle, store, line)
        if fresh:
            sync_folder(store.parent)
    except (LedgerError, FileNotFoundError, ValueError) as failure:
        raise InvalidError(
            f"the note for node '{node}' could not be carried to its next dispatch in {store}: {failure}"
        ) from failure
    return mended


def drain_carried(folder: Path, node: str, standing: T) -> T:
    """Take everything out of a node's store, and return what was handed in.

    What a dispatch is composed with is the journal's alone. A node without a store is no failure. Raises
    InvalidError naming node and store when the store cannot be read; it is then as it was.
    """
    store = store_of(folder, node)
    try:
        with opened(store, write=True) as handle, locked(handle, store):
            _mended(handle, store)
            raw = read_from(handle)
            _entries(raw)
            os.ftruncate(handle, raw.index(b"\n") + 1)
            os.fdatasync(handle)
    except FileNotFoundError:
        return standing
    except (OSError, LedgerError, ValueError) as failure:
        raise InvalidError(
            f"the notes carried to node '{node}' cannot be read from {store}: {failure}"
        ) from failure
    return standing


def stored(folder: Path, node: str) -> tuple[Carried, ...]:
    """What a node's store holds; nothing when there is none. A torn last line is passed over.

    Raises InvalidError.
    """
    store = store_of(folder, node)
    try:
        with opened(store) as handle, locked(handle, store, shared=True):
            raw = read_from(handle)
        return _entries(raw[: raw.rfind(b"\n") + 1])
    except FileNotFoundError:
        return ()
    except (LedgerError, ValueError) as failure:
        raise InvalidError(
            f"the notes carried to node '{node}' cannot be read from {store}: {failure}"
        ) from failure


def _mended(handle: int, store: Path) -> bool:
    """Bring a store into a state that both programs read: a header, and whole lines. The caller locks."""
    size = os.fstat(handle).st_size
    if size == 0 or (size < len(HEADER) and HEADER.startswith(read_from(handle))):
        # A store that was being made when its maker died: nothing was in it.
        os.ftruncate(handle, 0)
        append(handle, store, HEADER)
        return False
    if not _is_header(os.pread(handle, _HEADER_MAX_BYTES, 0).split(b"\n")[0]):
        raise ValueError(_NO_STORE)
    return bool(set_tail_aside(handle, store))


def _is_header(line: bytes) -> bool:
    try:
        return jiter.from_json(line) == {"schema_version": 1, "kind": "onemessagebus-carry-store"}
    except ValueError:
        return False


def _entries(raw: bytes) -> tuple[Carried, ...]:
    """Raises ValueError with a sentence of ours for what is no carry store."""
    lines = raw.split(b"\n")
    if not _is_header(lines[0]) or len(lines) < 2:
        raise ValueError(_NO_STORE)
    if lines.pop():
        raise ValueError("its last record is torn")
    return tuple(_entry(number, line) for number, line in enumerate(lines[1:], 1))


def _entry(number: int, line: bytes) -> Carried:
    try:
        value: Any = jiter.from_json(line, allow_inf_nan=False, catch_duplicate_keys=True)
    except ValueError:
        raise ValueError(f"its record {number} is no JSON") from None
    if not isinstance(value, dict) or value.keys() != {"ts", "schema", "message"}:
        raise ValueError(f"its record {number} has other members than ts, schema and message")
    entry: dict[str, Any] = value  # pyright: ignore[reportUnknownVariableType]
    ts, message = entry["ts"], entry["message"]
    if not isinstance(ts, str) or not is_exact(ts):
        raise ValueError(f"its record {number} has no time")
    if entry["schema"] != SCHEMA or not isinstance(message, dict):
        raise ValueError(f"its record {number} holds no note")
    told: dict[str, Any] = message  # pyright: ignore[reportUnknownVariableType]
    addressee, text, criterion = (told.get(key) for key in ("addressee", "text", "criterion"))
    note_id = told.get("note_id")
    if (
        addressee not in tuple(Addressee)
        or not isinstance(text, str)
        or not trimmed(text)
        or not (criterion is None or isinstance(criterion, str))
    ):
        raise ValueError(f"its record {number} holds no note")
    known_id = note_id if isinstance(note_id, str) else None
    return Carried(ts, Addressee(addressee), trimmed(text), criterion, known_id)
