"""HTTP/1.1 as this daemon speaks it: Hypercorn's protocol with every refusal in the contract's shape.

HTTP/1.1 and 1.0 only. HTTP/2 costs 1.2 to 1.5 times the CPU for each request, its library answers errors in
frames that no refusal fits into, and no client of the contract needs it; so there is no h2c and no h2 in
ALPN. Upgrades, WebSocket included, are ignored as RFC 9110 section 7.8 allows: such a request is answered as
the plain one it also is.
"""

import asyncio
from collections.abc import Callable
from typing import Any

import h11
from hypercorn.events import Closed, Event, RawData, Updated
from hypercorn.protocol.events import Body, EndBody, Request, Response
from hypercorn.protocol.events import Event as StreamEvent
from hypercorn.protocol.h11 import STREAM_ID, H11Protocol
from hypercorn.protocol.http_stream import HTTPStream
from hypercorn.typing import H11SendableEvent
from hypercorn.utils import suppress_body

from .flag import Flag
from .log import Log
from .refusals import CLOSE, malformed_request, refusal_response
from .request_id import minted

#: What is wrong with a request, by the status that h11 hints at.
_REASONS = {431: "has a head that is too long", 501: "has a Transfer-Encoding other than chunked"}
_NOT_HTTP = "is not a well-formed HTTP/1.1 request"
#: What is kept of what a client sends behind a request that is not answered yet; then reading stops, which
#: also hides the connection's end. So the kernel is asked for that, each so many seconds.
_BEHIND_MAX_BYTES = 65_536
_HANG_UP_LOOK_SECS = 0.5


