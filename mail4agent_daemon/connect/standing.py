"""What became of the clients that were connected: a key or a file may be gone. Looks, and changes nothing."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from . import client_files, records
from .clients import CLIENTS
from .documents import is_granted, parsed
from .faults import ConnectError, DocumentError
from .records import FOLDER, Place, Record, key_name


@dataclass(frozen=True, slots=True)
class Standing:
    """One connected client."""

    client: str
    account: str
    faults: tuple[str, ...]
    """What is missing, each a sentence with what helps; none: it stands as connect left it."""


def standings(home: Path) -> list[Standing]:
    """Every client that is connected. Raises ConnectError when a record cannot be read."""
    return [
        Standing(CLIENTS[each.client].title, each.account, tuple(_faults(home, each)))
        for each in records.seen(home)
        if each.places and each.client in CLIENTS
    ]


def _faults(home: Path, record: Record) -> Iterator[str]:
    name = f" --as {record.account}" if record.account != record.client else ""
    help_ = f"run mail4agent connect {record.client}{name} again, or disconnect {record.client}{name}"
    key = home / FOLDER / key_name(record.account)
    if not key.is_file():
        yield f"{key} is gone; {help_}"
    for place in record.places:
        fault = _fault(place)
        if fault is not None:
            yield f"{fault}; {help_}"


def _fault(place: Place) -> str | None:
    try:
        file = client_files.read(place.path, new_mode=0o600)
        if file.raw is None:
            return f"{place.path} is gone"
        document = parsed(place.kind, file.text)
    except DocumentError as fault:
        return f"{place.path} cannot be read by its client: {fault}"
    except ConnectError as fault:
        return str(fault).partition("; nothing")[0]
    if not all(is_granted(document, wish) for wish in place.wishes):
        return f"{place.path} does not hold what connect wrote"
    return None
