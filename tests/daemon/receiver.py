"""A listener on a real socket, which answers as a test tells it to and keeps what it was sent."""

import asyncio
import base64
import hashlib
import hmac
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from .host.served import BOUND_SECS

Answer = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


def saying(raw: bytes) -> Answer:
    """Answer with these bytes."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(raw)

    return answer


def status(code: int, *headers: str) -> Answer:
    """Answer with a status and nothing else."""
    lines = (f"HTTP/1.1 {code} Said", "Content-Length: 0", *headers, "", "")
    return saying("\r\n".join(lines).encode())


async def silence(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Answer nothing, and wait until the other end goes."""
    await reader.read()


@dataclass(frozen=True)
class Heard:
    """One request as it came."""

    line: str
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        """The body as JSON."""
        return json.loads(self.body)

    @property
    def id(self) -> str:
        """Its identity."""
        return self.headers["webhook-id"]

    def is_signed_with(self, key: str) -> bool:
        """What the specification says, step by step: Standard Webhooks 1.0.0, symmetric signatures."""
        prefix, encoded = key[:6], key[6:]
        assert prefix == "whsec_"
        content = f"{self.headers['webhook-id']}.{self.headers['webhook-timestamp']}.".encode() + self.body
        digest = hmac.new(base64.b64decode(encoded), content, hashlib.sha256).digest()
        wanted = "v1," + base64.b64encode(digest).decode("ascii")
        return wanted in self.headers.get("webhook-signature", "").split(" ")


@dataclass
class Receiver:
    """Where doorbells ring."""

    answer: Answer = field(default_factory=lambda: status(204))
    heard: list[Heard] = field(default_factory=list[Heard])
    server: asyncio.Server | None = None
    port: int = 0
    _come: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def url(self) -> str:
        """Its URL."""
        return f"http://127.0.0.1:{self.port}/doorbell"

    async def open(self) -> None:
        """Listen, on the port of before when there was one."""
        self.server = await asyncio.start_server(self._serve, "127.0.0.1", self.port)
        self.port = self.server.sockets[0].getsockname()[1]

    async def close(self) -> None:
        """Listen no more."""
        if self.server is not None:
            self.server.close()
            await self.server.wait_closed()
            self.server = None

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).decode("ascii")
            first, *lines = head.rstrip("\r\n").split("\r\n")
            headers = {name.lower(): value for name, _, value in (line.partition(": ") for line in lines)}
            body = await reader.readexactly(int(headers["content-length"]))
            self.heard.append(Heard(first, headers, body))
            self._come.set()
            await self.answer(reader, writer)
            await writer.drain()
        except OSError:
            pass
        finally:
            writer.transport.abort() if writer.is_closing() else writer.close()

    async def heard_of(self, count: int) -> list[Heard]:
        """Wait until so many requests have come."""
        async with asyncio.timeout(BOUND_SECS):
            while len(self.heard) < count:
                self._come.clear()
                await self._come.wait()
        return self.heard


@asynccontextmanager
async def receiving(answer: Answer | None = None) -> AsyncIterator[Receiver]:
    """A receiver for the length of the block."""
    receiver = Receiver() if answer is None else Receiver(answer)
    await receiver.open()
    try:
        yield receiver
    finally:
        await receiver.close()
