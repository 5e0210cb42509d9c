"""Connections: Hypercorn's TCP server with bounds, timers in place of tasks, and an end that loses no answer.

What the stock server lacks and this one has: what is known of the connection in each request's
``scope["state"]["link"]``; a connection that its client closed is gone at once instead of lingering for the
keep-alive time; a bound on how many there are; a bound on slow heads and on clients that do not read; a
refusal sent early is not destroyed by the reset that closing on unread bytes causes; and at shutdown idle
connections close at once and stuck ones at the deadline.
"""

import asyncio
from contextlib import suppress
from ssl import SSLError
from typing import cast

from hypercorn.asyncio.tcp_server import TCPServer
from hypercorn.config import Config
from hypercorn.events import Closed, Event, RawData, Updated
from hypercorn.typing import ConnectionState
from hypercorn.utils import parse_socket_addr

from mail4agent_api.errors import OverloadedError

from .hangup import has_hung_up
from .inlet import MailTaskGroup
from .limits import Limits
from .link import Link
from .log import Log
from .peer import Peer, peer_of
from .protocol import MailH11Protocol
from .refusals import CLOSE, refusal_response

_READ_BYTES = 65_536


class Connections:
    """All open connections of one daemon."""

    def __init__(self, limits: Limits, log: Log) -> None:
        self.limits = limits
        self.log = log
        self.stopping = False
        self._open: set[MailTCPServer] = set()

    def __len__(self) -> int:
        """How many are open."""
        return len(self._open)

    def admit(self, connection: "MailTCPServer") -> bool:
        """Count a new connection in, unless there are too many."""
        if len(self._open) >= self.limits.connections_max:
            return False
        self._open.add(connection)
        return True

    def leave(self, connection: "MailTCPServer") -> None:
        """Count a connection out."""
        self._open.discard(connection)

    def stop(self) -> None:
        """Close idle connections now and the others after their answer."""
        self.stopping = True
        for connection in list(self._open):
            connection.stop()

    def abort(self) -> None:
        """Cut all connections; what was not answered by now never is."""
        for connection in list(self._open):
            connection.abort()

    def cancel(self) -> None:
        """Cancel what the application still does for connections that are cut."""
        for connection in list(self._open):
            connection.cancel()


class MailConfig(Config):
    """Hypercorn's configuration, which also carries ours to each connection."""

    connections: Connections


