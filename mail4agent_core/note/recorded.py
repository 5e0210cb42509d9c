"""A note as the run's record carries it, read from what any program of the run wrote.

Other programs' records are older than our bounds: what they hold is read as it is. A key that is not known
is ignored, as the original does.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Self

from .faults import UnreadableRecordError
from .note import trimmed
from .reach import Reached, ReachedWord
from .record import Record
from .words import CARRIED_KEY, OPERATIONS, Addressee, Kind, Source

#: The kinds that carry operations.
COMMITS: Final = frozenset((Kind.EDIT_COMMITTED.value, Kind.COMMAND_ACCEPTED.value))


class _NoNoteError(ValueError):
    """A value that holds no note; the message is ours."""


@dataclass(frozen=True, slots=True)
class RecordedNote:
    """The note's own fields of a delivery: without the node, and without what is said of presentations."""

    addressee: Addressee
    text: str
    reached: Reached
    criterion: str | None = None
    #: ``note_`` and 24 hexadecimal digits; None in records of the original.
    note_id: str | None = None

    def json(self) -> dict[str, Any]:
        """As records hold it; what is absent is left out."""
        written: dict[str, Any] = {"addressee": self.addressee.value, "text": self.text}
        if self.criterion is not None:
            written["criterion"] = self.criterion
        written |= self.reached.json()
        if self.note_id is not None:
            written["note_id"] = self.note_id
        return written

    def is_same(self, other: RecordedNote) -> bool:
        """Whether two records are of one note: by id, and where either has none by what they say."""
        if self.note_id is not None and other.note_id is not None:
            return self.note_id == other.note_id
        return (self.addressee, self.text, self.criterion) == (other.addressee, other.text, other.criterion)

    @classmethod
    def of(cls, value: Any) -> Self:
        """Read one. Raises ValueError with a sentence of ours."""
        if not isinstance(value, Mapping):
            raise _NoNoteError("a note must be an object")
        members: Mapping[str, Any] = value  # pyright: ignore[reportUnknownVariableType]
        addressee, text, word = members.get("addressee"), members.get("text"), members.get("reached")
        criterion, reason = members.get("criterion"), members.get("completion_reason")
        note_id = members.get("note_id")
        if addressee not in tuple(Addressee):
            raise _NoNoteError("its addressee is not known")
        if not isinstance(text, str) or not trimmed(text):
            raise _NoNoteError("it has no text")
        if not (criterion is None or isinstance(criterion, str)):
            raise _NoNoteError("its criterion is no text")
        if word not in tuple(ReachedWord):
            raise _NoNoteError("what became of it is not known")
        judged = word == ReachedWord.JUDGED_WITH
        if judged and not isinstance(reason, str):
            raise _NoNoteError("it has no completion reason")
        reached = Reached(ReachedWord(word), reason if judged else None)
        known_id = note_id if isinstance(note_id, str) else None
        return cls(Addressee(addressee), trimmed(text), reached, criterion, known_id)


@dataclass(frozen=True, slots=True)
class Delivery:
    """One ``note-delivered`` operation."""

    node: str
    note: RecordedNote
    #: RFC 3339: the instant before it was offered; None in records of the original.
    offered_at: str | None = None
    idempotency_key: str | None = None
    #: The digest of the request that the key was used for.
    request: str | None = None

    def json(self) -> dict[str, Any]:
        """The operation; what is empty is left out."""
        note, reached = self.note.json(), self.note.reached
        written: dict[str, Any] = {"kind": "note-delivered", "node": self.node}
        for key in ("addressee", "text", "criterion"):
            if key in note:
                written[key] = note[key]
        if reached.shown_at_delivery:
            written["shown_to"] = [party.value for party in reached.shown_at_delivery]
        if reached.routed_to:
            written["routed_to"] = [party.value for party in reached.routed_to]
        written |= reached.json()
        extra = {
            "note_id": self.note.note_id,
            "offered_at": self.offered_at,
            "idempotency_key": self.idempotency_key,
            "request": self.request,
        }
        return written | {key: value for key, value in extra.items() if value is not None}


def note_of_delivery(operation: Mapping[str, Any]) -> RecordedNote | None:
    """The note that an operation carried, None for any other operation. Raises ValueError."""
    return RecordedNote.of(operation) if operation.get("kind") == "note-delivered" else None


def is_commit(record: Record) -> bool:
    """Whether a record is the pipeline's own and carries operations."""
    return record.kind in COMMITS and record.source == Source.PIPELINE


def deliveries_of(record: Record, node: str | None = None) -> list[Delivery]:
    """The deliveries of a commit, to one node or to all.

    An operation that is not known stops the reading unless it says that it is another node's. Raises
    UnreadableRecordError.
    """
    operations: Any = record.payload.get("operations")
    if not isinstance(operations, list):
        raise _unreadable(record, "operations", "it must be a list")
    found: list[Delivery] = []
    for operation in operations:  # pyright: ignore[reportUnknownVariableType]
        if not isinstance(operation, Mapping):
            raise _unreadable(record, "operations", "an operation must be an object")
        members: Mapping[str, Any] = operation  # pyright: ignore[reportUnknownVariableType]
        kind, whose = members.get("kind"), members.get("node")
        if node is not None and isinstance(whose, str) and whose != node:
            continue
        if not isinstance(kind, str) or kind not in OPERATIONS:
            raise _unreadable(record, "operations", "an operation is not known")
        if kind != "note-delivered":
            continue
        if not isinstance(whose, str):
            raise _unreadable(record, "operations", "a delivery names no node")
        try:
            note = RecordedNote.of(members)
        except _NoNoteError as failure:
            raise _unreadable(record, "operations", str(failure)) from None
        extra = {key: members.get(key) for key in ("offered_at", "idempotency_key", "request")}
        found.append(
            Delivery(whose, note, **{k: v if isinstance(v, str) else None for k, v in extra.items()})
        )
    return found


def is_dispatch(record: Record, node: str | None = None) -> bool:
    """Whether a record is the pipeline's announcement of a dispatch, of one node or of any."""
    return (
        record.kind == Kind.NODE_DISPATCHED
        and record.source == Source.PIPELINE
        and record.node is not None
        and node in (None, record.node)
    )


def composed_with(record: Record) -> list[RecordedNote]:
    """The notes that a dispatch was composed with. Raises UnreadableRecordError."""
    carried: Any = record.payload.get(CARRIED_KEY, [])
    if not isinstance(carried, list):
        raise _unreadable(record, CARRIED_KEY, "it must be a list of notes")
    try:
        return [RecordedNote.of(each) for each in carried]  # pyright: ignore[reportUnknownVariableType]
    except _NoNoteError as failure:
        raise _unreadable(record, CARRIED_KEY, str(failure)) from None


def _unreadable(record: Record, field: str, why: str) -> UnreadableRecordError:
    return UnreadableRecordError(record.kind, record.where, field, why)
