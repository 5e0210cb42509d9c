"""A proxy that cuts: in the middle of a request or an answer, with an end or a reset; or slows."""

from __future__ import annotations

import asyncio
import socket
import struct
from collections import Counter
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass
from random import Random

Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]
CHUNK = 16_384


@dataclass
class Plan:
    """What befalls a connection: after so many bytes of a direction, an end."""

    name: str
    upward: bool = True
    after: int = 0
    delay_secs: float = 0.0


class CuttingProxy:
    """Takes connections on loopback and passes them on; what it does to each is drawn from a seed."""

    def __init__(
        self, connect: Callable[[], Awaitable[Streams]], random: Random, *, spared: float, longest: int
    ) -> None:
        self._connect = connect
        self._random = random
        self._spared = spared
        self._longest = longest
        self._over = asyncio.Event()
        self._open: set[asyncio.Task[None]] = set()
        self._writers: set[asyncio.StreamWriter] = set()
        self._server: asyncio.Server | None = None
        self.calm = True
        self.port = 0
        self.done: Counter[str] = Counter()

    async def start(self) -> None:
        """Listen."""
        self._server = await asyncio.start_server(self._take, "127.0.0.1", 0)
        self.port = self._server.sockets[0].getsockname()[1]

    async def close(self) -> None:
        """Stop listening and reset what is open."""
        self._over.set()
        if self._server is not None:
            self._server.close()
        self.cut_all()
        for task in self._open:
            task.cancel()
        await asyncio.gather(*self._open, return_exceptions=True)

    def cut_all(self) -> None:
        """Reset every connection, at both its ends."""
        for writer in list(self._writers):
            _reset(writer)

    def _plan(self) -> Plan:
        drawn = self._random
        if self.calm or drawn.random() < self._spared:
            return Plan("passed")
        name = drawn.choice(("reset", "end", "half-close", "slow"))
        return Plan(name, drawn.random() < 0.5, drawn.randrange(self._longest), drawn.random() * 0.05)

    async def _take(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._open.add(task)
        self._writers.add(writer)
        plan = self._plan()
        self.done[plan.name] += 1
        far: asyncio.StreamWriter | None = None
        try:
            far_reader, far = await self._connect()
            self._writers.add(far)
            up = asyncio.create_task(self._pass(reader, far, plan if plan.upward else None))
            down = asyncio.create_task(self._pass(far_reader, writer, None if plan.upward else plan))
            try:
                await asyncio.wait((up, down), return_when=asyncio.FIRST_COMPLETED)
                if plan.name == "half-close" and up.done() and not up.cancelled():
                    # The far side may still answer what it has, for a bounded time.
                    await asyncio.wait((down,), timeout=1)
            finally:
                for each in (up, down):
                    each.cancel()
                await asyncio.gather(up, down, return_exceptions=True)
        except (OSError, asyncio.CancelledError):
            pass
        finally:
            for each in (writer, far):
                if each is not None:
                    self._writers.discard(each)
                    if plan.name == "reset":
                        _reset(each)
                    each.close()
            self._open.discard(task)

    async def _pass(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, plan: Plan | None
    ) -> None:
        passed = 0
        while data := await reader.read(CHUNK):
            if plan is not None and plan.name == "slow":
                with suppress(TimeoutError):
                    await asyncio.wait_for(self._over.wait(), plan.delay_secs)
            elif plan is not None and plan.name != "passed" and passed + len(data) > plan.after:
                writer.write(data[: plan.after - passed])
                with suppress(OSError):
                    await writer.drain()
                    if plan.name == "half-close":
                        writer.write_eof()
                return
            passed += len(data)
            writer.write(data)
            await writer.drain()


def _reset(writer: asyncio.StreamWriter) -> None:
    sock = writer.get_extra_info("socket")
    if sock is not None and sock.fileno() >= 0 and sock.family != socket.AF_UNIX:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    writer.transport.abort()
