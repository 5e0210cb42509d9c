"""One signed request over HTTP/1.1 to one address, bounded in time and in bytes.

The host is looked up once, and what was found is what is connected to. No redirect is followed; no proxy and
no cookie is known; the connection serves one request.
"""

import asyncio
import ssl
from collections.abc import Sequence
from dataclasses import dataclass, field
from urllib.parse import urlsplit

import h11

_READ_BYTES = 16_384
_HEAD_MAX_BYTES = 16_384
#: Bytes of an answer's body that are kept; no more are read.
ANSWER_MAX_BYTES = 65_536
#: Answers of the kind 1xx that are read before the one that counts.
_INTERIM_MAX = 100
_LOOPBACK = {"localhost": "127.0.0.1"}


class UnreachedError(Exception):
    """There was no connection, so nothing was said. The text is the system's."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a URL leads: a host as the certificate and the Host header name it, and the target there."""

    host: str
    port: int
    secure: bool
    authority: str
    target: str


@dataclass(slots=True)
class Answer:
    """What was heard; a status of None is no answer."""

    status: int | None = None
    #: Grows in place: an answer may come in pieces of one byte.
    body: bytearray = field(default_factory=bytearray)


def place_of(url: str) -> Place:
    """Take a URL apart. Raises ValueError for one that is none."""
    parts = urlsplit(url)
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        raise ValueError("must be https://HOST, or http:// on this machine")
    if "@" in parts.netloc or parts.fragment or not url.isascii() or not url.isprintable() or " " in url:
        raise ValueError("must be printable ASCII without a user and a fragment")
    secure = parts.scheme == "https"
    target = f"{parts.path or '/'}?{parts.query}" if parts.query else parts.path or "/"
    return Place(parts.hostname, parts.port or (443 if secure else 80), secure, parts.netloc, target)


async def post(
    place: Place,
    headers: Sequence[tuple[str, str]],
    body: bytes,
    *,
    context: ssl.SSLContext | None,
    timeout_secs: float,
) -> Answer:
    """Post ``body`` and give what was heard until the answer ended, broke off or its time was over.

    Raises UnreachedError when nothing was sent.
    """
    answer = Answer()
    deadline = asyncio.get_running_loop().time() + timeout_secs
    reader, writer = await _connected(place, context, deadline)
    try:
        async with asyncio.timeout_at(deadline):
            await _exchanged(reader, writer, _request(place, headers, body), answer)
    except (OSError, h11.RemoteProtocolError):
        pass  # TimeoutError too: what was heard before counts
    finally:
        writer.transport.abort()
    return answer


async def _connected(
    place: Place, context: ssl.SSLContext | None, deadline: float
) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    host = _LOOPBACK.get(place.host, place.host)
    try:
        async with asyncio.timeout_at(deadline):
            return await asyncio.open_connection(
                host,
                place.port,
                limit=_READ_BYTES,
                ssl=context if place.secure else None,
                server_hostname=place.host if place.secure else None,
            )
    except TimeoutError:
        raise UnreachedError("it did not answer in time") from None
    except ssl.SSLError as failure:
        raise UnreachedError(failure.reason or "no TLS") from None
    except OSError as failure:
        raise UnreachedError(failure.strerror or "it cannot be reached") from None


@dataclass(frozen=True, slots=True)
class _Request:
    """What is sent, and the state of the protocol after it."""

    raw: bytes
    http: h11.Connection


def _request(place: Place, headers: Sequence[tuple[str, str]], body: bytes) -> _Request:
    http = h11.Connection(h11.CLIENT, max_incomplete_event_size=_HEAD_MAX_BYTES)
    fixed = [("Host", place.authority), ("Content-Length", str(len(body))), ("Connection", "close")]
    parts = [
        http.send(h11.Request(method="POST", target=place.target, headers=[*fixed, *headers])),
        http.send(h11.Data(data=body)),
        http.send(h11.EndOfMessage()),
    ]
    return _Request(b"".join(part for part in parts if part), http)


async def _exchanged(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, request: _Request, answer: Answer
) -> None:
    """Send the request while its answer is awaited: who refuses early need not take the whole body."""
    writer.write(request.raw)
    interim = 0
    while True:
        event = request.http.next_event()
        if event is h11.NEED_DATA:
            request.http.receive_data(await reader.read(_READ_BYTES))
        elif isinstance(event, h11.Response):
            answer.status = event.status_code
        elif isinstance(event, h11.Data):
            answer.body += event.data[: ANSWER_MAX_BYTES - len(answer.body)]
            if len(answer.body) >= ANSWER_MAX_BYTES:
                return
        elif isinstance(event, h11.InformationalResponse) and interim < _INTERIM_MAX:
            interim += 1
        else:
            return
