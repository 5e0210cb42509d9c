"""The standard input and output of an MCP server as a transport of the official SDK.

The SDK's own passes on six variables of the daemon's environment and reads lines of any length. This one
starts the server as every program of a sink is started, and reads a bounded number of bytes in all.
"""

import asyncio
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import anyio
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.shared.message import SessionMessage
from mcp_types import jsonrpc_message_adapter

from .process import Running, end, start, write

#: Everything that a server may write in the one release that it serves, in bytes.
OUTPUT_MAX_BYTES = 8_388_608
#: How many lines those may be. Each that is no message is kept as its failure, at a hundred times its length.
LINES_MAX = 4_096
#: How long a server may take to end by itself once its input is closed.
_END_SECS = 2.0
_OUTPUT = 1

Streams = tuple[MemoryObjectReceiveStream[SessionMessage | Exception], MemoryObjectSendStream[SessionMessage]]


class _Server(Running):
    """Cuts what the server writes into messages."""

    def __init__(self, heard: MemoryObjectSendStream[SessionMessage | Exception]) -> None:
        super().__init__()
        self._heard = heard
        self._left = OUTPUT_MAX_BYTES
        self._lines_left = LINES_MAX
        self._rest = bytearray()

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        if fd != _OUTPUT:
            return
        self._left -= len(data)
        self._lines_left -= data.count(b"\n")
        if self._left < 0 or self._lines_left < 0:
            self._heard.close()
            return
        self._rest += data
        if b"\n" not in data:
            return
        *lines, self._rest = self._rest.split(b"\n")
        for line in lines:
            if line.strip():
                # Nobody may listen any more.
                with suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):
                    self._heard.send_nowait(_message_of(line))

    def pipe_connection_lost(self, fd: int, exc: Exception | None) -> None:
        super().pipe_connection_lost(fd, exc)
        if fd == _OUTPUT:
            self._heard.close()


def _message_of(line: bytes | bytearray) -> SessionMessage | Exception:
    try:
        return SessionMessage(jsonrpc_message_adapter.validate_json(bytes(line), by_name=False))
    except ValueError as failure:
        return failure


@asynccontextmanager
async def started(argv: Sequence[str], cwd: Path, environment: Mapping[str, str]) -> AsyncGenerator[Streams]:
    """A server for the length of the block. Raises OSError when it cannot be started."""
    # Bounded by the bytes that are read.
    heard, hearing = anyio.create_memory_object_stream[SessionMessage | Exception](float("inf"))
    said, saying = anyio.create_memory_object_stream[SessionMessage](0)
    with heard, hearing, said, saying:
        transport, server = await start(lambda: _Server(heard), argv, cwd, environment)

        async def write_out() -> None:
            async for each in saying:
                text = each.message.model_dump_json(by_alias=True, exclude_unset=True)
                write(transport, text.encode() + b"\n")

        try:
            async with anyio.create_task_group() as group:
                group.start_soon(write_out)
                yield hearing, said
                group.cancel_scope.cancel()
        finally:
            write(transport, b"", last=True)
            with anyio.move_on_after(_END_SECS, shield=True):
                await asyncio.shield(server.ended)
            await end(transport, server)
