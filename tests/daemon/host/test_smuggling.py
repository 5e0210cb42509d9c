"""Requests hidden in requests, and heads that no reader should take: what is hidden is never run."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from .served import BOUND_SECS, Host, Hosts, request

HIDDEN = b"GET /smuggled HTTP/1.1\r\nHost: localhost\r\n\r\n"
HEAD = b"POST /echo HTTP/1.1\r\nHost: localhost\r\n"
SIZE = str(len(HIDDEN)).encode()
CHUNKED = b"Transfer-Encoding: chunked\r\n"
LAST = b"0\r\n\r\n"


def chunks(first: bytes, rest: bytes = b"") -> bytes:
    """A chunked request whose first line of a chunk is given."""
    return HEAD + CHUNKED + b"\r\n" + first + b"\r\nabc\r\n" + LAST + rest


HOSTILE: dict[str, bytes] = {
    "a length before chunks": HEAD + b"Content-Length: " + SIZE + b"\r\n" + CHUNKED + b"\r\n" + LAST + HIDDEN,
    "chunks before a length": HEAD + CHUNKED + b"Content-Length: 4\r\n\r\n" + b"5c\r\n" + HIDDEN + LAST,
    "two lengths": HEAD + b"Content-Length: 0\r\nContent-Length: " + SIZE + b"\r\n\r\n" + HIDDEN,
    "a list of lengths": HEAD + b"Content-Length: 0, " + SIZE + b"\r\n\r\n" + HIDDEN,
    "a signed length": HEAD + b"Content-Length: +0\r\n\r\n" + HIDDEN,
    "a length in another base": HEAD + b"Content-Length: 0x0\r\n\r\n" + HIDDEN,
    "a length with a line": HEAD + b"Content-Length: 0_0\r\n\r\n" + HIDDEN,
    "a length of 5,000 digits": HEAD + b"Content-Length: " + b"9" * 5000 + b"\r\n\r\n" + HIDDEN,
    "a space before the colon": HEAD
    + b"Transfer-Encoding : chunked\r\nContent-Length: 5\r\n\r\n"
    + LAST
    + HIDDEN,
    "a coding that is none": HEAD
    + b"Transfer-Encoding: xchunked\r\nContent-Length: 5\r\n\r\n"
    + LAST
    + HIDDEN,
    "codings in a list": HEAD + b"Transfer-Encoding: chunked, identity\r\n\r\n" + LAST + HIDDEN,
    "a coding twice": HEAD + CHUNKED + CHUNKED + b"\r\n" + LAST + HIDDEN,
    "a folded coding": HEAD + b"Transfer-Encoding:\r\n chunked\r\nContent-Length: 5\r\n\r\n" + LAST + HIDDEN,
    "a coding behind a tab": HEAD
    + b"Transfer-Encoding:\tchunked\r\nContent-Length: 5\r\n\r\n"
    + LAST
    + HIDDEN,
    "a coding behind a lone return": HEAD + b"X: a\rTransfer-Encoding: chunked\r\n\r\n" + LAST + HIDDEN,
    "a negative chunk": chunks(b"-3", HIDDEN),
    "a chunk in another base": chunks(b"0x3", HIDDEN),
    "a signed chunk": chunks(b"+3", HIDDEN),
    "a huge chunk": chunks(b"f" * 40, HIDDEN),
    "a chunk behind a space": chunks(b" 3", HIDDEN),
    "an endless extension": HEAD + CHUNKED + b"\r\n3;" + b"a" * 200_000,
    "a chunk that is longer than it says": HEAD + CHUNKED + b"\r\n1\r\nabc\r\n" + LAST + HIDDEN,
    "endless trailers": HEAD + CHUNKED + b"\r\n0\r\n" + b"X-A: a\r\n" * 20_000,
    "a request without a version": b"GET /smuggled\r\n\r\n" + HIDDEN,
    "another version": b"GET /smuggled HTTP/3.0\r\nHost: localhost\r\n\r\n" + HIDDEN,
    "the preface of HTTP/2": b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\x00\x00\x00\x04\x00\x00\x00\x00\x00" + HIDDEN,
    "a tunnel": b"CONNECT evil.example:443 HTTP/1.1\r\nHost: evil.example:443\r\n\r\n",
    "a proxy's target": b"GET http://evil.example/smuggled HTTP/1.1\r\nHost: evil.example\r\n\r\n",
    "two hosts": HEAD + b"Host: evil.example\r\nContent-Length: 0\r\n\r\n" + HIDDEN,
    "a zero in a header": HEAD + b"X: a\x00b\r\nContent-Length: 0\r\n\r\n" + HIDDEN,
    "a name that is none": HEAD + b"X Y: a\r\nContent-Length: 0\r\n\r\n" + HIDDEN,
    "no name": HEAD + b": a\r\nContent-Length: 0\r\n\r\n" + HIDDEN,
    "a folded first header": b"POST /echo HTTP/1.1\r\n Host: localhost\r\nContent-Length: 0\r\n\r\n" + HIDDEN,
    "ten thousand headers": HEAD
    + b"".join(b"X-%d: a\r\n" % each for each in range(10_000))
    + b"\r\n"
    + HIDDEN,
    "a head of 64 KiB": HEAD + b"X: " + b"a" * 65_536 + b"\r\n\r\n" + HIDDEN,
    "half a head": HEAD + b"X: a",
    "half a body": HEAD + b"Content-Length: 500\r\n\r\n" + HIDDEN,
    "half a chunk": HEAD + CHUNKED + b"\r\n50\r\n" + HIDDEN[:20],
    "a question that is not answered": HEAD
    + b"Content-Length: 90\r\nExpect: 100-continue\r\n\r\n"
    + HIDDEN[:40],
}
#: What is one request with a body, however it is written; what stands in the body is no request.
HARMLESS: dict[str, bytes] = {
    "a request as a body": HEAD + b"Content-Length: " + SIZE + b"\r\n\r\n" + HIDDEN,
    "a request as a chunk": HEAD + CHUNKED + b"\r\n" + b"%x\r\n" % len(HIDDEN) + HIDDEN + b"\r\n" + LAST,
    "a request as a trailer": HEAD + CHUNKED + b"\r\n0\r\nX: GET /smuggled HTTP/1.1\r\n\r\n",
    "an extension of a chunk": chunks(b"3;a=b"),
    "a folded header": HEAD + b"X: a\r\n b\r\nContent-Length: 0\r\n\r\n",
    "an upgrade to HTTP/2": HEAD + b"Upgrade: h2c\r\nConnection: Upgrade\r\nContent-Length: 0\r\n\r\n",
}


async def answers(host: Host, raw: bytes) -> list[tuple[int, bytes]]:
    """Every answer to some bytes, until the other end closes."""
    wire = await host.connect()
    found: list[tuple[int, bytes]] = []
    try:
        await wire.send(raw)
        async with asyncio.timeout(BOUND_SECS):
            while True:
                answer = await wire.answer()
                found.append((answer.status, answer.body))
    except (asyncio.IncompleteReadError, ConnectionError):
        return found
    finally:
        wire.close()


@pytest.fixture
async def host_of_spies(hosts: Hosts) -> tuple[Host, list[Any]]:
    """A host with short times, and what reached the hidden request's path."""
    quick = {"header_timeout_secs": 0.2, "body_read_timeout_secs": 0.2, "keep_alive_secs": 0.2}
    host = await hosts.start(**quick, unread_request_timeout_secs=0.2)
    reached: list[Any] = []

    async def spy(scope: Any, receive: Any, send: Any) -> None:
        reached.append(scope)
        await host.app.answer(send, b"smuggled")

    host.app.on_smuggled = spy  # type: ignore[attr-defined]
    return host, reached


