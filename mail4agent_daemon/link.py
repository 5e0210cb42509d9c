"""What the daemon keeps of one connection for as long as it lives.

It belongs to the connection and never to an address or a credential: a reused port, process id or secret
inherits nothing of it.
"""

from collections.abc import Callable
from dataclasses import dataclass, field

from mail4agent_api.mail import ParticipantAddress

from .attest import Attested, Unattested
from .peer import Peer

#: Accounts and ways of acting that one connection is remembered for; a proxy that serves more is looked at
#: again.
LINK_IDENTITIES_MAX = 64


@dataclass(frozen=True, slots=True)
class Standing:
    """Whom a connection acts as with one account's secret."""

    address: ParticipantAddress
    uid: int | None
    """The user of the session's process; None where no kernel vouched for one."""


@dataclass(slots=True, eq=False)
class Link:
    """One connection."""

    peer: Peer
    proof: Attested | Unattested | None = None
    """The process at the other end, once somebody asked."""
    standings: dict[tuple[str, int, str, bool, bool], Standing] = field(
        default_factory=dict[tuple[str, int, str, bool, bool], Standing]
    )
    """Whom it acts as, by account, its registration, its policy, whether for a parent, and whether a process
    becomes a session by it."""
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
