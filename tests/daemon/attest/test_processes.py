"""Whether processes still run, whose children they are, and whose sockets listen."""

import os
import socket
import sys
import time
from contextlib import ExitStack
from dataclasses import replace

import pytest

from mail4agent_core.mail.process import ProcessId, start_ms
from mail4agent_daemon.attest import Attested, Attestor, Boot
from mail4agent_daemon.attest.linux import LinuxKernel
from mail4agent_daemon.attest.proc import Proc, Stat

from .conftest import NOBODY, Caller, Callers, Door, as_root

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="asks the Linux kernel")


def process_of(pid: int) -> ProcessId:
    """A process, read without the attestor."""
    stat = Proc().stat(pid)
    assert stat is not None
    return ProcessId(Proc().boot().boot_id, pid, stat.start_ticks)


@pytest.mark.promise("identity.alive-is-exact")
def test_only_the_exact_process_is_alive(attestor: Attestor, caller: Caller):
    """Another start, another run of the machine, another pid are not it."""
    process = process_of(caller.pid)
    assert attestor.alive(process)
    assert not attestor.alive(replace(process, start_ticks=process.start_ticks + 1))
    assert not attestor.alive(replace(process, start_ticks=process.start_ticks - 1))
    assert not attestor.alive(replace(process, boot_id="00000000-0000-0000-0000-000000000000"))
    assert not attestor.alive(replace(process, pid=2**22 + 1))


@pytest.mark.promise("identity.alive-is-exact")
def test_a_process_that_ended_is_not_alive(attestor: Attestor, caller: Caller):
    """Not as a zombie, and not when that is gone."""
    process = process_of(caller.pid)
    caller.kill(reap=False)
    assert not attestor.alive(process)
    caller.kill()
    assert not attestor.alive(process)


@pytest.mark.promise("identity.clocks-change-nothing")
async def test_a_clock_that_is_moved_changes_no_process(stack: ExitStack, caller: Caller, door: Door):
    """With the machine's clock an hour on, or back, the same process has the same id and is alive."""

    class Moved(Proc):
        moved_ms = 0

        def boot(self) -> Boot:
            boot = super().boot()
            return replace(boot, boot_ms=boot.boot_ms + self.moved_ms)

    proc = Moved()
    attestor = Attestor(LinuxKernel(proc))
    stack.callback(attestor.close)
    seen: list[ProcessId] = []
    began = attestor.boot()
    for hours in (0, 1, -1):
        proc.moved_ms = hours * 3_600_000
        caller.do("connect", name=str(hours), to=door.address)
        answer = await attestor.attest(door.accept())
        assert isinstance(answer, Attested)
        seen.append(answer.process)
        assert attestor.alive(answer.process)
        assert attestor.boot().boot_ms == began.boot_ms + proc.moved_ms
    assert len(set(seen)) == 1


def test_a_start_is_counted_by_the_clock_that_nobody_sets(attestor: Attestor, callers: Callers):
    """Ticks are those of the clock since the machine began, and the boot's time makes them the wall's."""
    ticks = attestor.boot().ticks_per_second
    before = time.clock_gettime(time.CLOCK_BOOTTIME)
    process = process_of(callers().pid)
    after = time.clock_gettime(time.CLOCK_BOOTTIME)
    assert int(before * ticks) <= process.start_ticks <= after * ticks
    # The boot is told in whole seconds.
    assert abs(start_ms(attestor.boot().boot_ms, process.start_ticks, ticks) - time.time() * 1000) < 60_000


@pytest.mark.promise("identity.ancestors-are-proved")
def test_ancestors_are_the_kernels(attestor: Attestor, caller: Caller):
    """A child's are its parent, this process, and so on up, the nearest first, each with its start."""
    child = process_of(caller.do("fork"))
    found = [each.process for each in attestor.ancestors(child)]
    assert found[:3] == [process_of(pid) for pid in (caller.pid, os.getpid(), os.getppid())]
    assert [each.start_ticks for each in found] == sorted((each.start_ticks for each in found), reverse=True)
    assert all(map(attestor.alive, found))


