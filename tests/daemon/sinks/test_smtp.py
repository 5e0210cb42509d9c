"""The smtp sink against a real server: what leaves, to whom, and what is known when something fails."""

import asyncio
import ssl
from collections.abc import Awaitable, Callable
from email.headerregistry import Address
from pathlib import Path
from typing import Any

import pytest

from mail4agent_core.clock import HandClock
from mail4agent_core.outbox.sink import NotSentError
from mail4agent_daemon.sinks.far_side import UnknownOutcomeError
from mail4agent_daemon.sinks.smtp import SmtpSink, Tls

from .certificates import Certificate
from .drafts import KEY, outgoing, staged
from .smtp_server import Post, post_office

EMAIL = {
    "to": ["Noor <noor@example.net>", "omar@example.net"],
    "cc": "ines@example.net",
    "bcc": "quiet@example.net",
    "subject": "Visit on Tuesday, ünïcode €",
    "body_markdown": "Dear Noor,\n\n.a line that begins with a stop\n\n  -- \nMara\n",
    "references": ["<one@example.net>", "<two@example.net>"],
    "in_reply_to": "<two@example.net>",
}
EVERYBODY = ["noor@example.net", "omar@example.net", "ines@example.net", "quiet@example.net"]


def sink_to(
    port: int,
    *,
    tls: Tls = "none",
    context: ssl.SSLContext | None = None,
    login: tuple[str, str] | None = None,
    timeout_secs: float = 10.0,
) -> SmtpSink:
    """A sink that sends as mara."""
    sender = Address("Mara", "mara", "example.org")
    return SmtpSink(
        "work",
        "127.0.0.1",
        port,
        sender,
        HandClock(1_796_200_000_000),
        tls=tls,
        context=context,
        login=login,
        timeout_secs=timeout_secs,
    )


@pytest.mark.promise("sinks.an-email-is-what-was-read")
async def test_an_email_leaves_as_it_was_read(workspace: Path) -> None:
    """Headers, text, attachment and every recipient, once; the blind copy is in no header."""
    plan = staged(workspace, "plans/visit plan.pdf", b"%PDF-1.7 \x00\xff")
    async with post_office() as post:
        args = {**EMAIL, "attachments": ["plans/visit plan.pdf"]}
        named = await sink_to(post.port).deliver(outgoing(args, files=(plan,)))
    (message,), (envelope,) = post.messages, post.came
    assert envelope.mail_from == "mara@example.org"
    assert envelope.rcpt_tos == EVERYBODY
    assert named == message["Message-ID"] == f"<{KEY}@example.org>"
    assert (message["From"], message["To"]) == (
        "Mara <mara@example.org>",
        "Noor <noor@example.net>, omar@example.net",
    )
    assert message["Subject"] == EMAIL["subject"]
    assert (message["In-Reply-To"], message["References"]) == (
        "<two@example.net>",
        "<one@example.net> <two@example.net>",
    )
    assert "quiet" not in str(message)
    body = message.get_body()
    assert body is not None
    assert body.get_content().replace("\r\n", "\n") == EMAIL["body_markdown"]
    (attached,) = message.iter_attachments()
    assert (attached.get_filename(), attached.get_content()) == ("visit plan.pdf", b"%PDF-1.7 \x00\xff")
    assert attached.get_content_type() == "application/pdf"


@pytest.mark.parametrize("tls", ["starttls", "implicit"])
async def test_a_server_is_spoken_to_under_tls_and_logged_in_to(tls: Tls, authority: Certificate) -> None:
    """STARTTLS, or TLS from the first byte; the password goes to nobody else."""
    implicit = tls == "implicit"
    async with post_office(tls=authority.server, implicit=implicit, login=True) as post:
        sink = sink_to(post.port, tls=tls, context=authority.client, login=("mara", "a-password"))
        await sink.deliver(outgoing(EMAIL))
    assert post.logins == [(b"mara", b"a-password")]
    assert len(post.messages) == 1


@pytest.mark.promise("sinks.smtp-needs-tls")
async def test_without_starttls_nothing_is_said(authority: Certificate) -> None:
    """A server that does not offer it, or shows a certificate that nobody vouches for, gets no mail."""
    async with post_office() as bare, post_office(tls=authority.server) as strange:
        for post, context in ((bare, authority.client), (strange, ssl.create_default_context())):
            for login in (None, ("mara", "a-password")):
                sink = sink_to(post.port, tls="starttls", context=context, login=login)
                with pytest.raises(NotSentError):
                    await sink.deliver(outgoing(EMAIL))
            assert post.offered == post.logins == []


@pytest.mark.promise("sinks.an-email-goes-to-all-or-nobody")
async def test_a_refused_recipient_stops_the_email_for_all() -> None:
    """Nobody is mailed, the refused one is named, and a further attempt mails everybody once."""
    async with post_office() as post:
        post.refused = {"omar@example.net"}
        with pytest.raises(NotSentError) as failure:
            await sink_to(post.port).deliver(outgoing(EMAIL))
        assert post.came == []
        assert "omar@example.net with 550" in failure.value.reason
        assert "\x1b" not in failure.value.reason
        post.refused = set()
        await sink_to(post.port).deliver(outgoing(EMAIL))
    assert [each.rcpt_tos for each in post.came] == [EVERYBODY]


