"""The names under which a daemon is reached: what Host and Origin may say.

A web page can make a browser connect to loopback under a name of its own (DNS rebinding); only a Host that
names this daemon, and an Origin that is this daemon's, are let in.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
_NAME = re.compile(r"(?:[A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\])(?::[0-9]{1,5})?\Z")
_DEFAULT_PORTS = {"http": 80, "https": 443}


@dataclass(frozen=True, slots=True)
class Names:
    """Hosts and origins, in lower case, as they stand in the headers."""

    hosts: frozenset[bytes]
    origins: frozenset[bytes]

    def host_is_ours(self, hosts: Sequence[bytes]) -> bool:
        """Whether there is exactly one Host, and it names this daemon."""
        return len(hosts) == 1 and hosts[0].lower() in self.hosts

    def origin_is_ours(self, origin: bytes) -> bool:
        """Whether a page of this origin is this daemon's own; ``null`` never is."""
        return origin.lower() in self.origins


def names_of(host: str | None, port: int | None, *, tls: bool = False, extra: Iterable[str] = ()) -> Names:
    """Return the names of a daemon that listens on ``host`` and ``port``: those of loopback, its own, the
    extra ones.

    ``extra`` holds ``name`` or ``name:port``, as seen by clients, for example of a proxy. Raises ValueError
    for a text that is no such name.
    """
    scheme = "https" if tls else "http"
    hosts: set[str] = set()
    origins: set[str] = set()
    if port is not None:
        own = () if host is None else (f"[{host}]" if ":" in host else host,)
        for name in (*LOOPBACK, *own):
            hosts |= {name, f"{name}:{port}"}
            origins.add(_origin(scheme, name, port))
    for name in extra:
        if not _NAME.match(name):
            raise ValueError(
                "a name of the daemon must be a host name or address, with a port or without one"
            )
        has_port = not name.endswith("]") and ":" in name.rpartition("]")[2]
        hosts.add(name)
        # A proxy may speak TLS in front of a daemon that does not.
        origins |= {f"{each}://{name}" for each in _DEFAULT_PORTS}
        if not has_port and port is not None:
            hosts.add(f"{name}:{port}")
            origins.add(_origin(scheme, name, port))
    return Names(
        frozenset(name.lower().encode("ascii") for name in hosts),
        frozenset(origin.lower().encode("ascii") for origin in origins),
    )


def _origin(scheme: str, name: str, port: int) -> str:
    return f"{scheme}://{name}" if port == _DEFAULT_PORTS[scheme] else f"{scheme}://{name}:{port}"
