"""A whole-answer deadline for the synchronous client, kept at each read and write of its sockets.

The transport's own timeouts begin anew with every read, so that a head sent byte by byte, or interim answers
without end, would hold a caller for ever.
"""

from __future__ import annotations

import ssl
import time
from collections.abc import Callable, Generator, Iterable
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, TypeVar

import httpcore2
import httpx2

T = TypeVar("T")
_LATE: ContextVar[float | None] = ContextVar("mail4agent_answer_late", default=None)


@contextmanager
def answer_within(secs: float) -> Generator[None]:
    """Have everything that this thread does on the sockets of a ``DeadlineTransport`` end in so many seconds.

    What is late raises TimeoutError.
    """
    token = _LATE.set(time.monotonic() + secs)
    try:
        yield
    finally:
        _LATE.reset(token)


def check_time() -> None:
    """Raise TimeoutError when the answer is late."""
    late = _LATE.get()
    if late is not None and time.monotonic() >= late:
        raise TimeoutError


def _bounded(timeout: float | None, act: Callable[[float | None], T]) -> T:
    late = _LATE.get()
    if late is None:
        return act(timeout)
    left = late - time.monotonic()
    # Nought would make a socket non-blocking, which is no timeout.
    if left <= 0:
        raise TimeoutError
    if timeout is not None and timeout < left:
        return act(timeout)
    try:
        return act(left)
    except httpcore2.TimeoutException:
        raise TimeoutError from None


class _Stream(httpcore2.NetworkStream):
    def __init__(self, inner: httpcore2.NetworkStream) -> None:
        self._inner = inner

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        return _bounded(timeout, lambda left: self._inner.read(max_bytes, left))

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        _bounded(timeout, lambda left: self._inner.write(buffer, left))

    def close(self) -> None:
        self._inner.close()

    def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore2.NetworkStream:
        return _bounded(
            timeout, lambda left: _Stream(self._inner.start_tls(ssl_context, server_hostname, left))
        )

    def get_extra_info(self, info: str) -> Any:
        return self._inner.get_extra_info(info)


class _Backend(httpcore2.NetworkBackend):
    def __init__(self) -> None:
        self._inner = httpcore2.SyncBackend()

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[httpcore2.SOCKET_OPTION] | None = None,
    ) -> httpcore2.NetworkStream:
        def connect(left: float | None) -> httpcore2.NetworkStream:
            return _Stream(self._inner.connect_tcp(host, port, left, local_address, socket_options))

        return _bounded(timeout, connect)

    def connect_unix_socket(
        self,
        path: str,
        timeout: float | None = None,
        socket_options: Iterable[httpcore2.SOCKET_OPTION] | None = None,
    ) -> httpcore2.NetworkStream:
        return _bounded(
            timeout, lambda left: _Stream(self._inner.connect_unix_socket(path, left, socket_options))
        )

    def sleep(self, seconds: float) -> None:
        self._inner.sleep(seconds)


class DeadlineTransport(httpx2.HTTPTransport):
    """httpx2's transport without a proxy, over sockets that keep to ``answer_within``."""

    def __init__(
        self, *, verify: ssl.SSLContext, trust_env: bool, limits: httpx2.Limits, uds: str | None
    ) -> None:
        super().__init__(verify=verify, trust_env=trust_env, limits=limits, uds=uds)
        # httpx2 has no argument for the sockets below it.
        self._pool = httpcore2.ConnectionPool(
            ssl_context=verify,
            max_connections=limits.max_connections,
            max_keepalive_connections=limits.max_keepalive_connections,
            keepalive_expiry=limits.keepalive_expiry,
            uds=uds,
            network_backend=_Backend(),
        )
