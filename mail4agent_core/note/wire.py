"""The engine's values as the contract's: what command lines and doors answer with.

A record of another program may hold more than the contract lets a value hold; its texts are then cut, and
``decode`` of what comes out always succeeds.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from mail4agent_api import note as wire
from mail4agent_api.codec import decode, decode_value
from mail4agent_api.errors import RefusalError

from .ids import is_note_id
from .journal import Reading
from .ledger import Ledger
from .note import CRITERION_MAX_BYTES, TEXT_MAX_BYTES, Note
from .presentations import Shown
from .reach import Reached
from .record import Record
from .recorded import RecordedNote
from .requests import Receipt, Request
from .turns import TurnOpened
from .words import Party

#: Notes of one list of an answer; of more, the last ones.
LIST_MAX = 256
_REASON_MAX_BYTES = 16_384
_ROLES = {"assistant": Party.WORKER, "user": Party.SUPERVISOR}


def _cut(text: str, limit: int) -> str:
    return text.replace("\0", "\ufffd").encode()[:limit].decode("utf-8", "ignore")


def recorded_note(note: RecordedNote) -> wire.RecordedNote:
    """A note as the record has it."""
    return decode_value(wire.RecordedNote, _note(note))


def _note(note: RecordedNote) -> dict[str, object]:
    reason = note.reached.completion_reason
    return {
        "addressee": note.addressee.value,
        "text": _cut(note.text, TEXT_MAX_BYTES),
        "criterion": _cut(note.criterion, CRITERION_MAX_BYTES) if note.criterion else None,
        "reached": note.reached.word.value,
        "completion_reason": None if reason is None else _cut(reason, _REASON_MAX_BYTES),
        "note_id": note.note_id if note.note_id is not None and is_note_id(note.note_id) else None,
    }


def reached(value: Reached) -> wire.Reached:
    """A disposition."""
    members = value.json()
    if "completion_reason" in members:
        members["completion_reason"] = _cut(members["completion_reason"], _REASON_MAX_BYTES)
    return decode_value(wire.Reached, members)


def receipt(run: str, note_id: str, receipt: Receipt) -> wire.NoteReceipt:
    """What became of a note."""
    return wire.NoteReceipt(
        note_id=wire.NoteId(receipt.note.note_id or note_id),
        run=run,
        node=receipt.node,
        delivered=wire.DeliveredTo(reached=reached(receipt.reached)),
        shown_to=[party.value for party in receipt.shown_to],
        owed_to=[party.value for party in receipt.owed_to],
        repeated=receipt.repeated,
    )


def queued(run: str, node: str, note_id: str) -> wire.NoteReceipt:
    """The receipt of a note that its driver has not answered: it is owed to both."""
    return wire.NoteReceipt(
        note_id=wire.NoteId(note_id),
        run=run,
        node=node,
        delivered=wire.DeliveredQueued(),
        shown_to=[],
        owed_to=[party.value for party in Party],
        repeated=False,
    )


def request_of(asked: wire.NoteRequest) -> Request:
    """The engine's request. Raises MalformedError, TooLargeError, ReachesNobodyError."""
    return Request.of(
        asked.node,
        Note.of(asked.addressee, asked.text, asked.criterion),
        deliver=asked.deliver,
        persist=asked.persist,
        idempotency_key=asked.idempotency_key,
    )


def standing(run: str, node: str, ledger: Ledger) -> wire.NoteStanding:
    """Both folds of a node. Raises UnreadableRecordError, UnknownNodeError."""
    fold = ledger.fold(node)
    return wire.NoteStanding(
        run=run,
        node=node,
        standing=[
            wire.StandingNote(note=recorded_note(held.note), placement=held.placement.value, read=held.read)
            for held in ledger.standing(node).held[-LIST_MAX:]
        ],
        owed=[recorded_note(note) for note in fold.owed[-LIST_MAX:]],
        undecidable=[recorded_note(note) for note in fold.undecidable[-LIST_MAX:]],
    )


def turns_of(asked: Iterable[wire.TurnStarted]) -> list[TurnOpened]:
    """The turns of parties; a turn of neither party shows nothing and is left out."""
    return [
        TurnOpened(
            each.node,
            _ROLES[each.role],
            each.turn,
            each.instruction,
            each.started_at,
            each.origin,
            None if each.note_ids is None else [str(note_id) for note_id in each.note_ids],
            each.member,
            each.instruction_truncated,
        )
        for each in asked
        if each.role in _ROLES
    ]


def presentations(shown: Sequence[tuple[str, Shown]]) -> wire.NotePresentations:
    """What turns showed."""
    return wire.NotePresentations(
        presentations=[
            wire.NodePresentation(
                node=node,
                shown=decode_value(
                    wire.NoteShown,
                    {
                        **_note(each.note),
                        "party": each.evidence.party.value,
                        "turn": each.turn,
                        "evidence": each.evidence.value,
                    },
                ),
            )
            for node, each in shown[:LIST_MAX]
        ]
    )


def journal(found: Reading) -> wire.NoteJournal:
    """A stretch of a journal. Records that the contract's envelope cannot hold are counted as unreadable."""
    made = [envelope(record) for record in found.records]
    records = [each for each in made if each is not None]
    return wire.NoteJournal(
        records=records,
        next=found.end,
        unreadable=found.unreadable + len(made) - len(records),
        torn_bytes=0 if found.torn is None else found.torn.size,
    )


def envelope(record: Record) -> wire.JournalEnvelope | None:
    """One record, None where the contract has no room for it."""
    try:
        return decode(wire.JournalEnvelope, record.line().rstrip(b"\n"))
    except (RefusalError, ValueError):
        return None