@pytest.mark.promise("daemon.raw-connections-end-in-time")
async def test_no_hidden_request_is_run(host_of_spies: tuple[Host, list[Any]]) -> None:
    """Each gets refusals or nothing, its connection ends, and an honest request is answered."""
    host, reached = host_of_spies
    said = await asyncio.gather(*(answers(host, raw) for raw in HOSTILE.values()))
    for what, found in zip(HOSTILE, said, strict=True):
        assert [status for status, _ in found if status >= 500] == [], what
        assert [status for status, _ in found if status < 400] in ([], [100], [200]), what
        assert b"smuggled" not in b"".join(body for _, body in found), what
    assert reached == []
    wire = await host.connect()
    assert (await wire.ask(request(body=b"abc"))).body == b"3"
    assert not host.logged("unhandled") + host.logged("connection_failed") + host.logged("request_failed")
    assert host.gate.budget.held_bytes == 0


@pytest.mark.promise("daemon.raw-connections-end-in-time")
async def test_what_stands_in_a_body_is_no_request(host_of_spies: tuple[Host, list[Any]]) -> None:
    """One request, one answer."""
    host, reached = host_of_spies
    said = await asyncio.gather(*(answers(host, raw) for raw in HARMLESS.values()))
    for what, found in zip(HARMLESS, said, strict=True):
        assert [status for status, _ in found] == [200], what
    assert reached == []


async def test_the_spy_sees_what_is_run(host_of_spies: tuple[Host, list[Any]]) -> None:
    """The hidden request, sent openly behind another, is run: it would be seen."""
    host, reached = host_of_spies
    assert [status for status, _ in await answers(host, request(body=b"abc") + HIDDEN)] == [200, 200]
    assert len(reached) == 1
