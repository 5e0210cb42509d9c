"""The kernel's table of sockets, asked over netlink (``sock_diag(7)``) for exactly one socket at a time.

An inode and a uid answer who may be behind an address; a cookie answers whether it is still the same socket,
because no other ever gets that number again.
"""

import errno
import socket
import struct
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address

from .ends import Address, Endpoint, plain

_SOCK_DIAG = 4
_BY_FAMILY = 20
_REQUEST, _DUMP = 0x1, 0x300
_ERROR, _DONE = 2, 3
_NO_COOKIE = 0xFFFF_FFFF
_ATTRIBUTE_PEER = 2
_SHOW_PEER = 4

_HEADER = struct.Struct("=LHHLL")
_INET_REQUEST = struct.Struct("=BBBBL2s2s16s16sLLL")
_INET_MESSAGE = struct.Struct("=BBBB2s2s16s16sLLLLLLLL")
_UNIX_REQUEST = struct.Struct("=BBHLLLLL")
_UNIX_MESSAGE = struct.Struct("=BBBBLLL")
_ATTRIBUTE = struct.Struct("=HH")
_PORT = struct.Struct("!H")

_ANSWER_MAX_BYTES = 65_536
#: Datagrams of one listing: more listeners on one port than any machine has.
_ANSWERS_MAX = 1_000
_WAIT_SECS = 1.0

_LISTEN = 10
#: TCP states in which both ends have spoken: established, FIN wait 1 and 2, close wait, last ack, closing.
_CONNECTED = frozenset({1, 4, 5, 8, 9, 11})


@dataclass(frozen=True, slots=True)
class SocketEntry:
    """One TCP socket of this network namespace."""

    local: Endpoint
    inode: int
    """0 when no process holds it any more."""
    uid: int
    """The user who made it."""
    cookie: int
    """The kernel's number of it, never given again."""
    connected: bool
    """It belongs to a connection that both ends have agreed on."""


class Diag:
    """Asks the kernel. Raises OSError where it cannot be asked."""

    def connection(self, local: Endpoint, remote: Endpoint) -> SocketEntry | None:
        """The socket with exactly these two ends; None when there is none."""
        family = socket.AF_INET if isinstance(local[0], IPv4Address) else socket.AF_INET6
        request = _inet_request(family, 0xFFFF_FFFF, local, remote)
        for message in self._ask(request, 0):
            entry, seen_remote = _inet_entry(message)
            # Where no connection matches, the kernel looks for a listener that would take one.
            if entry.local == local and seen_remote == remote:
                return entry
        return None

    def listeners(self, port: int) -> list[SocketEntry]:
        """The sockets that listen on a TCP port, at any address."""
        found: list[SocketEntry] = []
        for family in (socket.AF_INET, socket.AF_INET6):
            nowhere = (IPv4Address(0), 0)
            request = _inet_request(family, 1 << _LISTEN, (IPv4Address(0), port), nowhere)
            entries = (_inet_entry(message)[0] for message in self._ask(request, _DUMP))
            found += [entry for entry in entries if entry.local[1] == port]
        return found

    def unix_peer(self, inode: int, cookie: int) -> int | None:
        """Inode of the socket at the other end of a UNIX socket; None when that is gone."""
        request = _UNIX_REQUEST.pack(
            socket.AF_UNIX, 0, 0, _NO_COOKIE, inode, _SHOW_PEER, cookie & _NO_COOKIE, cookie >> 32
        )
        for message in self._ask(request, 0):
            offset = _UNIX_MESSAGE.size
            while offset + _ATTRIBUTE.size <= len(message):
                length, kind = _ATTRIBUTE.unpack_from(message, offset)
                if length < _ATTRIBUTE.size:
                    break
                if kind == _ATTRIBUTE_PEER and length >= _ATTRIBUTE.size + 4:
                    return int.from_bytes(message[offset + 4 : offset + 8], "little" if _LITTLE else "big")
                offset += (length + 3) & ~3
        return None

    def _ask(self, request: bytes, flags: int) -> Iterator[bytes]:
        header = _HEADER.pack(_HEADER.size + len(request), _BY_FAMILY, _REQUEST | flags, 1, 0)
        with closing(
            socket.socket(socket.AF_NETLINK, socket.SOCK_RAW | socket.SOCK_CLOEXEC, _SOCK_DIAG)
        ) as kernel:
            kernel.settimeout(_WAIT_SECS)
            kernel.sendto(header + request, (0, 0))
            for _ in range(_ANSWERS_MAX):
                answer, sender = kernel.recvfrom(_ANSWER_MAX_BYTES)
                if sender[0] != 0:
                    continue  # only the kernel is believed
                for kind, message in _messages(answer):
                    if kind == _DONE:
                        return
                    if kind == _ERROR:
                        code = -struct.unpack_from("=i", message)[0]
                        if code in {0, errno.ENOENT, errno.ESTALE}:
                            return
                        raise OSError(code, "the kernel refused the question")
                    if kind == _BY_FAMILY:
                        yield message
                if not flags & _DUMP:
                    return


_LITTLE = struct.pack("=H", 1) == b"\x01\x00"


def _messages(answer: bytes) -> Iterator[tuple[int, bytes]]:
    offset = 0
    while offset + _HEADER.size <= len(answer):
        length, kind, *_ = _HEADER.unpack_from(answer, offset)
        if length < _HEADER.size or offset + length > len(answer):
            return
        yield kind, answer[offset + _HEADER.size : offset + length]
        offset += (length + 3) & ~3


def _inet_request(family: int, states: int, local: Endpoint, remote: Endpoint) -> bytes:
    return _INET_REQUEST.pack(
        family,
        socket.IPPROTO_TCP,
        0,
        0,
        states,
        _PORT.pack(local[1]),
        _PORT.pack(remote[1]),
        local[0].packed.ljust(16, b"\0"),
        remote[0].packed.ljust(16, b"\0"),
        0,
        _NO_COOKIE,
        _NO_COOKIE,
    )


def _inet_entry(message: bytes) -> tuple[SocketEntry, Endpoint]:
    """An answer, and its remote end."""
    family, state, _, _, local_port, remote_port, local, remote, _, low, high, _, _, _, uid, inode = (
        _INET_MESSAGE.unpack_from(message)
    )
    near = _address(family, local), _PORT.unpack(local_port)[0]
    far = _address(family, remote), _PORT.unpack(remote_port)[0]
    return SocketEntry(near, inode, uid, high << 32 | low, state in _CONNECTED), far


def _address(family: int, packed: bytes) -> Address:
    return IPv4Address(packed[:4]) if family == socket.AF_INET else plain(IPv6Address(packed))
