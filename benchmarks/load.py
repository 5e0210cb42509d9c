"""A lean HTTP/1.1 client for measuring: keep-alive connections and requests serialised beforehand.

It does as little between them as it can, because it shares the cores with what it measures. It understands
answers with a Content-Length, which is what the measured servers send.
"""

import asyncio
import json
from collections import Counter
from collections.abc import Coroutine, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import cycle, islice
from time import perf_counter
from typing import Any, cast


def request(method: str, path: str, body: object = None, headers: Mapping[str, str] | None = None) -> bytes:
    """Serialise a request; a body that is no bytes becomes JSON."""
    content = body if isinstance(body, bytes) else b"" if body is None else json.dumps(body).encode()
    head = {"host": "127.0.0.1", **(headers or {})}
    if content:
        head |= {"content-type": "application/json", "content-length": str(len(content))}
    lines = [f"{method} {path} HTTP/1.1", *(f"{name}: {value}" for name, value in head.items()), "", ""]
    return "\r\n".join(lines).encode() + content


@dataclass(frozen=True, slots=True)
class Answer:
    """A status and a body."""

    status: int
    body: bytes

    def json(self) -> dict[str, object]:
        """Its JSON object."""
        return json.loads(self.body)


class Connection(asyncio.Protocol):
    """One keep-alive connection with at most one request in flight."""

    def __init__(self) -> None:
        self._transport: asyncio.Transport | None = None
        self._buffer = b""
        self._wanted = -1
        self._body_at = 0
        self._answer: asyncio.Future[Answer] | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)

    def ask(self, raw: bytes) -> asyncio.Future[Answer]:
        """Send a request; the future has its answer."""
        assert self._transport is not None
        assert self._answer is None
        self._answer = asyncio.get_running_loop().create_future()
        self._transport.write(raw)
        return self._answer

    def data_received(self, data: bytes) -> None:
        self._buffer = self._buffer + data if self._buffer else data
        if self._wanted < 0:
            end = self._buffer.find(b"\r\n\r\n")
            if end < 0:
                return
            self._body_at = end + 4
            self._wanted = self._body_at + _content_length(self._buffer[:end])
        if len(self._buffer) >= self._wanted:
            answer = Answer(int(self._buffer[9:12]), self._buffer[self._body_at : self._wanted])
            self._buffer, self._wanted = b"", -1
            waiting, self._answer = self._answer, None
            if waiting is not None and not waiting.done():
                waiting.set_result(answer)

    def connection_lost(self, exc: Exception | None) -> None:
        if self._answer is not None and not self._answer.done():
            self._answer.set_exception(exc or ConnectionResetError("the server closed the connection"))

    def close(self) -> None:
        """Close the connection, and wait for no answer any more."""
        if self._answer is not None:
            self._answer.cancel()
        if self._transport is not None:
            self._transport.close()


def _content_length(head: bytes) -> int:
    lowered = head.lower()
    at = lowered.find(b"\r\ncontent-length:")
    if at < 0:
        raise ValueError("an answer without a Content-Length")
    return int(lowered[at + 17 :].split(b"\r\n", 1)[0])


async def connect(port: int | Sequence[int], count: int = 1) -> list[Connection]:
    """Open connections to a port of this machine, or to several in turn."""
    loop = asyncio.get_running_loop()
    ports = (port,) if isinstance(port, int) else port
    opened = [
        await loop.create_connection(Connection, "127.0.0.1", each) for each in islice(cycle(ports), count)
    ]
    return [connection for _, connection in opened]


async def ask(port: int, raw: bytes) -> Answer:
    """One request on a connection of its own."""
    (connection,) = await connect(port)
    try:
        return await connection.ask(raw)
    finally:
        connection.close()


@dataclass(slots=True)
class Run:
    """What a load saw: seconds in all, seconds of each answer, and how often each status came."""

    elapsed: float = 0.0
    latencies: list[float] = field(default_factory=list)
    statuses: Counter[int] = field(default_factory=Counter)

    @property
    def rate(self) -> float:
        """Answers a second."""
        return len(self.latencies) / self.elapsed


async def drive(port: int | Sequence[int], requests: Iterator[bytes], in_flight: int) -> Run:
    """Send all requests, ``in_flight`` at a time: a connection sends its next one when it has its answer.

    Several ports are given connections in turn.
    """
    return await driven(await connect(port, in_flight), requests)


async def warmed(port: int | Sequence[int], raw: bytes, in_flight: int) -> list[Connection]:
    """Connections that have had an answer: whose process is behind each is proved, which is done once."""
    connections = await connect(port, in_flight)
    await asyncio.gather(*(connection.ask(raw) for connection in connections))
    return connections


async def driven(connections: Sequence[Connection], requests: Iterator[bytes]) -> Run:
    """Send all requests on connections, which are closed at the end."""
    run = Run()

    async def work(connection: Connection) -> None:
        for raw in requests:
            begun = perf_counter()
            answer = await connection.ask(raw)
            run.latencies.append(perf_counter() - begun)
            run.statuses[answer.status] += 1

    begun = perf_counter()
    try:
        async with asyncio.TaskGroup() as tasks:
            for connection in connections:
                tasks.create_task(work(connection))
    finally:
        run.elapsed = perf_counter() - begun
        for connection in connections:
            connection.close()
    return run


def run(main: Coroutine[Any, Any, None]) -> None:
    """Run a coroutine on uvloop where that is installed, so that the client takes less of the machine."""
    try:
        import uvloop
    except ImportError:
        asyncio.run(main)
    else:
        uvloop.run(main)
