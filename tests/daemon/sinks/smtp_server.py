"""A real SMTP server on loopback, and the ways in which it may fail."""

import asyncio
import ssl
import warnings
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from email import message_from_bytes, policy
from email.message import EmailMessage
from typing import Any

from aiosmtpd.smtp import SMTP, AuthResult, Envelope, LoginPassword, Session


@dataclass
class Post:
    """What the server was sent, and what it refuses."""

    port: int = 0
    refused: set[str] = field(default_factory=set[str])
    #: What is answered to the text; None ends the connection instead.
    answer: str | None = "250 Taken"
    #: Envelopes whose text arrived whole.
    came: list[Envelope] = field(default_factory=list[Envelope])
    offered: list[str] = field(default_factory=list[str])
    logins: list[tuple[bytes, bytes]] = field(default_factory=list[tuple[bytes, bytes]])
    password: bytes = b"a-password"

    @property
    def messages(self) -> list[EmailMessage]:
        """The messages, parsed."""
        return [_parsed(each) for each in self.came]

    async def handle_RCPT(  # noqa: N802  # the library's name
        self, server: SMTP, session: Session, envelope: Envelope, address: str, options: list[str]
    ) -> str:
        self.offered.append(address)
        if address in self.refused:
            return "550 nobody\x1b[2J here"
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(self, server: SMTP, session: Session, envelope: Envelope) -> str:  # noqa: N802
        self.came.append(envelope)
        if self.answer is None:
            assert server.transport is not None
            server.transport.abort()
            return "421 gone"
        return self.answer

    def authenticate(
        self, server: SMTP, session: Session, envelope: Envelope, mechanism: str, data: Any
    ) -> AuthResult:
        assert isinstance(data, LoginPassword)
        self.logins.append((data.login, data.password))
        return AuthResult(success=data.password == self.password, handled=False)


def _parsed(envelope: Envelope) -> EmailMessage:
    content = envelope.original_content
    assert content is not None
    made = message_from_bytes(content, policy=policy.SMTP)
    assert isinstance(made, EmailMessage)
    return made


class _Server(SMTP):
    """Lets go of the connection below its TLS too."""

    def __init__(self, *given: Any, transports: list[asyncio.BaseTransport], **options: Any) -> None:
        super().__init__(*given, **options)
        self._made = transports

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._made.append(transport)
        super().connection_made(transport)


@asynccontextmanager
async def post_office(
    *, tls: ssl.SSLContext | None = None, implicit: bool = False, login: bool = False
) -> AsyncIterator[Post]:
    """A server for the length of the block; with ``tls`` it offers STARTTLS, or begins with it."""
    post = Post()
    transports: list[asyncio.BaseTransport] = []

    def protocol() -> SMTP:
        with warnings.catch_warnings():
            # It does not see that TLS began before it.
            warnings.filterwarnings("ignore", "Requiring AUTH while not requiring TLS")
            return _Server(
                post,
                transports=transports,
                hostname="localhost",
                tls_context=None if implicit else tls,
                require_starttls=tls is not None and not implicit,
                auth_required=login,
                auth_require_tls=not implicit,
                authenticator=post.authenticate if login else None,
                loop=asyncio.get_running_loop(),
            )

    server = await asyncio.get_running_loop().create_server(
        protocol, "127.0.0.1", 0, ssl=tls if implicit else None
    )
    post.port = server.sockets[0].getsockname()[1]
    try:
        yield post
    finally:
        server.close()
        for transport in reversed(transports):
            assert isinstance(transport, asyncio.WriteTransport)
            transport.abort()
        await server.wait_closed()
        # What was aborted is closed in the loop's next rounds.
        for _ in range(3):
            await asyncio.sleep(0)
