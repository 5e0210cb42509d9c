"""Which party has been shown a note, read from the stream of the conversation's turns.

The table below is the whole of the rule: a state and a party that are not in it are no presentation and
leave the state as it is. A worker's turn is this note's only where it opened on this note, which a turn of
our own conversation says by ids and any other by the note's text. The judge answers under the number of the
worker's turn, hence "not before" and not "after". A node may run several members, each with turns of its own
numbers, so only those of the member that the note went to count. A worker's turn that was cut short of the
text may be undecidable: then nothing is confirmed, and that it was so is told.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import Enum
from functools import cache
from typing import Any, Final

from .instants import millis_of
from .reach import ReachedWord
from .record import Record
from .recorded import RecordedNote
from .words import NOTE_IDS_LABEL, Evidence, Kind, Party, Source


class State(Enum):
    """How a note is being presented, and how far that has come."""

    REOPENED_AWAITING_WORKER = "the worker's turn is reopened with it"
    REOPENED_AWAITING_JUDGE = "the reopened turn showed it; the judge answers"
    COMPOSED_AWAITING_WORKER = "it is part of the dispatch's task"
    COMPOSED_AWAITING_JUDGE = "the opening turn showed it; the judge answers"
    OUTSIDE_AWAITING_WORKER = "no turn took it, and one may open on its text all the same"
    OUTSIDE_AWAITING_JUDGE = "a turn opened on its text; the judge answers"
    RIDES = "the judge decided with it in hand; it rides to the worker"
    NEXT_TURN = "whichever turn opens next takes it"
    NEXT_TURN_WORKER_SHOWN = "the worker was shown it, the judge is next"
    NEXT_TURN_JUDGE_SHOWN = "the judge was shown it, the worker is next"
    SETTLED = "everybody it was routed to has been shown it"


class Condition(Enum):
    """What must hold of a turn."""

    ANY = "any turn"
    #: The turn opened on the note's text, whatever opened it.
    TEXT = "its text"
    #: The producer says that the turn opened on a delivery, and its text is this note's.
    DELIVERED = "a delivery of its text"
    #: The turn's number is at least that of the worker's turn that showed it.
    NOT_BEFORE = "not before the worker's turn"


@dataclass(frozen=True, slots=True)
class Row:
    """A transition, and the evidence that it is."""

    condition: Condition
    next: State
    evidence: Evidence


_W, _J = Party.WORKER, Party.SUPERVISOR
TABLE: Final[dict[tuple[State, Party], Row]] = {
    (State.REOPENED_AWAITING_WORKER, _W): Row(
        Condition.DELIVERED, State.REOPENED_AWAITING_JUDGE, Evidence.DELIVERED_ORIGIN
    ),
    (State.REOPENED_AWAITING_JUDGE, _J): Row(Condition.NOT_BEFORE, State.SETTLED, Evidence.ANSWERING_TURN),
    (State.COMPOSED_AWAITING_WORKER, _W): Row(
        Condition.ANY, State.COMPOSED_AWAITING_JUDGE, Evidence.OPENING_TASK
    ),
    (State.COMPOSED_AWAITING_JUDGE, _J): Row(Condition.NOT_BEFORE, State.SETTLED, Evidence.ANSWERING_TURN),
    (State.OUTSIDE_AWAITING_WORKER, _W): Row(
        Condition.TEXT, State.OUTSIDE_AWAITING_JUDGE, Evidence.INSTRUCTION_TEXT
    ),
    (State.OUTSIDE_AWAITING_JUDGE, _J): Row(Condition.NOT_BEFORE, State.SETTLED, Evidence.ANSWERING_TURN),
    (State.RIDES, _W): Row(Condition.DELIVERED, State.SETTLED, Evidence.DELIVERED_ORIGIN),
    (State.NEXT_TURN, _W): Row(Condition.DELIVERED, State.NEXT_TURN_WORKER_SHOWN, Evidence.DELIVERED_ORIGIN),
    (State.NEXT_TURN, _J): Row(Condition.ANY, State.NEXT_TURN_JUDGE_SHOWN, Evidence.ANSWERING_TURN),
    (State.NEXT_TURN_JUDGE_SHOWN, _W): Row(Condition.DELIVERED, State.SETTLED, Evidence.DELIVERED_ORIGIN),
    (State.NEXT_TURN_WORKER_SHOWN, _J): Row(Condition.ANY, State.SETTLED, Evidence.ANSWERING_TURN),
}

#: Where a note begins that a conversation was told of; ``judged-with`` routes it nowhere.
OPENING: Final[dict[ReachedWord, State]] = {
    ReachedWord.QUEUED: State.NEXT_TURN,
    ReachedWord.WORKER: State.REOPENED_AWAITING_WORKER,
    ReachedWord.SUPERVISOR: State.RIDES,
    ReachedWord.CARRIED: State.OUTSIDE_AWAITING_WORKER,
}

_ROLES: Final = {"assistant": Party.WORKER, "user": Party.SUPERVISOR}
_ORIGINS: Final = (None, "task", "supervisor", "delivered")
_TURN_KEYS: Final = frozenset(
    ("turn", "role", "instruction", "instruction_truncated", "started_at", "origin")
)  # fmt: skip
#: A cut instruction shows a note when at least so many characters of the note's head stand at its end: fewer
#: agree by accident.
HEAD_MIN_CHARS: Final = 32


#: A member of a graph's run: that run, and the member's name in it.
Member = tuple[str | None, str]


@dataclass(frozen=True, slots=True)
class Turn:
    """A turn that a party opened."""

    number: int
    party: Party
    instruction: str
    started_ms: int
    delivered: bool
    cut: bool
    #: The notes that the turn says it opened on; None where it does not say.
    note_ids: frozenset[str] | None = None
    #: Whose turn it is; None where its record does not say.
    member: Member | None = None

    @classmethod
    def of(cls, record: Record) -> Turn | None:
        """The turn that a record tells of, None for any other record and for one of another shape."""
        payload = record.payload
        if (
            record.source != Source.AGENTGRAPH
            or record.kind != Kind.TURN_STARTED
            or not payload.keys() <= _TURN_KEYS
        ):
            return None
        number, instruction, started = (payload.get(k) for k in ("turn", "instruction", "started_at"))
        role, cut, origin = (
            payload.get("role"),
            payload.get("instruction_truncated", False),
            payload.get("origin"),
        )
        started_ms = millis_of(started) if isinstance(started, str) else None
        party = _ROLES.get(role) if isinstance(role, str) else None
        named: Any = record.labels.get(NOTE_IDS_LABEL)
        if (
            type(number) is not int
            or number < 0
            or not isinstance(instruction, str)
            or not isinstance(cut, bool)
            or origin not in _ORIGINS
            or started_ms is None
            or party is None
        ):
            return None
        ids = frozenset(named.split()) if isinstance(named, str) else None
        delivered = origin == "delivered"
        return cls(number, party, instruction, started_ms, delivered, cut, ids, _member_of(record))


def _member_of(record: Record) -> Member | None:
    run, member = record.labels.get("run_id"), record.labels.get("member")
    return (run if isinstance(run, str) else None, member) if isinstance(member, str) else None


@dataclass(frozen=True, slots=True)
class Shown:
    """One presentation: the note, the turn that opened with it, and what that was read from."""

    note: RecordedNote
    turn: int
    evidence: Evidence

    def payload(self) -> dict[str, Any]:
        """What a ``note-shown`` carries."""
        return {
            **self.note.json(),
            "party": self.evidence.party.value,
            "turn": self.turn,
            "evidence": self.evidence.value,
        }


@dataclass(frozen=True, slots=True)
class _Routed:
    note: RecordedNote
    state: State
    #: A turn that opened before this, in milliseconds, cannot be a presentation.
    routed_ms: int
    #: The worker's turn that showed it.
    worker_turn: int = 0
    #: The member that it went to; None until a turn says.
    member: Member | None = None


@dataclass(frozen=True, slots=True)
class Observed:
    """What one turn said of the notes that are watched, in the order in which they were routed."""

    shown: tuple[Shown, ...] = ()
    #: Notes of which a delivered turn cannot say whether it opened on them.
    undecided: tuple[RecordedNote, ...] = ()


class Presentations:
    """The notes that one dispatch's conversation was told of and has not presented to everybody yet."""

    def __init__(self) -> None:
        self._routed: list[_Routed] = []

    def delivered_while_live(self, note: RecordedNote, at_ms: int, member: Member | None = None) -> bool:
        """Watch a note that was delivered while the dispatch lived, whatever the conversation answered.

        ``member`` is the one that it was offered to; None, and it is the first one whose turn shows the note.
        Returns whether there is anything to watch for.
        """
        state = OPENING.get(note.reached.word)
        if state is not None:
            self._routed.append(_Routed(note, state, at_ms, member=member))
        return state is not None

    def composed_into_the_task(self, note: RecordedNote, at_ms: int) -> None:
        """Watch a note that is part of the dispatch's task."""
        self._routed.append(_Routed(note, State.COMPOSED_AWAITING_WORKER, at_ms))

    def watched(self) -> tuple[tuple[RecordedNote, State], ...]:
        """What is watched, and how far each has come."""
        return tuple((each.note, each.state) for each in self._routed)

    def owed_to(self, note: RecordedNote) -> tuple[Party, ...]:
        """The parties that a watched note is still to be shown to."""
        for each in self._routed:
            if each.note.is_same(note):
                return tuple(party for party in Party if _leads_to(each.state, party))
        return ()

    def observe(self, turn: Turn) -> Observed:
        """Read one turn: every presentation that it shows happening."""
        shown: list[Shown] = []
        undecided: list[RecordedNote] = []
        watched = [each.note for each in self._routed]

        # Once for each text: a head of thousands of characters is looked for in as many steps.
        @cache
        def head(text: str) -> int:
            return _head(text, turn.instruction)

        for index, each in enumerate(self._routed):
            row = TABLE.get((each.state, turn.party))
            if row is None or turn.started_ms < each.routed_ms:
                continue
            holds = _holds(row.condition, turn, each, watched, head)
            if holds is None:
                undecided.append(each.note)
            elif holds:
                self._routed[index] = _advanced(each, row, turn.number, turn.member)
                shown.append(Shown(each.note, turn.number, row.evidence))
        self._forget_settled()
        return Observed(tuple(shown), tuple(undecided))

    def recorded(self, shown: Shown) -> None:
        """Take a presentation that the journal already tells of, whose turn it may not hold."""
        for index, each in enumerate(self._routed):
            row = TABLE.get((each.state, shown.evidence.party))
            if row is not None and row.evidence is shown.evidence and each.note.is_same(shown.note):
                self._routed[index] = _advanced(each, row, shown.turn)
                break
        self._forget_settled()

    def _forget_settled(self) -> None:
        self._routed = [each for each in self._routed if each.state is not State.SETTLED]


