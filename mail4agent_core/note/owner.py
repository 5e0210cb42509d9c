"""Who drives a run: the original's ``owner.lock``, made and judged as it makes and judges it.

The file names a process by its id and its start, so that a process id that is used again is not taken for the
holder. One whose process is gone is taken over; that is serialised by the lock of the journal.
"""

from __future__ import annotations

import errno
import os
import socket
from collections.abc import Generator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import jiter

from .faults import LedgerError, RunOwnedError
from .files import locked, opened, why
from .instants import spelled
from .paths import RunPaths
from .record import json_line

#: What the file says of us.
VERB: Final = "mail4agent"
_MAX_BYTES: Final = 4_096
#: A process id that no kernel gives, and that ``kill`` does not take.
_PID_END: Final = 2**31
_NOBODY: Final = "names nobody that could be asked; remove it when nothing drives the run"


@dataclass(frozen=True, slots=True)
class Holder:
    """The process that drives a run."""

    pid: int
    host: str
    verb: str

    @property
    def is_ours(self) -> bool:
        """Whether it is a driver of this package."""
        return self.verb == VERB

    def __str__(self) -> str:
        return f"process {self.pid} on {self.host} ({self.verb})"


def started(pid: int) -> str | None:
    """When a process started, as the original spells it; None where that cannot be known."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text("ascii", errors="replace")
    except OSError:
        return None
    # The name of a process may hold spaces and parentheses; what follows its last one does not.
    return f"linux-proc-stat:{stat.rpartition(')')[2].split()[19]}"


def holder_of(paths: RunPaths) -> Holder | None:
    """Who drives the run now, None when nobody does. Raises LedgerError for a file that names nobody."""
    try:
        with opened(paths.owner) as handle:
            raw = os.pread(handle, _MAX_BYTES, 0)
    except FileNotFoundError:
        return None
    return _living(raw, paths.owner)


def _living(raw: bytes, path: Path) -> Holder | None:
    try:
        value: Any = jiter.from_json(raw)
        pid, host = value["pid"], value["host"]
    except (ValueError, KeyError, TypeError):
        raise LedgerError(path, _NOBODY) from None
    if type(pid) is not int or not 0 < pid < _PID_END or not isinstance(host, str):
        raise LedgerError(path, _NOBODY)
    verb: Any = value.get("verb")
    holder = Holder(pid, host, verb if isinstance(verb, str) else "another program")
    if host != socket.gethostname():
        return holder
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return None
    except PermissionError:
        return holder
    begun: Any = value.get("started")
    known = started(pid)
    same = not isinstance(begun, str) or known is None or begun == known
    return holder if same else None


@contextmanager
def owned(paths: RunPaths, *, now_ms: int) -> Generator[None]:
    """Drive the run for the length of the block. Raises RunOwnedError while another does, LedgerError."""
    _acquire(paths, now_ms)
    try:
        yield
    finally:
        paths.owner.unlink(missing_ok=True)


def _acquire(paths: RunPaths, now_ms: int) -> None:
    pid = os.getpid()
    ours = {"pid": pid, "host": socket.gethostname(), "acquired_at": spelled(now_ms), "verb": VERB}
    begun = started(pid)
    line = json_line(ours if begun is None else {**ours, "started": begun}).rstrip(b"\n")
    try:
        with opened(paths.journal, write=True, create=True) as journal, locked(journal, paths.journal):
            holder = holder_of(paths)
            if holder is not None:
                raise RunOwnedError(paths.run, str(holder))
            paths.owner.unlink(missing_ok=True)
            _place(paths.owner, line)
    except OSError as failure:
        raise LedgerError(paths.owner, why(failure)) from failure


def _place(path: Path, line: bytes) -> None:
    """Write the file in one step: nobody finds it half written. Raises OSError."""
    draft = path.with_name(f"{path.name}.tmp.{os.getpid()}")
    handle = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    try:
        os.write(handle, line)
    finally:
        os.close(handle)
    try:
        path.hardlink_to(draft)
    except OSError as failure:
        if failure.errno not in (errno.EPERM, errno.ENOTSUP, errno.EMLINK):
            raise
        # A file system without links; a rename would replace what another program placed meanwhile.
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        try:
            os.write(handle, line)
        finally:
            os.close(handle)
    finally:
        with suppress(OSError):
            draft.unlink()
