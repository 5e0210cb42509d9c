"""What the attestor makes of any kernel's answers."""

import threading
from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from mail4agent_api.mail import SessionCorroborated
from mail4agent_core.mail.process import ProcessId
from mail4agent_daemon.attest import Attested, Attestor, Boot, Reason, Unattested
from mail4agent_daemon.peer import Peer
from tests.process import BOUND_SECS

SOMEONE = Attested(ProcessId("boot", 7, 70), 1000, None, SessionCorroborated(), None)
TCP = Peer("tcp", ("127.0.0.1", 5), ("127.0.0.1", 6), cookie=1)


class Told:
    """A kernel that answers what it was told to, one after the other."""

    def __init__(self, *answers: Attested | Unattested | OSError) -> None:
        self.answers: Iterator[Attested | Unattested | OSError] = iter(answers)
        self.threads: list[str] = []

    def tcp(self, peer: Peer) -> Attested | Unattested:
        """The next answer."""
        self.threads.append(threading.current_thread().name)
        answer = next(self.answers)
        if isinstance(answer, OSError):
            raise answer
        return answer

    unix = tcp

    def boot(self) -> Boot:
        """As if /proc were gone."""
        raise OSError

    def alive(self, process: ProcessId) -> bool:
        """As if /proc were gone."""
        raise OSError

    def ancestors(self, process: ProcessId) -> list[Attested]:
        """As if /proc were gone."""
        raise OSError

    def listener_uid(self, port: int) -> int | None:
        """As if it could not be asked."""
        raise OSError


@pytest.fixture
def stack() -> Iterator[ExitStack]:
    """What is closed after the test."""
    with ExitStack() as one:
        yield one


def attesting(stack: ExitStack, kernel: Told | Unattested, late_secs: float = BOUND_SECS) -> Attestor:
    """An attestor of that kernel, which looks at what is shared again at once, twice."""
    attestor = Attestor(kernel, late_secs=late_secs, shared_again_secs=(0, 0))
    stack.callback(attestor.close)
    return attestor


async def test_what_is_shared_for_a_moment_is_looked_at_again(stack: ExitStack):
    """A program that starts another holds its descriptors twice until the other has begun."""
    shared = Unattested(Reason.SHARED)
    assert await attesting(stack, Told(shared, SOMEONE)).attest(TCP) == SOMEONE
    assert await attesting(stack, Told(shared, shared, SOMEONE)).attest(TCP) == SOMEONE


@pytest.mark.promise("identity.shared-is-nobodys")
async def test_what_stays_shared_is_nobodys(stack: ExitStack):
    """After a bounded number of looks."""
    shared = Unattested(Reason.SHARED)
    assert await attesting(stack, Told(shared, shared, shared)).attest(TCP) == shared


async def test_a_unix_connection_is_answered_without_a_thread(stack: ExitStack):
    """And a TCP connection from one, so that the loop goes on."""
    kernel = Told(SOMEONE, SOMEONE)
    attestor = attesting(stack, kernel)
    await attestor.attest(Peer("unix", pid=1, uid=1))
    await attestor.attest(TCP)
    first, second = kernel.threads
    assert first == threading.current_thread().name
    assert second.startswith("attest")


@pytest.mark.promise("identity.no-kernel-no-proof")
async def test_a_kernel_that_does_not_answer_in_time_leaves_the_caller_late(stack: ExitStack):
    """The caller goes on; the thread ends when the kernel lets it."""
    released = threading.Event()

    class Stuck(Told):
        def tcp(self, peer: Peer) -> Attested | Unattested:
            released.wait(BOUND_SECS)
            return SOMEONE

    attestor = attesting(stack, Stuck(), late_secs=0.01)
    stack.callback(released.set)
    assert await attestor.attest(TCP) == Unattested(Reason.LATE)


@pytest.mark.promise("identity.no-kernel-no-proof")
async def test_a_kernel_that_fails_is_no_exception(stack: ExitStack):
    """Neither over TCP nor over UNIX, nor in what else is asked of it."""
    attestor = attesting(stack, Told(OSError(), OSError()))
    assert await attestor.attest(TCP) == Unattested(Reason.UNSUPPORTED)
    assert await attestor.attest(Peer("unix", pid=1, uid=1)) == Unattested(Reason.UNSUPPORTED)
    assert not attestor.alive(SOMEONE.process)
    assert attestor.ancestors(SOMEONE.process) == []
    assert attestor.listener_uid(1) is None


@pytest.mark.promise("identity.no-kernel-no-proof")
async def test_a_system_without_means_says_so(stack: ExitStack):
    """Everything is answered, and the boot alone is an OSError."""
    nowhere = Unattested(Reason.UNREADABLE)
    attestor = attesting(stack, nowhere)
    assert await attestor.attest(TCP) == nowhere
    assert not attestor.alive(SOMEONE.process)
    assert attestor.ancestors(SOMEONE.process) == []
    assert attestor.listener_uid(1) is None
    assert (attestor.available, attestor.reason) == (False, Reason.UNREADABLE)
    with pytest.raises(OSError, match="does not say"):
        attestor.boot()


async def test_an_attestor_that_was_closed_attests_nobody(stack: ExitStack):
    """At the daemon's end nothing waits for a thread."""
    attestor = attesting(stack, Told(SOMEONE))
    attestor.close()
    assert await attestor.attest(TCP) == Unattested(Reason.LATE)
