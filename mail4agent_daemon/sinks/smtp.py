"""``smtp``: an email through a configured server, to everybody it names or to nobody.

All recipients are offered before the text is. Where the server refuses one of them the transaction is given
up, so that a further attempt mails nobody twice. After the text is under way only the server's answer says
what became of it.
"""

import asyncio
import re
import ssl
from collections.abc import Mapping
from contextlib import suppress
from email.headerregistry import Address
from typing import Any, Literal

from aiosmtplib import SMTP, SMTPException, SMTPResponseException
from aiosmtplib.protocol import normalize_message_line_endings

from mail4agent_api.errors import RefusalError
from mail4agent_core.clock import Clock
from mail4agent_core.outbox.sink import Outgoing

from .copies import content_of
from .far_side import UnknownOutcomeError, not_sent
from .letter import FILES, Letter, letter_of

Tls = Literal["starttls", "implicit", "none"]
#: The code that asks for the text, and the first digits of those that accept it and that refuse it.
_GO_ON, _DONE, _REFUSED = 354, 2, frozenset({4, 5})
_PERIODS = re.compile(rb"(?m)^\.")
#: How long a server that has answered is waited for to say goodbye.
_GOODBYE_SECS = 2.0


class SmtpSink:
    """Sends emails from one address through one server."""

    kind = "smtp"
    file_args = (FILES,)

    def __init__(
        self,
        name: str,
        host: str,
        port: int,
        sender: Address,
        clock: Clock,
        *,
        tls: Tls,
        context: ssl.SSLContext | None,
        login: tuple[str, str] | None,
        timeout_secs: float,
    ) -> None:
        self.target = f"{name}: {sender.addr_spec} by {host}:{port}"
        self._host = host
        self._port = port
        self._sender = sender
        self._clock = clock
        self._tls = tls
        self._context = context
        self._login = login
        self._timeout_secs = timeout_secs

    def accept(self, args: Mapping[str, Any]) -> None:
        """Raise MalformedError or TooLargeError unless the arguments are those of an email."""
        letter_of(args)

    async def deliver(self, outgoing: Outgoing) -> str:
        """Hand the email over; its Message-ID."""
        files = [(each.path, content_of(each)) for each in outgoing.files]
        try:
            letter = letter_of(outgoing.args)
            message = letter.message(self._sender, outgoing.idempotency_key, self._clock.now_ms(), files)
            raw = message.as_bytes()
        except (RefusalError, ValueError, TypeError):
            raise not_sent("no email can be made of the draft") from None
        server = self._server()
        under_way = False
        try:
            async with asyncio.timeout(self._timeout_secs):
                await self._offered(server, letter, raw)
                under_way = True
                await self._handed_over(server, raw)
        except (SMTPException, OSError, TimeoutError) as failure:
            if under_way:
                raise UnknownOutcomeError("the mail server did not answer to the text") from failure
            raise not_sent("the mail server does not take it", _said(failure)) from None
        finally:
            await _left(server)
        return str(message["Message-ID"])

    def _server(self) -> SMTP:
        return SMTP(
            hostname=self._host,
            port=self._port,
            use_tls=self._tls == "implicit",
            start_tls=self._tls == "starttls",
            tls_context=self._context,
            # The library's own look-up of this machine's name blocks, and would tell it.
            local_hostname=self._sender.domain,
            timeout=self._timeout_secs,
        )

    async def _offered(self, server: SMTP, letter: Letter, message: bytes) -> None:
        """Everything before the text: each step may fail, and nothing has left."""
        await server.connect()
        if self._login is not None:
            try:
                await server.login(*self._login)
            except SMTPResponseException as refusal:
                # Without the server's words: it may repeat the command, and with it the password.
                raise not_sent(f"the mail server refuses the login with {refusal.code}") from None
        await server.ehlo()
        size = [f"SIZE={len(message)}"] if server.supports_extension("size") else []
        await server.mail(self._sender.addr_spec, options=size)
        for recipient in letter.recipients:
            try:
                await server.rcpt(recipient)
            except SMTPResponseException as refusal:
                raise not_sent(
                    f"the mail server refuses {recipient} with {refusal.code}, so nobody is mailed",
                    refusal.message,
                ) from None
        ready = await server.execute_command(b"DATA")
        if ready.code != _GO_ON:
            raise not_sent(f"the mail server refuses the text with {ready.code}", ready.message)

    async def _handed_over(self, server: SMTP, message: bytes) -> None:
        """The text, to the line that ends it, and the answer to that.

        Raises NotSentError, UnknownOutcomeError, SMTPException.
        """
        protocol = server.protocol
        if protocol is None:
            raise not_sent("the connection to the mail server ended before the text")
        protocol.write(_PERIODS.sub(b"..", normalize_message_line_endings(message)) + b".\r\n")
        answer = await protocol.read_response(self._timeout_secs)
        if answer.code // 100 not in {_DONE, *_REFUSED}:
            raise UnknownOutcomeError("the mail server answered to the text with no answer of SMTP's")
        if answer.code // 100 in _REFUSED:
            raise not_sent(f"the mail server refuses the text with {answer.code}", answer.message)


async def _left(server: SMTP) -> None:
    """Say goodbye where there still is a server, which ends a transaction that was given up, and close."""
    with suppress(SMTPException, OSError, TimeoutError):
        async with asyncio.timeout(_GOODBYE_SECS):
            if server.is_connected:
                await server.quit()
    server.close()


def _said(failure: Exception) -> str:
    """What is known of a failure; nothing that a library says of one holds the password."""
    if isinstance(failure, SMTPResponseException):
        return f"{failure.code} {failure.message}"
    if isinstance(failure, TimeoutError) and not isinstance(failure, SMTPException):
        return "it did not answer in time"
    return str(failure)
