"""macOS and Windows, through psutil. Experimental.

The same questions as on Linux, to weaker witnesses: no number tells a connection from a later one with the
same two ends, and no handle holds on to a process. So everything is asked twice, and what changed in between
is nobody's; but a connection that had a successor before the first question is the successor's. A UNIX socket
is not attested.
"""

import os
import sys
from collections.abc import Iterator
from dataclasses import dataclass

import psutil

from mail4agent_core.mail.process import ProcessId
from mail4agent_daemon.peer import Peer

from . import programs
from .attested import NO_UID, Attested, Boot, Reason, Unattested
from .ends import Endpoint, Ends, address_of, ends_of, is_loopback
from .line import line_of

_ANCESTORS_MAX = 64
_TICKS_PER_SECOND = 1_000
_COMMAND_LINE_MAX_BYTES = 65_536
_CONNECTED = frozenset(
    {
        psutil.CONN_ESTABLISHED,
        psutil.CONN_FIN_WAIT1,
        psutil.CONN_FIN_WAIT2,
        psutil.CONN_CLOSE_WAIT,
        psutil.CONN_CLOSING,
        psutil.CONN_LAST_ACK,
    }
)


@dataclass(frozen=True, slots=True)
class _Entry:
    """One TCP socket of one process."""

    local: Endpoint
    remote: Endpoint | None
    status: str
    pid: int


class PortableKernel:
    """Attests by the system's table of sockets."""

    def __init__(self) -> None:
        # A start is told in Unix milliseconds, so that a run of the machine needs no telling apart.
        self._boot_id = sys.platform

    def boot(self) -> Boot:
        """Counted from 1970, in milliseconds, on every run of the machine."""
        return Boot(self._boot_id, 0, _TICKS_PER_SECOND)

    def alive(self, process: ProcessId) -> bool:
        """Whether the process runs."""
        if process.boot_id != self._boot_id:
            return False
        try:
            found = psutil.Process(process.pid)
            return _start(found) == process.start_ticks and found.status() != psutil.STATUS_ZOMBIE
        except psutil.Error:
            return False

    def ancestors(self, process: ProcessId) -> list[Attested]:
        """The process's parents that still run, the nearest first."""
        found: list[Attested] = []
        child = process
        while len(found) < _ANCESTORS_MAX and (parent := self._parent(child)) is not None:
            found.append(parent)
            child = parent.process
        return found

    def _parent(self, child: ProcessId) -> Attested | None:
        if not self.alive(child):
            return None
        try:
            ppid = psutil.Process(child.pid).ppid()
            if ppid <= 0 or ppid == child.pid:
                return None
            parent = self._attested(psutil.Process(ppid))
            # A parent that began after its child is another process with the parent's pid.
            if parent.process.start_ticks > child.start_ticks:
                return None
            return parent if psutil.Process(child.pid).ppid() == ppid and self.alive(child) else None
        except psutil.Error:
            return None

    def listener_uid(self, port: int) -> int | None:
        """The user whose process listens on a TCP port of loopback; None when nobody or several do."""
        try:
            pids = {
                entry.pid
                for entry in _entries()
                if entry.status == psutil.CONN_LISTEN
                and entry.local[1] == port
                and is_loopback(entry.local[0])
            }
            uids = {_uid(psutil.Process(pid)) for pid in pids} - {NO_UID}
        except psutil.Error:
            return None
        return uids.pop() if len(uids) == 1 else None

    def unix(self, peer: Peer) -> Attested | Unattested:  # noqa: ARG002  # as on Linux
        """None: what these systems tell of a UNIX socket's peer differs, and is not proved here."""
        return Unattested(Reason.UNSUPPORTED)

    def tcp(self, peer: Peer) -> Attested | Unattested:
        """The process behind a TCP connection."""
        ends = ends_of(peer)
        if isinstance(ends, Unattested):
            return ends
        try:
            return self._behind(ends)
        except psutil.AccessDenied:
            return Unattested(Reason.UNREADABLE)
        except psutil.NoSuchProcess:
            return Unattested(Reason.GONE)
        except psutil.Error:
            return Unattested(Reason.UNSUPPORTED)

    def _behind(self, ends: Ends) -> Attested | Unattested:
        before = _holders(ends)
        if not before:
            return Unattested(Reason.NO_OWNER if _is_open(ends) else Reason.GONE)
        pid, *others = before
        if others:
            return Unattested(Reason.SHARED)
        attested = self._attested(psutil.Process(pid))
        if _holders(ends) != {pid} or not _is_open(ends) or not self.alive(attested.process):
            return Unattested(Reason.GONE)
        return attested

    def _attested(self, process: psutil.Process) -> Attested:
        said = programs.read(_command_line(process))
        try:
            cwd = line_of(os.fsencode(process.cwd())) or None
        except (psutil.Error, OSError):
            cwd = None
        try:
            exe = line_of(os.fsencode(process.exe())) or None
        except (psutil.Error, OSError):
            exe = None
        return Attested(
            process=ProcessId(self._boot_id, process.pid, _start(process)),
            uid=_uid(process),
            exe=exe,
            corroborated=programs.corroborated(said, cwd),
            program=said.program,
        )


def _start(process: psutil.Process) -> int:
    """When it began, in Unix milliseconds."""
    return round(process.create_time() * _TICKS_PER_SECOND)


def _uid(process: psutil.Process) -> int:
    if sys.platform == "win32":
        return NO_UID
    return process.uids().effective


def _command_line(process: psutil.Process) -> bytes:
    try:
        arguments = process.cmdline()
    except (psutil.Error, OSError):
        return b""
    return b"".join(os.fsencode(argument) + b"\0" for argument in arguments)[:_COMMAND_LINE_MAX_BYTES]


def _holders(ends: Ends) -> set[int]:
    """The processes that hold the client's end."""
    return {
        entry.pid
        for entry in _entries()
        if (entry.local, entry.remote) == (ends.client, ends.server) and entry.status in _CONNECTED
    }


def _is_open(ends: Ends) -> bool:
    """Whether this process still has its own end."""
    return any(
        (entry.local, entry.remote) == (ends.server, ends.client) and entry.status in _CONNECTED
        for entry in _entries_of(psutil.Process())
    )


def _entries() -> Iterator[_Entry]:
    """The TCP sockets of all processes; on macOS, where only root sees all, of those that may be seen."""
    try:
        for found in psutil.net_connections("tcp"):
            entry = _entry(found.laddr, found.raddr, found.status, found.pid)
            if entry is not None:
                yield entry
    except psutil.AccessDenied:
        for process in psutil.process_iter():
            try:
                yield from _entries_of(process)
            except psutil.Error:
                continue


def _entries_of(process: psutil.Process) -> Iterator[_Entry]:
    for found in process.net_connections("tcp"):
        entry = _entry(found.laddr, found.raddr, found.status, process.pid)
        if entry is not None:
            yield entry


def _entry(local: object, remote: object, status: str, pid: int | None) -> _Entry | None:
    near = _endpoint(local)
    return None if near is None or not pid else _Entry(near, _endpoint(remote), status, pid)


def _endpoint(address: object) -> Endpoint | None:
    """psutil's pair of a text and a port; its empty pair for an end that there is not."""
    if not isinstance(address, tuple) or len(address) != 2:
        return None
    text, port = address
    found = address_of(str(text))
    return None if found is None else (found, int(port))