async def test_a_wrong_password_is_not_sent_and_not_told(authority: Certificate) -> None:
    """What is said of it holds no secret."""
    async with post_office(tls=authority.server, login=True) as post:
        sink = sink_to(post.port, tls="starttls", context=authority.client, login=("mara", "not-the-one"))
        with pytest.raises(NotSentError) as failure:
            await sink.deliver(outgoing(EMAIL))
    assert "535" in failure.value.reason
    assert "not-the-one" not in failure.value.reason


async def test_a_refused_text_is_not_sent() -> None:
    """The server answered: it took nothing."""
    async with post_office() as post:
        post.answer = "554 it looks like spam " + "x" * 480
        with pytest.raises(NotSentError) as failure:
            await sink_to(post.port).deliver(outgoing(EMAIL))
    assert "554" in failure.value.reason
    assert len(failure.value.reason.encode()) <= 512


@pytest.mark.promise("sinks.an-unknown-outcome-is-said")
async def test_a_connection_that_ends_after_the_text_leaves_the_outcome_unknown() -> None:
    """The message may have been taken."""
    async with post_office() as post:
        post.answer = None
        with pytest.raises(UnknownOutcomeError):
            await sink_to(post.port).deliver(outgoing(EMAIL))
    assert len(post.came) == 1


Conversation = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


async def _against(conversation: Conversation, **options: Any) -> None:
    over = asyncio.Event()

    async def converse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await conversation(reader, writer)
        writer.close()
        await writer.wait_closed()
        over.set()

    server = await asyncio.start_server(converse, "127.0.0.1", 0)
    async with server:
        port = server.sockets[0].getsockname()[1]
        try:
            await sink_to(port, **options).deliver(outgoing(EMAIL))
        finally:
            await asyncio.wait_for(over.wait(), 10)


async def _until_the_text(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    writer.write(b"220 here\r\n")
    while not (await reader.readline()).startswith(b"RCPT TO:<quiet"):
        writer.write(b"250 OK\r\n")
    writer.write(b"250 OK\r\n")
    await reader.readline()


async def test_a_connection_that_ends_before_the_text_is_not_sent() -> None:
    """The server never asked for it."""

    async def hang_up(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await _until_the_text(reader, writer)

    with pytest.raises(NotSentError):
        await _against(hang_up)


async def test_a_server_that_is_silent_before_the_text_is_not_sent_and_after_it_unknown() -> None:
    """The time is bounded in both."""

    async def never(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read()

    async def late(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await _until_the_text(reader, writer)
        writer.write(b"354 go on\r\n")
        await reader.read()

    with pytest.raises(NotSentError):
        await _against(never, timeout_secs=0.2)
    with pytest.raises(UnknownOutcomeError):
        await _against(late, timeout_secs=0.2)


async def test_a_server_that_is_not_there_is_not_sent() -> None:
    """Nobody listens."""
    async with post_office() as post:
        port = post.port
    with pytest.raises(NotSentError):
        await sink_to(port).deliver(outgoing(EMAIL))


@pytest.mark.promise("sinks.files-leave-as-staged")
async def test_a_copy_that_was_changed_does_not_leave(workspace: Path) -> None:
    """The copies are hashed as they are read."""
    plan = staged(workspace, "plan.txt", b"as it was read")
    plan.copy.write_bytes(b"as it is later")
    post: Post
    async with post_office() as post:
        args = {**EMAIL, "attachments": "plan.txt"}
        with pytest.raises(NotSentError):
            await sink_to(post.port).deliver(outgoing(args, files=(plan,)))
    assert post.offered == []


async def test_an_email_that_cannot_be_made_is_not_sent(workspace: Path) -> None:
    """Nobody is asked, and it is no doubt that a person has to settle."""
    strange = staged(workspace, "plans/=?utf-8?q?plan=2Eexe?=", b"x")
    async with post_office() as post:
        for args, files in (({**EMAIL, "attachments": "plans"}, (strange,)), ({**EMAIL, "from": "x"}, ())):
            with pytest.raises(NotSentError):
                await sink_to(post.port).deliver(outgoing(args, files=files))
    assert post.offered == []


@pytest.mark.promise("sinks.an-unknown-outcome-is-said")
async def test_an_answer_to_the_text_that_neither_takes_nor_refuses_leaves_the_outcome_unknown() -> None:
    """A server that asks for more has the message all the same."""

    async def more(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await _until_the_text(reader, writer)
        writer.write(b"354 go on\r\n")
        while await reader.readline() != b".\r\n":
            pass
        writer.write(b"354 go on\r\n")

    with pytest.raises(UnknownOutcomeError):
        await _against(more)


async def test_a_server_that_repeats_the_login_is_not_quoted() -> None:
    """Its answer may hold the password."""

    async def repeat(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"220 here\r\n")
        await reader.readline()
        writer.write(b"250-here\r\n250 AUTH PLAIN\r\n")
        writer.write(b"535 no: " + await reader.readline())

    with pytest.raises(NotSentError) as failure:
        await _against(repeat, login=("mara", "a-password"))
    assert failure.value.reason == "the mail server refuses the login with 535"
