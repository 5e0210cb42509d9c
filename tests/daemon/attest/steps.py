"""The kernel asked step by step, with something happening before any one of the steps."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from mail4agent_daemon.attest.attested import Attested, Unattested
from mail4agent_daemon.attest.diag import Diag, SocketEntry
from mail4agent_daemon.attest.ends import Endpoint
from mail4agent_daemon.attest.linux import LinuxKernel
from mail4agent_daemon.attest.proc import Pin, Proc, Stat
from mail4agent_daemon.peer import Peer


class Steps:
    """Counts the questions, and does something before one of them."""

    def __init__(self) -> None:
        self.taken = 0
        self.at = -1
        self.then: Callable[[], object] = lambda: None
        self.about: set[int] = set()
        """Looking into one of these is a step; into the others it would be too many."""

    def take(self) -> None:
        """The next question."""
        if self.taken == self.at:
            self.then()
        self.taken += 1

    def begin(self, at: int = -1, then: Callable[[], object] = lambda: None) -> None:
        """Count from nought, and do something before the question ``at``."""
        self.taken, self.at, self.then = 0, at, then


class SteppedProc(Proc):
    """The processes, each question a step."""

    def __init__(self, steps: Steps) -> None:
        super().__init__()
        self._steps = steps

    def processes(self) -> dict[int, int]:
        """A step."""
        self._steps.take()
        return super().processes()

    def sockets(self, pid: int) -> dict[int, str]:
        """A step, for some."""
        if pid in self._steps.about:
            self._steps.take()
        return super().sockets(pid)

    def holds(self, pid: int, descriptor: str, inode: int) -> bool:
        """A step."""
        self._steps.take()
        return super().holds(pid, descriptor, inode)

    def stat(self, pid: int) -> Stat | None:
        """A step."""
        self._steps.take()
        return super().stat(pid)

    def exe(self, pid: int) -> str | None:
        """A step."""
        self._steps.take()
        return super().exe(pid)

    @contextmanager
    def pinned(self, pid: int) -> Iterator[Pin | None]:
        """A step, and one more once it is pinned."""
        self._steps.take()
        with super().pinned(pid) as pin:
            self._steps.take()
            yield pin


class SteppedDiag(Diag):
    """The sockets, each question a step."""

    def __init__(self, steps: Steps) -> None:
        self._steps = steps

    def connection(self, local: Endpoint, remote: Endpoint) -> SocketEntry | None:
        """A step."""
        self._steps.take()
        return super().connection(local, remote)

    def unix_peer(self, inode: int, cookie: int) -> int | None:
        """A step."""
        self._steps.take()
        return super().unix_peer(inode, cookie)


class SteppedKernel(LinuxKernel):
    """Linux, step by step."""

    def __init__(self) -> None:
        self.steps = Steps()
        super().__init__(SteppedProc(self.steps), SteppedDiag(self.steps))

    def ask(
        self, peer: Peer, at: int = -1, then: Callable[[], object] = lambda: None
    ) -> tuple[Attested | Unattested, int]:
        """The answer when something happens before the step ``at``, and how many steps were taken."""
        self.steps.begin(at, then)
        answer = self.tcp(peer) if peer.transport == "tcp" else self.unix(peer)
        return answer, self.steps.taken
