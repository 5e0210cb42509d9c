"""The notes that a node still owes, and the presentations that its turns showed: the second fold.

A note recorded ``carried`` is owed until a turn showed it, however many dispatches were announced meanwhile:
a dispatch that dies before any turn opens has spent nothing. A note that a delivered turn could not decide is
owed once more; when that happens a second time it is reported as undecidable instead. Everything is folded
from the journal, so a driver that was killed finds what it knew.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field

from .instants import millis_of
from .presentations import Presentations, Shown, Turn, shown_of
from .record import Record
from .recorded import COMMITS, RecordedNote, composed_with, deliveries_of, is_commit, is_dispatch
from .words import CARRIED_KEY, Kind, Party, Source

_FOLDED = COMMITS | {
    kind.value for kind in (Kind.NODE_DISPATCHED, Kind.NODE_SETTLED, Kind.NOTE_SHOWN, Kind.TURN_STARTED)
}
#: The latest turns of one dispatch, kept to be replayed to a note that was being offered meanwhile.
TURNS_MAX = 1_024


@dataclass(slots=True)
class NodeFold:
    """What the journal says of one node's notes, folded record by record."""

    node: str
    owed: list[RecordedNote] = field(default_factory=list[RecordedNote])
    undecidable: list[RecordedNote] = field(default_factory=list[RecordedNote])
    #: Presentations that turns showed and no record tells of yet, oldest first.
    unrecorded: list[Shown] = field(default_factory=list[Shown])
    #: Every presentation that is known, recorded or not.
    shown: list[Shown] = field(default_factory=list[Shown])
    watch: Presentations = field(default_factory=Presentations)
    #: How many dispatches were announced, and whether the last one goes on.
    dispatches: int = 0
    live: bool = False
    #: Whether a member of the current dispatch has reported.
    reported: bool = False
    #: As the run recorded it last; ``done`` ends carrying.
    status: str | None = None
    _dispatched_ms: int = 0
    _turns: deque[Turn] = field(default_factory=lambda: deque[Turn](maxlen=TURNS_MAX))
    _undecided: list[RecordedNote] = field(default_factory=list[RecordedNote])

    def apply(self, record: Record) -> None:
        """Take one record, in the order of the journal. Raises UnreadableRecordError."""
        if record.kind not in _FOLDED:
            return
        if is_commit(record):
            for delivery in deliveries_of(record, self.node):
                self._delivered(delivery.note, millis_of(delivery.offered_at or record.ts))
        elif record.node != self.node:
            return
        elif is_dispatch(record, self.node):
            self._dispatched(record)
        elif record.source == Source.PIPELINE and record.kind == Kind.NODE_SETTLED:
            status = record.payload.get("status")
            self.status = status if isinstance(status, str) else None
            self.live = self.status == "waiting" and self.live
        elif (turn := Turn.of(record)) is not None:
            self._turned(turn)
        elif (shown := shown_of(record)) is not None:
            self._told(shown)

    def _dispatched(self, record: Record) -> None:
        composed = composed_with(record)
        at_ms = millis_of(record.ts) or 0
        if CARRIED_KEY not in record.payload and record.payload.get("attempt") == 1:
            # The original hands what was carried to a first dispatch as its context, and names it nowhere.
            composed = list(self.owed)
        self.watch = Presentations()
        for note in composed:
            self.watch.composed_into_the_task(note, at_ms)
        self.dispatches += 1
        self.live, self.reported, self.status = True, False, None
        self._dispatched_ms = at_ms
        self._turns.clear()

    def _delivered(self, note: RecordedNote, at_ms: int | None) -> None:
        if not note.reached.a_conversation_read_it:
            self.owed.append(note)
        at_ms = at_ms or 0
        # An offer that outlived its dispatch was answered by a conversation that is over.
        if not self.live or (note.reached.a_conversation_read_it and at_ms < self._dispatched_ms):
            return
        # As the original addresses an offer: to the member of the dispatch that reported last.
        member = next((turn.member for turn in reversed(self._turns) if turn.started_ms <= at_ms), None)
        if self.watch.delivered_while_live(note, at_ms, member):
            # Turns that opened while the note was being offered, seen by a watch of this note alone.
            alone = Presentations()
            alone.delivered_while_live(note, at_ms, member)
            for turn in self._turns:
                observed = alone.observe(turn)
                for shown in observed.shown:
                    self.watch.recorded(shown)
                self._take(observed.shown, observed.undecided)

    def _turned(self, turn: Turn) -> None:
        self.reported = True
        self._turns.append(turn)
        observed = self.watch.observe(turn)
        self._take(observed.shown, observed.undecided)

    def _take(self, shown: Iterable[Shown], undecided: Iterable[RecordedNote]) -> None:
        for each in shown:
            self.shown.append(each)
            self.unrecorded.append(each)
            self._spent(each.note)
        for note in undecided:
            again = any(note.is_same(each) for each in self._undecided)
            self._undecided.append(note)
            self.owed = [each for each in self.owed if not each.is_same(note)]
            if not again:
                self.owed.append(note)
            elif not any(note.is_same(each) for each in self.undecidable):
                self.undecidable.append(note)

    def _told(self, shown: Shown) -> None:
        for index, each in enumerate(self.unrecorded):
            if each.evidence is shown.evidence and each.turn == shown.turn and each.note.is_same(shown.note):
                del self.unrecorded[index]
                return
        self.shown.append(shown)
        self.watch.recorded(shown)
        self._spent(shown.note)

    def shown_to(self, note: RecordedNote) -> tuple[Party, ...]:
        """The parties that have been shown a note, those at its delivery among them."""
        seen = {each.evidence.party for each in self.shown if each.note.is_same(note)}
        seen |= set(note.reached.shown_at_delivery)
        return tuple(party for party in Party if party in seen)

    def owed_to(self, note: RecordedNote) -> tuple[Party, ...]:
        """The parties that a note is still owed to, by this dispatch's conversation or by the next one's."""
        waiting = self.watch.owed_to(note)
        if not waiting and any(each.is_same(note) for each in self.owed):
            waiting = tuple(Party)
        shown = self.shown_to(note)
        return tuple(party for party in waiting if party not in shown)

    def _spent(self, note: RecordedNote) -> None:
        for index, each in enumerate(self.owed):
            if each.is_same(note):
                del self.owed[index]
                return


def folded(journal: Iterable[Record], node: str) -> NodeFold:
    """Fold everything that a journal says of one node. Raises UnreadableRecordError."""
    fold = NodeFold(node)
    for record in journal:
        fold.apply(record)
    return fold


def owed(journal: Iterable[Record], node: str) -> tuple[RecordedNote, ...]:
    """The notes recorded ``carried`` that no turn has shown yet. Raises UnreadableRecordError."""
    return tuple(folded(journal, node).owed)
