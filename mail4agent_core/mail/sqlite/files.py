"""Whether the files that are open are still those that the next start will find."""

import os
from pathlib import Path

from .faults import StoreGoneError


class OpenFiles:
    """The database and its journal as they were when a connection had opened them.

    A file that is deleted or replaced can be written to as long as it is open, and nobody will read that.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._journal = path.with_name(f"{path.name}-wal")
        self._found: dict[Path, tuple[int, int]] = {}

    def note(self) -> None:
        """Take note of what was opened. The database is never another one. Raises StoreGoneError."""
        self._found.setdefault(self._path, self._identity(self._path))
        # The last connection that closes deletes the journal: a later one has its own.
        self._found[self._journal] = self._identity(self._journal)

    def check(self) -> None:
        """Raises StoreGoneError when one of them is missing or another."""
        for path, found in self._found.items():
            if self._identity(path) != found:
                raise StoreGoneError(path)

    def check_database(self) -> None:
        """Likewise, for the database alone, before it is opened again: that would create it anew."""
        found = self._found.get(self._path)
        if found is not None and self._identity(self._path) != found:
            raise StoreGoneError(self._path)

    def _identity(self, path: Path) -> tuple[int, int]:
        try:
            found = os.stat(path)  # noqa: PTH116  # before every commit: no detour
        except FileNotFoundError:
            raise StoreGoneError(path) from None
        return found.st_dev, found.st_ino
