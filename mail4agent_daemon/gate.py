"""The gate: what every request passes before anything of it is believed, and the last word on every answer.

In this order: a request id; the Host is ours (DNS rebinding); an Origin, when there is one, is ours (a web
page). Then the application. When it asks for the body it gets the whole of it as one event, read within
bounds: in bytes, in time and in the memory of all together. An application that believes a credential first
spends none of that on those who have none. Large answers draw on memory of their own until they are taken.
Whatever the application raises becomes a refusal here: its own, or ``internal`` with nothing but the request
id, the reason staying in the log.

The application and the gate share ``scope["state"]``:

* ``link``: the connection's ``Link``, set by the server.
* ``request_id``, and ``body_bytes`` (as the head declares, None where it does not): set by the gate.
* ``route`` (the path of the operation, never of the request), ``account``, ``allow`` (the methods of the
  path, before ``method_not_allowed`` is raised), ``body_max_bytes`` (where less than the limit is enough) and
  ``challenge`` (what a 401 of the path says of its credential): set by the application.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, MutableMapping
from contextlib import suppress
from typing import Any

from mail4agent_api.errors import (
    ForbiddenHostError,
    ForbiddenOriginError,
    InternalError,
    RateLimitedError,
    RefusalError,
    RequestTooLargeError,
)

from .body import BodyBudget, read_body
from .limits import Limits
from .log import Log
from .names import Names
from .refusals import CHALLENGE, CLOSE, refusal_response
from .request_id import chosen

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

#: Told of each answer: the path of the operation, the status, and how long it took, in seconds.
Observer = Callable[[str | None, int, float], None]
#: Headers and body of a refusal for a person, by the path that was asked; None where a program asked.
RefusalPage = Callable[[str, RefusalError], tuple[list[tuple[bytes, bytes]], bytes] | None]

_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "CONNECT"})


class Gate:
    """Pure ASGI middleware; the outermost."""

    def __init__(
        self,
        app: App,
        *,
        names: Names,
        limits: Limits,
        log: Log,
        observe: Observer = lambda *_: None,
        page: RefusalPage = lambda *_: None,
    ) -> None:
        """``page`` shows a refusal of a path that a person looks at."""
        self.app = app
        self.page = page
        self.observe = observe
        self.names = names
        self.limits = limits
        self.log = log
        self.budget = BodyBudget(limits.small_body_max_bytes, limits.in_flight_body_bytes_max)
        self.answers = BodyBudget(limits.small_body_max_bytes, limits.in_flight_answer_bytes_max)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] == "http":
            await _Passage(self, scope, receive, send).go()
        elif scope["type"] == "websocket":
            # Hypercorn as configured here makes no such scope; another server may.
            await receive()
            await send({"type": "websocket.close", "code": 1008})
        else:
            await self.app(scope, receive, send)


class _Passage:
    """One request on its way through the gate."""

    __slots__ = (
        "_answer_bytes",
        "_awaited",
        "_began",
        "_body_bytes",
        "_gate",
        "_gone",
        "_length",
        "_read",
        "_receive",
        "_request_id",
        "_scope",
        "_send",
        "_state",
        "_status",
        "_unread",
    )

    def __init__(self, gate: Gate, scope: Scope, receive: Receive, send: Send) -> None:
        self._gate = gate
        self._scope = scope
        self._receive = receive
        self._send = send
        self._status = 0
        self._gone = False
        self._unread = False
        self._read = False
        self._awaited = False
        self._length = 0
        self._body_bytes = 0
        self._answer_bytes = 0
        self._began = time.monotonic()
        self._request_id = ""
        self._state: MutableMapping[str, Any] = scope.setdefault("state", {})

    async def go(self) -> None:
        gate = self._gate
        try:
            self._check_head()
            await gate.app(self._scope, self._replay, self._answer)
            if not (self._status or self._gone):
                raise RuntimeError("the application answered nothing")
        except RefusalError as refusal:
            if refusal.status >= 500 and refusal.__cause__ is not None:
                # What failed beneath a refusal is for the operator, not for the caller.
                gate.log.failed("refused", refusal, request_id=self._request_id, route=self._route)
            await self._refuse(refusal)
        except Exception as failure:  # noqa: BLE001  the last resort: whatever failed, the caller gets a refusal
            if not self._gone:
                gate.log.failed("request_failed", failure, request_id=self._request_id, route=self._route)
                await self._refuse(InternalError(request_id=self._request_id))
        finally:
            gate.budget.release(self._body_bytes)
            gate.answers.release(self._answer_bytes)
            self._log()

    def _check_head(self) -> None:
        """Name the request and check its head. Raises RefusalError."""
        hosts: list[bytes] = []
        origins: list[bytes] = []
        given: bytes | None = None
        length = 0
        chunked = False
        for name, value in self._scope["headers"]:
            if name == b"host":
                hosts.append(value)
            elif name == b"origin":
                origins.append(value)
            elif name == b"x-request-id":
                given = value
            elif name == b"content-length":
                # The server has checked that it is a number, and the only one.
                length = int(value)
            elif name == b"transfer-encoding":
                chunked = True
            elif name == b"expect":
                self._awaited = True
        self._request_id = self._state["request_id"] = chosen(given)
        self._unread = bool(length or chunked)
        self._state["body_bytes"] = None if chunked else length
        gate = self._gate
        link = self._state.get("link")
        # No web page reaches a UNIX socket, and its clients have no name to give.
        if (link is None or link.peer.transport != "unix") and not gate.names.host_is_ours(hosts):
            raise ForbiddenHostError
        if not all(gate.names.origin_is_ours(origin) for origin in origins):
            raise ForbiddenOriginError
        if length > gate.limits.request_body_max_bytes:
            raise RequestTooLargeError(limit=gate.limits.request_body_max_bytes)
        self._length = length

    async def _replay(self) -> Message:
        """Read the body and give it as one event; after that, what the client does: it disconnects."""
        if not self._read:
            self._read = True
            body = await self._body() if self._unread else b""
            if body is None:
                self._gone = True
                return {"type": "http.disconnect"}
            return {"type": "http.request", "body": body, "more_body": False}
        while True:
            message = await self._receive()
            if message["type"] != "http.request":
                self._gone = True
                return message

    async def _body(self) -> bytes | None:
        limits = self._gate.limits
        max_bytes = self._state.get("body_max_bytes", limits.request_body_max_bytes)
        if self._length > max_bytes:
            raise RequestTooLargeError(limit=max_bytes)
        read = await read_body(self._receive, limits, self._gate.budget, max_bytes)
        if read is None:
            return None
        body, self._body_bytes = read
        self._unread = False
        return body

    async def _answer(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            for name, value in message.get("headers", ()):
                if name == b"content-length":
                    # Held until the client has taken the answer: ``send`` returns when it is all but sent.
                    self._answer_bytes = self._gate.answers.draw(int(value), self._answer_bytes)
            self._status = message["status"]
            headers = [*message.get("headers", ()), (b"x-request-id", self._request_id.encode("ascii"))]
            message = {**message, "headers": headers}
        await self._send(message)

    async def _refuse(self, refusal: RefusalError) -> None:
        if self._status or self._gone:
            # Half an answer is out; that it ends here is all that can still be said.
            return
        status, headers, body = refusal_response(
            refusal,
            allow=self._state.get("allow", ()),
            challenge=self._state.get("challenge", CHALLENGE),
            request_id=self._request_id,
        )
        shown = self._gate.page(self._scope.get("path", ""), refusal)
        if shown is not None:
            headers, body = shown
        if self._unread and isinstance(refusal, RateLimitedError):
            # Who is asked to come back later comes back on the connection that it has.
            await self._discard()
            if self._gone:
                return
        if self._unread:
            headers.append(CLOSE)
        await self._answer({"type": "http.response.start", "status": status, "headers": headers})
        await self._answer({"type": "http.response.body", "body": body})

    async def _discard(self) -> None:
        """Take what the client still sends, and keep nothing of it; who waits to be asked sends none."""
        limits = self._gate.limits
        size = 0
        with suppress(TimeoutError):
            async with asyncio.timeout(limits.unread_request_timeout_secs):
                while self._unread and not self._awaited and size <= limits.unread_request_max_bytes:
                    message = await self._receive()
                    if message["type"] == "http.disconnect":
                        self._gone = True
                        return
                    size += len(message.get("body", b""))
                    self._unread = message.get("more_body", False)

    @property
    def _route(self) -> str | None:
        return self._state.get("route")

    def _log(self) -> None:
        method = self._scope["method"]
        secs = time.monotonic() - self._began
        if self._status:
            self._gate.observe(self._route, self._status, secs)
        self._gate.log.info(
            "request",
            request_id=self._request_id,
            method=method if method in _METHODS else "other",
            route=self._route,
            status=self._status or None,
            ms=round(secs * 1000, 2),
            account=self._state.get("account"),
        )
