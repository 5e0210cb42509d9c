"""The two-party conversation that a note is offered to. It belongs to the caller; this is what it must do."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from . import reach
from .note import Note
from .reach import Reached
from .words import Party


@dataclass(frozen=True, slots=True)
class Offer:
    """One note on its way to a node's conversation."""

    run: str
    node: str
    note_id: str
    note: Note


@dataclass(frozen=True, slots=True)
class Queued:
    """Nobody was taking a turn: the next turn to open takes it."""


@dataclass(frozen=True, slots=True)
class Interrupted:
    """The turn of this party was live and takes it."""

    party: Party


@dataclass(frozen=True, slots=True)
class JudgedWith:
    """The judge decided with it in hand, and the decision is that the work is complete."""

    completion_reason: str


@dataclass(frozen=True, slots=True)
class ConversationCompleted:
    """The conversation is over and the work is passed."""

    completion_reason: str


@dataclass(frozen=True, slots=True)
class MemberSettled:
    """The member that ran it has ended."""

    outcome: str


@dataclass(frozen=True, slots=True)
class NoConversation:
    """There is no conversation to hand it to."""

    reason: str


Accepted = Queued | Interrupted | JudgedWith
Undelivered = ConversationCompleted | MemberSettled | NoConversation


class Conversation(Protocol):
    """One node's live conversation."""

    def offer(self, offer: Offer) -> Accepted | Undelivered:
        """Hand a note to whoever is live; may take as long as an agent's turn, and is not called under a
        lock. The same offer (its ``note_id``) may come again after a crash, and is then answered alike.
        """
        ...


#: The conversation of a node, None where the node has none.
Conversations = Callable[[str], Conversation | None]


def nobody(_node: str) -> None:
    """No node has a conversation: every note is carried, or refused."""


def reached_by(accepted: Accepted) -> Reached:
    """What the run records of an acceptance."""
    match accepted:
        case Queued():
            return reach.QUEUED
        case Interrupted(party=Party.WORKER):
            return reach.WORKER
        case Interrupted():
            return reach.SUPERVISOR
        case JudgedWith(completion_reason=reason):
            return reach.judged_with(reason)


def sentence_of(undelivered: Undelivered) -> str:
    """Why nothing read the note, for the refusal that the manager gets."""
    match undelivered:
        case ConversationCompleted(completion_reason=reason):
            why = f"the conversation is complete ({reason})"
        case MemberSettled(outcome=outcome):
            why = f"the member that ran it has settled ({outcome})"
        case NoConversation(reason=reason):
            why = f"there is no conversation to hand it to ({reason})"
    return (
        f"not delivered: {why}, so nothing will read it; relaunch the node, amend it for a later dispatch, "
        "or follow up in another node"
    )


@dataclass(slots=True)
class ScriptedConversation:
    """A conversation that answers as it was told to, in order; for tests and simulations."""

    answers: Sequence[Accepted | Undelivered]
    #: Called with each offer before it is answered: what happens while it is outstanding.
    meanwhile: Callable[[Offer], None] | None = None
    offers: list[Offer] = field(default_factory=list[Offer])

    def offer(self, offer: Offer) -> Accepted | Undelivered:
        """The next answer; NoConversation when there is none left."""
        self.offers.append(offer)
        if self.meanwhile is not None:
            self.meanwhile(offer)
        index = len(self.offers) - 1
        return self.answers[index] if index < len(self.answers) else NoConversation("the script is over")
