"""Which process made a TCP connection."""

import os
import socket
import sys
from contextlib import ExitStack
from dataclasses import replace

import pytest

from mail4agent_core.mail.process import ProcessId
from mail4agent_daemon.attest import Attested, Attestor, Reason, Unattested
from mail4agent_daemon.attest.linux import LinuxKernel
from mail4agent_daemon.attest.proc import Proc
from mail4agent_daemon.peer import Peer

from .conftest import NOBODY, Caller, Callers, Door, as_root, own_source

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="asks the Linux kernel")


async def pid_behind(attestor: Attestor, peer: Peer) -> int:
    """The pid of the process that was proved."""
    answer = await attestor.attest(peer)
    assert isinstance(answer, Attested), answer
    return answer.process.pid


@pytest.mark.promise("identity.process-is-proved")
@pytest.mark.parametrize(
    ("at", "to"),
    [("127.0.0.1", "127.0.0.1"), ("::1", "::1"), ("::", "127.0.0.1"), ("127.0.0.1", "::ffff:127.0.0.1")],
    ids=["v4", "v6", "v4 at a dual socket", "mapped v4 at a v4 socket"],
)
async def test_own_process_is_proved_over_every_family(
    attestor: Attestor, stack: ExitStack, at: str, to: str
):
    """The test itself connects, and is named with its own pid, start and user."""
    listener = stack.enter_context(socket.socket(socket.AF_INET6 if ":" in at else socket.AF_INET))
    if at == "::":
        listener.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
    listener.bind((at, 0))
    listener.listen()
    client = stack.enter_context(socket.socket(socket.AF_INET6 if ":" in to else socket.AF_INET))
    client.connect((to, listener.getsockname()[1]))
    answer = await attestor.attest(Door(listener, stack).accept())
    stat = Proc().stat(os.getpid())
    assert stat is not None
    assert isinstance(answer, Attested)
    assert answer.process == ProcessId(attestor.boot().boot_id, os.getpid(), stat.start_ticks)
    assert answer.uid == os.getuid()
    assert answer.exe == os.path.realpath(sys.executable)


@pytest.mark.promise("identity.process-is-proved")
async def test_processes_are_told_apart(attestor: Attestor, callers: Callers, door: Door):
    """Two processes are two, and every further connection of each is the same one."""
    one, two = callers(), callers()
    seen: list[int] = []
    for name in ("a", "b", "c"):
        for caller in (one, two):
            caller.do("connect", name=name, to=door.address)
            seen.append(await pid_behind(attestor, door.accept()))
    assert seen == [one.pid, two.pid] * 3


@pytest.mark.promise("identity.nothing-is-inherited")
async def test_a_closed_connection_is_nobodys(attestor: Attestor, caller: Caller, door: Door):
    """What the client closed, reset or died with is gone, whichever it was."""
    caller.do("connect", name="closed", to=door.address)
    caller.do("connect", name="reset", to=door.address)
    caller.do("connect", name="left", to=door.address)
    peers = [door.accept() for _ in range(3)]
    caller.do("close", name="closed")
    caller.do("close", name="reset", reset=True)
    caller.kill()
    assert [await attestor.attest(peer) for peer in peers] == [Unattested(Reason.GONE)] * 3


async def test_a_client_that_has_said_all_is_still_there(attestor: Attestor, caller: Caller, door: Door):
    """A half-closed connection waits for its answer, and is its process's."""
    caller.do("connect", name="a", to=door.address)
    peer = door.accept()
    caller.do("half_close", name="a")
    assert await pid_behind(attestor, peer) == caller.pid


@pytest.mark.promise("identity.shared-is-nobodys")
async def test_a_connection_that_a_child_holds_too_is_nobodys(attestor: Attestor, caller: Caller, door: Door):
    """Until the child ends; then it is the one that is left."""
    caller.do("connect", name="a", to=door.address)
    peer = door.accept()
    child = caller.do("fork")
    assert await attestor.attest(peer) == Unattested(Reason.SHARED)
    caller.do("let_go", pid=child)
    assert await pid_behind(attestor, peer) == caller.pid


@pytest.mark.promise("identity.shared-is-nobodys")
async def test_a_child_of_a_process_seen_before_is_found(attestor: Attestor, caller: Caller, door: Door):
    """A process that was attested already is not believed to be alone with its next connection."""
    caller.do("connect", name="a", to=door.address)
    assert await pid_behind(attestor, door.accept()) == caller.pid
    caller.do("connect", name="b", to=door.address)
    caller.do("fork")
    assert await attestor.attest(door.accept()) == Unattested(Reason.SHARED)


