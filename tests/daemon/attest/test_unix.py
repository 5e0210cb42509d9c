"""Which process made a connection over a UNIX socket."""

import os
import socket
import sys
from dataclasses import replace

import pytest

from mail4agent_daemon import peer
from mail4agent_daemon.attest import Attested, Attestor, Reason, Unattested
from mail4agent_daemon.peer import Peer

from .conftest import NOBODY, Caller, Door, as_root

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="asks the Linux kernel")


@pytest.fixture(params=[True, False], ids=["numbered", "unnumbered"])
def kernels(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Peers as the kernel at hand tells them, and as one does that does not number its processes."""
    if not request.param:
        monkeypatch.setattr(peer, "_NUMBERED", False)
    elif not peer._NUMBERED:
        pytest.skip("this kernel does not number its processes")


@pytest.mark.usefixtures("kernels")
@pytest.mark.promise("identity.process-is-proved")
async def test_processes_are_proved(attestor: Attestor, caller: Caller, unix_door: Door):
    """The test itself and another process, each with its own pid and user."""
    with socket.socket(socket.AF_UNIX) as own:
        own.connect(unix_door.address)
        caller.do("connect", name="a", to=unix_door.address)
        answers = [await attestor.attest(unix_door.accept()) for _ in range(2)]
    assert [(answer.process.pid, answer.uid) for answer in answers if isinstance(answer, Attested)] == [
        (os.getpid(), os.getuid()),
        (caller.pid, os.getuid()),
    ]


@pytest.mark.usefixtures("kernels")
@pytest.mark.parametrize("reaped", [True, False], ids=["reaped", "zombie"])
@pytest.mark.promise("identity.nothing-is-inherited")
async def test_a_process_that_ended_is_gone(
    attestor: Attestor, caller: Caller, unix_door: Door, reaped: bool
):
    """Whether its parent has heard of it or not."""
    caller.do("connect", name="a", to=unix_door.address)
    one = unix_door.accept()
    caller.kill(reap=reaped)
    assert await attestor.attest(one) == Unattested(Reason.GONE)


@pytest.mark.usefixtures("kernels")
async def test_a_connection_that_came_from_a_process_that_was_gone_is_nobodys(
    attestor: Attestor, caller: Caller, unix_door: Door
):
    """Who connected and ended before it was accepted is gone, though a child of it holds the connection."""
    caller.do("orphan", path=unix_door.address)
    assert await attestor.attest(unix_door.accept()) == Unattested(Reason.GONE)


@pytest.mark.usefixtures("kernels")
async def test_a_connection_that_a_child_holds_too_is_its_connectors(
    attestor: Attestor, caller: Caller, unix_door: Door
):
    """The kernel kept who connected: a child with the descriptor speaks as its parent."""
    caller.do("connect", name="a", to=unix_door.address)
    caller.do("fork")
    answer = await attestor.attest(unix_door.accept())
    assert isinstance(answer, Attested)
    assert answer.process.pid == caller.pid


async def test_what_an_older_kernel_cannot_tell_is_asked_of_the_socket_itself(
    attestor: Attestor, caller: Caller, unix_door: Door, monkeypatch: pytest.MonkeyPatch
):
    """Without a number of the process, another socket's cookie or none proves nothing."""
    monkeypatch.setattr(peer, "_NUMBERED", False)
    caller.do("connect", name="a", to=unix_door.address)
    one = unix_door.accept()
    assert one.cookie is not None
    assert await attestor.attest(replace(one, cookie=one.cookie + 1)) == Unattested(Reason.GONE)
    assert await attestor.attest(replace(one, cookie=None)) == Unattested(Reason.UNSUPPORTED)


@as_root
async def test_another_users_process_is_proved(attestor: Attestor, caller: Caller, unix_door: Door):
    """The user is the one who connected."""
    caller.do("become", uid=NOBODY)
    caller.do("connect", name="a", to=unix_door.address)
    answer = await attestor.attest(unix_door.accept())
    assert isinstance(answer, Attested)
    assert (answer.process.pid, answer.uid) == (caller.pid, NOBODY)


@pytest.mark.promise("identity.no-kernel-no-proof")
async def test_a_process_that_this_one_cannot_name_is_nobodys(attestor: Attestor):
    """A pid of another namespace is none here; a system that tells no credentials supports nothing."""
    assert await attestor.attest(Peer("unix", uid=0)) == Unattested(Reason.NO_OWNER)
    assert await attestor.attest(Peer("unix")) == Unattested(Reason.UNSUPPORTED)
