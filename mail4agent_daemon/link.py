"""What the daemon keeps of one connection for as long as it lives.

It belongs to the connection and never to an address or a credential: a reused port, process id or secret
inherits nothing of it.
"""

from collections.abc import Callable
from dataclasses import dataclass

from .peer import Peer


@dataclass(slots=True, eq=False)
class Link:
    """One connection."""

    peer: Peer
    full_at: float = 0.0
    """When its bucket of tokens is full again, in the monotonic seconds of ``Rates``."""
    failures: int = 0
    """How many wrong secrets were shown on it since a good one."""
    released: bool = False
    """Whether nothing is held back on it any more: it has ended, or the daemon stops."""
    on_release: Callable[[], None] | None = None
    """What ends what is held back."""

    def release(self) -> None:
        """Hold nothing back from now on."""
        self.released = True
        if self.on_release is not None:
            self.on_release()
