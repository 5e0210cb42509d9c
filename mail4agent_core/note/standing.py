"""What a node's current dispatch holds, folded from the journal alone.

A dispatch resets the fold to what it was composed with; a delivery since then adds its note. Both are the
pipeline's own records: one that cannot be read is refused, never read past, because its absence would decide
which notes a dispatch is composed with.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from .record import Record
from .recorded import COMMITS, RecordedNote, composed_with, deliveries_of, is_commit, is_dispatch
from .words import Kind


class Placement(StrEnum):
    """Where a standing note sits relative to the current dispatch."""

    #: In its task, so its parties read it whatever became of it first.
    COMPOSED = "composed"
    #: Delivered since; what became of it says whether it was read.
    DELIVERED_SINCE = "delivered-since"


@dataclass(frozen=True, slots=True)
class Held:
    """One standing note and the one place where it sits."""

    note: RecordedNote
    placement: Placement

    @property
    def read(self) -> bool:
        """Whether a conversation of the current dispatch has read it."""
        return self.placement is Placement.COMPOSED or self.note.reached.a_conversation_read_it


@dataclass(frozen=True, slots=True)
class Standing:
    """Every standing note of a node, in the order in which the run recorded them."""

    held: tuple[Held, ...] = ()

    def notes(self) -> tuple[RecordedNote, ...]:
        """All of them."""
        return tuple(held.note for held in self.held)

    def read(self) -> tuple[RecordedNote, ...]:
        """Those that a conversation of the current dispatch has read."""
        return tuple(held.note for held in self.held if held.read)

    def carried(self) -> tuple[RecordedNote, ...]:
        """Those that no turn took since the dispatch was composed."""
        return tuple(held.note for held in self.held if not held.read)


_FOLDED = COMMITS | {Kind.NODE_DISPATCHED.value}


class StandingFold:
    """The fold, record by record."""

    def __init__(self, node: str) -> None:
        self._node = node
        self._held: list[Held] = []

    def apply(self, record: Record) -> None:
        """Take one record, in the order of the journal. Raises UnreadableRecordError."""
        if record.kind not in _FOLDED:
            return
        if is_dispatch(record, self._node):
            self._held = [Held(note, Placement.COMPOSED) for note in composed_with(record)]
        elif is_commit(record):
            deliveries = deliveries_of(record, self._node)
            self._held += [Held(each.note, Placement.DELIVERED_SINCE) for each in deliveries]

    @property
    def standing(self) -> Standing:
        """What stands."""
        return Standing(tuple(self._held))


def standing(journal: Iterable[Record], node: str) -> Standing:
    """Fold what stands for a node. Raises UnreadableRecordError."""
    fold = StandingFold(node)
    for record in journal:
        fold.apply(record)
    return fold.standing


def payload_of(notes: Sequence[RecordedNote]) -> list[dict[str, Any]]:
    """Notes as a ``node-dispatched`` carries them."""
    return [note.json() for note in notes]
