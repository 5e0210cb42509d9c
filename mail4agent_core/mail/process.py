"""One process of one machine, and the session id that it has. Knows no operating system.

A pid alone comes back, and so does a start time after a restart of the machine: only all three name a
process.
"""

import hashlib
from dataclasses import dataclass

from mail4agent_api.mail import SessionId

#: Linux counts a process's start in these, whatever the machine; other systems give milliseconds as they are.
TICKS_PER_SECOND = 100

_PID_BYTES = 4
_START_BYTES = 8
_HEX_DIGITS = 32


@dataclass(frozen=True, slots=True)
class ProcessId:
    """A process, told from every other that ever ran on the machine."""

    boot_id: str
    """Which run of the machine; the kernel's own text for it."""
    pid: int
    """1 to 2**32-1."""
    start_ticks: int
    """When it began, in clock ticks since the machine did: no correction of a clock moves it."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """What the kernel and its own command line say of a process; texts are cut to what the contract takes."""

    process: ProcessId
    exe: str | None = None
    provider_session_id: str | None = None
    model: str | None = None
    cwd: str | None = None


def start_ms(boot_ms: int, start_ticks: int, ticks_per_second: int = TICKS_PER_SECOND) -> int:
    """Unix milliseconds of a process's start, given when the machine began."""
    return boot_ms + start_ticks * 1000 // ticks_per_second


def session_id_of(pid: int, start_ms: int) -> SessionId:
    """The session id of the process ``pid`` that began at ``start_ms``, in Unix milliseconds.

    32 hexadecimal digits of a SHA-256: the original's ids, so that its clients' records stay true. Raises
    OverflowError for a pid that is no u32 and for a start that is no u64.
    """
    named = pid.to_bytes(_PID_BYTES, "little") + start_ms.to_bytes(_START_BYTES, "little")
    return SessionId(f"s-{hashlib.sha256(named).hexdigest()[:_HEX_DIGITS]}")
