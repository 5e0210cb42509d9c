"""Where a daemon listens: a TCP address, a UNIX socket in its data folder, or both.

The UNIX socket is 0600. A socket left behind by a daemon that was killed is replaced; that it is nobody's any
more is known because the caller holds the lock of the data folder.
"""

import os
import socket
import ssl
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from ipaddress import ip_address
from pathlib import Path

from .limits import Limits

DEFAULT_PORT = 18301
#: Bytes of a file of certificates or of a key: a chain is a few KiB.
_PEM_MAX_BYTES = 1_048_576


class EndpointError(Exception):
    """The daemon cannot listen there; the message says what to change, for the person who starts it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoints:
    """What to listen on."""

    host: str | None = "127.0.0.1"
    """An IP address or ``localhost``; None for the UNIX socket alone."""
    port: int = DEFAULT_PORT
    """0 takes a free one."""
    socket_path: Path | None = None
    certfile: Path | None = None
    """PEM file with the certificate chain, for TLS on the TCP address."""
    keyfile: Path | None = None
    """PEM file with its key, without a passphrase."""
    allow_cleartext: bool = False
    """Listen beyond loopback without TLS all the same."""

    @property
    def tls(self) -> bool:
        """Whether the TCP address speaks TLS."""
        return self.certfile is not None and self.keyfile is not None


@dataclass(frozen=True, slots=True)
class Listeners:
    """Sockets that listen already: connections queue in the kernel until they are served."""

    endpoints: Endpoints
    tcp: socket.socket | None
    unix: socket.socket | None
    host: str | None
    """The address that TCP is bound to."""
    port: int | None
    """The port that TCP is bound to."""

    @property
    def url(self) -> str | None:
        """The URL of the TCP address."""
        if self.host is None:
            return None
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{'https' if self.endpoints.tls else 'http'}://{host}:{self.port}"


@contextmanager
def listening(endpoints: Endpoints, limits: Limits) -> Iterator[Listeners]:
    """Listen for the length of the block, then close the sockets and remove the file of the UNIX socket.

    Raises EndpointError. With a ``socket_path`` the caller must hold the lock of its folder.
    """
    if endpoints.host is None and endpoints.socket_path is None:
        raise EndpointError("there is nothing to listen on: give a host or a socket path")
    if (endpoints.certfile is None) != (endpoints.keyfile is None):
        raise EndpointError("TLS needs both a certificate file and a key file")
    _check_certificate(endpoints)
    tcp = None if endpoints.host is None else _tcp(endpoints.host, endpoints, limits)
    try:
        with _unix(endpoints.socket_path, limits) as unix:
            host, port = tcp.getsockname()[:2] if tcp else (None, None)
            yield Listeners(endpoints, tcp, unix, host, port)
    finally:
        if tcp is not None:
            tcp.close()


def _check_certificate(endpoints: Endpoints) -> None:
    if endpoints.certfile is None or endpoints.keyfile is None:
        return

    def no_passphrase() -> str:
        raise EndpointError(f"{endpoints.keyfile} needs a passphrase; give a key without one")

    for path in (endpoints.certfile, endpoints.keyfile):
        _check_pem(path)
    try:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(endpoints.certfile, endpoints.keyfile, password=no_passphrase)
    except OSError as failure:
        reason = failure.strerror or failure.reason if isinstance(failure, ssl.SSLError) else failure.strerror
        raise EndpointError(
            f"{endpoints.certfile} and {endpoints.keyfile} are no usable pair: {reason}"
        ) from failure


def _check_pem(path: Path) -> None:
    """OpenSSL would wait at a pipe, and read a file to its end whatever is in it."""
    try:
        found = path.stat()
    except OSError:
        return  # OpenSSL says why
    except ValueError as failure:
        raise EndpointError("a certificate or key is named by what is no name of a file") from failure
    if not stat.S_ISREG(found.st_mode):
        raise EndpointError(f"{path} is not a regular file")
    if found.st_size > _PEM_MAX_BYTES:
        raise EndpointError(f"{path} is past {_PEM_MAX_BYTES} bytes: it is no certificate and no key")


def _tcp(host: str, endpoints: Endpoints, limits: Limits) -> socket.socket:
    try:
        address = ip_address("127.0.0.1" if host == "localhost" else host.strip("[]"))
    except ValueError as failure:
        raise EndpointError("the host must be an IP address or localhost") from failure
    if not (address.is_loopback or endpoints.tls or endpoints.allow_cleartext):
        raise EndpointError(
            f"{address} is reachable from other machines: give a certificate, or allow cleartext explicitly"
        )
    if not 0 <= endpoints.port <= 65_535:
        raise EndpointError("the port must be 0 to 65535")
    listener = socket.socket(socket.AF_INET6 if address.version == 6 else socket.AF_INET, socket.SOCK_STREAM)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        # Accepted sockets inherit it; without it a small answer waits for the acknowledgement of the one
        # before.
        listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        listener.setblocking(False)
        listener.bind((str(address), endpoints.port))
        listener.listen(limits.accept_backlog)
    except OSError as failure:
        listener.close()
        raise EndpointError(
            f"cannot listen on {address}, port {endpoints.port}: {failure.strerror}; "
            "stop what listens there, or choose another place with --bind"
        ) from failure
    return listener


@contextmanager
def _unix(path: Path | None, limits: Limits) -> Iterator[socket.socket | None]:
    if path is None:
        yield None
        return
    _remove_stale(path)
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        before = os.umask(0o177)
        try:
            listener.bind(str(path))
        finally:
            os.umask(before)
        listener.setblocking(False)
        listener.listen(limits.accept_backlog)
        ours = path.lstat().st_ino
    except OSError as failure:
        listener.close()
        raise EndpointError(
            f"cannot listen on {path}: {failure.strerror or failure}; choose another M4A_HOME, or --no-socket"
        ) from failure
    try:
        yield listener
    finally:
        listener.close()
        with suppress(OSError):
            if path.lstat().st_ino == ours:
                path.unlink()


def _remove_stale(path: Path) -> None:
    try:
        found = path.lstat()
    except FileNotFoundError:
        return
    except OSError as failure:
        raise EndpointError(f"cannot listen on {path}: {failure.strerror}") from failure
    if not stat.S_ISSOCK(found.st_mode) or found.st_uid != os.geteuid():
        raise EndpointError(f"{path} is in the way: it is no socket of this user")
    path.unlink()
