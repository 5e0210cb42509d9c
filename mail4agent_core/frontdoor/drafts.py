"""What the front door asks of the outbox: what became of a draft. The outbox knows of no request."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Protocol

PENDING: Final = "pending"
RELEASING: Final = "releasing"
#: A release was interrupted; nobody knows whether it went out.
UNKNOWN: Final = "unknown"
SENT: Final = "sent"
REJECTED: Final = "rejected"
WITHDRAWN: Final = "withdrawn"
SUPERSEDED: Final = "superseded"

#: Nobody has decided these yet.
UNDECIDED: Final = frozenset((PENDING, RELEASING, UNKNOWN))


@dataclass(frozen=True, slots=True)
class DraftFate:
    """Where a draft stands."""

    status: str
    #: The draft that stands in its place, for a superseded one.
    superseded_by: str | None = None
    #: Why it was rejected.
    reason: str | None = None
    #: Whether a person wrote the reason, so that a run may be told it.
    reason_by_person: bool = False
    #: The session that staged it, as the outbox names sessions.
    session: str | None = None
    #: The address that staged it.
    staged_by: str | None = None


class NoDrafts:
    """An outbox that is not there."""

    def look(self, draft_id: str) -> None:  # noqa: ARG002  the port's shape
        """Nothing is known of any draft."""
        return


class Drafts(Protocol):
    """Where drafts are looked up."""

    def look(self, draft_id: str) -> DraftFate | None:
        """What became of a draft; None for one that is not there, or not any more.

        Raises StoreUnavailableError where that cannot be known.
        """
        ...
