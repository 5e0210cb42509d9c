"""Run in a pid namespace of its own: a process ends and another gets its pid, before any step of attesting.

Prints how many attempts there were, or what went wrong.
"""

import os
import signal
import socket
import sys
import tempfile
from contextlib import ExitStack, closing
from pathlib import Path

from mail4agent_core.mail.process import ProcessId
from mail4agent_daemon import peer
from mail4agent_daemon.attest.attested import Attested
from mail4agent_daemon.peer import Peer
from tests.daemon.attest.conftest import Caller, Door, own_source
from tests.daemon.attest.steps import SteppedKernel

LAST_PID = Path("/proc/sys/kernel/ns_last_pid")


def attempt(kernel: SteppedKernel, door: Door, at: int, kind: str) -> bool:
    """One process that connects and is followed, before the step ``at``, by another with its pid and port.

    When it is bequeathed, a child of the first still holds the connection. Returns whether there was such a
    step. Raises AssertionError when the second is taken for the first.
    """
    unix = isinstance(door.address, str)
    with ExitStack() as stack:
        first = Caller()
        stack.callback(first.close)
        kernel.steps.about = {first.pid}
        port = None if unix else own_source()
        first.do("connect", name="a", to=door.address, source=port)
        one = door.accept()
        stat = kernel._proc.stat(first.pid)
        assert stat is not None
        started = ProcessId(kernel.boot().boot_id, first.pid, stat.start_ticks)
        after: list[Peer] = []
        children: list[int] = []

        def follow() -> None:
            if kind == "bequeathed":
                children.append(first.do("fork", outlive=True))
                stack.callback(os.kill, children[0], signal.SIGKILL)
            elif kind == "tcp":
                first.do("close", name="a", reset=True)
            first.kill()
            LAST_PID.write_text(str(first.pid - 1))
            second = Caller()
            stack.callback(second.close)
            assert second.pid == first.pid, "the kernel gave another pid"
            second.do("connect", name="a", to=door.address, source=None if children else port)
            after.append(door.accept())
            if not unix:
                stack.callback(second.do, "close", name="a", reset=True)

        answer, steps = kernel.ask(one, at, follow)
        if isinstance(answer, Attested):
            assert answer.process == started or answer.process.pid in children, (
                f"step {at}: the second was taken for the first"
            )
        elif not after:
            raise AssertionError(f"step {at}: {answer}")
        for successor in after:
            other, _ = kernel.ask(successor)
            assert isinstance(other, Attested), f"step {at}: the second itself is {other}"
            assert other.process.pid == started.pid
            assert other.process != started
        return at < steps


def main() -> None:
    """Attempt each kind that is named."""
    attempts = 0
    for kind in sys.argv[1:]:
        if kind == "unnumbered":
            peer._NUMBERED = False
        kernel = SteppedKernel()
        with ExitStack() as stack:
            if kind in {"tcp", "bequeathed"}:
                listener = stack.enter_context(closing(socket.create_server(("127.0.0.1", 0))))
            else:
                folder = stack.enter_context(tempfile.TemporaryDirectory())
                listener = stack.enter_context(socket.socket(socket.AF_UNIX))
                listener.bind(f"{folder}/door")
                listener.listen()
            door = Door(listener, stack)
            at = 0
            while attempt(kernel, door, at, kind):
                at += 1
                attempts += 1
    sys.stdout.write(str(attempts))


if __name__ == "__main__":
    main()