def _advanced(routed: _Routed, row: Row, turn: int, member: Member | None = None) -> _Routed:
    worker_turn = turn if row.evidence.party is Party.WORKER else routed.worker_turn
    return replace(routed, state=row.next, worker_turn=worker_turn, member=routed.member or member)


def _leads_to(state: State, party: Party) -> bool:
    """Whether a party is still shown something from a state on."""
    while state is not State.SETTLED:
        rows = {who: row for (at, who), row in TABLE.items() if at is state}
        if party in rows:
            return True
        state = next(iter(rows.values())).next
    return False


def _holds(
    condition: Condition,
    turn: Turn,
    routed: _Routed,
    watched: list[RecordedNote],
    head_of: Callable[[str], int],
) -> bool | None:
    """Whether a turn meets a condition; None where it cannot be decided. ``head_of`` is ``_head`` of it."""
    note = routed.note
    if condition is Condition.NOT_BEFORE and turn.number < routed.worker_turn:
        return False
    # A turn that names its notes is believed; a record without an id can only be found by its text.
    if turn.note_ids is not None and note.note_id is not None:
        return note.note_id in turn.note_ids
    if None not in (turn.member, routed.member) and turn.member != routed.member:
        return False
    if condition in (Condition.ANY, Condition.NOT_BEFORE):
        return True
    if note.text in turn.instruction:
        return turn.delivered or condition is Condition.TEXT
    if not turn.delivered or not turn.cut or condition is not Condition.DELIVERED:
        return False
    head = head_of(note.text)
    rivals = [each for each in watched if each is not note and head_of(each.text) == head]
    return True if head >= HEAD_MIN_CHARS and not rivals else None


def _head(text: str, instruction: str) -> int:
    """How many characters of a text's beginning stand at the end of an instruction that was cut there."""
    for size in range(min(len(text) - 1, len(instruction)), 0, -1):
        if instruction.endswith(text[:size]):
            return size
    return 0


def shown_of(record: Record) -> Shown | None:
    """The presentation that a ``note-shown`` of the pipeline tells of, None for any other record.

    One that cannot be read decides nothing about what a dispatch is composed with, so it is passed over.
    """
    if record.kind != Kind.NOTE_SHOWN or record.source != Source.PIPELINE:
        return None
    turn, evidence = record.payload.get("turn"), record.payload.get("evidence")
    if type(turn) is not int or evidence not in tuple(Evidence):
        return None
    try:
        return Shown(RecordedNote.of(record.payload), turn, Evidence(evidence))
    except ValueError:
        return None
