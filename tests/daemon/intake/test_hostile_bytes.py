"""Raw bytes at a real intake: what is hidden in a request is never run, and each connection ends."""

from __future__ import annotations

import re
import socket
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

import pytest

from tests.daemon.host.test_smuggling import HARMLESS, HOSTILE

from .house import BOUND_SECS, House, multipart

_STATUS = re.compile(rb"HTTP/1\.1 ([0-9]{3}) ")
#: Only the page of this type names it so; it is what the hidden requests ask for.
HIDDEN = b"/f/talk"


#: Comes last, so that a connection that is still open ends without waiting for its time.
LAST = b"GET /f/nothing HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
#: What waits for the rest of a request; the other end closes instead.
HALVES = ("half a ", "a question that ", "an endless extension", "endless trailers", "a chunk that is longer")


def said(house: House, raw: bytes, *, ends: bool = False) -> bytes:
    """Everything that is answered until the intake closes; with ``ends`` nothing more is sent."""
    answered = b""
    with (
        socket.create_connection(("127.0.0.1", house.port), timeout=BOUND_SECS) as wire,
        suppress(ConnectionError),
    ):
        wire.sendall(raw if ends else raw + LAST)
        if ends:
            wire.shutdown(socket.SHUT_WR)
        while part := wire.recv(65_536):
            answered += part
    return answered


def at_the_intake(raw: bytes) -> bytes:
    """The bytes that the daemon's tests send, to the paths of an intake."""
    return raw.replace(b"/echo", b"/f/visit").replace(b"/smuggled", HIDDEN)


def statuses(answered: bytes) -> list[int]:
    """Of each answer."""
    return [int(each) for each in _STATUS.findall(answered)]


@pytest.mark.promise("daemon.raw-connections-end-in-time")
def test_no_hidden_request_reaches_a_form(open_house: House) -> None:
    """Lengths, codings, chunks, heads and targets that lie: refusals or nothing, and the intake serves on."""
    page = open_house.get("/f/talk")
    assert page.status == 200
    assert page.body in said(open_house, b"GET /f/talk HTTP/1.1\r\nHost: localhost\r\n\r\n"), "is not hidden"
    kinds = HOSTILE | {what: raw for what, raw in HARMLESS.items() if what.startswith("a request as")}
    with ThreadPoolExecutor(8) as pool:
        every = list(
            pool.map(
                lambda what: said(open_house, at_the_intake(kinds[what]), ends=what.startswith(HALVES)), kinds
            )
        )
    for what, answered in zip(kinds, every, strict=True):
        assert [status for status in statuses(answered) if not 400 <= status < 500 and status != 100] == [], (
            what
        )
        assert page.body not in answered, what
    assert open_house.get("/f/talk").status == 200


HEAD = b"POST /f/visit HTTP/1.1\r\nHost: localhost\r\n"
NESTED = b"--b-1\r\nContent-Type: multipart/mixed; boundary=b-1\r\n\r\n"
FORM_HEAD = HEAD + b"Content-Type: application/x-www-form-urlencoded\r\n"


@pytest.mark.promise("daemon.raw-connections-end-in-time")
def test_requests_behind_one_another_are_answered_in_order(open_house: House) -> None:
    """A refused body is no next request, and what comes behind a good one is judged by itself."""
    body = b"visitor_email=%zz"
    one = FORM_HEAD + b"Content-Length: %d\r\n\r\n" % len(body) + body
    get = b"GET /f/nothing HTTP/1.1\r\nHost: localhost\r\n\r\n"
    assert statuses(said(open_house, one + get + one)) == [400, 404, 400, 404]
    assert statuses(said(open_house, get * 50)) == [404] * 51


def parts(content_type: bytes, body: bytes) -> bytes:
    """A request with files."""
    head = b"POST /upload/" + b"a" * 43 + b" HTTP/1.1\r\nHost: localhost\r\nContent-Type: " + content_type
    return head + b"\r\nContent-Length: %d\r\n\r\n" % len(body) + body


@pytest.mark.parametrize(
    "raw",
    [
        parts(b"multipart/form-data; boundary=b-1", multipart([("cv", "a.pdf", b"%PDF-1.7")])[:-8]),
        parts(b"multipart/form-data; boundary=b-1", b"--b-1\r\n" + b"X: a\r\n" * 50_000),
        parts(b"multipart/form-data; boundary=" + b"b" * 5_000, b"--b\r\n"),
        parts(b"multipart/form-data", b"--b-1--\r\n"),
        parts(b"multipart/mixed; boundary=b-1", NESTED * 999),
        parts(b"multipart/form-data; boundary=b-1", multipart([("cv", "a", b"")] * 5_000)),
        b"GET /f/%00 HTTP/1.1\r\nHost: localhost\r\n\r\n",
        b"GET /f/%2e%2e%2fbox%2fqueue HTTP/1.1\r\nHost: localhost\r\n\r\n",
        b"GET /f/\xff\xfe HTTP/1.1\r\nHost: localhost\r\n\r\n",
        b"GET /confirm/%zz%f HTTP/1.1\r\nHost: localhost\r\n\r\n",
        b"GET * HTTP/1.1\r\nHost: localhost\r\n\r\n",
        b"GET //evil.example/f/talk HTTP/1.1\r\nHost: localhost\r\n\r\n",
        b"GET /f/talk HTTP/1.1\r\n\r\n",
        b"GET /f/talk HTTP/1.1\r\nHost: \r\n\r\n",
        b"GET /f/talk HTTP/1.1\r\nHost: localhost.evil.example\r\n\r\n",
        b"GET /f/talk HTTP/1.1\r\nHost: localhost@evil.example\r\n\r\n",
        b"POST /box/queue HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer \xff\x00\r\n\r\n",
    ],
)  # fmt: skip
def test_what_no_path_takes_is_refused(open_house: House, raw: bytes) -> None:
    """Files that never end or nest, odd targets and other names: one refusal, and no fault of ours."""
    found = statuses(said(open_house, raw))
    assert found[1:] in ([], [404])
    assert [status for status in found if not 400 <= status < 500] == []
