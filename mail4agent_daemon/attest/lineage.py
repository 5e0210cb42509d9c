"""The processes that started this one, as far as the system tells.

It is for this process itself, which asks whether a person or an agent runs it. A process of the same user can
hide from it, so that it keeps nobody out who means to get in.
"""

import os
import sys
from collections.abc import Iterator
from dataclasses import dataclass

from mail4agent_core.mail.process import start_ms

from . import programs
from .attested import Program
from .proc import Proc

_GENERATIONS_MAX = 64


@dataclass(frozen=True, slots=True)
class Ancestor:
    """A process above this one."""

    pid: int
    started_ms: int
    """In Unix milliseconds, by the clock as it is now."""
    program: Program | None
    """The known agent program that its command line is one of."""


def lineage() -> list[Ancestor]:
    """The parent, its parent and so on."""
    return list(_from_proc() if sys.platform == "linux" else _from_psutil())


def _from_proc() -> Iterator[Ancestor]:
    proc = Proc()
    try:
        boot = proc.boot()
    except OSError:
        return
    pid = os.getppid()
    for _ in range(_GENERATIONS_MAX):
        stat = proc.stat(pid) if pid > 0 else None
        if stat is None:
            return
        said = programs.read(proc.command_line(pid))
        started = start_ms(boot.boot_ms, stat.start_ticks, boot.ticks_per_second)
        yield Ancestor(pid, started, said.program)
        pid = stat.parent


def _from_psutil() -> Iterator[Ancestor]:
    import psutil

    for parent in psutil.Process().parents()[:_GENERATIONS_MAX]:
        try:
            raw = b"\0".join(os.fsencode(each) for each in parent.cmdline()) + b"\0"
            yield Ancestor(parent.pid, int(parent.create_time() * 1000), programs.read(raw).program)
        except psutil.Error:
            continue
