"""Who asks, as far as budgets go: an address, and the network that it is in.

Behind a proxy the peer is the proxy. Its word is taken only when the settings name it: then the last address
of ``X-Forwarded-For`` that is no proxy of ours. Whatever else stands in the header the visitor wrote.
"""

import ipaddress
from collections.abc import Iterable, MutableMapping
from dataclasses import dataclass
from typing import Any

Network = ipaddress.IPv4Network | ipaddress.IPv6Network
Address = ipaddress.IPv4Address | ipaddress.IPv6Address
_HOPS_MAX = 16


@dataclass(frozen=True, slots=True)
class Visitor:
    """An IPv4 address and its /24; of IPv6 a /64, twice: one house has that many addresses."""

    address: str
    network: str


def visitor_of(address: Address) -> Visitor:
    """The keys of budgets for an address."""
    if isinstance(address, ipaddress.IPv6Address):
        if address.ipv4_mapped is not None:
            return visitor_of(address.ipv4_mapped)
        network = str(ipaddress.ip_network((address, 64), strict=False))
        return Visitor(network, network)
    return Visitor(str(address), str(ipaddress.ip_network((address, 24), strict=False)))


class Visitors:
    """Tells who asks."""

    def __init__(self, trusted: Iterable[str]) -> None:
        self._trusted: tuple[Network, ...] = tuple(ipaddress.ip_network(each) for each in trusted)

    def __call__(self, scope: MutableMapping[str, Any]) -> Visitor:
        """Whose request this is."""
        client = scope.get("client")
        address = _address(client[0] if client else "") or ipaddress.ip_address("0.0.0.0")  # noqa: S104  nobody's
        forwarded = [value for name, value in scope["headers"] if name == b"x-forwarded-for"]
        hops = b",".join(forwarded).decode("latin-1").split(",")[-_HOPS_MAX:] if forwarded else []
        while hops and self._is_trusted(address):
            found = _address(hops.pop().strip())
            if found is None:
                break
            address = found
        return visitor_of(address)

    def _is_trusted(self, address: Address) -> bool:
        return any(address.version == each.version and address in each for each in self._trusted)


def _address(text: str) -> Address | None:
    try:
        found = ipaddress.ip_address(text.removeprefix("[").removesuffix("]"))
    except ValueError:
        return None
    # A scope would make one address many.
    return None if isinstance(found, ipaddress.IPv6Address) and found.scope_id else found
