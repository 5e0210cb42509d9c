"""What macOS and Windows go by, as far as Linux can show it."""

import os
import socket
import sys
from contextlib import ExitStack
from dataclasses import replace

import psutil
import pytest

from mail4agent_daemon.attest import Attested, Attestor, Reason, Unattested
from mail4agent_daemon.attest.portable import PortableKernel
from mail4agent_daemon.peer import Peer

from .conftest import Callers, Door

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the other processes of these tests fork")


@pytest.fixture(params=["all at once", "one by one"])
def kernel(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> PortableKernel:
    """A kernel that tells of all sockets, as Windows, or of each process's own, as macOS does to users."""
    if request.param == "one by one":

        def refuse(kind: str) -> None:
            raise psutil.AccessDenied

        monkeypatch.setattr(psutil, "net_connections", refuse)
    return PortableKernel()


@pytest.fixture
def attestor(kernel: PortableKernel, stack: ExitStack) -> Attestor:
    """An attestor of it."""
    one = Attestor(kernel)
    stack.callback(one.close)
    return one


@pytest.mark.parametrize("at", ["127.0.0.1", "::1"])
async def test_own_process_is_proved(attestor: Attestor, stack: ExitStack, at: str):
    """With its pid, its start in Unix milliseconds, and its user."""
    listener = stack.enter_context(socket.socket(socket.AF_INET6 if ":" in at else socket.AF_INET))
    listener.bind((at, 0))
    listener.listen()
    stack.enter_context(socket.create_connection(listener.getsockname()[:2]))
    answer = await attestor.attest(Door(listener, stack).accept())
    assert isinstance(answer, Attested)
    assert answer.process.pid == os.getpid()
    assert answer.process.start_ticks == round(psutil.Process().create_time() * 1000)
    assert (attestor.boot().boot_ms, attestor.boot().ticks_per_second) == (0, 1000)
    assert answer.uid == os.geteuid()
    assert answer.exe == os.path.realpath(sys.executable)


async def test_processes_are_told_apart(attestor: Attestor, callers: Callers, door: Door):
    """Two callers are two, and this process, at the other end of both, is neither."""
    one, two = callers(), callers()
    for caller in (one, two):
        caller.do("connect", name="a", to=door.address)
    pids: list[int] = []
    for _ in range(2):
        answer = await attestor.attest(door.accept())
        assert isinstance(answer, Attested)
        pids.append(answer.process.pid)
    assert pids == [one.pid, two.pid]


async def test_a_closed_connection_is_gone(attestor: Attestor, callers: Callers, door: Door):
    """What was reset has no ends."""
    caller = callers()
    caller.do("connect", name="a", to=door.address)
    peer = door.accept()
    caller.do("close", name="a", reset=True)
    assert await attestor.attest(peer) == Unattested(Reason.GONE)


async def test_a_connection_that_a_child_holds_too_is_nobodys(
    monkeypatch: pytest.MonkeyPatch, stack: ExitStack, callers: Callers, door: Door
):
    """Where sockets are told process by process; Linux tells one holder of each when asked for all."""

    def refuse(kind: str) -> None:
        raise psutil.AccessDenied

    monkeypatch.setattr(psutil, "net_connections", refuse)
    attestor = Attestor(PortableKernel(), shared_again_secs=())
    stack.callback(attestor.close)
    caller = callers()
    caller.do("connect", name="a", to=door.address)
    caller.do("fork")
    assert await attestor.attest(door.accept()) == Unattested(Reason.SHARED)


async def test_what_cannot_be_proved_has_a_reason(attestor: Attestor):
    """Another machine, and a UNIX socket."""
    assert await attestor.attest(Peer("tcp", ("192.0.2.1", 5), ("127.0.0.1", 6))) == Unattested(
        Reason.NOT_LOCAL
    )
    assert await attestor.attest(Peer("unix", pid=1, uid=1)) == Unattested(Reason.UNSUPPORTED)


async def test_only_the_exact_process_is_alive(attestor: Attestor, callers: Callers, door: Door):
    """Another start is not it; nor is a zombie, nor what ended."""
    caller = callers()
    caller.do("connect", name="a", to=door.address)
    answer = await attestor.attest(door.accept())
    assert isinstance(answer, Attested)
    process = answer.process
    assert attestor.alive(process)
    assert not attestor.alive(replace(process, start_ticks=process.start_ticks + 1))
    assert not attestor.alive(replace(process, boot_id="another"))
    assert [each.process.pid for each in attestor.ancestors(process)][:2] == [os.getpid(), os.getppid()]
    caller.kill(reap=False)
    assert not attestor.alive(process)
    caller.kill()
    assert not attestor.alive(process)
    assert attestor.ancestors(process) == []


def test_a_listener_is_its_users(attestor: Attestor, door: Door):
    """While it listens."""
    port = door.address[1]
    assert attestor.listener_uid(port) == os.getuid()
    door.listener.close()
    assert attestor.listener_uid(port) is None
