"""One session as a store keeps it, and what is asked of a store about sessions."""

from dataclasses import dataclass
from typing import Literal, Protocol

from mail4agent_api.codec import decode
from mail4agent_api.mail import ParticipantId, SessionAddress, SessionCard, SessionId

from .process import ProcessId


@dataclass(frozen=True, slots=True)
class Session:
    """A session that was met. Times are Unix milliseconds.

    The three parts of its card are kept as the codec encoded them: a directory joins them as they are.
    """

    address: SessionAddress
    process: ProcessId | None
    """None for an issued session: nothing of it is proved but that it holds its credential."""
    attested: bytes
    corroborated: bytes
    declared: bytes
    first_seen: int
    last_seen: int
    dead_at: int | None = None
    """When it was noticed dead, or its credential ended."""

    @property
    def kind(self) -> Literal["attested", "issued"]:
        """How it is known: the kernel named its process, or a credential was issued to it."""
        return "issued" if self.process is None else "attested"

    @property
    def wire(self) -> bytes:
        """Its card's encoding."""
        return b'{"attested":%b,"corroborated":%b,"declared":%b}' % (
            self.attested,
            self.corroborated,
            self.declared,
        )

    @property
    def card(self) -> SessionCard:
        """Its card."""
        return decode(SessionCard, self.wire)


class SessionRegistry(Protocol):
    """The sessions of a store within one transaction; a part of its ``Registry``.

    An id names one session, whichever account it belongs to. Sessions of a removed account stay until that is
    purged.
    """

    def get(self, session: SessionId) -> Session | None:
        """The session that has an id."""
        ...

    def holding(self, digest: bytes) -> Session | None:
        """The issued session whose credential has this digest."""
        ...

    def listed(self, dead_after: int, most: int) -> list[Session]:
        """The sessions of every registered account, those dead since before a time left out.

        Of each account at most so many that nobody has noticed dead, those met last, and as many dead, those
        that died last. By account and id.
        """
        ...

    def undead(self, after: SessionId | None, limit: int) -> list[Session]:
        """A page, by id, of the sessions that nobody has noticed dead, those of removed accounts included."""
        ...

    def issued(self, account: ParticipantId) -> list[Session]:
        """The sessions of an account whose credentials have not ended."""
        ...

    def keep(self, session: Session, digest: bytes | None = None) -> None:
        """Store a session as it stands, replacing the one with its id; ``digest`` is of its credential.

        Its account is registered. At its first contact it starts where its account stands.
        """
        ...

    def see(self, session: SessionId, last_seen: int) -> None:
        """Take note of when a session was last seen; never of an earlier time than is on record.

        An attested one that is seen after it was noticed dead is not.
        """
        ...

    def bury(self, session: SessionId, dead_at: int) -> None:
        """Take note that a session is dead and end its credential; the first time stays."""
        ...

    def boot(self, boot_id: str, boot_ms: int) -> int:
        """When a run of the machine began, as it was told the first time; it is kept for ever."""
        ...
