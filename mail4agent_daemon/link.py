"""What the daemon keeps of one connection for as long as it lives.

It belongs to the connection and never to an address or a credential: a reused port, process id or secret
inherits nothing of it.
"""

from dataclasses import dataclass

from .peer import Peer


@dataclass(slots=True, eq=False)
class Link:
    """One connection."""

    peer: Peer
