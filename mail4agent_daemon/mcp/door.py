"""The MCP door: one path, POST, and what is checked before the protocol begins.

In this order: Host and Origin (the gate), credential, method, query and media type, size, JSON and JSON-RPC,
then the SDK with the era of the protocol and the call itself. Where no JSON-RPC answer is due, a refusal is
that of every other path.
"""

import asyncio
from collections.abc import Awaitable, Callable, MutableMapping
from typing import TYPE_CHECKING, Any

from mail4agent_api.operations import OPERATIONS
from mail4agent_daemon.dispatch import Receive
from mail4agent_daemon.entrance import JSON, Entrance, allow, needs_json, no_query
from mail4agent_daemon.limits import Limits

from . import rpc
from .tools import Exchange, Tools

if TYPE_CHECKING:
    from .carrier import Carrier

PATH = "/mcp"
#: Clients print what a 401 says; none of them may begin OAuth, which is not spoken here.
CHALLENGE = b'Bearer realm="mail4agent", error="invalid_token"'
#: Whoever may call this may knock: it needs no capability, and makes its caller a session.
_KNOCK = OPERATIONS["mail.whoami"]
_NO_STORE = (b"cache-control", b"no-store")
#: Headers that are read here; the SDK is told what it would ask for.
_OURS = frozenset((b"accept", b"content-type", b"content-length", b"transfer-encoding"))
_FOR_SDK = ((b"accept", b"application/json, text/event-stream"), (b"content-type", JSON))

Message = MutableMapping[str, Any]
Send = Callable[[Message], Awaitable[None]]


class Door:
    """An ASGI application for one path; ``close`` ends what it runs."""

    def __init__(self, entrance: Entrance, tools: Tools, limits: Limits, version: str) -> None:
        self._entrance = entrance
        self._tools = tools
        self._limits = limits
        self._version = version
        self._opening: asyncio.Task[Carrier] | None = None

    async def __call__(self, scope: MutableMapping[str, Any], receive: Receive, send: Send) -> None:
        """Answer one request, or raise the refusal."""
        state = scope["state"]
        state["route"], state["challenge"] = PATH, CHALLENGE
        call = await self._entrance.admit(_KNOCK, scope, receive)
        allow(scope, "POST")
        no_query(scope)
        needs_json(scope["headers"])
        state["body_max_bytes"] = self._limits.plain_body_max_bytes
        message = await receive()
        if message["type"] != "http.request":
            return
        body: bytes = message["body"]
        try:
            rpc.check(body)
        except rpc.RpcError as refused:
            await _answer(send, 400, refused.body)
            return
        state["exchange"] = Exchange(call, state)
        headers = [pair for pair in scope["headers"] if pair[0] not in _OURS]
        inner = {**scope, "headers": [*headers, *_FOR_SDK, (b"content-length", b"%d" % len(body))]}
        carrier = await self._carrier()
        await carrier.serve(inner, _replayed(body, receive), _unstored(send))

    async def _carrier(self) -> "Carrier":
        """What carries the protocol, begun with the first request: it is as large as all the rest."""
        if self._opening is None or (self._opening.done() and self._opening.exception() is not None):
            self._opening = asyncio.create_task(self._open())
        return await asyncio.shield(self._opening)

    async def _open(self) -> "Carrier":
        # In a thread, so that others are answered meanwhile.
        opened = await asyncio.to_thread(_imported)
        carrier = opened(self._tools, self._version, self._limits.plain_body_max_bytes)
        await carrier.start()
        return carrier

    async def close(self) -> None:
        """End what was begun. Waits were ended before, by the daemon."""
        if self._opening is not None:
            carrier = await self._opening
            await carrier.close()


def _imported() -> "type[Carrier]":
    from .carrier import Carrier

    return Carrier


def _replayed(body: bytes, receive: Receive) -> Receive:
    """Give the body once more; after that, what the client does."""
    given = False

    async def replay() -> Message:
        nonlocal given
        if given:
            return await receive()
        given = True
        return {"type": "http.request", "body": body, "more_body": False}

    return replay


def _unstored(send: Send) -> Send:
    async def answer(message: Message) -> None:
        if message["type"] == "http.response.start":
            message = {**message, "headers": [*message["headers"], _NO_STORE]}
        await send(message)

    return answer


async def _answer(send: Send, status: int, body: bytes) -> None:
    headers = [(b"content-type", JSON), (b"content-length", b"%d" % len(body)), _NO_STORE]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
