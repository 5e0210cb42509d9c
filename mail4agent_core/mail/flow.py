"""Who wrote to whom, counted in slots of time as it is posted: what is asked grows with those who write, not
with their mail.

A deletion of messages changes nothing in it; what an account or a room was part of goes with that.
"""

from dataclasses import dataclass
from typing import Final

from mail4agent_api.addresses import address_of
from mail4agent_api.mail import DirectAddress, Flow, FlowPair, ParticipantId

from .wire import millisecond

#: The slots that posts are counted in, in milliseconds.
SLOT_MS: Final = 300_000
#: How many counts one step of upkeep deletes.
STEP: Final = 2_000


def slot_of(pos: int) -> int:
    """The slot of a position."""
    return slot_at(millisecond(pos))


def slot_at(unix_ms: int) -> int:
    """The slot of a time."""
    return max(unix_ms, 0) // SLOT_MS


@dataclass(frozen=True, slots=True)
class FlowCount:
    """What one account with its sessions wrote to an account with its sessions or to a room (``#name``)."""

    sender: ParticipantId
    to: str
    messages: int
    #: The highest position among them.
    last_pos: int


@dataclass(frozen=True, slots=True)
class FlowCounts:
    """The counts of those who wrote most, and how many pairs and messages there are in all."""

    counts: tuple[FlowCount, ...]
    pairs: int
    messages: int


def flow_of(since_ms: int, found: FlowCounts) -> Flow:
    """Counts in their wire form."""
    return Flow(
        since_unix_ms=since_ms,
        pairs=[
            FlowPair(
                from_=DirectAddress(participant=each.sender),
                to=address_of(each.to),
                messages=each.messages,
                last_at_unix_ms=millisecond(each.last_pos),
            )
            for each in found.counts
        ],
        total_pairs=found.pairs,
        total_messages=found.messages,
    )
