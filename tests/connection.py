"""One keep-alive connection of one account: lean, so that many do not get in the daemon's way."""

from __future__ import annotations

import asyncio
import json
import socket
import struct
from contextlib import suppress
from typing import Any

from tests.process import BOUND_SECS


class Connection:
    """Asks one thing at a time; opened at the first, and again after it was lost."""

    def __init__(self, port: int, secret: str) -> None:
        self.port = port
        self._head = (
            f"Host: localhost\r\nContent-Type: application/json\r\nAuthorization: Bearer {secret}\r\n"
        )
        self._open: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def ask(self, path: str, body: Any) -> tuple[int, Any]:
        """Status and answer. Raises ConnectionError when the daemon went away before it answered."""
        raw = json.dumps(body).encode()
        request = f"POST {path} HTTP/1.1\r\n{self._head}Content-Length: {len(raw)}\r\n\r\n".encode() + raw
        try:
            async with asyncio.timeout(2 * BOUND_SECS):
                if self._open is None:
                    self._open = await asyncio.open_connection("127.0.0.1", self.port)
                reader, writer = self._open
                writer.write(request)
                head = await reader.readuntil(b"\r\n\r\n")
                length = int(head.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0])
                answer = await reader.readexactly(length)
        except (ConnectionError, EOFError) as fault:
            await self.close()
            raise ConnectionError("no answer") from fault
        return int(head.split(b" ", 2)[1]), json.loads(answer)

    async def do(self, path: str, body: Any) -> Any:
        """The answer to what must succeed."""
        status, answer = await self.ask(path, body)
        assert status == 200, f"{path} was refused: {answer}"
        return answer

    async def close(self) -> None:
        """Close the connection."""
        if self._open is not None:
            writer, self._open = self._open[1], None
            writer.close()
            with suppress(OSError):
                await writer.wait_closed()

    def reset(self) -> None:
        """Cut the connection as a crashed machine's kernel does, with a reset."""
        if self._open is not None:
            writer, self._open = self._open[1], None
            sock: socket.socket = writer.get_extra_info("socket")
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            writer.transport.abort()
