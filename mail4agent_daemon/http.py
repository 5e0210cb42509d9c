"""The HTTP door: every row of the table of operations at its own path.

A path is taken to the letter: no trailing slash, no percent-encoding, no query. The door stands within the
gate (``gate.py``), which bounds the request and which puts refusals on the wire.
"""

from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from mail4agent_api.errors import UnknownPathError
from mail4agent_api.frontdoor import FrontdoorIngestRequest
from mail4agent_api.mail import SendManyRequest
from mail4agent_api.operations import OPERATIONS, Operation

from .dispatch import Dispatch
from .entrance import JSON, Entrance, allow, needs_json, no_query
from .limits import Limits
from .rates import Rates, cost_of

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]
#: Answers a GET: the content type and the body.
Page = Callable[[], Awaitable[tuple[bytes, bytes]]]

#: The requests that may be as large as the contract lets one be: many messages, files of a submission.
_LARGE = (SendManyRequest, FrontdoorIngestRequest)
_NO_STORE = (b"cache-control", b"no-store")


class HttpDoor:
    """An ASGI application.

    ``pages`` are the paths that need no credential; ``rest`` gets the paths that are none of these.
    """

    def __init__(
        self,
        dispatch: Dispatch,
        pages: dict[str, Page],
        rest: App,
        limits: Limits,
        *,
        rates: Rates,
        entrance: Entrance,
    ) -> None:
        self._dispatch = dispatch
        self._rates = rates
        self._entrance = entrance
        self._plain_body_max_bytes = limits.plain_body_max_bytes
        self._pages = pages
        self._rest = rest
        self._rows: dict[str, Operation] = {row.path: row for row in OPERATIONS.values() if row.authenticated}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request, or raise the refusal."""
        if scope["type"] != "http":
            await self._rest(scope, receive, send)
            return
        state = scope["state"]
        self._rates.admit_connection(state.get("link"), cost_of(state.get("body_bytes", 0)))
        path: str = scope["path"]
        if path.encode() != scope.get("raw_path", path.encode()):
            raise UnknownPathError
        row = self._rows.get(path)
        if row is not None:
            await self._operation(row, scope, receive, send)
        elif path in self._pages:
            # What may be got may be asked for without its body; the server leaves that out.
            state["route"] = path
            allow(scope, "GET", "HEAD")
            no_query(scope)
            await receive()
            kind, body = await self._pages[path]()
            await _answer(send, kind, body)
        else:
            await self._rest(scope, receive, send)

    async def _operation(self, row: Operation, scope: Scope, receive: Receive, send: Send) -> None:
        state = scope["state"]
        state["route"] = row.path
        allow(scope, row.method)
        call = await self._entrance.admit(row, scope, receive)
        no_query(scope)
        needs_json(scope["headers"], lenient=row.lenient_body)
        if row.request not in _LARGE:
            state["body_max_bytes"] = self._plain_body_max_bytes
        call.body = (await receive()).get("body", b"")
        await _answer(send, JSON, await self._dispatch.run(call))


async def _answer(send: Send, kind: bytes, body: bytes) -> None:
    headers = [(b"content-type", kind), (b"content-length", b"%d" % len(body)), _NO_STORE]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": body})


async def unknown_path(scope: Scope, receive: Receive, send: Send) -> None:  # noqa: ARG001  it is an application
    """Refuse a path that nothing is served at."""
    raise UnknownPathError
