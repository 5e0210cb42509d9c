"""Why a database is not opened.

These are for the person who starts the daemon; they never go over the wire.
"""

from pathlib import Path


class StoreOpenError(Exception):
    """The database cannot be used. The message says why and what helps."""


class StoreNewerError(StoreOpenError):
    """The database was written by a newer version of the program."""

    def __init__(self, path: Path, found: int, known: int) -> None:
        super().__init__(
            f"{path} has schema {found}; this version knows schemas up to {known}. "
            "Start the newer version, or restore a backup."
        )
        self.found = found
        self.known = known


class StoreForeignError(StoreOpenError):
    """The file is not a mail database."""

    def __init__(self, path: Path) -> None:
        super().__init__(f"{path} is not a mail4agent database. Nothing in it was changed.")


class StoreDamagedError(StoreOpenError):
    """The file is a mail database that SQLite finds damaged."""

    def __init__(self, path: Path) -> None:
        super().__init__(f"{path} is damaged. Keep a copy of it, and restore a backup.")


class StoreBusyError(StoreOpenError):
    """Another process holds the database."""

    def __init__(self, path: Path) -> None:
        super().__init__(f"{path} is being written by another process.")


class StoreGoneError(StoreOpenError):
    """A file of the database was deleted or replaced while it was open."""

    def __init__(self, path: Path) -> None:
        super().__init__(
            f"{path} was deleted or replaced while it was open. Nothing more is written: stop the daemon, "
            "put the files back or restore a backup, and start it."
        )


class StoreUnwritableError(StoreOpenError):
    """The file or its folder cannot be written."""

    def __init__(self, path: Path) -> None:
        super().__init__(
            f"{path} cannot be written: check its owner, its mode, and the space left on the disk."
        )
