"""Folders that are the user's own, files that are whole or absent, and locks that name their holder.

A folder is 0700, a file in it 0600, and both belong to the user who runs the program. Everything in a folder
is reached through its descriptor, so that nobody who renames a folder or plants a link chooses what is read
or written. A write is durable before it is acknowledged: the data, the name, and the folder that has the
name. POSIX only. Nothing here knows what the files hold.
"""

from __future__ import annotations

import errno
import fcntl
import os
import secrets
import stat
import time
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO, Self

_OPEN = os.O_CLOEXEC | os.O_NOFOLLOW
#: Seconds between two looks at a lock that somebody holds.
_LOOK_SECS = 0.005
#: Bytes of a file that are read by the first call, and by each further one. A great buffer costs more than
#: a small file.
_PIECE, _FURTHER = 1 << 13, 1 << 20
#: What ends the name of a file that is being written. One that is left over was never acknowledged.
UNFINISHED = ".tmp"


class FolderError(Exception):
    """A folder cannot be used; the message tells a person what to change."""


class FolderBusyError(FolderError):
    """Somebody held a folder's lock for longer than one waits."""

    def __init__(self, path: Path, holder: int | None) -> None:
        who = f"process {holder}" if holder is not None else "a process that left no name"
        super().__init__(f"{path} is locked by {who}; nothing was changed")
        self.holder = holder


