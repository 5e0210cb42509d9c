"""The data folder of one daemon: made private, repaired, and held by one process at a time.

The folder is 0700 and what lies in it 0600, so that no other user reads mail or secrets, and owned by the
user who runs the daemon. Symbolic links are refused: whoever could plant one would choose where secrets are
written. The lock is the kernel's (flock), so it ends with its holder, however that ends; the text in the lock
file only names the holder for a person. POSIX only.
"""

import fcntl
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import orjson

LOCK_NAME = "daemon.lock"
#: More than the folder of a healthy daemon ever holds at its top; past it nothing is looked at.
ENTRIES_MAX = 10_000
_OPEN = os.O_CLOEXEC | os.O_NOFOLLOW
_HELP = "look at the folder's owner, mode and disk, or choose another M4A_HOME"


class HomeError(Exception):
    """The data folder cannot be used; the message tells the person who starts the daemon what to change."""


class HomeBusyError(HomeError):
    """Another daemon holds the folder."""

    def __init__(self, path: Path, holder: "Holder | None") -> None:
        who = f"process {holder.pid}, since {holder.since}" if holder else "a process that left no name"
        super().__init__(f"{path} is in use by another daemon ({who}); stop it or choose another M4A_HOME")
        self.holder = holder


@dataclass(frozen=True, slots=True)
class Holder:
    """Who holds a data folder."""

    pid: int
    since_unix_ms: int

    @property
    def since(self) -> str:
        """Since when, in UTC to the second."""
        return datetime.fromtimestamp(self.since_unix_ms // 1000, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


@dataclass(frozen=True, slots=True)
class Home:
    """A data folder that this process holds."""

    path: Path
    repaired: tuple[str, ...]
    """Names whose modes had to be made private; ``.`` is the folder itself."""


@contextmanager
def held_home(path: Path, *, now_ms: int) -> Iterator[Home]:
    """Make or repair the folder, hold its lock for the length of the block, and let it go.

    Raises HomeBusyError while another daemon holds it, HomeError when it cannot be used.
    """
    folder = _opened_folder(path)
    try:
        # Before anything is written into it: whose it is.
        repaired = ["."] if _made_private(folder, path, 0o700) else []
        with _lock(folder, path, Holder(os.getpid(), now_ms)):
            repaired += _repaired_entries(folder, path)
            yield Home(path, tuple(repaired))
    finally:
        os.close(folder)


def _opened_folder(path: Path) -> int:
    if not path.is_absolute():
        raise HomeError(f"{path} must be an absolute path")
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        # mkdir applies the umask, which may leave less than the owner needs; the repair below settles the
        # mode.
        path.mkdir(mode=0o700, exist_ok=True)
        return os.open(path, os.O_RDONLY | os.O_DIRECTORY | _OPEN)
    except OSError as failure:
        if path.is_symlink():
            raise HomeError(f"{path} is a symbolic link; name the folder itself") from failure
        raise HomeError(f"{path} cannot be made or opened: {failure.strerror}; {_HELP}") from failure


def _repaired_entries(folder: int, path: Path) -> list[str]:
    """Make what lies at the top of the folder private; return the names that were not."""
    repaired: list[str] = []
    with os.scandir(folder) as entries:
        for count, entry in enumerate(entries):
            if count >= ENTRIES_MAX:
                raise HomeError(f"{path} holds more than {ENTRIES_MAX} entries; it is no data folder")
            name = path / entry.name
            kind = entry.stat(follow_symlinks=False).st_mode
            if stat.S_ISLNK(kind):
                raise HomeError(f"{name} is a symbolic link; put the file itself there")
            if not (stat.S_ISDIR(kind) or stat.S_ISREG(kind)):
                continue
            try:
                opened = os.open(entry.name, os.O_RDONLY | os.O_NONBLOCK | _OPEN, dir_fd=folder)
            except OSError as failure:
                raise HomeError(f"{name} cannot be opened: {failure.strerror}") from failure
            try:
                if _made_private(opened, name, 0o700 if stat.S_ISDIR(kind) else 0o600):
                    repaired.append(entry.name)
            finally:
                os.close(opened)
    return sorted(repaired)


def _made_private(opened: int, name: Path, mode: int) -> bool:
    """Give an open file or folder of ours its mode. Returns whether it had another."""
    found = os.fstat(opened)
    if found.st_uid != os.geteuid():
        raise HomeError(f"{name} belongs to another user (uid {found.st_uid})")
    if stat.S_IMODE(found.st_mode) == mode:
        return False
    try:
        os.fchmod(opened, mode)
    except OSError as failure:
        raise HomeError(f"the mode of {name} cannot be made {mode:o}: {failure.strerror}") from failure
    return True


@contextmanager
def _lock(folder: int, path: Path, holder: Holder) -> Iterator[None]:
    try:
        lock = os.open(LOCK_NAME, os.O_RDWR | os.O_CREAT | _OPEN, 0o600, dir_fd=folder)
    except OSError as failure:
        raise HomeError(f"{path / LOCK_NAME} cannot be opened: {failure.strerror}; {_HELP}") from failure
    try:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise HomeBusyError(path, _holder(lock)) from None
        text = orjson.dumps({"pid": holder.pid, "since_unix_ms": holder.since_unix_ms}) + b"\n"
        try:
            os.ftruncate(lock, 0)
            os.pwrite(lock, text, 0)
        except OSError as failure:
            raise HomeError(f"{path / LOCK_NAME} cannot be written: {failure.strerror}; {_HELP}") from failure
        yield
    finally:
        # The file stays: removing it would let a third process lock another file of the same name.
        os.close(lock)


def _holder(lock: int) -> Holder | None:
    """Read who wrote the lock file, which may hold anything: what is no name and no time is nobody."""
    with suppress(OSError, ValueError, OverflowError, KeyError, TypeError):
        named = orjson.loads(os.pread(lock, 256, 0))
        holder = Holder(int(named["pid"]), int(named["since_unix_ms"]))
        return holder if holder.since else None
    return None


def holder_of(path: Path) -> tuple[bool, Holder | None]:
    """Whether a process holds the folder now, and who it said it is. Nothing is changed."""
    try:
        # NONBLOCK: a pipe that somebody put there must not hold us up.
        lock = os.open(path / LOCK_NAME, os.O_RDONLY | os.O_NONBLOCK | _OPEN)
    except OSError:
        return False, None
    try:
        fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True, _holder(lock)
    else:
        return False, None
    finally:
        os.close(lock)
