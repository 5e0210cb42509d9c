"""Linux: the process behind a connection, proved by the kernel step by step.

Over TCP the addresses are this connection's while its own socket, known by its cookie, is still there: no
other client can have connected from them meanwhile. The order closes every gap: the client's socket (inode,
uid, cookie); who holds it; hold on to that process; its start; it still holds the socket; the client's socket
is still the same, and ours; the process has not ended, so that all this was about one process.

Over a UNIX socket the kernel kept who connected. Where it numbers processes for good (Linux 6.9) that number
is compared; before, the process must still hold the client's end.
"""

import os

from mail4agent_core.mail.process import ProcessId
from mail4agent_daemon.peer import Peer

from . import programs
from .attested import Attested, Boot, Reason, Unattested
from .diag import Diag, SocketEntry
from .ends import Ends, ends_of, is_loopback
from .holders import Held, Holders
from .proc import Pin, Proc, Stat

_ANCESTORS_MAX = 64


class LinuxKernel:
    """Attests by /proc, netlink and process descriptors. Raises OSError where /proc is not our own.

    Every method does where the kernel refuses a question.
    """

    def __init__(self, proc: Proc | None = None, diag: Diag | None = None) -> None:
        self._proc = proc or Proc()
        self._diag = diag or Diag()
        self._holders = Holders(self._proc)
        if not self._proc.is_own() or not hasattr(os, "pidfd_open"):
            raise OSError("/proc is not this process's own, or this Python knows no process descriptors")
        self._boot_id = self._proc.boot().boot_id

    def boot(self) -> Boot:
        """This run of the machine, by the clock as it is now."""
        return self._proc.boot()

    def alive(self, process: ProcessId) -> bool:
        """Whether the process runs."""
        if process.boot_id != self._boot_id:
            return False
        stat = self._proc.stat(process.pid)
        return stat is not None and stat.start_ticks == process.start_ticks and not stat.ended

    def ancestors(self, process: ProcessId) -> list[Attested]:
        """The process's parents that still run, the nearest first."""
        found: list[Attested] = []
        child = process
        while len(found) < _ANCESTORS_MAX and (parent := self._parent(child)) is not None:
            found.append(parent)
            child = parent.process
        return found

    def _parent(self, child: ProcessId) -> Attested | None:
        before = self._proc.stat(child.pid)
        if before is None or not self._is(child, before) or before.parent <= 0:
            return None
        with self._proc.pinned(before.parent) as pin:
            stat = self._proc.stat(before.parent)
            # A parent that began after its child is another process with the parent's pid.
            if pin is None or stat is None or stat.ended or stat.start_ticks > child.start_ticks:
                return None
            uids = self._proc.uids(before.parent)
            if not uids:
                return None
            attested = self._facts(before.parent, stat, uids[1])
            after = self._proc.stat(child.pid)
            # A child whose parent ended has another one at once: it has this one still, so this one is it.
            if after is None or not self._is(child, after) or after.parent != before.parent or pin.ended():
                return None
        return attested

    def _is(self, process: ProcessId, stat: Stat) -> bool:
        return process.boot_id == self._boot_id and stat.start_ticks == process.start_ticks

    def listener_uid(self, port: int) -> int | None:
        """The user whose socket listens on a TCP port of loopback; None when nobody or several do."""
        uids = {entry.uid for entry in self._diag.listeners(port) if is_loopback(entry.local[0])}
        return uids.pop() if len(uids) == 1 else None

    def tcp(self, peer: Peer) -> Attested | Unattested:
        """The process behind a TCP connection."""
        ends = ends_of(peer)
        if isinstance(ends, Unattested):
            return ends
        if peer.cookie is None:
            return Unattested(Reason.UNSUPPORTED)
        client = self._client(ends)
        if client is None:
            return Unattested(Reason.GONE)
        found = self._holders.find(client.inode, client.uid)
        if not found.holders:
            if not self._is_still(ends, peer.cookie, client):
                return Unattested(Reason.GONE)
            foreign = os.geteuid() not in {0, client.uid}
            return Unattested(Reason.UNREADABLE if found.hidden or foreign else Reason.NO_OWNER)
        holder, *others = found.holders
        return Unattested(Reason.SHARED) if others else self._proved(ends, peer.cookie, client, holder)

    def _client(self, ends: Ends) -> SocketEntry | None:
        """The socket at the client's end, if some process holds it."""
        client = self._diag.connection(ends.client, ends.server)
        return client if client is not None and client.connected and client.inode else None

    def _is_still(self, ends: Ends, cookie: int, client: SocketEntry) -> bool:
        """Whether the client's socket is the same, and was this connection's all the time.

        Our own is asked for last. While it is there, the kernel gives it whatever another client sends from
        that address, and the other never connects: so none had the client's place before.
        """
        if self._client(ends) != client:
            return False
        server = self._diag.connection(ends.server, ends.client)
        return server is not None and server.cookie == cookie

    def _proved(self, ends: Ends, cookie: int, client: SocketEntry, held: Held) -> Attested | Unattested:
        with self._proc.pinned(held.pid) as pin:
            stat = self._proc.stat(held.pid)
            if pin is None or stat is None or stat.ended:
                return Unattested(Reason.GONE)
            if not self._proc.holds(held.pid, held.descriptor, client.inode):
                return Unattested(Reason.GONE)
            if not self._is_still(ends, cookie, client):
                return Unattested(Reason.GONE)
            return self._concluded(held.pid, pin, stat, client.uid)

    def _concluded(self, pid: int, pin: Pin, stat: Stat, uid: int) -> Attested | Unattested:
        """The facts, if they and all before were about one process."""
        attested = self._facts(pid, stat, uid)
        # The pid was the pinned process's from the pin to here, and with it the start and all the rest.
        if pin.ended():
            return Unattested(Reason.GONE)
        self._holders.attested(pid, uid)
        return attested

    def unix(self, peer: Peer) -> Attested | Unattested:
        """The process that connected over a UNIX socket."""
        if peer.uid is None:
            return Unattested(Reason.UNSUPPORTED)
        if peer.pid is None:
            return Unattested(Reason.NO_OWNER)
        with self._proc.pinned(peer.pid) as pin:
            if pin is None:
                return Unattested(Reason.GONE)
            stat = self._proc.stat(peer.pid)
            if stat is None or stat.ended:
                return Unattested(Reason.GONE)
            if peer.process is None:
                refused = self._holds_other_end(peer)
                if refused is not None:
                    return refused
            elif pin.number != peer.process:
                return Unattested(Reason.GONE)
            return self._concluded(peer.pid, pin, stat, peer.uid)

    def _holds_other_end(self, peer: Peer) -> Unattested | None:
        """Whether the pid is still the connector's: then it holds the other end of our socket."""
        if peer.pid is None or peer.inode is None or peer.cookie is None:
            return Unattested(Reason.UNSUPPORTED)
        other = self._diag.unix_peer(peer.inode, peer.cookie)
        if other is None:
            return Unattested(Reason.GONE)
        return None if other in self._proc.sockets(peer.pid) else Unattested(Reason.GONE)

    def _facts(self, pid: int, stat: Stat, uid: int) -> Attested:
        said = programs.read(self._proc.command_line(pid))
        return Attested(
            process=ProcessId(self._boot_id, pid, stat.start_ticks),
            uid=uid,
            exe=self._proc.exe(pid),
            corroborated=programs.corroborated(said, self._proc.cwd(pid)),
            program=said.program,
        )