class Folder:
    """An open folder of the user's own. Close it, or use it in a ``with``."""

    def __init__(self, path: Path, descriptor: int) -> None:
        self.path = path
        self._descriptor = descriptor

    @classmethod
    def opened(cls, path: Path, *, make: bool = True) -> Folder:
        """Open a folder. With ``make`` it is made if need be, and made private; a look changes nothing.

        Raises FileNotFoundError where there is none and none is to be made, FolderError for a link, for what
        is no folder, and for another user's.
        """
        try:
            if make:
                path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
                path.mkdir(mode=0o700, exist_ok=True)
            descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | _OPEN)
        except OSError as failure:
            if path.is_symlink():
                raise FolderError(f"{path} is a symbolic link; name the folder itself") from failure
            if isinstance(failure, FileNotFoundError) and not make:
                raise
            raise FolderError(f"{path} cannot be made or opened: {failure.strerror}") from failure
        return cls._owned(path, descriptor, private=make)

    @classmethod
    def _owned(cls, path: Path, descriptor: int, *, private: bool) -> Folder:
        try:
            found = os.fstat(descriptor)
            if found.st_uid != os.geteuid():
                raise FolderError(f"{path} belongs to another user (uid {found.st_uid})")
            if private and stat.S_IMODE(found.st_mode) != 0o700:
                os.fchmod(descriptor, 0o700)
        except OSError as failure:
            os.close(descriptor)
            raise FolderError(f"{path} cannot be made private: {failure.strerror}") from failure
        except FolderError:
            os.close(descriptor)
            raise
        return cls(path, descriptor)

    def inner(self, name: str, *, make: bool = True) -> Folder:
        """Open a folder in this one. ``name`` is no path. Raises as ``opened``."""
        path = self.path / name
        try:
            if make:
                with suppress(FileExistsError):
                    os.mkdir(name, 0o700, dir_fd=self._descriptor)
                    os.fsync(self._descriptor)
            descriptor = os.open(name, os.O_RDONLY | os.O_DIRECTORY | _OPEN, dir_fd=self._descriptor)
        except OSError as failure:
            if path.is_symlink():
                raise FolderError(f"{path} is a symbolic link; put the folder itself there") from failure
            if isinstance(failure, FileNotFoundError) and not make:
                raise
            raise FolderError(f"{path} cannot be made or opened: {failure.strerror}") from failure
        return self._owned(path, descriptor, private=make)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Let the folder go."""
        os.close(self._descriptor)

    def names(self) -> list[str]:
        """The names of what is in it."""
        with self._reader() as reader:
            return os.listdir(reader)  # noqa: PTH208  # by its descriptor

    def folders(self) -> list[str]:
        """The names of the user's own folders in it. Links and another user's are left out."""
        with self._reader() as reader, os.scandir(reader) as entries:
            return [entry.name for entry in entries if self._is_own_folder(entry.name)]

    @contextmanager
    def _reader(self) -> Generator[int]:
        """A descriptor of its own: two threads that list through one share its place, and miss names."""
        reader = os.open(".", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC, dir_fd=self._descriptor)
        try:
            yield reader
        finally:
            os.close(reader)

    def _is_own_folder(self, name: str) -> bool:
        try:
            found = os.stat(name, dir_fd=self._descriptor, follow_symlinks=False)
        except FileNotFoundError:
            return False
        return stat.S_ISDIR(found.st_mode) and found.st_uid == os.geteuid()

    def changed_ns(self) -> int:
        """When a name was last added or taken away."""
        return os.fstat(self._descriptor).st_mtime_ns

    def own_state(self) -> tuple[int, int, int, int]:
        """What changes when a name is added, taken away or given to another file. Raises OSError."""
        return _state(os.fstat(self._descriptor))

    def read(self, name: str, most: int) -> bytes | None:
        """The bytes of a regular file, ``most`` + 1 of them at most; None for what is no regular file.

        Raises OSError.
        """
        file = regular(name, self._descriptor)
        if file is None:
            return None
        opened = file[0]
        try:
            return _read(opened, most + 1)
        finally:
            os.close(opened)

    def read_with_state(self, name: str, most: int) -> tuple[bytes, tuple[int, int, int, int]] | None:
        """As ``read``, and what ``state`` said of that very file when its bytes were read."""
        file = regular(name, self._descriptor)
        if file is None:
            return None
        opened, found = file
        try:
            # One byte more than there is: less than was asked for says that this was the end.
            return _read(opened, most + 1, found.st_size + 1), _state(found)
        finally:
            os.close(opened)

    def reading(self, name: str) -> BinaryIO | None:
        """A regular file, open to be read; None for what is no regular file. Raises OSError."""
        file = regular(name, self._descriptor)
        return None if file is None else os.fdopen(file[0], "rb")

    def created(self, name: str) -> BinaryIO:
        """A file that was not there, open to be written and not durable by itself. Raises OSError."""
        opened = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _OPEN, 0o600, dir_fd=self._descriptor)
        return os.fdopen(opened, "wb")

    def move(self, name: str, to: str) -> None:
        """Give a file or a folder in this one another name. Raises OSError. ``settle`` makes it durable."""
        os.rename(name, to, src_dir_fd=self._descriptor, dst_dir_fd=self._descriptor)

    def remove_folder(self, name: str) -> None:
        """Remove a folder of files, as far as it can be."""
        with suppress(OSError, FolderError):
            with self.inner(name, make=False) as folder:
                for file in folder.names():
                    folder.remove(file)
            os.rmdir(name, dir_fd=self._descriptor)

    def state(self, name: str) -> tuple[int, int, int, int]:
        """What changes when a file does: another file, another length, another time. Raises OSError."""
        return _state(os.stat(name, dir_fd=self._descriptor, follow_symlinks=False))

    def write(self, name: str, raw: bytes, *, settle: bool = True) -> None:
        """Put a whole file in place of what has the name, on disk before this returns.

        Without ``settle`` the name itself is only on disk after ``settle``. Raises OSError, and then the old
        file is as it was.
        """
        unfinished = f".{name}.{secrets.token_hex(8)}{UNFINISHED}"
        opened = os.open(
            unfinished, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _OPEN, 0o600, dir_fd=self._descriptor
        )
        try:
            with os.fdopen(opened, "wb") as file:
                file.write(raw)
                file.flush()
                os.fsync(file.fileno())
            os.rename(unfinished, name, src_dir_fd=self._descriptor, dst_dir_fd=self._descriptor)
        except OSError:
            self.remove(unfinished)
            raise
        if settle:
            self.settle()

    def settle(self) -> None:
        """Bring the folder's names to disk. Raises OSError."""
        os.fsync(self._descriptor)

    def move_aside(self, name: str, ending: str) -> str:
        """Give a file another ending and keep what has that name already. Returns the name that it got."""
        stem = name.rpartition(".")[0]
        number = 0
        while True:
            aside = f"{stem}{f'.{number}' if number else ''}{ending}"
            try:
                os.stat(aside, dir_fd=self._descriptor, follow_symlinks=False)
            except FileNotFoundError:
                os.rename(name, aside, src_dir_fd=self._descriptor, dst_dir_fd=self._descriptor)
                return aside
            number += 1

    def remove(self, name: str) -> None:
        """Remove a file, if it is there and can be."""
        with suppress(OSError):
            os.unlink(name, dir_fd=self._descriptor)

    def sweep(self) -> None:
        """Remove what writers left unfinished. Whoever calls this holds the lock that all writers take."""
        for name in self.names():
            if name.endswith(UNFINISHED):
                self.remove(name)

    def held(self, name: str) -> bool:
        """Whether somebody holds the lock of that name. None is made. Raises OSError."""
        try:
            opened = os.open(name, os.O_RDONLY | os.O_NONBLOCK | _OPEN, dir_fd=self._descriptor)
        except FileNotFoundError:
            return False
        try:
            fcntl.flock(opened, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        finally:
            os.close(opened)
        return False

    @contextmanager
    def locked(self, name: str = ".lock", wait_secs: float = 10.0) -> Generator[None]:
        """Hold the folder's lock for the length of the block. It is the kernel's, and ends with its holder.

        Raises FolderBusyError when somebody holds it for ``wait_secs`` seconds, FolderError when there can
        be none.
        """
        path = self.path / name
        try:
            opened = os.open(
                name, os.O_RDWR | os.O_CREAT | os.O_NONBLOCK | _OPEN, 0o600, dir_fd=self._descriptor
            )
        except OSError as failure:
            raise FolderError(f"{path} cannot be opened: {failure.strerror}") from failure
        try:
            if not stat.S_ISREG(os.fstat(opened).st_mode):
                raise FolderError(f"{path} is no file")
            _taken(opened, path, wait_secs)
            _signed(opened)
            yield
        finally:
            os.close(opened)


def regular(name: str, folder: int | None) -> tuple[int, os.stat_result] | None:
    """Open a regular file of an open folder to be read, by its name and through no link; None for what is no
    regular file. With the descriptor comes what the kernel says of the file. Raises OSError.

    Without a folder the name is a path.
    """
    try:
        # NONBLOCK: to open a pipe that nobody writes would wait for ever.
        opened = os.open(name, os.O_RDONLY | os.O_NONBLOCK | _OPEN, dir_fd=folder)
    except OSError as failure:
        # A link, and a socket.
        if failure.errno in {errno.ELOOP, errno.ENXIO}:
            return None
        raise
    found = os.fstat(opened)
    if stat.S_ISREG(found.st_mode):
        return opened, found
    os.close(opened)
    return None


def named(path: Path, most: int) -> bytes:
    """The bytes of a file that a person named, through links too, ``most`` + 1 of them at most.

    Raises OSError, for what is no regular file as well: a pipe that nobody writes holds nobody up.
    """
    if "\0" in str(path):
        raise OSError(errno.EINVAL, "No name of a file")
    # NOCTTY: a terminal that is opened by a daemon would become its own.
    opened = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY)
    try:
        if not stat.S_ISREG(os.fstat(opened).st_mode):
            raise OSError(errno.EINVAL, "Not a regular file")
        return _read(opened, most + 1)
    finally:
        os.close(opened)


def _state(found: os.stat_result) -> tuple[int, int, int, int]:
    return found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns


def _read(opened: int, most: int, first: int = _PIECE) -> bytes:
    """So many bytes at most. A short file takes one call: folders of thousands are read whole."""
    raw = b""
    while len(raw) < most:
        wanted = min(most - len(raw), _FURTHER if raw else first)
        chunk = os.read(opened, wanted)
        raw = raw + chunk if raw else chunk
        # A regular file gives less than was asked for only at its end.
        if len(chunk) < wanted:
            break
    return raw


def _taken(opened: int, path: Path, wait_secs: float) -> None:
    until = time.monotonic() + wait_secs
    while True:
        try:
            return fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() >= until:
                raise FolderBusyError(path, _holder(opened)) from None
            time.sleep(_LOOK_SECS)


def _signed(opened: int) -> None:
    """Leave the holder's name for whoever waits. A full disk may keep it; the lock holds all the same."""
    with suppress(OSError):
        os.ftruncate(opened, 0)
        os.pwrite(opened, f"{os.getpid()}\n".encode(), 0)


def _holder(opened: int) -> int | None:
    text = os.pread(opened, 32, 0).strip()
    return int(text) if text.isdigit() else None
