"""Doorbells: who is rung about which mail, when again after a failure, and what a store keeps for that.

A *listener* is a URL on this machine that is told of new mail, ids only; its *owner* is the account whose
operator set it, or the session that set its own. A *ring* is one message for one listener. The mail itself is
the queue: a listener has a cursor in the order of commits, and what stands behind it in the owner's boxes is
looked over, a bounded part at a time, and made into rings. So a send does nothing for doorbells.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Protocol

from mail4agent_api.mail import (
    ListenerRecord,
    ListenerStanding,
    ListenerState,
    ParticipantAddress,
    RingFailure,
)

from .identity import OPERATOR, READ

#: How many rings of one listener wait at most; beyond, its cursor stays where it is and nothing is lost.
OUTSTANDING_MAX = 10_000
#: How many messages are looked over in one commit.
STEP = 100
#: How many sessions of an account have a listener of their own.
OWN_MAX = 64
#: A ring is given up so long after its message was committed.
KEEP_MS = 86_400_000
#: The pause after the first failure, and the longest, before the dice are rolled.
PAUSE_MIN_MS = 1_000
PAUSE_MAX_MS = 300_000
#: A listener that failed so often in a row is dead: it is tried on, and a person should look at it.
DEAD_FAILURES = 5
#: How often in a row the listeners of a state failed at least.
FAILED_LEAST: Mapping[ListenerState, int] = {"all": 0, "failing": 1, "dead": DEAD_FAILURES}
#: What may be the fault of one message: such a ring lets the others go before it. The rest is the listener's.
OF_THE_MESSAGE: frozenset[RingFailure] = frozenset(("bad_status", "bad_response", "timed_out"))


@dataclass(frozen=True, slots=True)
class Doorbell:
    """A listener and what became of its rings. Times are Unix milliseconds."""

    #: Never given twice, so that an answer that comes late is not taken for another listener's.
    number: int
    owner: ParticipantAddress
    url: str
    key: str | None
    #: The user that a session's own listener runs as; None for an operator's.
    uid: int | None
    outstanding: int
    rung: int
    given_up: int
    last_rung_at: int | None
    last_failed_at: int | None
    #: Why the last attempt failed; None when it did not.
    failure: RingFailure | None
    #: How many attempts failed since the last that did not.
    failures: int
    #: When the first of them did.
    failing_since: int | None = None
    #: It is left alone until then.
    due_at: int = 0

    @property
    def dead(self) -> bool:
        """Whether a person should look at it."""
        return self.failures >= DEAD_FAILURES

    @property
    def record(self) -> ListenerRecord:
        """What is shown of it."""
        return ListenerRecord(
            owner=self.owner,
            url=self.url,
            signed=self.key is not None,
            outstanding=self.outstanding,
            rung=self.rung,
            given_up=self.given_up,
            last_rung_at_unix_ms=self.last_rung_at,
            last_failed_at_unix_ms=self.last_failed_at,
            failure=self.failure,
        )

    @property
    def standing(self) -> ListenerStanding:
        """What is shown of it with how it stands."""
        waits = self.failures > 0 and self.outstanding > 0
        return ListenerStanding(
            listener=self.record,
            dead=self.dead,
            failures=self.failures,
            failing_since_unix_ms=self.failing_since,
            retry_at_unix_ms=self.due_at or None if waits else None,
        )


@dataclass(frozen=True, slots=True)
class Ring:
    """A message that a listener is to be told of now; ``wire`` is its encoding."""

    doorbell: Doorbell
    pos: int
    #: How often it failed for a reason that may be the message's.
    attempts: int
    wire: bytes


@dataclass(frozen=True, slots=True)
class Attempt:
    """What became of a ring at a time; after a failure, when the listener is tried again."""

    ring: Ring
    at: int
    failure: RingFailure | None = None
    retry_at: int = 0

    def counts_for(self, doorbell: Doorbell) -> bool:
        """Whether it says something of a listener as it stands.

        The failure of a ring that was on its way while the listener was set, or taken for one that was,
        is that of the listener before.
        """
        before = self.ring.doorbell
        if before.number != doorbell.number or self.failure is None:
            return before.number == doorbell.number
        return (before.url, before.key, before.uid, before.failures) == (
            doorbell.url,
            doorbell.key,
            doorbell.uid,
            doorbell.failures,
        )


@dataclass(frozen=True, slots=True)
class Turn:
    """What is next for a listener: a ring, or a time to look again. Neither: nothing waits for it."""

    ring: Ring | None = None
    due_at: int | None = None


class DoorbellStore(Protocol):
    """The part of a store that doorbells need besides the registry."""

    async def doorbells(self) -> list[str]:
        """The owners of every listener, as text addresses."""
        ...

    async def listening_to(self, boxes: Collection[str]) -> list[str]:
        """The owners whose listeners are told of mail in any of these boxes, all as text addresses."""
        ...

    async def next_ring(self, owner: str, attempt: Attempt | None, now: int) -> Turn | None:
        """In one commit: take note of an attempt, look mail over, give up what is too old, say what is next.

        None when the owner has no listener. A ring whose message is gone, or not the owner's to read any
        more, is dropped. An attempt of a listener that was removed since is not counted.
        """
        ...


def is_rung(owner: str, box: str, sender: str | None, *, same_account: bool) -> bool:
    """Whether a message in one of an owner's boxes rings its listener; all are text addresses.

    Nobody is rung about what it sent itself, nor an account about its own post in a room.
    ``same_account``: the sender is an address of the owner's account.
    """
    if not same_account:
        return True
    if box.startswith("#"):
        return False
    return sender != (owner if "/" in owner else box)


def may_hear(capabilities: frozenset[str], *, has_secret: bool) -> bool:
    """Whether sessions of an account may be told of its mail: they could read it."""
    return has_secret and not capabilities.isdisjoint((READ, OPERATOR))


def pause_ms(failures: int, dice: float) -> int:
    """How long a listener is left alone after so many failures (at least 1) in a row, in milliseconds.

    ``dice`` is from 0 to 1 and spreads those that failed together.
    """
    longest = min(PAUSE_MIN_MS << min(failures - 1, 20), PAUSE_MAX_MS)
    return int(longest * (0.5 + 0.5 * dice))
