"""What the machine says of processes: which live, when they started, and who started whom.

From ``/proc`` where it is (Linux). Elsewhere a process is known by its number alone, and its ancestry ends
with its parent.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path

#: More generations than any process has.
_GENERATIONS_MAX = 256


class Processes:
    """The processes of this machine."""

    def __init__(self, proc: Path = Path("/proc")) -> None:
        self._proc = proc

    @cached_property
    def boot(self) -> str | None:
        """Which boot of the machine this is, None where it does not say."""
        try:
            return (self._proc / "sys/kernel/random/boot_id").read_text("ascii").strip()
        except (OSError, ValueError):
            return None

    def is_alive(self, pid: int) -> bool:
        """Whether a process with that number lives; one that another user runs does, a zombie does not."""
        if not 0 < pid < 2**31:
            return False
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return False
        except PermissionError:
            return True
        fields = self._fields(pid)
        return fields is None or fields[0] != "Z"

    def start_of(self, pid: int) -> int | None:
        """When a process started, in the kernel's ticks since the boot; None where that is not known."""
        fields = self._fields(pid)
        return None if fields is None else int(fields[19])

    def ancestry(self) -> Iterator[int]:
        """This process, the one that started it, and so on."""
        pid = os.getpid()
        for _ in range(_GENERATIONS_MAX):
            yield pid
            fields = self._fields(pid)
            parent = (
                os.getppid() if fields is None and pid == os.getpid() else int(fields[1]) if fields else 0
            )
            if parent <= 0:
                return
            pid = parent

    def _fields(self, pid: int) -> list[str] | None:
        """The state, the parent and what follows in a process's line; its name may hold anything."""
        try:
            line = (self._proc / str(pid) / "stat").read_bytes().rpartition(b")")[2].split()
        except OSError:
            return None
        return [field.decode("ascii") for field in line] if len(line) > 19 else None
