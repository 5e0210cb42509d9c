"""Who is at the other end of a connection, as far as the socket itself tells.

``SO_PEERCRED`` names the process that called ``connect``, even after it handed the descriptor on; it is
evidence of the uid, and where to start looking for the process. Over TCP a socket tells addresses only.
What is read here is all numbers, good for comparing later: nothing is held open.
"""

import errno
import os
import re
import socket
import struct
import sys
from dataclasses import dataclass
from typing import Literal, Protocol

_CREDENTIALS = struct.Struct("3i")
_COOKIE = struct.Struct("=Q")
_DESCRIPTOR = struct.Struct("i")
#: Linux's own numbers, which Python does not name.
_SO_COOKIE, _SO_PEERPIDFD = 57, 77
_LINUX = sys.platform == "linux"


def _numbers_processes() -> bool:
    """Whether the kernel gives each process a number for good: Linux 6.9, in 64 bits."""
    release = re.match(r"(\d+)\.(\d+)", os.uname().release) if _LINUX else None
    return release is not None and (int(release[1]), int(release[2])) >= (6, 9) and sys.maxsize > 2**32


_NUMBERED = _numbers_processes()


class Socket(Protocol):
    """What asyncio and uvloop both offer of a connection's socket."""

    @property
    def family(self) -> int:
        """The address family."""
        ...

    def fileno(self) -> int:
        """The descriptor."""
        ...

    def getpeername(self) -> object:
        """The other end's address."""
        ...

    def getsockname(self) -> object:
        """This end's address."""
        ...

    def getsockopt(self, level: int, option: int, size: int, /) -> bytes:
        """A socket option as bytes."""
        ...


@dataclass(frozen=True, slots=True)
class Peer:
    """One connection's other end; belongs to the connection, never to an address."""

    transport: Literal["tcp", "unix"]
    remote: tuple[str, int] | None = None
    """Address and port of the other end; None over a UNIX socket."""
    local: tuple[str, int] | None = None
    """Address and port of this end; None over a UNIX socket."""
    pid: int | None = None
    """The process that connected over a UNIX socket, where the kernel says; it may be gone by now."""
    uid: int | None = None
    """Its effective user then."""
    gid: int | None = None
    """Its effective group then."""
    process: int | None = None
    """The kernel's number of that process, never given again (Linux 6.9); 0 when it was gone already."""
    cookie: int | None = None
    """The kernel's number of this end's socket, never given again (Linux); None beside ``process``."""
    inode: int | None = None
    """The inode of this end's UNIX socket, which another may get later (Linux before 6.9)."""


def peer_of(connection: Socket) -> Peer:
    """Return what is known of the other end. Raises OSError when it is gone already."""
    if connection.family != socket.AF_UNIX:
        remote, local = _endpoint(connection.getpeername()), _endpoint(connection.getsockname())
        return Peer("tcp", remote, local, cookie=_cookie(connection))
    option = getattr(socket, "SO_PEERCRED", None)
    if option is None:
        return Peer("unix")
    pid, uid, gid = _CREDENTIALS.unpack(connection.getsockopt(socket.SOL_SOCKET, option, _CREDENTIALS.size))
    if _NUMBERED:
        return Peer("unix", pid=pid or None, uid=uid, gid=gid, process=_process(connection))
    inode = os.fstat(connection.fileno()).st_ino
    return Peer("unix", pid=pid or None, uid=uid, gid=gid, cookie=_cookie(connection), inode=inode)


def _process(connection: Socket) -> int:
    try:
        raw = connection.getsockopt(socket.SOL_SOCKET, _SO_PEERPIDFD, _DESCRIPTOR.size)
    except OSError:
        return 0
    descriptor = _DESCRIPTOR.unpack(raw)[0]
    try:
        return os.fstat(descriptor).st_ino
    finally:
        os.close(descriptor)


def _cookie(connection: Socket) -> int | None:
    if not _LINUX:
        return None
    try:
        return _COOKIE.unpack(connection.getsockopt(socket.SOL_SOCKET, _SO_COOKIE, _COOKIE.size))[0]
    except OSError as failure:
        if failure.errno == errno.ENOPROTOOPT:
            return None
        raise


def _endpoint(address: object) -> tuple[str, int]:
    if not isinstance(address, tuple) or len(address) < 2:  # pyright: ignore[reportUnknownArgumentType]
        raise OSError("not an internet address")
    return str(address[0]), int(address[1])  # pyright: ignore[reportUnknownArgumentType]
