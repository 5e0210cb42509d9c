"""What answers may hold in memory until their clients have taken them."""

import asyncio
import io
from typing import Any

from mail4agent_daemon.gate import Gate
from mail4agent_daemon.limits import Limits
from mail4agent_daemon.log import Log
from mail4agent_daemon.names import names_of

SIZE = 150_000
HEADERS = [(b"content-length", str(SIZE).encode())]


async def large(scope: Any, receive: Any, send: Any) -> None:
    """Answer with a large page."""
    await send({"type": "http.response.start", "status": 200, "headers": HEADERS})
    await send({"type": "http.response.body", "body": b" " * SIZE})


class Client:
    """Takes an answer when it is told to."""

    def __init__(self) -> None:
        self.takes = asyncio.Event()
        self.started = asyncio.Event()
        self.status = 0

    async def send(self, message: Any) -> None:
        """Take what comes; a large body only later."""
        if message["type"] == "http.response.start":
            self.status = message["status"]
            self.started.set()
        elif len(message["body"]) == SIZE:
            await self.takes.wait()

    async def receive(self) -> Any:
        """It sends nothing more."""
        return {"type": "http.disconnect"}

    async def ask(self, gate: Gate) -> None:
        """Make one request."""
        headers = [(b"host", b"localhost")]
        await gate({"type": "http", "method": "GET", "headers": headers}, self.receive, self.send)


async def test_answers_that_nobody_takes_leave_no_memory_for_more_of_them() -> None:
    """The next large answer is refused as overloaded until a client has taken its own."""
    limits = Limits(in_flight_answer_bytes_max=200_000)
    gate = Gate(large, names=names_of(None, 1), limits=limits, log=Log(io.StringIO()))
    slow, second, third = Client(), Client(), Client()
    held = asyncio.create_task(slow.ask(gate))
    await slow.started.wait()
    await second.ask(gate)
    assert (slow.status, second.status, gate.answers.held_bytes) == (200, 503, SIZE)
    slow.takes.set()
    await held
    third.takes.set()
    await third.ask(gate)
    assert (third.status, gate.answers.held_bytes) == (200, 0)
