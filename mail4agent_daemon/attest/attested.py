"""What attesting a connection gives: the process that made it, or a short word for why that is not known."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Literal

from mail4agent_api.mail import SessionCorroborated
from mail4agent_core.mail.process import ProcessId

NO_UID = -1
"""The user of a process where the system has no such numbers (Windows): equal to nobody's."""

Program = Literal["claude", "codex", "gemini", "opencode"]
"""An agent program that is known by its command line."""


@dataclass(frozen=True, slots=True)
class Attested:
    """One process, as the kernel knows it.

    ``process`` and ``uid`` are proved. ``exe`` is the kernel's word, too, but a process can run another
    program at any time. What is ``corroborated``, and ``program``, the process may have made up.
    """

    process: ProcessId
    uid: int
    """The user under which the connection was made; of an ancestor, its effective user. NO_UID on Windows."""
    exe: str | None
    """Path of the program: one line of at most 512 bytes; None where it may not be read."""
    corroborated: SessionCorroborated
    """Model, provider's session and working directory, each one line of at most 512 bytes or None."""
    program: Program | None
    """The known agent program that its command line is one of, if any."""


class Reason(StrEnum):
    """Why a connection could not be attested."""

    GONE = "gone"
    """The connection or the process behind it ended, or another has its place by now."""
    SHARED = "shared"
    """Several processes hold the connection's descriptor: it could be any of them."""
    NOT_LOCAL = "not_local"
    """The other end is not on this machine, or not in this network namespace."""
    UNREADABLE = "unreadable"
    """The process runs as a user whose descriptors this one may not see, or /proc is missing or hidden."""
    NO_OWNER = "no_owner"
    """No process that can be seen holds it: another container, or a process that changed its user."""
    UNSUPPORTED = "unsupported"
    """The system, or the kernel, has no means for it."""
    LATE = "late"
    """The answer took longer than a caller should wait."""


@dataclass(frozen=True, slots=True)
class Unattested:
    """No process was proved."""

    reason: Reason


@dataclass(frozen=True, slots=True)
class Boot:
    """One run of the machine."""

    boot_id: str
    """The kernel's own text for it."""
    boot_ms: int
    """When it began, in Unix milliseconds, as the clock says now: a corrected clock says otherwise."""
    ticks_per_second: int
    """The unit of ``ProcessId.start_ticks``."""
