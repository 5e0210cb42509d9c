"""Nothing that happens between two of the questions makes one process pass for another."""

import sys

import pytest

from mail4agent_daemon.attest import Attested, Reason, Unattested
from mail4agent_daemon.peer import Peer

from .conftest import Caller, Callers, Door, as_root, own_source, run_elsewhere
from .steps import SteppedKernel

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="asks the Linux kernel")


@pytest.mark.promise("identity.nothing-is-inherited")
@pytest.mark.parametrize("seen", [False, True], ids=["first", "seen before"])
def test_a_port_taken_between_two_questions_gives_nothing(callers: Callers, door: Door, seen: bool):
    """Before every question in turn the client goes and another process takes its port and connects."""
    kernel, one, two = SteppedKernel(), callers(), callers()
    for at in range(99):
        if not seen:
            kernel = SteppedKernel()
        kernel.steps.about = {one.pid, two.pid}
        one.do("connect", name="a", to=door.address, source=own_source())
        peer, after = door.accept(), list[Peer]()

        def follow(after: list[Peer] = after) -> None:
            one.do("close", name="a", reset=True)
            two.do("connect", name="a", to=door.address, source=own_source())
            after.append(door.accept())

        answer, _ = kernel.ask(peer, at, follow)
        assert isinstance(answer, Unattested) or answer.process.pid == one.pid
        if not after:
            break
        other, _ = kernel.ask(after[0])
        assert isinstance(other, Attested)
        assert other.process.pid == two.pid
        two.do("close", name="a", reset=True)
    assert 10 < at < 99


@pytest.mark.parametrize("transport", ["tcp", "unix"])
def test_a_process_that_ends_between_two_questions_is_gone(
    callers: Callers, ways: dict[str, Door], transport: str
):
    """Before every question in turn the caller is killed, left as a zombie: it is gone, or was proved."""
    way = ways[transport]
    for at in range(99):
        kernel, one, killed = SteppedKernel(), callers(), list[int]()
        kernel.steps.about = {one.pid}
        one.do("connect", name="a", to=way.address)
        peer = way.accept()

        def kill(one: Caller = one, killed: list[int] = killed) -> None:
            one.kill(reap=False)
            killed.append(one.pid)

        answer, _ = kernel.ask(peer, at, kill)
        if not killed:
            break
        assert answer == Unattested(Reason.GONE) or (
            isinstance(answer, Attested) and answer.process.pid == one.pid
        )
        assert kernel.ask(peer)[0] == Unattested(Reason.GONE)
    assert 3 < at < 99


@as_root
@pytest.mark.promise("identity.nothing-is-inherited")
# Bequeathed: a child of the caller still holds the connection. Unnumbered: a UNIX socket of a kernel that
# does not number its processes.
@pytest.mark.parametrize("kind", ["tcp", "bequeathed", "unix", "unnumbered"])
def test_a_pid_that_comes_back_gives_nothing(kind: str):
    """In a pid namespace another process gets the caller's pid and port, before every question in turn."""
    said = run_elsewhere(["unshare", "--pid", "--fork", "--mount-proc"], "own_pids", kind)
    assert int(said) > 3
