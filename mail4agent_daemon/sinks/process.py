"""Programs that sinks start: a group of their own, a fixed environment, bounded time and output.

The group is killed when its first process ends, is late, or the daemon lets go of it, so that nothing of it
stays behind.
"""

import asyncio
import os
import signal
from asyncio.subprocess import PIPE
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar, cast

import anyio

#: Where programs are found by the programs that a sink starts.
PATH = "/usr/local/bin:/usr/bin:/bin"
#: How long output is waited for after the end; only what left the group can hold it open.
_LAST_WORDS_SECS = 1.0
_OUTPUT, _ERRORS = 1, 2


def fixed_environment(folder: Path) -> dict[str, str]:
    """The environment of every program of a sink. Nothing of the daemon's own is in it."""
    return {
        "HOME": str(folder),
        "LANG": "C.UTF-8",
        "LC_ALL": "C.UTF-8",
        "PATH": PATH,
        "PWD": str(folder),
        "TMPDIR": str(folder),
    }


@dataclass(frozen=True, slots=True)
class Ended:
    """How a program ended: its exit status, minus the number of the signal that killed it, or None when its
    time was over; and the beginnings of what it wrote.
    """

    status: int | None
    output: bytes
    errors: bytes


T = TypeVar("T", bound="Running")


class Running(asyncio.SubprocessProtocol):
    """What is heard of a program."""

    def __init__(self) -> None:
        loop = asyncio.get_running_loop()
        self.ended: asyncio.Future[None] = loop.create_future()
        self.silent: asyncio.Future[None] = loop.create_future()
        self._open = {_OUTPUT, _ERRORS}

    def pipe_connection_lost(self, fd: int, exc: Exception | None) -> None:  # noqa: ARG002
        """One of its pipes is closed."""
        self._open.discard(fd)
        if not self._open and not self.silent.done():
            self.silent.set_result(None)

    def process_exited(self) -> None:
        """Its first process ended."""
        if not self.ended.done():
            self.ended.set_result(None)


class _Kept(Running):
    def __init__(self, most: int) -> None:
        super().__init__()
        self.kept = {_OUTPUT: bytearray(), _ERRORS: bytearray()}
        self._most = most

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        kept = self.kept[fd]
        kept += data[: self._most - len(kept)]


async def run(
    argv: Sequence[str],
    given: bytes,
    *,
    cwd: Path,
    environment: Mapping[str, str],
    timeout_secs: float,
    output_max_bytes: int,
) -> Ended:
    """Run a program to its end. Raises OSError when it cannot be started."""
    transport, kept = await start(lambda: _Kept(output_max_bytes), argv, cwd, environment)
    late = False
    try:
        write(transport, given, last=True)
        try:
            async with asyncio.timeout(timeout_secs):
                await asyncio.shield(kept.ended)
        except TimeoutError:
            late = True
        kill(transport)
        with anyio.move_on_after(_LAST_WORDS_SECS):
            await asyncio.shield(kept.silent)
        status = None if late else transport.get_returncode()
        return Ended(status, bytes(kept.kept[_OUTPUT]), bytes(kept.kept[_ERRORS]))
    finally:
        await end(transport, kept)


async def start(
    make: Callable[[], T], argv: Sequence[str], cwd: Path, environment: Mapping[str, str]
) -> tuple[asyncio.SubprocessTransport, T]:
    """Start a program in a group of its own. Raises OSError."""
    return await asyncio.get_running_loop().subprocess_exec(
        make, *argv, stdin=PIPE, stdout=PIPE, stderr=PIPE, cwd=cwd, env=environment, start_new_session=True
    )


def write(transport: asyncio.SubprocessTransport, raw: bytes, *, last: bool = False) -> None:
    """Hand bytes to its standard input; ``last`` closes that. Who does not read them misses nothing."""
    # uvloop's is one in all but name.
    pipe = cast(asyncio.WriteTransport, transport.get_pipe_transport(0))
    if not pipe.is_closing():
        pipe.write(raw)
        if last:
            pipe.close()


async def end(transport: asyncio.SubprocessTransport, running: Running) -> None:
    """End the whole group, and see to it that the kernel keeps nothing of it, whoever wants to go."""
    kill(transport)
    with anyio.move_on_after(_LAST_WORDS_SECS, shield=True):
        await asyncio.shield(running.ended)
    transport.close()


def kill(transport: asyncio.SubprocessTransport) -> None:
    """End the whole group."""
    # Its number stays taken while any of the group is left; with none left there is nothing to end.
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(transport.get_pid(), signal.SIGKILL)
