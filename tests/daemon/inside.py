"""A whole daemon on the test's own loop: real sockets, but clock, limits and faults are the test's."""

import asyncio
import io
import json
import logging
import time
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from mail4agent_core.clock import HandClock
from mail4agent_core.ids import SeededIds
from mail4agent_daemon import app
from mail4agent_daemon.bootstrap import KEY_NAME
from mail4agent_daemon.endpoints import Listeners, listening
from mail4agent_daemon.home import held_home
from mail4agent_daemon.limits import Limits
from mail4agent_daemon.log import LibraryHandler, Log
from mail4agent_daemon.server import serve
from mail4agent_daemon.settings import load

from .host.served import BOUND_SECS, Answer, Wire, until

LIMITS = Limits(connections_max=1000)


@dataclass
class Inside:
    """A daemon that serves."""

    made: app.Daemon
    listeners: Listeners
    clock: HandClock
    lines: io.StringIO
    stop: asyncio.Event
    task: "asyncio.Task[None]"
    keys: dict[str, str]
    wires: list[Wire] = field(default_factory=list[Wire])

    async def connect(self) -> Wire:
        """Open one connection."""
        wire = Wire(*await asyncio.open_connection(self.listeners.host, self.listeners.port))
        self.wires.append(wire)
        return wire

    def request(
        self, path: str, value: object, account: str | None = "operator", method: str = "POST"
    ) -> bytes:
        """The bytes of a call as an account; ``value`` is the body, as JSON unless it is bytes already."""
        body = value if isinstance(value, bytes) else json.dumps(value).encode()
        secret = f"Authorization: Bearer {self.keys[account]}\r\n" if account is not None else ""
        head = f"{method} {path} HTTP/1.1\r\nHost: localhost\r\n{secret}"
        if method == "POST":
            head += f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n"
        return f"{head}\r\n".encode() + (body if method == "POST" else b"")

    async def post(self, path: str, value: object, account: str | None = "operator") -> Answer:
        """Call an operation on a connection of its own."""
        wire = await self.connect()
        answer = await wire.ask(self.request(path, value, account))
        wire.close()
        return answer

    async def get(self, path: str) -> Answer:
        """Get a page that needs no credential."""
        wire = await self.connect()
        answer = await wire.ask(self.request(path, b"", None, "GET"))
        wire.close()
        return answer

    async def park(self, path: str, value: object, account: str) -> Wire:
        """Call an operation that waits, and return once it does."""
        parked = self.made.waiters.parked
        wire = await self.connect()
        await wire.send(self.request(path, value, account))
        await until(lambda: self.made.waiters.parked > parked)
        return wire

    async def add(self, *accounts: str, **registration: object) -> None:
        """Register accounts that may send and read."""
        for account in accounts:
            told = {"id": account, "may_send": True, "may_read": True, **registration}
            self.keys[account] = (await self.post("/admin/participant", told)).json["secret"]

    async def send(self, sender: str, to: str, **more: object) -> str:
        """Send a message to an account or, with ``#``, to a room; returns its id."""
        target = {"kind": "room", "room": to[1:]} if to[0] == "#" else {"kind": "direct", "participant": to}
        answer = await self.post("/mail/send", {"to": target, "subject": "s", "body": "b", **more}, sender)
        assert answer.status == 200, answer.body
        return answer.json["message_id"]

    @property
    def log(self) -> list[dict[str, Any]]:
        """What was logged."""
        return [json.loads(line) for line in self.lines.getvalue().splitlines()]

    async def stopped(self) -> None:
        """Stop, and wait until nothing is served any more."""
        self.stop.set()
        async with asyncio.timeout(BOUND_SECS):
            await self.task


@asynccontextmanager
async def inside(
    folder: Path,
    *,
    clock: HandClock | None = None,
    settings: Mapping[str, Any] | None = None,
    monotonic: Callable[[], float] = time.monotonic,
    **limits: Any,
) -> AsyncIterator[Inside]:
    """Run a daemon in a folder for the length of the block."""
    bounds = replace(LIMITS, **limits)
    lines, stop, clock = io.StringIO(), asyncio.Event(), clock or HandClock()
    log = Log(lines)
    flags = {"server.bind": "127.0.0.1:0", **(settings or {})}
    effective = load({}, home=folder, flags=flags)
    libraries = LibraryHandler(log)
    logging.getLogger().addHandler(libraries)
    async with AsyncExitStack() as stack:
        stack.callback(logging.getLogger().removeHandler, libraries)
        stack.enter_context(held_home(folder, now_ms=clock.now_ms()))
        listeners = stack.enter_context(listening(app.endpoints_of(effective), bounds))
        made = await stack.enter_async_context(
            app.daemon(effective, listeners, bounds, log, clock=clock, ids=SeededIds(), monotonic=monotonic)
        )
        task = asyncio.create_task(
            serve(
                made.app,  # pyright: ignore[reportArgumentType]
                listeners,
                limits=bounds,
                log=log,
                stop=stop,
                drain=made.drain,
                connections=made.connections,
            )
        )
        keys = {"operator": (folder / KEY_NAME).read_text().strip()}
        daemon = Inside(made, listeners, clock, lines, stop, task, keys)
        try:
            yield daemon
        finally:
            for wire in daemon.wires:
                wire.close()
            await daemon.stopped()


class Daemons:
    """Starts daemons with other limits than the usual ones."""

    def __init__(self, folder: Path, stack: AsyncExitStack) -> None:
        self._folder = folder
        self._stack = stack

    async def start(self, **limits: Any) -> Inside:
        """Run one until the test ends, with the accounts ada, ben and eve."""
        daemon = await self._stack.enter_async_context(inside(self._folder / "home", **limits))
        await daemon.add("ada", "ben", "eve")
        return daemon