class MailTCPServer(TCPServer):
    """One connection."""

    _http: MailH11Protocol
    _link: Link
    _tasks: MailTaskGroup
    _idle = True
    _head_begun = False
    _closing = False
    _discarded_bytes = 0
    _timer: asyncio.TimerHandle | None = None

    @property
    def _connections(self) -> Connections:
        return cast("MailConfig", self.config).connections

    async def run(self) -> None:
        """Serve until either end closes."""
        connections = self._connections
        try:
            peer = peer_of(self.writer.get_extra_info("socket"))
        except OSError:
            self.writer.transport.abort()
            return
        if not connections.admit(self):
            await self._turn_away()
            return
        try:
            await self._serve(peer)
        except* OSError:
            self.writer.transport.abort()
        except* Exception as failures:  # noqa: BLE001  one connection must not end the server
            connections.log.failed("connection_failed", failures)
            self.writer.transport.abort()
        finally:
            try:
                await self._end()
            finally:
                connections.leave(self)

    async def _serve(self, peer: Peer) -> None:
        address = self.writer.get_extra_info("socket")
        limits = self._connections.limits
        self._link = Link(peer)
        self._task_group = self._tasks = tasks = MailTaskGroup(self.loop, self._connections.log)
        async with tasks:
            self._http = MailH11Protocol(
                self.app,
                self.config,
                self.context,
                tasks,
                ConnectionState({**self.state, "link": self._link}),
                self.writer.get_extra_info("ssl_object") is not None,
                parse_socket_addr(address.family, address.getpeername()),
                parse_socket_addr(address.family, address.getsockname()),
                self.protocol_send,
            )
            self._http.header_max_bytes = limits.header_max_bytes
            self._http.log = self._connections.log
            self._http.head_begun = self._begin_head
            self._http.hung_up = self._hung_up
            tasks.asked = self._http.go_on
            if self._connections.stopping:
                self.stop()
            else:
                self._set_timer(limits.keep_alive_secs)
            await self._read_data()

    async def _read_data(self) -> None:
        limits = self._connections.limits
        while True:
            try:
                data = await self.reader.read(_READ_BYTES)
            except (OSError, SSLError):
                break
            if not data:
                break
            if self._closing:
                self._discarded_bytes += len(data)
                if self._discarded_bytes > limits.unread_request_max_bytes:
                    break
                continue
            await self._http.handle(RawData(data))
            self._begin_head()
        self._cancel_timer()
        self._link.release()
        await self._http.handle(Closed())

    def _hung_up(self) -> bool:
        # Once the transport closes, its descriptor may be another connection's.
        return self.writer.transport.is_closing() or has_hung_up(self.writer.get_extra_info("socket"))

    def _begin_head(self) -> None:
        """Bound the time of a head, once: a timer that each further byte restarts would bound nothing."""
        if self._idle and not self._head_begun and not self._closing:
            self._head_begun = True
            self._set_timer(self._connections.limits.header_timeout_secs)

    async def protocol_send(self, event: Event) -> None:
        """Take what the protocol has for this connection: bytes, its end, or whether it is idle."""
        if isinstance(event, RawData):
            await self._write(event.data)
        elif isinstance(event, Closed):
            await self._http.handle(Closed())
            self._begin_close(linger=self._http.unread)
        elif isinstance(event, Updated):
            self._idle = event.idle
            self._head_begun = False
            if not event.idle:
                self._cancel_timer()
            elif self._connections.stopping:
                self._begin_close(linger=False)
            else:
                self._set_timer(self._connections.limits.keep_alive_secs)

    async def _write(self, data: bytes) -> None:
        transport = self.writer.transport
        if transport.is_closing():
            return
        try:
            self.writer.write(data)
            if self.writer.transport.get_write_buffer_size():
                async with asyncio.timeout(self._connections.limits.response_write_timeout_secs):
                    await self.writer.drain()
        except TimeoutError:
            transport.abort()
        except (OSError, RuntimeError):
            await self._http.handle(Closed())

    def stop(self) -> None:
        """Close at once when idle, else after the answer."""
        if hasattr(self, "_http"):
            self._http.closing = True
            self._link.release()
            if self._idle:
                self._begin_close(linger=False)

    def abort(self) -> None:
        """Cut the connection."""
        self.writer.transport.abort()

    def cancel(self) -> None:
        """Cancel the request that is running."""
        if hasattr(self, "_tasks"):
            self._tasks.cancel()

    def _set_timer(self, secs: float) -> None:
        self._cancel_timer()
        self._timer = self.loop.call_later(secs, self._expire)

    def _cancel_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _expire(self) -> None:
        """The client was idle, or sent its head, for too long."""
        if self._head_begun:
            self._task_group.spawn(self._refuse_head)
        else:
            self._begin_close(linger=False)

    async def _refuse_head(self) -> None:
        # The rest of the head may have been read since the timer ran out; then its request is answered.
        if self._head_begun:
            await self._http.refuse("has a head that did not arrive in time")

    def _begin_close(self, *, linger: bool) -> None:
        """Close once all is flushed; ``linger`` first reads and discards what the client is still sending.

        Closing on unread bytes makes the kernel send a reset, which may destroy the refusal before it is
        read.
        """
        if self._closing:
            return
        self._closing = True
        self._cancel_timer()
        secs = self._flush_secs()
        if linger and not self.reader.at_eof():
            with suppress(OSError, RuntimeError, NotImplementedError):
                if self.writer.can_write_eof():
                    self.writer.write_eof()
        else:
            self.writer.close()
        self._timer = self.loop.call_later(secs, self.abort)

    async def _end(self) -> None:
        """Wait until the socket is closed, for a bounded time."""
        self._cancel_timer()
        # Closed twice, asyncio's TLS transport forgets its connection and can no longer abort it.
        if not self.writer.transport.is_closing():
            self.writer.close()
        timer = self.loop.call_later(self._flush_secs(), self.abort)
        try:
            # The connection's own error, which was handled where it arose, comes out here again.
            with suppress(OSError, RuntimeError, SSLError):
                await self.writer.wait_closed()
        except asyncio.CancelledError:
            self.writer.transport.abort()
            raise
        finally:
            timer.cancel()

    def _flush_secs(self) -> float:
        limits = self._connections.limits
        return (
            limits.response_write_timeout_secs
            if self.writer.transport.get_write_buffer_size()
            else limits.unread_request_timeout_secs
        )

    async def _turn_away(self) -> None:
        """Refuse a connection that is one too many, without reading it."""
        status, headers, body = refusal_response(OverloadedError(retry_after_secs=1))
        head = b"".join(b"%s: %s\r\n" % header for header in (*headers, CLOSE))
        with suppress(OSError, RuntimeError):
            self.writer.write(b"HTTP/1.1 %d \r\n%s\r\n%s" % (status, head, body))
        await self._end()
