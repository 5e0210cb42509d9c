"""Attesting a connection: over a UNIX socket, and over TCP from a process seen before or from a strange one.

Linux only. Other processes of the same user hold thousands of descriptors, which a first look goes through.
"""

import contextlib
import os
import socket
import subprocess
import sys
import tempfile
from collections import deque
from collections.abc import Iterator
from time import perf_counter, process_time

import load
from measure import Report, Series, arguments, in_turn, percentile

from mail4agent_daemon.attest import Attested, Attestor
from mail4agent_daemon.attest.linux import LinuxKernel
from mail4agent_daemon.attest.proc import Proc, UnreadableError
from mail4agent_daemon.peer import Peer, peer_of

CONNECTIONS = 50
HOLDERS = 10
#: Descriptors of each holder, beside the three that everybody has.
HELD = 500

#: Connections that the caller and this process keep open, as an agent would.
KEPT = 30

HOLDER = """
import os, sys
held = [os.open(os.devnull, os.O_RDONLY) for _ in range(int(sys.argv[1]))]
print(flush=True)
sys.stdin.read()
"""
#: Connects once for each line it is sent, to the address in the line.
CALLER = """
import collections, socket, sys
kept = collections.deque(maxlen=int(sys.argv[1]))
for line in sys.stdin:
    where = line.split()
    one = socket.socket(socket.AF_UNIX if len(where) == 1 else socket.AF_INET)
    one.connect(where[0] if len(where) == 1 else (where[0], int(where[1])))
    kept.append(one)
    print(flush=True)
"""


class Program:
    """Another process, which answers a line with a line."""

    def __init__(self, text: str, *more: str) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-S", "-c", text, *more],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    @property
    def pid(self) -> int:
        """Its pid."""
        return self._process.pid

    def answer(self) -> None:
        """Wait for a line."""
        assert self._process.stdout is not None
        if not self._process.stdout.readline():
            raise RuntimeError("the other process ended")

    def ask(self, line: str) -> None:
        """Send a line, and wait for one."""
        assert self._process.stdin is not None
        self._process.stdin.write(f"{line}\n")
        self._process.stdin.flush()
        self.answer()

    def close(self) -> None:
        """End it."""
        self._process.kill()
        self._process.communicate()


class Door:
    """A listener, and the connections that a process makes to it."""

    def __init__(self, listener: socket.socket) -> None:
        self._listener = listener
        where = listener.getsockname()
        self._line = where if isinstance(where, str) else f"{where[0]} {where[1]}"
        self._kept = deque[socket.socket](maxlen=KEPT)

    def call(self, caller: Program) -> Peer:
        """One more connection."""
        caller.ask(self._line)
        accepted, _ = self._listener.accept()
        self._kept.append(accepted)
        return peer_of(accepted)


@contextlib.contextmanager
def doors() -> Iterator[tuple[Door, Door]]:
    """One over TCP, one over UNIX."""
    with (
        socket.create_server(("127.0.0.1", 0)) as tcp,
        socket.socket(socket.AF_UNIX) as unix,
        tempfile.TemporaryDirectory() as folder,
    ):
        unix.bind(f"{folder}/door")
        unix.listen()
        yield Door(tcp), Door(unix)


async def timed(attestor: Attestor, peer: Peer, pid: int) -> tuple[float, float]:
    """Milliseconds of one answer, which must be right: by the clock, and of the processor."""
    begun, used = perf_counter(), process_time()
    answer = await attestor.attest(peer)
    took = perf_counter() - begun, process_time() - used
    if not isinstance(answer, Attested) or answer.process.pid != pid:
        raise RuntimeError(f"{pid} was answered {answer}")
    return took[0] * 1000, took[1] * 1000


def figures(took: list[tuple[float, float]]) -> dict[str, float]:
    """A round."""
    clock = [each for each, _ in took]
    used = [each for _, each in took]
    return {
        "p50 ms": percentile(clock, 0.5),
        "p99 ms": percentile(clock, 0.99),
        "cpu p50 ms": percentile(used, 0.5),
    }


async def again(attestor: Attestor, door: Door, caller: Program) -> dict[str, float]:
    """Connections of a process that was attested before."""
    await attestor.attest(door.call(caller))
    return figures([await timed(attestor, door.call(caller), caller.pid) for _ in range(CONNECTIONS)])


async def first(door: Door, caller: Program) -> dict[str, float]:
    """Connections of processes of which nothing is known: each by an attestor that has seen nothing."""
    took: list[tuple[float, float]] = []
    for _ in range(CONNECTIONS):
        attestor = Attestor(LinuxKernel())
        took.append(await timed(attestor, door.call(caller), caller.pid))
        attestor.close()
    return figures(took)


def accepting(door: Door, caller: Program) -> dict[str, float]:
    """What is read of each connection when it is accepted."""
    caller.ask(door._line)  # noqa: SLF001  # the same call, its last part timed
    accepted, _ = door._listener.accept()  # noqa: SLF001
    with accepted:
        begun = perf_counter()
        for _ in range(1_000):
            peer_of(accepted)
        return {"us": (perf_counter() - begun) * 1000}


def descriptors() -> int:
    """How many all processes of this user hold."""
    proc, found = Proc(), 0
    for pid in proc.processes():
        if os.getuid() in {0, proc.owner(pid)}:
            with contextlib.suppress(OSError, UnreadableError):
                found += len(os.listdir(f"/proc/{pid}/fd"))  # noqa: PTH208
    return found


async def main() -> None:
    options = arguments(__doc__ or "", rounds=5)
    if sys.platform != "linux":
        print("attest: measured on Linux alone")
        return
    held = f"{HOLDERS * HELD:,}"
    report = Report(
        "attest", f"{CONNECTIONS} connections of another process, {held} descriptors held by more"
    )
    with contextlib.ExitStack() as stack:
        tcp, unix = stack.enter_context(doors())
        caller = Program(CALLER, str(KEPT))
        stack.callback(caller.close)
        few = descriptors()
        alone = await in_turn(options.rounds, {f"TCP, first, {few} descriptors": lambda: first(tcp, caller)})
        for _ in range(HOLDERS):
            holder = Program(HOLDER, str(HELD))
            stack.callback(holder.close)
            holder.answer()
        seen = Attestor()
        stack.callback(seen.close)
        many = descriptors()
        names = "UNIX", "TCP, seen before", f"TCP, first, {many} descriptors"
        series = await in_turn(
            options.rounds,
            {
                names[0]: lambda: again(seen, unix, caller),
                names[1]: lambda: again(seen, tcp, caller),
                names[2]: lambda: first(tcp, caller),
            },
        )
        accepts = [Series(kind) for kind in ("TCP", "UNIX")]
        for _ in range(options.rounds):
            for one, door in zip(accepts, (tcp, unix), strict=True):
                one.rounds.append(accepting(door, caller))
    report.table("attesting", [*alone.values(), *series.values()])
    report.table("what is read when a connection is accepted", accepts)
    report.at_most("over a UNIX socket, p50 ms", series[names[0]].median("p50 ms"), 0.1)
    report.at_most("over TCP, seen before, p50 ms", series[names[1]].median("p50 ms"), 1)
    report.at_most("over TCP, first, p50 ms", series[names[2]].median("p50 ms"), 10 + many / 100)
    for one in accepts:
        report.at_most(f"accepting over {one.subject}, us", one.median("us"), 10)
    report.note("a later request on the same connection is not attested again")
    report.finish()


if __name__ == "__main__":
    load.run(main())
