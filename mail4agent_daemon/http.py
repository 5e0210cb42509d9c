"""The HTTP door: every row of the table of operations at its own path.

A path is taken to the letter: no trailing slash, no percent-encoding, no query. The door stands within the
gate (``gate.py``), which bounds the request and which puts refusals on the wire.
"""

from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from mail4agent_api.addresses import text_of
from mail4agent_api.errors import (
    MalformedError,
    MethodNotAllowedError,
    UnauthenticatedError,
    UnknownPathError,
    UnsupportedMediaTypeError,
)
from mail4agent_api.frontdoor import FrontdoorIngestRequest
from mail4agent_api.mail import SendManyRequest
from mail4agent_api.operations import OPERATIONS, Operation

from .auth import bearer_digest
from .delays import Delays
from .dispatch import Call, Dispatch
from .identity import acts_for_parent
from .limits import Limits
from .rates import Rates, cost_of

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]
#: Answers a GET: the content type and the body.
Page = Callable[[], Awaitable[tuple[bytes, bytes]]]

JSON = b"application/json"
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
        delays: Delays,
    ) -> None:
        self._dispatch = dispatch
        self._rates = rates
        self._delays = delays
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
            _allow(scope, path, "GET", "HEAD")
            _no_query(scope)
            await receive()
            kind, body = await self._pages[path]()
            await _answer(send, kind, body)
        else:
            await self._rest(scope, receive, send)

    async def _operation(self, row: Operation, scope: Scope, receive: Receive, send: Send) -> None:
        _allow(scope, row.path, row.method)
        state = scope["state"]
        headers: list[tuple[bytes, bytes]] = scope["headers"]
        # The credential is believed, and the right to call is known, before a byte of the body is looked at.
        try:
            call = Call(
                row,
                bearer_digest(headers),
                b"",
                receive,
                state.get("link"),
                for_parent=acts_for_parent(headers),
                cost=cost_of(state.get("body_bytes", 0)),
            )
            await self._identify(call, state)
        except UnauthenticatedError:
            await self._delays.failed(state.get("link"), headers)
            raise
        _no_query(scope)
        if not _is_plain(headers) or not (row.lenient_body or _is_json(headers)):
            raise UnsupportedMediaTypeError
        if row.request not in _LARGE:
            state["body_max_bytes"] = self._plain_body_max_bytes
        call.body = (await receive()).get("body", b"")
        await _answer(send, JSON, await self._dispatch.run(call))

    async def _identify(self, call: Call, state: MutableMapping[str, Any]) -> None:
        try:
            await self._dispatch.identify(call)
        finally:
            if call.caller is not None:
                state["account"] = text_of(call.caller.address)
                self._delays.passed(state.get("link"))


def _allow(scope: Scope, path: str, *methods: str) -> None:
    scope["state"]["route"] = path
    if scope["method"] not in methods:
        scope["state"]["allow"] = methods
        raise MethodNotAllowedError


def _no_query(scope: Scope) -> None:
    """A query would be taken for a parameter that counts, and end up in the logs of a proxy."""
    if scope["query_string"]:
        raise MalformedError(field="request", reason="must have no query string; parameters go into the body")


def _is_plain(headers: list[tuple[bytes, bytes]]) -> bool:
    """Nothing is unpacked: what is small on the wire could be large here."""
    return all(value.lower() == b"identity" for name, value in headers if name == b"content-encoding")


def _is_json(headers: list[tuple[bytes, bytes]]) -> bool:
    kinds = [value for name, value in headers if name == b"content-type"]
    if len(kinds) != 1:
        return False
    kind, _, parameters = kinds[0].lower().partition(b";")
    # JSON has one encoding; a parameter may repeat it.
    return kind.strip() == JSON and parameters.strip().replace(b'"', b"") in (b"", b"charset=utf-8")


async def _answer(send: Send, kind: bytes, body: bytes) -> None:
    headers = [(b"content-type", kind), (b"content-length", b"%d" % len(body)), _NO_STORE]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": body})


async def unknown_path(scope: Scope, receive: Receive, send: Send) -> None:  # noqa: ARG001  it is an application
    """Refuse a path that nothing is served at."""
    raise UnknownPathError
