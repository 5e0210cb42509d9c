"""One POST on a connection of its own, with the standard library alone: what a hook and the stdio bridge use.

Importing this costs a few milliseconds; the clients' own transport costs a hundred more. Everything is
bounded: the time to the end of the answer, its head, its lines and its size. No redirect is followed and no
proxy is asked.
"""

from __future__ import annotations

import contextlib
import os
import socket
import time
from collections.abc import Iterator, Mapping

from mail4agent_client.errors import (
    AnswerInvalidError,
    AnswerTooLargeError,
    ConnectFailedError,
    ConnectionLostError,
    TimedOutError,
)
from mail4agent_client.settings import Settings

#: Bytes of an answer's status line and headers together.
HEAD_MAX = 65_536
_PART = 65_536
_PORTS = {"http": 80, "https": 443}


class Post:
    """A request and its answer, once. Another thread may ``abort`` it at any time.

    Its calls raise ConnectFailedError (nothing was sent), ConnectionLostError, TimedOutError,
    AnswerInvalidError and AnswerTooLargeError.
    """

    def __init__(self, settings: Settings, *, secs: float | None, limit: int) -> None:
        """``secs`` bounds the whole exchange (None: it lasts as long as it does), ``limit`` the bytes of the
        answer.
        """
        self._settings = settings
        self._secs = secs
        self._deadline = None if secs is None else time.monotonic() + secs
        self._limit = limit
        self._socket: socket.socket | None = None
        self._aborted = False
        self._buffer = bytearray()
        self._taken = 0
        self.status = 0
        self.headers: dict[str, str] = {}

    def send(self, path: str, body: bytes, headers: Mapping[str, str]) -> None:
        """Send the request and read the head of its answer; header names are in lower case."""
        host, prefix = _host_and_prefix(self._settings)
        given = {
            "Host": host,
            "Content-Length": str(len(body)),
            "Content-Type": "application/json",
            "Accept-Encoding": "identity",
            "Connection": "close",
            **headers,
        }
        if self._settings.credential is not None:
            given["Authorization"] = f"Bearer {self._settings.credential.reveal()}"
        lines = "".join(f"{name}: {value}\r\n" for name, value in given.items())
        wire = self._socket = self._connected()
        if self._aborted:
            self.close()
        try:
            wire.sendall(f"POST {prefix}{path} HTTP/1.1\r\n{lines}\r\n".encode("ascii") + body)
        except TimeoutError:
            raise self._late() from None
        except OSError:
            # The answer may have come before all was sent: a refusal of what is too large does.
            pass
        self._read_head()

    def _connected(self) -> socket.socket:
        settings = self._settings
        try:
            if settings.socket is not None:
                wire = socket.socket(socket.AF_UNIX)
                wire.settimeout(self._left())
                wire.connect(settings.socket)
                return wire
            from urllib.parse import urlsplit

            parts = urlsplit(settings.base)
            host = parts.hostname or ""
            wire = socket.create_connection((host, parts.port or _PORTS[parts.scheme]), self._left())
            # The one request is whole; nothing is to be waited for.
            wire.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            if parts.scheme == "https":
                import ssl

                wire = ssl.create_default_context().wrap_socket(wire, server_hostname=host)
        except TimeoutError:
            raise self._late() from None
        except OSError as failure:
            reason = os.strerror(failure.errno) if failure.errno else "no connection could be made"
            raise ConnectFailedError(settings.url, reason) from None
        return wire

    def _read_head(self) -> None:
        while True:
            first = self._line(HEAD_MAX).split(b" ", 2)
            if len(first) < 2 or not first[0].startswith(b"HTTP/1.") or not first[1].isdigit():
                raise AnswerInvalidError(0, "it is not HTTP")
            self.status = int(first[1][:4])
            self.headers = {}
            left = HEAD_MAX
            while line := self._line(left):
                left -= len(line)
                name, _, value = line.partition(b":")
                self.headers[name.decode("latin-1").lower()] = value.strip(b" \t").decode("latin-1")
            if self.status >= 200 or self.status == 101:
                return

    def read(self) -> bytes:
        """The rest of the body."""
        return b"".join(self.parts())

    def lines(self) -> Iterator[bytes]:
        """The lines of the body as they come, without their ends."""
        held = b""
        for part in self.parts():
            *whole, held = (held + part).split(b"\n")
            yield from (line.removesuffix(b"\r") for line in whole)
        if held:
            yield held

    def parts(self) -> Iterator[bytes]:
        """The body as it comes."""
        if self.headers.get("transfer-encoding", "").lower() == "chunked":
            yield from self._chunks()
            return
        length = self.headers.get("content-length")
        if length is None:
            while part := self._some(None):
                yield self._counted(part)
            return
        left = _number(length, 10, self.status)
        if left > self._limit:
            raise AnswerTooLargeError(self._limit)
        while left:
            part = self._some(left)
            if not part:
                raise ConnectionLostError(self._settings.url)
            left -= len(part)
            yield self._counted(part)

    def _chunks(self) -> Iterator[bytes]:
        while left := _number(self._line(1024).split(b";")[0].strip().decode("latin-1"), 16, self.status):
            while left:
                part = self._some(left)
                if not part:
                    raise ConnectionLostError(self._settings.url)
                left -= len(part)
                yield self._counted(part)
            self._line(2)

    def _counted(self, part: bytes) -> bytes:
        self._taken += len(part)
        if self._taken > self._limit:
            raise AnswerTooLargeError(self._limit)
        return part

    def _line(self, most: int) -> bytes:
        while (end := self._buffer.find(b"\n")) < 0:
            if len(self._buffer) > most:
                raise AnswerInvalidError(self.status, "its head is too long")
            if not self._more():
                raise ConnectionLostError(self._settings.url)
        line = bytes(self._buffer[:end])
        del self._buffer[: end + 1]
        return line.removesuffix(b"\r")

    def _some(self, most: int | None) -> bytes:
        """Some bytes of what comes, none at its end."""
        if not self._buffer:
            self._more()
        part = bytes(self._buffer[:most])
        del self._buffer[: len(part)]
        return part

    def _more(self) -> bool:
        wire = self._socket
        if wire is None or self._aborted:
            raise ConnectionLostError(self._settings.url)
        try:
            wire.settimeout(self._left())
            part = wire.recv(_PART)
        except TimeoutError:
            raise self._late() from None
        except OSError:
            raise ConnectionLostError(self._settings.url) from None
        self._buffer += part
        return bool(part)

    def _left(self) -> float | None:
        if self._deadline is None:
            return None
        left = self._deadline - time.monotonic()
        if left <= 0:
            raise self._late()
        return left

    def _late(self) -> TimedOutError:
        return TimedOutError(self._settings.url, self._secs or 0)

    def abort(self) -> None:
        """End the exchange from another thread: whatever waits for it raises ConnectionLostError."""
        self._aborted = True
        if self._socket is not None:
            with contextlib.suppress(OSError):  # it may have ended by itself
                self._socket.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        """Let go of the connection."""
        if self._socket is not None:
            self._socket.close()


def _number(text: str, base: int, status: int) -> int:
    if not text or len(text) > 16 or not text.isascii() or not text.isalnum():
        raise AnswerInvalidError(status, "its length is not a number")
    try:
        return int(text, base)
    except ValueError:
        raise AnswerInvalidError(status, "its length is not a number") from None


def _host_and_prefix(settings: Settings) -> tuple[str, str]:
    rest = settings.base.partition("://")[2]
    host, slash, prefix = rest.partition("/")
    return host, slash + prefix
