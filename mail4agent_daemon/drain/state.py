"""What a drain keeps between its runs: its name to the box, and when it last asked.

One drain of a data folder runs at a time. All of them have one name, so that the lease of one that was killed
is not in the way of the next; a drain of another folder has another name, and is refused.
"""

from __future__ import annotations

import json
import re
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final, cast

from mail4agent_core.files import Folder, FolderError

FOLDER: Final = "drain"
_HOLDER, _LAST = "holder", "last.json"
_MAX_BYTES: Final = 4_096
_NAME: Final = re.compile(rb"home-[0-9a-f]{16}\n")


@dataclass(frozen=True, slots=True)
class LastDrain:
    """The last look into the box that went to its end."""

    #: RFC 3339.
    at: str
    #: Rows that were left in the box, because a file of theirs could not be fetched or home refused them.
    left: int


class DrainState:
    """The folder of a drain, held by this process."""

    def __init__(self, folder: Folder) -> None:
        self._folder = folder
        self.holder = self._named()

    @classmethod
    @contextmanager
    def held(cls, home: Path) -> Iterator[DrainState]:
        """Raises FolderBusyError while another drain of the folder runs, FolderError."""
        try:
            with Folder.opened(home / FOLDER) as folder, folder.locked(wait_secs=0.0):
                yield cls(folder)
        except OSError as failure:
            raise FolderError(f"{home / FOLDER} cannot be used: {failure.strerror}") from failure

    def _named(self) -> str:
        try:
            found = self._folder.read(_HOLDER, _MAX_BYTES)
        except FileNotFoundError:
            found = None
        if found is None or _NAME.fullmatch(found) is None:
            found = f"home-{secrets.token_hex(8)}\n".encode()
            self._folder.write(_HOLDER, found)
        return found.decode().strip()

    def keep(self, last: LastDrain) -> None:
        """Remember a look into the box. Raises OSError."""
        self._folder.write(_LAST, json.dumps(asdict(last)).encode())


def last_drain(home: Path) -> LastDrain | None:
    """The last one of a data folder; None where there was none that can be read. It changes nothing."""
    try:
        with Folder.opened(home / FOLDER, make=False) as folder:
            raw = folder.read(_LAST, _MAX_BYTES)
        value: Any = None if raw is None else json.loads(raw)
    except (OSError, FolderError, ValueError, RecursionError):
        return None
    if not isinstance(value, dict):
        return None
    found = cast("dict[str, Any]", value)
    at, left = found.get("at"), found.get("left")
    return LastDrain(at, left) if isinstance(at, str) and isinstance(left, int) else None
