"""What /proc tells of processes, read in bounded pieces. Nothing that a process named is opened or followed.

Every reader returns None, or nothing, for a process that is gone or may not be looked into; where it matters
which of the two, it raises UnreadableError for the second.
"""

import os
import select
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from .attested import Boot
from .line import line_of

_COMMAND_LINE_MAX_BYTES = 65_536
_FILE_MAX_BYTES = 65_536
_DELETED = b" (deleted)"
#: States of a process that has ended: zombie, and dead in its two spellings.
_ENDED = frozenset(b"ZXx")
#: Fields after the last ``)``, counted from the state: its own, the parent's pid, the start.
_STATE, _PARENT, _START = 0, 1, 19


class UnreadableError(Exception):
    """A process is there and may not be looked into."""


@dataclass(frozen=True, slots=True)
class Stat:
    """A process's line in its own ``stat``."""

    parent: int
    start_ticks: int
    ended: bool
    """It ended, and only waits for its parent to hear of it."""


class Proc:
    """The kernel's view of processes."""

    def __init__(self, root: str = "/proc") -> None:
        self._root = root
        self.ticks_per_second = os.sysconf("SC_CLK_TCK")

    def is_own(self) -> bool:
        """Whether its pids are those of this process's own pid namespace."""
        try:
            return os.readlink(f"{self._root}/self") == str(os.getpid())  # noqa: PTH115  # a name, not a path
        except OSError:
            return False

    def boot(self) -> Boot:
        """This run of the machine. Raises OSError where there is no /proc."""
        boot_id = _read(f"{self._root}/sys/kernel/random/boot_id", 64).decode("utf-8", "replace").strip()
        for line in _read(f"{self._root}/stat", _FILE_MAX_BYTES * 16).splitlines():
            if line.startswith(b"btime "):
                return Boot(boot_id, int(line[6:]) * 1000, self.ticks_per_second)
        raise OSError("the kernel does not say when it began")

    def processes(self) -> dict[int, int]:
        """The pid of every process that is visible, and the number of its folder.

        Another process that gets the pid has a folder of another number.
        """
        with os.scandir(self._root) as entries:
            return {int(entry.name): entry.inode() for entry in entries if entry.name.isdecimal()}

    def stat(self, pid: int) -> Stat | None:
        """Parent, start and state."""
        try:
            raw = _read(f"{self._root}/{pid}/stat", 4096)
        except OSError:
            return None
        # A process may put anything in its name, parentheses too; the kernel's own come last.
        fields = raw[raw.rfind(b")") + 1 :].split()
        if len(fields) <= _START:
            return None
        return Stat(int(fields[_PARENT]), int(fields[_START]), fields[_STATE][0] in _ENDED)

    def owner(self, pid: int) -> int | None:
        """Whom the process's files in /proc belong to: its effective user, or root where it hides."""
        try:
            return os.stat(f"{self._root}/{pid}").st_uid  # noqa: PTH116  # a path object costs more than the call
        except OSError:
            return None

    def uids(self, pid: int) -> tuple[int, ...]:
        """Its real, effective, saved and file system user; none when it is gone."""
        try:
            raw = _read(f"{self._root}/{pid}/status", _FILE_MAX_BYTES)
        except OSError:
            return ()
        start = raw.find(b"\nUid:")
        return (
            tuple(int(field) for field in raw[start + 5 : raw.find(b"\n", start + 1)].split())
            if start > 0
            else ()
        )

    def sockets(self, pid: int) -> dict[int, str]:
        """Inode of each socket that the process holds, with the name of a descriptor for it.

        Raises UnreadableError where that may not be seen.
        """
        found: dict[int, str] = {}
        try:
            folder = os.open(f"{self._root}/{pid}/fd", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        except PermissionError:
            raise UnreadableError from None
        except OSError:
            return found
        try:
            # A zombie's folder opens, and cannot be listed.
            for name in os.listdir(folder):  # noqa: PTH208  # by descriptor
                try:
                    target = os.readlink(name, dir_fd=folder)
                except OSError:
                    continue
                if target.startswith("socket:["):
                    found[int(target[8:-1])] = name
        except PermissionError:
            raise UnreadableError from None
        except OSError:
            pass
        finally:
            os.close(folder)
        return found

    def holds(self, pid: int, descriptor: str, inode: int) -> bool:
        """Whether the process's descriptor is that socket now."""
        try:
            return os.readlink(f"{self._root}/{pid}/fd/{descriptor}") == f"socket:[{inode}]"  # noqa: PTH115
        except OSError:
            return False

    def exe(self, pid: int) -> str | None:
        """Path of the program that the process runs; a file that was replaced meanwhile keeps its name."""
        target = self._link(pid, "exe")
        return None if target is None else line_of(target.removesuffix(_DELETED))

    def cwd(self, pid: int) -> str | None:
        """Path of the folder that the process works in."""
        target = self._link(pid, "cwd")
        return None if target is None else line_of(target.removesuffix(_DELETED))

    def _link(self, pid: int, name: str) -> bytes | None:
        try:
            return os.readlink(f"{self._root}/{pid}/{name}".encode())  # noqa: PTH115  # bytes, as the kernel has them
        except OSError:
            return None

    def command_line(self, pid: int) -> bytes:
        """The first 64 KiB of its arguments, a NUL after each."""
        try:
            return _read(f"{self._root}/{pid}/cmdline", _COMMAND_LINE_MAX_BYTES)
        except OSError:
            return b""

    @contextmanager
    def pinned(self, pid: int) -> Iterator["Pin | None"]:
        """Hold on to the process that has this pid now; None when none has.

        Raises OSError where the kernel has no process descriptors (before Linux 5.3).
        """
        try:
            descriptor = os.pidfd_open(pid)
        except ProcessLookupError:
            yield None
            return
        try:
            yield Pin(descriptor)
        finally:
            os.close(descriptor)


class Pin:
    """A process that was held on to: as long as it has not ended, its pid means no other."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    @property
    def number(self) -> int:
        """The kernel's number of the process, never given to another (Linux 6.9)."""
        return os.fstat(self._descriptor).st_ino

    def ended(self) -> bool:
        """Whether the process ended."""
        poll = select.poll()
        poll.register(self._descriptor, select.POLLIN)
        return bool(poll.poll(0))


def _read(path: str, most: int) -> bytes:
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        data = os.read(descriptor, most)
        while len(data) < most and (more := os.read(descriptor, most - len(data))):
            data += more
        return data
    finally:
        os.close(descriptor)
