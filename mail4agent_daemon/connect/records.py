"""What connect did, kept in the data folder, so that disconnect can take it back and doctor can look.

A record stays when its client is disconnected: it says that the account is connect's own, to be used again.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from pydantic import TypeAdapter, ValidationError

from mail4agent_core.files import Folder, FolderError, named

from .documents import Format, Wish
from .faults import ConnectError
from .splices import Splice

FOLDER = "clients"
#: A record holds a few hooks and an entry; only a file that is none is larger.
BYTES_MAX = 1_048_576
_ENDING = ".json"


@dataclass(frozen=True, slots=True)
class Place:
    """A file of a client that was changed, and what takes the change back."""

    path: Path
    kind: Format
    project: Path | None
    """The project that it belongs to; None: the person's own file."""
    by: Literal["file", "command"]
    """Whether the file was written here or by the client's own command."""
    wishes: tuple[Wish, ...]
    made: tuple[int, ...] = ()
    replaced: tuple[str | None, ...] = ()
    splices: tuple[Splice, ...] | None = None
    """None: the file had been touched before it was changed again, so there is no way back to its bytes."""
    digest: str = ""
    was_there: bool = True
    made_folders: tuple[Path, ...] = ()


@dataclass(frozen=True, slots=True)
class Record:
    """An account that connect made, whose it is, and where that client was told of it."""

    account: str
    client: str
    created_at_unix_ms: int
    """When the account was registered: another one of its name is not ours. 0: it is not known yet."""
    places: tuple[Place, ...] = field(default=())


_RECORD = TypeAdapter(Record)


def key_name(account: str) -> str:
    """The name of the file that holds an account's secret."""
    return f"{account}.key"


def opened(home: Path, *, make: bool) -> Folder:
    """The folder of records and keys. Raises ConnectError, and FileNotFoundError where there is none."""
    try:
        with Folder.opened(home, make=make) as folder:
            return folder.inner(FOLDER, make=make)
    except FolderError as failure:
        raise ConnectError("record_unusable", str(failure)) from None
    except OSError as failure:
        if isinstance(failure, FileNotFoundError) and not make:
            raise
        raise ConnectError("record_unusable", f"{home}: {failure.strerror}") from None


def all_of(folder: Folder) -> list[Record]:
    """Every record. Raises ConnectError."""
    return [_read(folder, name) for name in sorted(folder.names()) if name.endswith(_ENDING)]


def seen(home: Path) -> list[Record]:
    """Every record, without so much as the mode of a folder being changed. Raises ConnectError."""
    try:
        paths = sorted((home / FOLDER).glob(f"*{_ENDING}"))
        return [_judged(each, named(each, BYTES_MAX)) for each in paths]
    except OSError as failure:
        raise ConnectError("record_unusable", f"{home / FOLDER} cannot be read: {failure.strerror}") from None


def _read(folder: Folder, name: str) -> Record:
    path = folder.path / name
    try:
        return _judged(path, folder.read(name, BYTES_MAX))
    except OSError as failure:
        raise ConnectError("record_unusable", f"{path} cannot be read: {failure.strerror}") from None


def _judged(path: Path, raw: bytes | None) -> Record:
    try:
        if raw is not None and len(raw) <= BYTES_MAX:
            return _RECORD.validate_json(raw)
    except ValidationError:
        pass
    raise ConnectError("record_unusable", f"{path} is no record of a connected client; move it away")


def write(folder: Folder, record: Record) -> None:
    """Put a record in place, durably. Raises ConnectError."""
    name = f"{record.account}{_ENDING}"
    try:
        folder.write(name, _RECORD.dump_json(record, indent=1) + b"\n")
    except OSError as failure:
        raise ConnectError(
            "record_unusable", f"{folder.path / name} cannot be written: {failure.strerror}"
        ) from None


def remove(folder: Folder, account: str) -> None:
    """Forget an account."""
    folder.remove(f"{account}{_ENDING}")
