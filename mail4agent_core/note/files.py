"""Files that other programs append to as well: opened where they lie, locked, written whole or not at all.

A symbolic link is never followed: whoever could plant one would choose what is written where. The lock is
the kernel's (flock on the file itself, as the original locks), so it ends with its holder.
"""

from __future__ import annotations

import errno
import fcntl
import os
import stat
import time
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from .faults import LedgerError

#: Seconds that a lock is waited for.
LOCK_SECS: Final = 30.0
_PAUSE_SECS = 0.002
_LINK = "is a symbolic link; put the thing itself there"
_FLAGS = os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
#: The most that is read of one file.
FILE_MAX_BYTES: Final = 1 << 31


def why(failure: OSError) -> str:
    """What a person is told of a failure of the operating system."""
    if failure.errno == errno.ELOOP:
        return _LINK
    return failure.strerror or "failed"


@contextmanager
def opened(path: Path, *, write: bool = False, create: bool = False) -> Generator[int]:
    """A regular file, open for the length of the block; ``create``: made, 0600, where it is missing.

    Raises FileNotFoundError where it is missing, LedgerError where it cannot be opened.
    """
    flags = _FLAGS | (os.O_RDWR if write else os.O_RDONLY) | (os.O_CREAT if create else 0)
    try:
        handle = os.open(path, flags, 0o600)
    except FileNotFoundError:
        raise
    except OSError as failure:
        raise LedgerError(path, why(failure)) from failure
    try:
        found = os.fstat(handle)
        if not stat.S_ISREG(found.st_mode):
            raise LedgerError(path, "is no regular file")
        if found.st_size > FILE_MAX_BYTES:
            raise LedgerError(path, f"is larger than {FILE_MAX_BYTES} bytes")
        yield handle
    finally:
        os.close(handle)


@contextmanager
def locked(handle: int, path: Path, *, shared: bool = False, secs: float = LOCK_SECS) -> Generator[None]:
    """Hold the file's lock for the length of the block. Raises LedgerError when it is not had in time."""
    how = (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB
    deadline = time.monotonic() + secs
    while True:
        try:
            fcntl.flock(handle, how)
            break
        except BlockingIOError:
            if time.monotonic() >= deadline:
                raise LedgerError(path, f"is locked by another process for more than {secs:g} s") from None
            time.sleep(_PAUSE_SECS)
    try:
        yield
    finally:
        fcntl.flock(handle, fcntl.LOCK_UN)


def read_from(handle: int, offset: int = 0) -> bytes:
    """Everything from an offset on."""
    parts: list[bytes] = []
    while part := os.pread(handle, 1 << 20, offset):
        parts.append(part)
        offset += len(part)
    return b"".join(parts)


def append(handle: int, path: Path, raw: bytes) -> int:
    """Write at the end, durably and whole; returns the size before. The caller holds the lock.

    Raises LedgerError; the file is then as it was.
    """
    before = os.fstat(handle).st_size
    try:
        written = 0
        while written < len(raw):
            written += os.pwrite(handle, raw[written:], before + written)
        os.fdatasync(handle)
    except OSError as failure:
        with suppress(OSError):
            os.ftruncate(handle, before)
        raise LedgerError(path, why(failure)) from failure
    return before


def set_tail_aside(handle: int, path: Path) -> bytes:
    """Move what stands behind the last line feed to ``<path>.torn``; the caller holds the lock.

    Returns what was moved, nothing for a file that ends as it must. It is durable in its new place before it
    leaves the old one. Raises LedgerError.
    """
    size = os.fstat(handle).st_size
    if not size or os.pread(handle, 1, size - 1) == b"\n":
        return b""
    start = size
    while start:
        step = min(start, 1 << 16)
        found = os.pread(handle, step, start - step).rfind(b"\n")
        if found >= 0:
            start = start - step + found + 1
            break
        start -= step
    torn = read_from(handle, start)
    aside = path.with_name(f"{path.name}.torn")
    with opened(aside, write=True, create=True) as beside:
        append(beside, aside, torn + b"\n")
    try:
        os.ftruncate(handle, start)
        os.fdatasync(handle)
    except OSError as failure:
        raise LedgerError(path, why(failure)) from failure
    return torn


def sync_folder(path: Path) -> None:
    """Make the names in a folder durable. Raises LedgerError."""
    try:
        folder = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError as failure:
        raise LedgerError(path, why(failure)) from failure
    try:
        os.fsync(folder)
    except OSError as failure:
        raise LedgerError(path, why(failure)) from failure
    finally:
        os.close(folder)


def refuse_link(path: Path) -> None:
    """Raises LedgerError for a folder that is a symbolic link: what lies in it would be somewhere else."""
    if path.is_symlink():
        raise LedgerError(path, _LINK)


def made_folder(path: Path) -> None:
    """Make a private folder where there is none. Raises LedgerError naming it."""
    try:
        path.mkdir(mode=0o700)
    except FileExistsError:
        if path.is_symlink() or not path.is_dir():
            raise LedgerError(path, "is no folder") from None
    except OSError as failure:
        raise LedgerError(path, why(failure)) from failure
    else:
        sync_folder(path.parent)