@pytest.mark.promise("identity.ancestors-are-proved")
def test_another_process_with_the_pid_has_no_ancestors(attestor: Attestor, caller: Caller):
    """They are the process's own, not the pid's."""
    process = process_of(caller.pid)
    assert attestor.ancestors(replace(process, start_ticks=process.start_ticks + 1)) == []
    assert attestor.ancestors(replace(process, boot_id="another")) == []
    caller.kill()
    assert attestor.ancestors(process) == []


@pytest.mark.promise("identity.ancestors-are-proved")
def test_a_parent_that_began_after_its_child_is_none(caller: Caller):
    """It has the pid of a parent that ended."""

    class Younger(Proc):
        def stat(self, pid: int) -> Stat | None:
            stat = super().stat(pid)
            return replace(stat, start_ticks=2**60) if stat and pid == os.getpid() else stat

    assert LinuxKernel(Younger()).ancestors(process_of(caller.pid)) == []


@pytest.mark.promise("identity.ancestors-are-proved")
def test_a_child_that_gets_another_parent_meanwhile_keeps_none(caller: Caller):
    """What was read of the first parent is thrown away when the child has another by then."""

    class Adopted(Proc):
        reads = 0

        def stat(self, pid: int) -> Stat | None:
            stat = super().stat(pid)
            if stat and pid == caller.pid:
                self.reads += 1
                return replace(stat, parent=1) if self.reads > 1 else stat
            return stat

    assert LinuxKernel(Adopted()).ancestors(process_of(caller.pid)) == []


def test_ancestors_end_at_a_bound():
    """A chain without end is followed 64 steps."""

    class Endless(Proc):
        def stat(self, pid: int) -> Stat | None:
            return Stat(parent=os.getpid(), start_ticks=7, ended=False)

    kernel = LinuxKernel(Endless())
    assert len(kernel.ancestors(ProcessId(kernel.boot().boot_id, os.getpid(), 7))) == 64


@pytest.mark.promise("identity.listener-is-its-users")
def test_a_listener_is_its_users(attestor: Attestor, stack: ExitStack):
    """At either loopback address, at all addresses, and at a mapped one; nobody's once it is closed."""
    for at in ("127.0.0.1", "0.0.0.0", "::1", "::", "::ffff:127.0.0.1"):
        with socket.socket(socket.AF_INET6 if ":" in at else socket.AF_INET) as listener:
            listener.bind((at, 0))
            listener.listen()
            port = listener.getsockname()[1]
            assert attestor.listener_uid(port) == os.getuid(), at
        assert attestor.listener_uid(port) is None


@pytest.mark.promise("identity.listener-is-its-users")
def test_what_does_not_listen_on_loopback_is_nobodys_listener(attestor: Attestor, door: Door):
    """Another address of the loopback net, a bound socket, a connection, and no port at all."""
    with socket.create_server(("127.9.9.9", 0)) as other, socket.socket() as bound, socket.socket() as client:
        bound.bind(("127.0.0.1", 0))
        client.connect(door.address)
        ports = [each.getsockname()[1] for each in (other, bound, client)]
        assert [attestor.listener_uid(port) for port in (*ports, 0)] == [None] * 4


@as_root
@pytest.mark.promise("identity.listener-is-its-users")
def test_a_port_with_listeners_of_two_users_is_nobodys(attestor: Attestor, caller: Caller, door: Door):
    """Which of them is rung the address decides, and nobody vouches for it."""
    caller.do("become", uid=NOBODY)
    _, port, *_ = caller.do("listen", name="a", at=["::1", 0])
    assert attestor.listener_uid(port) == NOBODY
    with socket.create_server(("127.0.0.1", port)):
        assert attestor.listener_uid(port) is None
