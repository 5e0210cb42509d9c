"""Listeners of the test's own, and other processes that call them."""

import json
import os
import select
import socket
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from mail4agent_daemon.attest import Attestor
from mail4agent_daemon.attest.linux import LinuxKernel
from mail4agent_daemon.peer import Peer, peer_of
from tests.process import BOUND_SECS

PROGRAM = Path(__file__).with_name("caller.py")
NOBODY = 65_534


class Caller:
    """Another process that does what it is told, one thing after the other."""

    def __init__(
        self,
        python: str = sys.executable,
        *arguments: str,
        environment: Mapping[str, str] | None = None,
        cwd: Path | None = None,
        launcher: Sequence[str] = (),
    ) -> None:
        self._process = subprocess.Popen(
            [*launcher, python, "-S", str(PROGRAM), *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, **(environment or {})},
            cwd=cwd,
        )

    @property
    def pid(self) -> int:
        """Its pid."""
        return self._process.pid

    def do(self, verb: str, **arguments: Any) -> Any:
        """Have it do one thing; its answer."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps({"verb": verb, **arguments}).encode() + b"\n")
        self._process.stdin.flush()
        assert select.select([self._process.stdout], [], [], BOUND_SECS)[0], f"{verb} was not done in time"
        line = self._process.stdout.readline()
        assert line, f"{verb} ended the caller"
        return json.loads(line)

    def kill(self, *, reap: bool = True) -> None:
        """End it as the kernel would."""
        self._process.kill()
        if reap:
            self._process.wait(BOUND_SECS)
        else:
            os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOWAIT)

    def close(self) -> None:
        """End it and what belongs to it."""
        self.kill()
        for pipe in (self._process.stdin, self._process.stdout):
            assert pipe is not None
            pipe.close()


class Door:
    """A listener, and what was accepted there."""

    def __init__(self, listener: socket.socket, stack: ExitStack) -> None:
        self.listener = listener
        self._stack = stack
        listener.settimeout(BOUND_SECS)

    @property
    def address(self) -> Any:
        """Where it listens."""
        return self.listener.getsockname()

    def accept(self) -> Peer:
        """Who connected next."""
        accepted, _ = self.listener.accept()
        self._stack.callback(accepted.close)
        return peer_of(accepted)


def own_source() -> tuple[str, int]:
    """An address of loopback that no other process takes a port of."""
    pid = os.getpid()
    return f"127.{64 + (pid >> 16)}.{pid >> 8 & 255}.{pid & 255 or 1}", 20_001


def run_elsewhere(launcher: Sequence[str], module: str, *arguments: str) -> str:
    """Run a program of this folder by way of another that changes its surroundings; what it says."""
    try:
        possible = subprocess.run([*launcher, "true"], check=False, capture_output=True).returncode == 0
    except FileNotFoundError:
        possible = False
    if not possible:
        pytest.skip(f"{' '.join(launcher)} is not possible here")
    ran = subprocess.run(
        [*launcher, sys.executable, "-m", f"{__package__}.{module}", *arguments],
        cwd=Path(__file__).resolve().parents[3],
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.stderr == ""
    return ran.stdout


Callers = Callable[..., Caller]


@pytest.fixture
def stack() -> Iterator[ExitStack]:
    """What is closed after the test."""
    with ExitStack() as one:
        yield one


@pytest.fixture
def callers(stack: ExitStack) -> Callers:
    """Starts other processes."""

    def start(*arguments: Any, **options: Any) -> Caller:
        caller = Caller(*arguments, **options)
        stack.callback(caller.close)
        return caller

    return start


@pytest.fixture
def caller(callers: Callers) -> Caller:
    """One other process."""
    return callers()


@pytest.fixture
def door(stack: ExitStack) -> Door:
    """A listener on 127.0.0.1."""
    return Door(stack.enter_context(socket.create_server(("127.0.0.1", 0))), stack)


@pytest.fixture
def unix_door(stack: ExitStack) -> Door:
    """A listener at a path; a short one, because that of a socket has 107 bytes at most."""
    listener = stack.enter_context(socket.socket(socket.AF_UNIX))
    folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
    folder.chmod(0o755)
    listener.bind(str(folder / "door"))
    (folder / "door").chmod(0o777)
    listener.listen()
    return Door(listener, stack)


@pytest.fixture
def ways(door: Door, unix_door: Door) -> dict[str, Door]:
    """Both of them, by transport."""
    return {"tcp": door, "unix": unix_door}


@pytest.fixture
def kernel() -> LinuxKernel:
    """The kernel, asked for the first time."""
    return LinuxKernel()


@pytest.fixture
def attestor(kernel: LinuxKernel, stack: ExitStack) -> Attestor:
    """An attestor that has attested nothing."""
    one = Attestor(kernel)
    stack.callback(one.close)
    return one


as_root = pytest.mark.skipif(
    sys.platform != "linux" or os.getuid() != 0, reason="only root can become another user"
)
