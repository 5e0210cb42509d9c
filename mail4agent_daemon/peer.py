"""Who is at the other end of a connection, as far as the socket itself tells.

``SO_PEERCRED`` names the process that called ``connect``, even after it handed the descriptor on; it is
evidence of the uid, and where to start looking for the process. Over TCP a socket tells addresses only.
"""

import socket
import struct
from dataclasses import dataclass
from typing import Literal, Protocol

_CREDENTIALS = struct.Struct("3i")


class Socket(Protocol):
    """What asyncio and uvloop both offer of a connection's socket."""

    @property
    def family(self) -> int:
        """The address family."""
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


def peer_of(connection: Socket) -> Peer:
    """Return what is known of the other end. Raises OSError when it is gone already."""
    if connection.family == socket.AF_UNIX:
        option = getattr(socket, "SO_PEERCRED", None)
        if option is None:
            return Peer("unix")
        pid, uid, gid = _CREDENTIALS.unpack(
            connection.getsockopt(socket.SOL_SOCKET, option, _CREDENTIALS.size)
        )
        return Peer("unix", pid=pid or None, uid=uid, gid=gid)
    return Peer("tcp", _endpoint(connection.getpeername()), _endpoint(connection.getsockname()))


def _endpoint(address: object) -> tuple[str, int]:
    if not isinstance(address, tuple) or len(address) < 2:  # pyright: ignore[reportUnknownArgumentType]
        raise OSError("not an internet address")
    return str(address[0]), int(address[1])  # pyright: ignore[reportUnknownArgumentType]
