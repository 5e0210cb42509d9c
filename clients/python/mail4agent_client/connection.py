"""What both transports share: requests as HTTP, the bounds of an answer, the names of faults. No I/O."""

from __future__ import annotations

import os
import ssl
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

import httpx2

from mail4agent_client.errors import (
    AnswerInvalidError,
    AnswerTooLargeError,
    ClientError,
    ConnectFailedError,
    ConnectionLostError,
    TimedOutError,
)
from mail4agent_client.exchange import Ask
from mail4agent_client.settings import Settings

#: Whose session a client acts as: its own process's, or that of the agent which started this process.
Acting = Literal["own", "parent"]
#: The largest page (256 messages of 64 KiB, every byte escaped) stays below it.
MAX_ANSWER_BYTES = 64 * 1024 * 1024
#: Seconds for a connection to be made.
CONNECT_SECS = 5.0
#: Seconds for a whole answer, besides those that the daemon was asked to wait.
ANSWER_SECS = 30.0
MAX_CONNECTIONS = 100
#: Seconds that an idle connection is kept: less than servers do, so that a request does not meet their
#: closing.
IDLE_SECS = 4.0


@dataclass(frozen=True, slots=True)
class Connection:
    """Settings and bounds of one client."""

    settings: Settings
    answer_secs: float = ANSWER_SECS
    connect_secs: float = CONNECT_SECS
    keep_alive: bool = True
    max_answer_bytes: int = MAX_ANSWER_BYTES
    max_connections: int = MAX_CONNECTIONS
    tls: ssl.SSLContext | None = None
    session: Acting = "own"
    _urls: dict[str, httpx2.URL] = field(
        default_factory=dict[str, httpx2.URL], init=False, repr=False, compare=False
    )

    def deadline_secs(self, ask: Ask) -> float:
        """Seconds after which the whole answer is late."""
        return self.answer_secs + ask.wait_secs

    def request(self, ask: Ask) -> httpx2.Request:
        """The request of one attempt."""
        url = self._urls.get(ask.path)
        if url is None:
            url = self._urls[ask.path] = httpx2.URL(self.settings.base + ask.path)
        # A compressed answer could grow past the bound while it is unpacked.
        headers = {
            "accept": "application/json",
            "accept-encoding": "identity",
            "user-agent": "mail4agent-client",
        }
        if ask.body is not None:
            headers["content-type"] = "application/json"
        if ask.authenticated and self.settings.credential is not None:
            headers["authorization"] = f"Bearer {self.settings.credential.reveal()}"
        if self.session == "parent":
            headers["m4a-session"] = "parent"
        if not self.keep_alive:
            headers["connection"] = "close"
        secs = self.deadline_secs(ask)
        timeout = {"connect": self.connect_secs, "read": secs, "write": secs, "pool": secs}
        return httpx2.Request(
            ask.method, url, headers=headers, content=ask.body, extensions={"timeout": timeout}
        )

    def check_head(self, status: int, headers: Mapping[str, str]) -> None:
        """Raise for an answer whose body is not worth reading."""
        if headers.get("content-encoding", "identity") != "identity":
            raise AnswerInvalidError(status, "it is compressed, which was not asked for")
        if 300 <= status < 400:
            raise AnswerInvalidError(status, "it points elsewhere, where no credential is sent")
        length = headers.get("content-length", "0")
        if length.isascii() and length.isdigit() and int(length[:20]) > self.max_answer_bytes:
            raise AnswerTooLargeError(self.max_answer_bytes)

    def check_size(self, received: int) -> None:
        """Raise when more has come than an answer may hold."""
        if received > self.max_answer_bytes:
            raise AnswerTooLargeError(self.max_answer_bytes)

    def fault(self, failure: Exception, ask: Ask) -> ClientError:
        """The name of what a transport raised; it holds the request, so it is never chained."""
        url = self.settings.url
        match failure:
            case httpx2.ConnectTimeout():
                return ConnectFailedError(url, f"no answer within {self.connect_secs:g} s")
            case httpx2.ConnectError():
                return ConnectFailedError(url, _system_reason(failure))
            case TimeoutError() | httpx2.TimeoutException():
                return TimedOutError(url, self.deadline_secs(ask))
            case _:
                return ConnectionLostError(url)

    def pool_arguments(self) -> dict[str, object]:
        """Arguments of httpx2's transports. Nothing of the environment is used: no proxy, no certificate, no
        netrc.
        """
        return {
            "verify": self.tls if self.tls is not None else self._default_tls(),
            "trust_env": False,
            "limits": httpx2.Limits(
                max_connections=self.max_connections,
                max_keepalive_connections=self.max_connections,
                keepalive_expiry=IDLE_SECS,
            ),
            "uds": self.settings.socket,
        }

    def _default_tls(self) -> ssl.SSLContext:
        if self.settings.base.startswith("https:"):
            return httpx2.create_ssl_context(trust_env=False)
        # Loading the system's roots costs more than a request, and plain http has no use for them.
        return ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)


def _system_reason(failure: BaseException) -> str:
    """The operating system's words for the first error below a transport's own."""
    seen: BaseException | None = failure
    for _ in range(8):
        if isinstance(seen, ssl.SSLError):
            return "the server's certificate or TLS is not acceptable"
        if isinstance(seen, OSError) and seen.errno is not None and seen.errno > 0:
            return os.strerror(seen.errno)
        if seen is None:
            break
        seen = seen.__cause__ or seen.__context__
    return "no connection could be made"
