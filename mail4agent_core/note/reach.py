"""Where a note may land, and what became of it.

``deliver`` and ``persist`` are two independent fields. Three of their four combinations reach somebody; the
fourth is refused from the two fields alone, before anything of the run is read.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, StrEnum
from typing import Any, Final, Self

from .faults import ReachesNobodyError
from .words import Deliver, Party


class Reach(Enum):
    """The pair of axes without the combination that reaches nobody."""

    #: The running turn and nothing else.
    LIVE_ONLY = "live-only"
    #: The running turn, else the node's next dispatch. The default.
    LIVE_THEN_NEXT = "live-then-next"
    #: No live attempt: always the node's next dispatch.
    NEXT_ONLY = "next-only"

    @classmethod
    def of(cls, node: str, deliver: str, *, persist: bool) -> Self:
        """The pair as a request carries it. Raises ReachesNobodyError for ``next`` without ``persist``."""
        if Deliver(deliver) is Deliver.LIVE:
            return cls(cls.LIVE_THEN_NEXT if persist else cls.LIVE_ONLY)
        if persist:
            return cls(cls.NEXT_ONLY)
        raise ReachesNobodyError(
            node,
            "`deliver: next` attempts no live delivery and `persist: false` composes it into no dispatch, so "
            "this note reaches nobody whatever the run does",
            by_its_fields=True,
        )

    @property
    def attempts_a_live_turn(self) -> bool:
        """Whether the node's running turn is attempted at all."""
        return self is not Reach.NEXT_ONLY

    @property
    def composes_forward(self) -> bool:
        """Whether a note that no running turn took is composed into the node's next dispatch."""
        return self is not Reach.LIVE_ONLY


class ReachedWord(StrEnum):
    """The tag of a disposition."""

    QUEUED = "queued"
    WORKER = "worker"
    SUPERVISOR = "supervisor"
    JUDGED_WITH = "judged-with"
    CARRIED = "carried"


_BOTH = (Party.WORKER, Party.SUPERVISOR)
#: For each disposition: the parties that have been shown the note when it is acknowledged, and those that it
#: is only routed to. A worker's turn is acknowledged before it reopens, so it confirms nothing.
PARTIES: Final[dict[ReachedWord, tuple[tuple[Party, ...], tuple[Party, ...]]]] = {
    ReachedWord.QUEUED: ((), _BOTH),
    ReachedWord.WORKER: ((), _BOTH),
    ReachedWord.SUPERVISOR: ((Party.SUPERVISOR,), (Party.WORKER,)),
    ReachedWord.JUDGED_WITH: ((Party.SUPERVISOR,), ()),
    ReachedWord.CARRIED: ((), ()),
}


@dataclass(frozen=True, slots=True)
class Reached:
    """What became of one note, as the run records it."""

    word: ReachedWord
    #: The judge's reason, for ``judged-with`` alone.
    completion_reason: str | None = None

    def __post_init__(self) -> None:
        assert (self.completion_reason is not None) == (self.word is ReachedWord.JUDGED_WITH)

    @property
    def a_conversation_read_it(self) -> bool:
        """Whether a conversation took the note: all but ``carried``."""
        return self.word is not ReachedWord.CARRIED

    @property
    def shown_at_delivery(self) -> tuple[Party, ...]:
        """The parties that had been shown the note when it was acknowledged."""
        return PARTIES[self.word][0]

    @property
    def routed_to(self) -> tuple[Party, ...]:
        """The parties that the conversation will show it to, which the acknowledgement does not confirm."""
        return PARTIES[self.word][1]

    def json(self) -> dict[str, Any]:
        """The tag ``reached``, and the reason beside it."""
        written: dict[str, Any] = {"reached": self.word.value}
        if self.completion_reason is not None:
            written["completion_reason"] = self.completion_reason
        return written


QUEUED: Final = Reached(ReachedWord.QUEUED)
WORKER: Final = Reached(ReachedWord.WORKER)
SUPERVISOR: Final = Reached(ReachedWord.SUPERVISOR)
CARRIED: Final = Reached(ReachedWord.CARRIED)


def judged_with(reason: str) -> Reached:
    """The work was passed with the note in hand."""
    return Reached(ReachedWord.JUDGED_WITH, reason)
