"""The http sink against a real receiver: what is signed, and what each answer means."""

import asyncio
import base64
import ssl
from pathlib import Path
from typing import Any

import pytest

from mail4agent_api.errors import MalformedError
from mail4agent_core.clock import HandClock
from mail4agent_core.outbox.sink import NotSentError
from mail4agent_daemon.sinks.exchange import place_of
from mail4agent_daemon.sinks.far_side import UnknownOutcomeError
from mail4agent_daemon.sinks.http import HttpSink
from tests.daemon.receiver import Receiver, receiving, saying, silence, status

from .certificates import Certificate
from .drafts import KEY, outgoing, staged

SIGNING_KEY = "whsec_" + base64.b64encode(bytes(range(32))).decode()
NOW_MS = 1_796_200_000_000


def posting(url: str, *, context: ssl.SSLContext | None = None, timeout_secs: float = 10.0) -> HttpSink:
    """A sink that posts there."""
    return HttpSink(
        "hook",
        place_of(url),
        SIGNING_KEY,
        HandClock(NOW_MS),
        arguments=["channel", "text", "number"],
        file_args=["bundle"],
        context=context,
        timeout_secs=timeout_secs,
    )


def answering(code: int, body: bytes = b"", *headers: str) -> Any:
    """Answer with a status and a body."""
    lines = (f"HTTP/1.1 {code} Said", f"Content-Length: {len(body)}", *headers, "", "")
    return saying("\r\n".join(lines).encode() + body)


@pytest.mark.promise("sinks.a-request-is-signed-whole")
async def test_a_request_holds_the_draft_and_is_signed_whole(workspace: Path) -> None:
    """Arguments and files under one signature, under a name that every attempt has."""
    page = staged(workspace, "site/index.html", b"<h1>\xff")
    args = {"channel": "ops", "text": "ünïcode", "number": 10**40, "bundle": "site"}
    async with receiving(answering(201, b'{"id": "evt_9"}')) as receiver:
        url = receiver.url + "?to=ops"
        assert await posting(url).deliver(outgoing(args, files=(page,))) == "evt_9"
    (heard,) = receiver.heard
    assert heard.line == "POST /doorbell?to=ops HTTP/1.1"
    assert heard.is_signed_with(SIGNING_KEY)
    assert (heard.id, heard.headers["idempotency-key"]) == (KEY, KEY)
    assert heard.headers["webhook-timestamp"] == str(NOW_MS // 1_000)
    assert heard.json["args"] == args
    assert (heard.json["tool"], heard.json["staged_by"], heard.json["kind"]) == ("notify", "ada", "message")
    (file,) = heard.json["files"]
    assert base64.b64decode(file.pop("content")) == b"<h1>\xff"
    assert file == {"path": "site/index.html", "size": 5, "sha256": page.sha256}


@pytest.mark.parametrize("code", [400, 401, 404, 413, 422, 429, 307, 308])
async def test_a_refusal_is_not_sent(code: int) -> None:
    """The receiver says that it did nothing; a redirect is not followed."""
    async with receiving() as elsewhere, receiving() as receiver:
        receiver.answer = answering(
            code, b"no \x1b[31msuch\xe2\x80\xae channel" + b"x" * 700, f"Location: {elsewhere.url}"
        )
        with pytest.raises(NotSentError) as failure:
            await posting(receiver.url).deliver(outgoing({}))
        assert elsewhere.heard == []
    assert str(code) in failure.value.reason
    assert failure.value.reason.isprintable()
    assert len(failure.value.reason.encode()) <= 512


@pytest.mark.promise("sinks.an-unknown-outcome-is-said")
@pytest.mark.parametrize("code", [500, 502, 503, 302, 303, 409])
async def test_an_answer_that_may_follow_an_effect_leaves_the_outcome_unknown(code: int) -> None:
    """Whether the receiver acted before it failed, it does not say."""
    async with receiving(status(code)) as receiver:
        with pytest.raises(UnknownOutcomeError):
            await posting(receiver.url).deliver(outgoing({}))
    assert len(receiver.heard) == 1


async def _hang_up(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    writer.transport.abort()


@pytest.mark.parametrize("answer", [silence, saying(b"HTTP/1.1 "), saying(b"SSH-2.0\r\n\r\n"), _hang_up])
async def test_no_answer_leaves_the_outcome_unknown(answer: Any) -> None:
    """Silence, half an answer, something else, an end: the request had left."""
    async with receiving(answer) as receiver:
        with pytest.raises(UnknownOutcomeError):
            await posting(receiver.url, timeout_secs=0.5).deliver(outgoing({}))


async def test_a_receiver_that_is_not_there_is_not_sent() -> None:
    """Nothing was said to anybody."""
    async with receiving() as receiver:
        url = receiver.url
    with pytest.raises(NotSentError):
        await posting(url).deliver(outgoing({}))


async def test_an_answer_is_read_as_far_as_it_is_bounded() -> None:
    """One without end is still an answer."""

    async def endless(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
        while True:
            writer.write(b"1000\r\n" + b"x" * 4096 + b"\r\n")
            await writer.drain()

    async with receiving(endless) as receiver:
        assert await posting(receiver.url).deliver(outgoing({})) is None


@pytest.mark.parametrize(("interim", "known"), [(100, True), (101, False)])
async def test_so_many_answers_before_the_one_that_counts_are_read(interim: int, known: bool) -> None:
    """A receiver that says nothing but 1xx is not listened to until its time is over."""
    said = b"HTTP/1.1 102 Processing\r\n\r\n" * interim + b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"
    async with receiving(saying(said)) as receiver:
        sink = posting(receiver.url)
        if known:
            assert await sink.deliver(outgoing({})) is None
        else:
            with pytest.raises(UnknownOutcomeError):
                await sink.deliver(outgoing({}))
    assert len(receiver.heard) == 1


async def test_under_https_the_receiver_must_be_who_it_says(authority: Certificate) -> None:
    """A certificate that nobody vouches for gets nothing."""
    receiver = Receiver()
    server = await asyncio.start_server(receiver._serve, "127.0.0.1", 0, ssl=authority.server)
    async with server:
        url = f"https://localhost:{server.sockets[0].getsockname()[1]}/hook"
        with pytest.raises(NotSentError):
            await posting(url, context=ssl.create_default_context()).deliver(outgoing({}))
        assert receiver.heard == []
        await posting(url, context=authority.client).deliver(outgoing({}))
    assert len(receiver.heard) == 1


async def test_a_proxy_of_the_environment_is_not_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nor is anything else that the daemon happens to be started with."""
    async with receiving() as proxy, receiving() as receiver:
        for name in ("http_proxy", "HTTP_PROXY", "ALL_PROXY"):
            monkeypatch.setenv(name, f"http://127.0.0.1:{proxy.port}")
        await posting(receiver.url).deliver(outgoing({}))
        assert (proxy.heard, len(receiver.heard)) == ([], 1)


def test_an_argument_that_a_receiver_does_not_take_is_refused() -> None:
    """By its name, where that can be quoted."""
    with pytest.raises(MalformedError) as refusal:
        posting("https://example.org/").accept({"url": "https://elsewhere.example/"})
    assert "the argument url is not carried" in refusal.value.refusal.reason
