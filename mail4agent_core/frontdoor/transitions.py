"""Who may move a request from which state to which. The table is the rule; nothing else moves one."""

from __future__ import annotations

from enum import StrEnum
from typing import Final

from .states import (
    ANSWERED,
    AWAITING_ME,
    CLOSED,
    DRAINED,
    EXTRACTED,
    EXTRACTION_FAILED,
    NEEDS_INFO,
    TRIAGED,
)


class Actor(StrEnum):
    """Who moves requests."""

    EXTRACTOR = "extractor"
    #: A run with tools, which saw the brief.
    RUN = "run"
    #: What reads the outbox, where a person decided.
    RECONCILER = "reconciler"
    PERSON = "person"


#: Actor, state, and the states that the actor may move it to. The drain makes requests and moves none.
TABLE: Final[dict[Actor, dict[str, frozenset[str]]]] = {
    Actor.EXTRACTOR: {
        DRAINED: frozenset((EXTRACTED, EXTRACTION_FAILED)),
        # Only when a person asked for another try; ``extractable`` holds that.
        EXTRACTION_FAILED: frozenset((EXTRACTED, EXTRACTION_FAILED)),
    },
    Actor.RUN: {
        EXTRACTED: frozenset((TRIAGED, AWAITING_ME)),
    },
    Actor.RECONCILER: {
        AWAITING_ME: frozenset((ANSWERED, EXTRACTED)),
    },
    Actor.PERSON: {
        DRAINED: frozenset((NEEDS_INFO, CLOSED)),
        EXTRACTED: frozenset((NEEDS_INFO, CLOSED)),
        EXTRACTION_FAILED: frozenset((NEEDS_INFO, CLOSED)),
        TRIAGED: frozenset((NEEDS_INFO, CLOSED, EXTRACTED, DRAINED)),
        AWAITING_ME: frozenset((NEEDS_INFO, CLOSED)),
        # To drained where there is no extraction to go back to; ``reopened`` says which.
        NEEDS_INFO: frozenset((CLOSED, EXTRACTED, DRAINED)),
        ANSWERED: frozenset((NEEDS_INFO, CLOSED)),
        CLOSED: frozenset((EXTRACTED, DRAINED)),
    },
}


def may(actor: Actor, from_: str, to: str) -> bool:
    """Whether an actor may move a request so. A state that is not known is nobody's to move."""
    return to in TABLE[actor].get(from_, frozenset())


def extractable(state: str, *, retry: bool) -> bool:
    """Whether a request in a state is for the extractor; a failure is one only where it was asked for."""
    return state == DRAINED or (state == EXTRACTION_FAILED and retry)


def reopened(*, extracted: bool) -> str:
    """The state that a person's reopening leads to."""
    return EXTRACTED if extracted else DRAINED
