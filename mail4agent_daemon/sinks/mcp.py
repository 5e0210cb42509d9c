"""``mcp``: a call of one tool of a configured MCP server, a program of this machine or a URL.

A server that is a program is started for the one call, in a folder that holds the staged copies.
"""

import asyncio
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2
from mcp import Client, MCPError
from mcp.client.streamable_http import streamable_http_client
from mcp_types import INVALID_PARAMS, METHOD_NOT_FOUND, CallToolResult, Implementation, TextContent

from mail4agent_core.outbox.sink import Outgoing

from .copies import laid_out
from .far_side import UnknownOutcomeError, name_of, not_sent
from .json_arguments import accept_json, carried_of
from .process import fixed_environment
from .stdio import OUTPUT_MAX_BYTES, Streams, started

#: Under which an attempt's key stands in the call, for servers that know what they did already.
KEY_NAME = "mail4agent/idempotency-key"
#: Answers that a server gives before it runs a tool.
_NOT_RUN = frozenset({METHOD_NOT_FOUND, INVALID_PARAMS})


@dataclass(frozen=True, slots=True)
class Program:
    """A server that is started for each call."""

    argv: tuple[str, ...]
    environment: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Remote:
    """A server that is there; ``token`` is sent as a bearer's."""

    url: str
    token: str | None
    verify: Any


@dataclass(slots=True)
class _Call:
    """How far the one call came."""

    made: bool = False
    result: CallToolResult | MCPError | None = None


class McpSink:
    """Calls one tool."""

    kind = "mcp"

    def __init__(
        self,
        name: str,
        server: Program | Remote,
        tool: str | None,
        version: str,
        *,
        arguments: Sequence[str] | None,
        file_args: Sequence[str],
        timeout_secs: float,
    ) -> None:
        where = server.argv[0] if isinstance(server, Program) else server.url.partition("?")[0]
        self.target = f"{name}: {tool or 'the tool of that name'} at {where}"
        self.file_args = tuple(file_args)
        self._server = server
        self._tool = tool
        self._about = Implementation(name="mail4agent", version=version)
        self._carried = carried_of(arguments, file_args)
        self._timeout_secs = timeout_secs

    def accept(self, args: Mapping[str, Any]) -> None:
        """Raise MalformedError or TooLargeError for an argument that the tool does not take."""
        accept_json(args, self._carried, self.file_args)

    async def deliver(self, outgoing: Outgoing) -> str | None:
        """Call the tool once; the ``id`` of its structured result."""
        call = _Call()
        with laid_out(outgoing.files) as folder:
            try:
                async with asyncio.timeout(self._timeout_secs):
                    await self._make(outgoing, folder, call)
            except Exception as failure:  # noqa: BLE001  # transports raise what they like, alone and in groups
                # What was answered before counts, however badly the goodbye went.
                if call.result is None:
                    raise _outcome(failure, call.made) from None
        return _told(call.result)

    async def _make(self, outgoing: Outgoing, folder: Path, call: _Call) -> None:
        client = Client(
            self._transport(folder),
            client_info=self._about,
            cache=None,
            read_timeout_seconds=self._timeout_secs,
        )

        async def unchecked(name: str, result: CallToolResult) -> None:  # noqa: ARG001  # the SDK's own two
            call.result = result

        async with client:
            # The SDK holds a result against the schema of a list of tools that it asks for now. The tool has
            # run by then: whatever fails there, a refusal to list among it, is no answer to the call.
            client.session.validate_tool_result = unchecked  # type: ignore[method-assign]
            call.made = True
            try:
                call.result = await client.call_tool(
                    self._tool or outgoing.tool,
                    dict(outgoing.args),
                    meta={KEY_NAME: outgoing.idempotency_key},  # type: ignore[typeddict-unknown-key]
                )
            except MCPError as failure:
                call.result = failure

    def _transport(self, folder: Path) -> Any:
        match self._server:
            case Program(argv, environment):
                return started(argv, folder, {**fixed_environment(folder), **environment})
            case Remote() as remote:
                return _reached(remote, self._timeout_secs)


def _outcome(failure: Exception, called: bool) -> Exception:
    if called:
        return UnknownOutcomeError(f"the call of the tool did not end ({type(failure).__name__})")
    said = failure.strerror or "" if isinstance(failure, OSError) else ""
    return not_sent("the MCP server cannot be reached", said)


def _told(result: CallToolResult | MCPError | None) -> str | None:
    match result:
        case None:
            raise UnknownOutcomeError("the call of the tool was given up")
        case MCPError():
            if result.code in _NOT_RUN:
                raise not_sent("the MCP server does not run the tool", result.message)
            raise UnknownOutcomeError(f"the MCP server answered with the error {result.code}")
        case _:
            pass
    if result.is_error:
        texts = [each.text for each in result.content if isinstance(each, TextContent)]
        raise not_sent("the tool says that it failed", " ".join(texts))
    structured = result.structured_content
    return name_of(structured.get("id")) if isinstance(structured, dict) else None


@asynccontextmanager
async def _reached(remote: Remote, timeout_secs: float) -> AsyncGenerator[Streams]:
    headers = {} if remote.token is None else {"Authorization": f"Bearer {remote.token}"}
    transport = _Bounded(httpx2.AsyncHTTPTransport(verify=remote.verify, trust_env=False))
    async with (
        httpx2.AsyncClient(
            transport=transport, headers=headers, trust_env=False, timeout=timeout_secs
        ) as client,
        streamable_http_client(remote.url, http_client=client) as streams,
    ):
        yield streams  # type: ignore[misc]


class _Bounded(httpx2.AsyncBaseTransport):
    """Reads no more of all answers together than a server may say."""

    def __init__(self, inner: httpx2.AsyncBaseTransport) -> None:
        self._inner = inner
        self.left = OUTPUT_MAX_BYTES

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        response = await self._inner.handle_async_request(request)
        assert isinstance(response.stream, httpx2.AsyncByteStream)
        return httpx2.Response(
            response.status_code,
            headers=response.headers,
            stream=_BoundedStream(response.stream, self),
            extensions=response.extensions,
        )

    async def aclose(self) -> None:
        await self._inner.aclose()


class _BoundedStream(httpx2.AsyncByteStream):
    def __init__(self, inner: httpx2.AsyncByteStream, bound: _Bounded) -> None:
        self._inner = inner
        self._bound = bound

    async def __aiter__(self) -> AsyncGenerator[bytes]:
        async for piece in self._inner:
            self._bound.left -= len(piece)
            if self._bound.left < 0:
                raise httpx2.ReadError("the server says more than is read")
            yield piece

    async def aclose(self) -> None:
        await self._inner.aclose()
