"""The kernel's proof of which process made a connection.

Nothing that a process says of itself takes part in it: not its name, not its command line, not its files.
"""

import asyncio
import socket
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from functools import cached_property
from typing import Protocol

from mail4agent_core.mail.process import ProcessId
from mail4agent_daemon.peer import Peer, peer_of

from .attested import NO_UID, Attested, Boot, Program, Reason, Unattested

__all__ = ["NO_UID", "Attested", "Attestor", "Boot", "Kernel", "Program", "Reason", "Unattested"]

_THREADS = 2
_LATE_SECS = 5.0
#: A program that starts another holds all its descriptors twice for a moment, until the other has begun; so
#: what is shared is looked at again, after these seconds, before it is called so.
_SHARED_AGAIN_SECS = (0.002, 0.01, 0.05)


class Kernel(Protocol):
    """What an operating system can tell. Every method may raise OSError where it cannot be asked."""

    def boot(self) -> Boot:
        """This run of the machine."""
        ...

    def alive(self, process: ProcessId) -> bool:
        """Whether the process runs."""
        ...

    def ancestors(self, process: ProcessId) -> list[Attested]:
        """The process's parents, the nearest first."""
        ...

    def listener_uid(self, port: int) -> int | None:
        """The user whose socket listens on a TCP port of loopback."""
        ...

    def tcp(self, peer: Peer) -> Attested | Unattested:
        """The process behind a TCP connection; may take milliseconds."""
        ...

    def unix(self, peer: Peer) -> Attested | Unattested:
        """The process behind a UNIX connection; takes no time to speak of."""
        ...


def kernel_here() -> Kernel | Unattested:
    """The kernel of this machine, or why it cannot be asked."""
    if sys.platform == "linux":
        from .linux import LinuxKernel

        try:
            return LinuxKernel()
        except OSError:
            return Unattested(Reason.UNREADABLE)
    if sys.platform in {"darwin", "win32"}:
        from .portable import PortableKernel

        return PortableKernel()
    return Unattested(Reason.UNSUPPORTED)


class Attestor:
    """Attests connections, each once, and says of processes whether they still run."""

    def __init__(
        self,
        kernel: Kernel | Unattested | None = None,
        *,
        late_secs: float = _LATE_SECS,
        shared_again_secs: Sequence[float] = _SHARED_AGAIN_SECS,
    ) -> None:
        self._kernel = kernel_here() if kernel is None else kernel
        self._late_secs = late_secs
        self._shared_again_secs = shared_again_secs
        self._threads = ThreadPoolExecutor(_THREADS, "attest")

    def close(self) -> None:
        """Let the threads go. What is being attested ends as late."""
        self._threads.shutdown(wait=False, cancel_futures=True)

    async def attest(self, peer: Peer) -> Attested | Unattested:
        """The process that made the connection, or why that is not known; raises for nothing the kernel says.

        A UNIX connection is answered at once, a TCP connection from a thread. To be called once for each
        connection, when it is first of use.
        """
        if isinstance(self._kernel, Unattested):
            return self._kernel
        if peer.transport == "unix":
            try:
                return self._kernel.unix(peer)
            except OSError:
                return Unattested(Reason.UNSUPPORTED)
        try:
            async with asyncio.timeout(self._late_secs):
                return await self._tcp(self._kernel, peer)
        except TimeoutError:
            return Unattested(Reason.LATE)

    async def _tcp(self, kernel: Kernel, peer: Peer) -> Attested | Unattested:
        for secs in (*self._shared_again_secs, None):
            answer = await self._in_thread(kernel, peer)
            if secs is None or answer != Unattested(Reason.SHARED):
                return answer
            await asyncio.sleep(secs)
        raise AssertionError("unreachable: the last turn returns")

    async def _in_thread(self, kernel: Kernel, peer: Peer) -> Attested | Unattested:
        try:
            return await asyncio.get_running_loop().run_in_executor(self._threads, _asked, kernel, peer)
        except RuntimeError:  # the threads were let go
            return Unattested(Reason.LATE)

    def alive(self, process: ProcessId) -> bool:
        """Whether the process runs: this run of the machine, this pid, this start, and not a zombie."""
        if isinstance(self._kernel, Unattested):
            return False
        try:
            return self._kernel.alive(process)
        except OSError:
            return False

    def ancestors(self, process: ProcessId) -> list[Attested]:
        """The process's parent, its parent and so on, at most 64, as far as each is proved to be one."""
        if isinstance(self._kernel, Unattested):
            return []
        try:
            return self._kernel.ancestors(process)
        except OSError:
            return []

    def listener_uid(self, port: int) -> int | None:
        """The user whose socket listens on a TCP port of loopback; None when nobody or several do."""
        if isinstance(self._kernel, Unattested):
            return None
        try:
            return self._kernel.listener_uid(port)
        except OSError:
            return None

    def boot(self) -> Boot:
        """This run of the machine. Raises OSError where the kernel does not say."""
        if isinstance(self._kernel, Unattested):
            raise OSError("this system does not say when it began")
        return self._kernel.boot()

    @property
    def available(self) -> bool:
        """Whether connections of this machine's processes can be attested here."""
        return self.reason is None

    @cached_property
    def reason(self) -> Reason | None:
        """Why they cannot, found out once by a connection of this process to itself; None when they can."""
        if isinstance(self._kernel, Unattested):
            return self._kernel.reason
        answer = _attest_own_connection(self._kernel)
        return answer.reason if isinstance(answer, Unattested) else None


def _asked(kernel: Kernel, peer: Peer) -> Attested | Unattested:
    try:
        return kernel.tcp(peer)
    except OSError:
        return Unattested(Reason.UNSUPPORTED)


def _attest_own_connection(kernel: Kernel) -> Attested | Unattested:
    try:
        with (
            closing(socket.create_server(("127.0.0.1", 0))) as listener,
            closing(socket.create_connection(listener.getsockname(), timeout=_LATE_SECS)),
        ):
            accepted, _ = listener.accept()
            with closing(accepted):
                return _asked(kernel, peer_of(accepted))
    except OSError:
        return Unattested(Reason.UNSUPPORTED)