@pytest.mark.promise("identity.shared-is-nobodys")
async def test_a_parent_that_was_seen_before_it_made_the_socket_is_found(
    attestor: Attestor, caller: Caller, callers: Callers, door: Door
):
    """A child is found first; who made the socket for it was looked into before there was one."""
    other = callers()
    other.do("connect", name="a", to=door.address)
    assert await pid_behind(attestor, door.accept()) == other.pid
    caller.do("connect", name="b", to=door.address)
    child = caller.do("fork")
    other.do("connect", name="c", to=door.address)
    peer, last = door.accept(), door.accept()
    assert await pid_behind(attestor, last) == other.pid
    assert await attestor.attest(peer) == Unattested(Reason.SHARED)
    caller.do("close", name="b")
    assert await pid_behind(attestor, peer) == child


@pytest.mark.promise("identity.nothing-is-inherited")
async def test_a_port_that_another_process_took_gives_it_nothing(
    attestor: Attestor, callers: Callers, door: Door
):
    """An old connection is never its successor's, who has the same four numbers; and the other way round."""
    one, two = callers(), callers()
    port = own_source()
    one.do("connect", name="a", to=door.address, source=port)
    old = door.accept()
    one.do("close", name="a", reset=True)
    two.do("connect", name="a", to=door.address, source=port)
    successor = door.accept()
    assert (old.remote, old.local) == (successor.remote, successor.local)
    assert await attestor.attest(old) == Unattested(Reason.GONE)
    assert await pid_behind(attestor, successor) == two.pid
    two.do("close", name="a", reset=True)
    one.do("connect", name="a", to=door.address, source=port)
    assert await attestor.attest(successor) == Unattested(Reason.GONE)
    assert await pid_behind(attestor, door.accept()) == one.pid


async def test_who_begins_to_connect_from_a_port_is_not_who_was_there(attestor: Attestor, door: Door):
    """A listener on the client's port is not taken for the client."""
    with socket.socket() as client:
        client.connect(door.address)
        port = client.getsockname()[1]
        peer = door.accept()
    with socket.socket() as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        there = replace(peer, remote=listener.getsockname())
        assert await attestor.attest(there) == Unattested(Reason.GONE)
    assert await attestor.attest(replace(peer, remote=("127.0.0.1", port))) == Unattested(Reason.GONE)


@pytest.mark.promise("identity.no-kernel-no-proof")
@pytest.mark.parametrize(
    ("remote", "local"),
    [("192.0.2.1", "127.0.0.1"), ("192.0.2.1", "192.0.2.2"), ("2001:db8::1", "::1"), ("no address", "::1")],
)
async def test_another_machine_is_not_attested(attestor: Attestor, remote: str, local: str):
    """Only a client on this machine has a process here."""
    peer = Peer("tcp", (remote, 5), (local, 6), cookie=1)
    assert await attestor.attest(peer) == Unattested(Reason.NOT_LOCAL)


async def test_without_the_kernels_number_of_our_socket_nothing_is_proved(
    attestor: Attestor, caller: Caller, door: Door
):
    """A kernel without socket cookies cannot tell a connection from its successor."""
    caller.do("connect", name="a", to=door.address)
    assert await attestor.attest(replace(door.accept(), cookie=None)) == Unattested(Reason.UNSUPPORTED)


@as_root
@pytest.mark.promise("identity.process-is-proved")
async def test_another_users_process_is_proved_to_root(attestor: Attestor, caller: Caller, door: Door):
    """The user is the one under whom the connection was made."""
    caller.do("connect", name="a", to=door.address)
    assert await pid_behind(attestor, door.accept()) == caller.pid
    caller.do("become", uid=NOBODY)
    caller.do("connect", name="b", to=door.address)
    answer = await attestor.attest(door.accept())
    assert isinstance(answer, Attested)
    assert (answer.process.pid, answer.uid) == (caller.pid, NOBODY)


@as_root
async def test_a_process_that_left_root_since_is_found(attestor: Attestor, caller: Caller, door: Door):
    """What root made is looked for in everybody's processes, because root can become anybody."""
    caller.do("connect", name="a", to=door.address)
    peer = door.accept()
    caller.do("become", uid=NOBODY)
    assert await pid_behind(attestor, peer) == caller.pid


@pytest.mark.promise("identity.seen-processes-cost-little")
async def test_a_process_seen_before_is_looked_into_alone(stack: ExitStack, callers: Callers, door: Door):
    """The first connection looks into all processes, the next into the process itself and those that came."""

    class Counted(Proc):
        looked: list[int] = []  # noqa: RUF012  # one test's

        def sockets(self, pid: int) -> dict[int, str]:
            self.looked.append(pid)
            return super().sockets(pid)

    proc = Counted()
    attestor = Attestor(LinuxKernel(proc))
    stack.callback(attestor.close)
    caller = callers()
    there = set(proc.processes())
    caller.do("connect", name="a", to=door.address)
    assert await pid_behind(attestor, door.accept()) == caller.pid
    assert len(proc.looked) > 1
    proc.looked.clear()
    caller.do("connect", name="b", to=door.address)
    assert await pid_behind(attestor, door.accept()) == caller.pid
    assert [pid for pid in proc.looked if pid in there] == [caller.pid]
