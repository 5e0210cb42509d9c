"""The two ends of a TCP connection, as addresses that can be compared."""

from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address, ip_address

from mail4agent_daemon.peer import Peer

from .attested import Reason, Unattested

Address = IPv4Address | IPv6Address
Endpoint = tuple[Address, int]

#: Where a listener takes what is sent to the machine itself.
_LOOPBACK = frozenset(
    {IPv4Address("127.0.0.1"), IPv4Address("0.0.0.0"), IPv6Address("::1"), IPv6Address("::")}  # noqa: S104
)


@dataclass(frozen=True, slots=True)
class Ends:
    """A TCP connection whose client is on this machine."""

    client: Endpoint
    server: Endpoint


def ends_of(peer: Peer) -> Ends | Unattested:
    """Both ends of a connection, or why there is no use in looking for a process."""
    if peer.remote is None or peer.local is None:
        return Unattested(Reason.UNSUPPORTED)
    client, server = address_of(peer.remote[0]), address_of(peer.local[0])
    if client is None or server is None or not (client.is_loopback or client == server):
        return Unattested(Reason.NOT_LOCAL)
    return Ends((client, peer.remote[1]), (server, peer.local[1]))


def address_of(text: str) -> Address | None:
    """An address as sockets write it, a v4-mapped one as the v4 address that it is; None for other text."""
    try:
        return plain(ip_address(text.partition("%")[0]))
    except ValueError:
        return None


def plain(address: Address) -> Address:
    """A v4-mapped address as the v4 address that it is."""
    mapped = address.ipv4_mapped if isinstance(address, IPv6Address) else None
    return mapped or address


def is_loopback(address: Address) -> bool:
    """Whether a listener there takes what is sent to 127.0.0.1 or ::1."""
    return address in _LOOPBACK
