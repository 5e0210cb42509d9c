"""What released drafts say about how they were written. Counts, and no judgement.

An unedited release is evidence that a person wanted what was drafted; an edited one is a correction. What was
not sent, and a publication, whose difference is a path, say nothing.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol


class WritingOutcome(StrEnum):
    """How a draft left."""

    SENT_UNCHANGED = "sent_unchanged"
    #: A person rewrote it first.
    SENT_EDITED = "sent_edited"


class Judged(Protocol):
    """What has an outcome."""

    def writing_outcome(self) -> WritingOutcome | None:
        """None where it says nothing about drafting."""
        ...


@dataclass(frozen=True, slots=True)
class WritingTally:
    """Released messages, counted."""

    unchanged: int = 0
    edited: int = 0

    @classmethod
    def of(cls, items: Iterable[Judged]) -> WritingTally:
        """Count those that say something."""
        unchanged = edited = 0
        for item in items:
            outcome = item.writing_outcome()
            unchanged += outcome is WritingOutcome.SENT_UNCHANGED
            edited += outcome is WritingOutcome.SENT_EDITED
        return cls(unchanged, edited)

    def sent(self) -> int:
        """How many were sent."""
        return self.unchanged + self.edited

    def unchanged_rate(self) -> float | None:
        """The share that left as drafted, 0.0 to 1.0; None where nothing was sent, which is no zero."""
        return self.unchanged / self.sent() if self.sent() else None
