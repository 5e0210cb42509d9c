"""Copying a database while it is in use."""

import os
import sqlite3
from pathlib import Path

from .schema import LOCK_SECS, connect_inspector

#: How often a copy is made anew because its source was opened, changed and closed while it was read.
COPIES_MAX = 3


def copy_database(source: Path, target: Path) -> None:
    """Write a consistent copy of a database, live or not, to a new file of mode 0600, durable on return.

    Raises FileExistsError when the target exists, FileNotFoundError when the source does not, OSError when
    the target cannot be written, and sqlite3.Error when the source cannot be read.
    """
    if not source.exists():
        raise FileNotFoundError(source)
    if target.exists():
        raise FileExistsError(target)
    partial = target.with_name(f".{target.name}.{os.getpid()}.partial")
    os.close(os.open(partial, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
    try:
        _fill(source, partial)
        _sync(partial)
        os.link(partial, target)  # atomically, and never over a file that has come meanwhile
    finally:
        partial.unlink()
    _sync(target.parent)


def _fill(source: Path, partial: Path) -> None:
    """Copy until the source was one and the same throughout.

    A source that nobody has open is read without a lock, so whoever opens it meanwhile may change it under
    the copy. By then there is a log, and the next copy is of one moment however long it takes.
    """
    for last in (*[False] * (COPIES_MAX - 1), True):
        before = _standing(source)
        try:
            _copy(source, partial)
        except sqlite3.Error:
            if last or before is None or before == _standing(source):
                raise
        else:
            if before is None or before == _standing(source):
                return
    raise sqlite3.OperationalError("the database is opened and closed again and again")


def _standing(source: Path) -> tuple[int, int, int] | None:
    """What changes when a database that nobody had open is opened and changed; None while it is open."""
    if source.with_name(f"{source.name}-wal").exists():
        return None
    found = source.stat()
    return found.st_ino, found.st_size, found.st_mtime_ns


def _copy(source: Path, partial: Path) -> None:
    reading_end = connect_inspector(source)
    writing_end = sqlite3.connect(partial, timeout=LOCK_SECS)
    try:
        reading_end.backup(writing_end)
        # One file with nothing beside it; whoever opens it for writing gives it a log again.
        writing_end.execute("PRAGMA journal_mode = DELETE")
    finally:
        writing_end.close()
        reading_end.close()


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
