"""A served application and raw connections to it: these tests speak bytes, not a client library."""

import asyncio
import io
import json
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from mail4agent_api.errors import MethodNotAllowedError, UnknownPathError
from mail4agent_daemon.connections import Connections
from mail4agent_daemon.endpoints import Endpoints, Listeners, listening
from mail4agent_daemon.gate import Gate
from mail4agent_daemon.limits import Limits
from mail4agent_daemon.log import Log
from mail4agent_daemon.names import names_of
from mail4agent_daemon.server import serve
from mail4agent_daemon.waiting import Outcome, Waiters, disconnection

#: No test waits longer than this for anything.
BOUND_SECS = 20
LIMITS = Limits(connections_max=2000)


@dataclass
class Answer:
    """What came back for one request."""

    status: int
    headers: list[tuple[str, str]]
    body: bytes

    def header(self, name: str) -> str | None:
        """The only value of a header."""
        values = [value for each, value in self.headers if each == name]
        assert len(values) <= 1
        return values[0] if values else None

    @property
    def json(self) -> Any:
        """The body as JSON."""
        assert self.header("content-type") == "application/json"
        return json.loads(self.body)


class Wire:
    """One raw connection."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader = reader
        self.writer = writer

    async def send(self, raw: bytes) -> None:
        """Send bytes as they are."""
        self.writer.write(raw)
        await self.writer.drain()

    async def answer(self) -> Answer:
        """Read one answer to its end."""
        async with asyncio.timeout(BOUND_SECS):
            head = (await self.reader.readuntil(b"\r\n\r\n")).decode("ascii").split("\r\n")
            headers = [
                (name.lower(), value) for name, _, value in (line.partition(": ") for line in head[1:-2])
            ]
            lengths = [int(value) for name, value in headers if name == "content-length"]
            body = await self.reader.readexactly(lengths[0]) if lengths else await self.reader.read()
            return Answer(int(head[0].split(" ")[1]), headers, body)

    async def ask(self, raw: bytes) -> Answer:
        """Send one request and read its answer."""
        await self.send(raw)
        return await self.answer()

    async def rest(self) -> bytes:
        """Everything until the other end closes."""
        async with asyncio.timeout(BOUND_SECS):
            return await self.reader.read()

    def close(self) -> None:
        """Close this end."""
        self.writer.close()


def request(
    path: str = "/echo",
    body: bytes | None = None,
    *,
    method: str = "POST",
    host: str = "localhost",
    more: str = "",
) -> bytes:
    """The bytes of a well-formed request."""
    length = "" if body is None else f"Content-Length: {len(body)}\r\n"
    return f"{method} {path} HTTP/1.1\r\nHost: {host}\r\n{length}{more}\r\n".encode() + (body or b"")


async def until(true: Callable[[], bool]) -> None:
    """Let the loop run until something has become true."""
    async with asyncio.timeout(BOUND_SECS):
        while not true():  # noqa: ASYNC110  what is looked at has no event; each turn lets the loop run once
            await asyncio.sleep(0)


@dataclass
class Host:
    """A running server, what it serves, and what it wrote."""

    listeners: Listeners
    connections: Connections
    gate: Gate
    waiters: Waiters
    stop: asyncio.Event
    lines: io.StringIO
    task: "asyncio.Task[None]"
    app: "Application"
    wires: list[Wire] = field(default_factory=list)

    async def connect(self, *, unix: bool = False) -> Wire:
        """Open one connection."""
        if unix:
            assert self.listeners.endpoints.socket_path
            wire = Wire(*await asyncio.open_unix_connection(self.listeners.endpoints.socket_path))
        else:
            wire = Wire(*await asyncio.open_connection(self.listeners.host, self.listeners.port))
        self.wires.append(wire)
        return wire

    @property
    def log(self) -> list[dict[str, Any]]:
        """What was logged."""
        return [json.loads(line) for line in self.lines.getvalue().splitlines()]

    def logged(self, event: str) -> list[dict[str, Any]]:
        """The records of one event."""
        return [record for record in self.log if record["event"] == event]

    async def stopped(self) -> None:
        """Stop, and wait until nothing is served any more."""
        self.stop.set()
        async with asyncio.timeout(BOUND_SECS):
            await self.task


class Application:
    """An application with one path for each thing that a host must cope with."""

    def __init__(self) -> None:
        self.waiters: Waiters
        self.running = asyncio.Event()
        self.vanished = asyncio.Event()
        self.cancelled = asyncio.Event()
        self.states: list[dict[str, Any]] = []

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Answer one request."""
        if scope["type"] == "lifespan":
            for stage in ("startup", "shutdown"):
                await receive()
                await send({"type": f"lifespan.{stage}.complete"})
            return
        self.states.append(scope["state"])
        scope["state"]["account"] = "writer"
        act = getattr(self, "on_" + scope["path"].strip("/"), None)
        if act is None:
            raise UnknownPathError
        scope["state"]["route"] = scope["path"]
        await act(scope, receive, send)

    async def answer(self, send: Any, body: bytes) -> None:
        """Answer 200 with a body."""
        headers = [(b"content-length", b"%d" % len(body))]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": body})

    async def on_echo(self, scope: Any, receive: Any, send: Any) -> None:
        """Say how long the body is, and how it came."""
        event = await receive()
        assert event["more_body"] is False
        await self.answer(send, str(len(event["body"])).encode())

    async def on_park(self, scope: Any, receive: Any, send: Any) -> None:
        """Wait as an inbox does."""
        await receive()
        with self.waiters.register(["writer"], "writer") as ticket, disconnection(receive) as gone:
            self.running.set()
            outcome = await ticket.wait(60, gone)
        if outcome is Outcome.GONE:
            self.vanished.set()
            return
        await self.answer(send, outcome.value.encode())

    async def on_fail(self, scope: Any, receive: Any, send: Any) -> None:
        """Fail with words that must not leave."""
        raise RuntimeError("secret words of /a/path")

    async def on_half(self, scope: Any, receive: Any, send: Any) -> None:
        """Fail in the middle of an answer."""
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"10")]})
        await send({"type": "http.response.body", "body": b"12345", "more_body": True})
        raise RuntimeError("secret words")

    async def on_silent(self, scope: Any, receive: Any, send: Any) -> None:
        """Answer nothing."""

    async def on_wrong(self, scope: Any, receive: Any, send: Any) -> None:
        """Refuse the method."""
        scope["state"]["allow"] = ("POST", "GET")
        raise MethodNotAllowedError

    async def on_huge(self, scope: Any, receive: Any, send: Any) -> None:
        """Answer more than any socket buffers."""
        await self.answer(send, bytes(50_000_000))

    async def on_late(self, scope: Any, receive: Any, send: Any) -> None:
        """Send the head, and the body when the client has seen it."""
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"2")]})
        self.running.set()
        with self.waiters.register(["late"], "late") as ticket:
            await ticket.wait(60)
        await send({"type": "http.response.body", "body": b"ok"})

    async def on_endless(self, scope: Any, receive: Any, send: Any) -> None:
        """Never answer."""
        self.running.set()
        try:
            await asyncio.get_running_loop().create_future()
        finally:
            self.cancelled.set()


