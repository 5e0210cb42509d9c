"""Copying a database while it is in use."""

import os
import sqlite3
from pathlib import Path

from .schema import LOCK_SECS, connect_inspector


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
        reading_end = connect_inspector(source)
        writing_end = sqlite3.connect(partial, timeout=LOCK_SECS)
        try:
            reading_end.backup(writing_end)
            # One file with nothing beside it; whoever opens it for writing gives it a log again.
            writing_end.execute("PRAGMA journal_mode = DELETE")
        finally:
            writing_end.close()
            reading_end.close()
        _sync(partial)
        os.link(partial, target)  # atomically, and never over a file that has come meanwhile
    finally:
        partial.unlink()
    _sync(target.parent)


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
