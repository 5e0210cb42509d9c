"""One ring as one HTTP request: to 127.0.0.1 and nowhere else, bounded in time and in bytes.

No name is resolved, no redirect is followed, no proxy or cookie is known, and the connection serves one
request. What the listener answers is read only as far as it says whether the ring was heard.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

import h11

from mail4agent_api.mail import RingFailure
from mail4agent_core.mail.webhook import Destination

from .limits import Limits

_READ_BYTES = 4_096
_ADDRESS = "127.0.0.1"


@dataclass(slots=True)
class _Heard:
    """The status, once it is known; what comes after it changes nothing."""

    status: int | None = None

    @property
    def failure(self) -> RingFailure | None:
        if self.status is None:
            return "bad_response"
        if 200 <= self.status < 300:
            return None
        return "redirected" if 300 <= self.status < 400 else "bad_status"


async def request_ring(
    destination: Destination, headers: Sequence[tuple[str, str]], body: bytes, limits: Limits
) -> RingFailure | None:
    """Post ``body``; why the ring was not heard, None when the listener answered 2xx."""
    heard = _Heard()
    try:
        async with asyncio.timeout(limits.ring_timeout_secs):
            try:
                reader, writer = await asyncio.open_connection(_ADDRESS, destination.port, limit=_READ_BYTES)
            except ConnectionRefusedError:
                return "refused"
            except OSError:
                return "unreachable"
            try:
                await _exchange(reader, writer, _request(destination, headers, body), heard, limits)
            except (OSError, h11.RemoteProtocolError):
                pass  # what was heard before counts
            finally:
                writer.transport.abort()
    except TimeoutError:
        return "timed_out" if heard.status is None else heard.failure
    return heard.failure


@dataclass(frozen=True, slots=True)
class _Request:
    """What is sent, and the state of the protocol after it."""

    raw: bytes
    http: h11.Connection


def _request(destination: Destination, headers: Sequence[tuple[str, str]], body: bytes) -> _Request:
    http = h11.Connection(h11.CLIENT)
    fixed = [
        ("Host", destination.host),
        ("Content-Type", "application/json"),
        ("Content-Length", str(len(body))),
        ("Connection", "close"),
    ]
    parts = [
        http.send(h11.Request(method="POST", target=destination.target, headers=[*fixed, *headers])),
        http.send(h11.Data(data=body)),
        http.send(h11.EndOfMessage()),
    ]
    return _Request(b"".join(part for part in parts if part), http)


async def _exchange(
    reader: asyncio.StreamReader,
    writer: asyncio.StreamWriter,
    request: _Request,
    heard: _Heard,
    limits: Limits,
) -> None:
    """Send the request and read until the answer ends, or as much of it as is read at most."""
    writer.write(request.raw)
    await writer.drain()
    left = limits.ring_head_max_bytes
    while True:
        event = request.http.next_event()
        if event is h11.NEED_DATA:
            if left <= 0:
                return
            data = await reader.read(min(left, _READ_BYTES))
            left -= len(data)
            request.http.receive_data(data)
        elif isinstance(event, h11.Response):
            heard.status = event.status_code
            left = limits.ring_body_max_bytes
        elif not isinstance(event, h11.InformationalResponse | h11.Data):
            return