@asynccontextmanager
async def hosted(endpoints: Endpoints, limits: Limits) -> AsyncIterator[Host]:
    """Serve for the length of the block."""
    with listening(endpoints, limits) as listeners:
        lines = io.StringIO()
        log = Log(lines)
        connections = Connections(limits, log)
        waiters = Waiters(limits)
        app = Application()
        app.waiters = waiters
        names = names_of(listeners.host, listeners.port, extra=["mail.example"])
        gate = Gate(app, names=names, limits=limits, log=log)
        stop = asyncio.Event()
        task = asyncio.create_task(
            serve(
                gate,
                listeners,
                limits=limits,
                log=log,
                stop=stop,
                drain=waiters.close_all,
                connections=connections,
            )
        )
        host = Host(listeners, connections, gate, waiters, stop, lines, task, app)
        try:
            yield host
        finally:
            for wire in host.wires:
                wire.close()
            await host.stopped()


class Hosts:
    """Starts servers with other limits than the usual ones."""

    def __init__(self, folder: Path, stack: AsyncExitStack) -> None:
        self._folder = folder
        self._stack = stack

    async def start(self, **limits: Any) -> Host:
        """Serve with these limits until the test ends."""
        endpoints = Endpoints(port=0, socket_path=self._folder / "daemon.sock")
        return await self._stack.enter_async_context(hosted(endpoints, replace(LIMITS, **limits)))