class MailH11Protocol(H11Protocol):
    """One connection's HTTP. What is no request never reaches the application and gets ``malformed``."""

    #: Set at shutdown: answers then say that the connection closes.
    closing = False
    #: The largest request line and headers, in bytes.
    header_max_bytes = 16_384
    log: Log
    #: Told when bytes of a next head stand behind an answered request.
    head_begun: Callable[[], None]
    #: Whether the client has ended or reset the connection, as far as the kernel knows.
    hung_up: Callable[[], bool]
    _held = b""
    _ended = False
    _behind = b""
    _paused = False
    _working = False

    def __init__(self, *of_hypercorn: Any) -> None:
        super().__init__(*of_hypercorn)
        self.can_read = Flag()

    @property
    def unread(self) -> bool:
        """Whether the client may still be sending what nobody will read."""
        return self.connection.their_state not in {h11.DONE, h11.MUST_CLOSE, h11.CLOSED}

    async def refuse(self, reason: str, *, head_only: bool = False) -> None:
        """Answer ``malformed`` for the field ``request`` and close."""
        if self.connection.our_state in {h11.IDLE, h11.SEND_RESPONSE}:
            request_id = minted()
            self.log.info("no_request", request_id=request_id, reason=reason)
            status, headers, body = refusal_response(malformed_request(reason))
            headers += [(b"x-request-id", request_id.encode("ascii")), CLOSE]
            headers += self.config.response_headers("h11")
            await self._send_h11_event(h11.Response(status_code=status, headers=headers))
            if not head_only:
                await self._send_h11_event(h11.Data(data=body))
            await self._send_h11_event(h11.EndOfMessage())
        await self.send(Closed())

    async def handle(self, event: Event) -> None:
        """Take bytes of the client, or the end of the connection."""
        if isinstance(event, Closed):
            self._ended = True
            await self.can_read.set()
            await super().handle(event)
        elif isinstance(event, RawData) and (self._paused or self._working):
            # The connection is read on, for its end would not be seen otherwise.
            self._behind += event.data
            while len(self._behind) >= _BEHIND_MAX_BYTES and not self._ended:
                await self._stop_reading()
        elif not self._ended:
            await super().handle(event)

    async def _stop_reading(self) -> None:
        """Wait until what is behind can go on, or the client is gone."""
        await self.can_read.clear()
        try:
            async with asyncio.timeout(_HANG_UP_LOOK_SECS):
                await self.can_read.wait()
        except TimeoutError:
            if self.hung_up():
                await self.send(Closed())

    async def go_on(self) -> None:
        """Tell a client that waits for it to send its body: the application asks for it."""
        if (
            self.connection.our_state is h11.SEND_RESPONSE
            and self.connection.they_are_waiting_for_100_continue
        ):
            headers = self.config.response_headers("h11")
            await self._send_h11_event(h11.InformationalResponse(status_code=100, headers=headers))

    async def _maybe_recycle(self) -> None:
        await super()._maybe_recycle()
        if self._paused and not (self._ended or self.closing):
            self._paused, self._working = False, True
            self.task_group.spawn(self._resume)

    async def _resume(self) -> None:
        await self._handle_events()
        if self.connection.their_state is h11.IDLE and self.connection.trailing_data[0]:
            self.head_begun()

    async def _handle_events(self) -> None:
        self._working = True
        try:
            await self._go_through()
        finally:
            self._working = False

    async def _go_through(self) -> None:
        """Go through what the client has sent so far, up to a request that must wait for an answer."""
        while not self._ended:
            try:
                event = self.connection.next_event()
            except h11.RemoteProtocolError as error:
                await self.refuse(_REASONS.get(error.error_status_hint, _NOT_HTTP))
                return
            if isinstance(event, h11.Request):
                await self.send(Updated(idle=False))
                await self._create_stream(event)
            elif event is h11.PAUSED:
                self._paused = True
                return
            elif event is h11.NEED_DATA and self._behind:
                behind, self._behind = self._behind, b""
                self.connection.receive_data(behind)
                await self.can_read.set()
            elif isinstance(event, h11.Data) and self.stream is not None:
                await self.stream.handle(Body(stream_id=STREAM_ID, data=event.data))
            elif isinstance(event, h11.EndOfMessage) and self.stream is not None:
                await self.stream.handle(EndBody(stream_id=STREAM_ID))
            else:
                return

    async def _create_stream(self, request: h11.Request) -> None:
        reason = self._fault(request)
        if reason is not None:
            await self.refuse(reason, head_only=suppress_body(request.method.decode("ascii"), 400))
            return
        self.stream = HTTPStream(
            self.app,
            self.config,
            self.context,
            self.task_group,
            self.ssl,
            self.client,
            self.server,
            self.stream_send,
            STREAM_ID,
        )
        await self.stream.handle(
            Request(
                stream_id=STREAM_ID,
                headers=list(request.headers),
                http_version=request.http_version.decode("ascii"),
                method=request.method.decode("ascii"),
                raw_path=request.target,
                state=self.connection_state,
            )
        )
        self.keep_alive_requests += 1

    def _fault(self, request: h11.Request) -> str | None:
        """Say what is wrong with a request that h11 let pass, or nothing."""
        if request.http_version not in {b"1.1", b"1.0"}:
            return "has an HTTP version other than 1.1 and 1.0"
        size = len(request.target)
        lengths = encodings = False
        for name, value in request.headers:
            size += len(name) + len(value) + 4
            if name == b"content-length":
                lengths = True
            elif name == b"transfer-encoding":
                encodings = True
        if size > self.header_max_bytes:
            return _REASONS[431]
        # A proxy in front may believe the other one: request smuggling.
        return "has both Content-Length and Transfer-Encoding" if lengths and encodings else None

    async def stream_send(self, event: StreamEvent) -> None:
        """Send what the application answers, head and body in one write where they come together."""
        if isinstance(event, Response) and event.status_code >= 200:
            headers = [*event.headers, *self.config.response_headers("h11")]
            if self.closing or self.keep_alive_requests >= self.config.keep_alive_max_requests:
                headers.append(CLOSE)
            self._held = self._bytes_of(h11.Response(status_code=event.status_code, headers=headers))
            # A body that comes later, as in a stream of events, must not keep its head back.
            asyncio.get_running_loop().call_soon(self._let_go)
        elif isinstance(event, Body):
            await self._pass(self._bytes_of(h11.Data(data=event.data)))
        elif isinstance(event, EndBody):
            await self._pass(self._bytes_of(h11.EndOfMessage()))
        else:
            await super().stream_send(event)

    async def _pass(self, data: bytes) -> None:
        held, self._held = self._held, b""
        if held or data:
            await self.send(RawData(data=held + data))

    def _let_go(self) -> None:
        if self._held:
            self.task_group.spawn(self._pass, b"")

    def _bytes_of(self, event: H11SendableEvent) -> bytes:
        try:
            return self.connection.send(event) or b""
        except h11.LocalProtocolError:
            if self.connection.their_state is not h11.ERROR:
                raise
            return b""
