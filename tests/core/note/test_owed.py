"""What a node owes and what its turns showed, folded from journals alone, a real one among them."""

from __future__ import annotations

from pathlib import Path

import pytest

from mail4agent_core.note import reach
from mail4agent_core.note.carry import stored
from mail4agent_core.note.composition import composed, section
from mail4agent_core.note.faults import UnknownNodeError, UnreadableRecordError
from mail4agent_core.note.journal import read
from mail4agent_core.note.ledger import Ledger
from mail4agent_core.note.owed import TURNS_MAX, folded, owed
from mail4agent_core.note.paths import RunPaths
from mail4agent_core.note.presentations import State
from mail4agent_core.note.record import Record
from mail4agent_core.note.recorded import RecordedNote
from mail4agent_core.note.standing import Standing, payload_of, standing
from mail4agent_core.note.words import Addressee, Evidence, Party

from .records import START_MS, committed, delivered, dispatched, pipeline, recorded, turn_record

REAL = Path(__file__).resolve().parents[2] / "fixtures" / "note" / "onepipeline-0.38.1"


def texts(notes: object) -> list[str]:
    """What notes say."""
    assert isinstance(notes, list | tuple)
    return [note.text for note in notes]


def at(seconds: float) -> int:
    """An instant after the start, in milliseconds."""
    return START_MS + round(seconds * 1000)


@pytest.mark.promise("note.a-real-run-is-read", "note.a-note-is-spent-by-who-saw-it")
def test_a_real_run_stands_for_nothing_and_owes_both_of_its_notes() -> None:
    """Two notes were drained by dispatches that died before a turn: the first fold lost them, not ours."""
    journal = read(REAL / "events.jsonl").records
    assert len(journal) == 23
    for node, note in (
        ("build", RecordedNote(Addressee.BOTH, "carry me", reach.CARRIED)),
        ("v1.2 docs", RecordedNote(Addressee.WORKER, "and me", reach.CARRIED, "the outline is kept")),
    ):
        assert standing(journal, node) == Standing()
        assert owed(journal, node) == (note,)
        assert stored(REAL, node) == ()
        fold = folded(journal, node)
        assert (fold.dispatches, fold.status, fold.live) == (3, "failed", False)
        assert composed(standing(journal, node), fold.owed).carried == (note,)


@pytest.mark.promise("note.a-real-run-is-read")
def test_a_real_run_has_the_nodes_of_its_plan() -> None:
    """The ledger knows them from the plan, and no others."""
    ledger = Ledger(RunPaths(REAL))
    ledger.refresh()
    assert ledger.nodes == ("gate", "build", "v1.2 docs")
    assert (ledger.unreadable, ledger.torn) == (0, None)
    assert ledger.standing("gate") == Standing()
    with pytest.raises(UnknownNodeError):
        ledger.fold("elsewhere")


@pytest.mark.promise("note.a-note-is-spent-by-who-saw-it")
def test_a_carried_note_is_owed_until_a_turn_shows_it() -> None:
    """Retries that carry nothing do not spend it; the opening turn of one that carries it does."""
    journal = [
        dispatched(1, "build", attempt=1),
        delivered(2, "build", "carry me", reach.CARRIED),
        dispatched(3, "build", attempt=2, attempts=3),
        dispatched(4, "build", attempt=3, attempts=3),
    ]
    assert texts(owed(journal, "build")) == ["carry me"]
    assert standing(journal, "build") == Standing()
    carried = composed(standing(journal, "build"), owed(journal, "build")).payload()
    journal.append(dispatched(5, "build", attempt=4, **carried))
    assert texts(owed(journal, "build")) == ["carry me"]
    journal.append(turn_record(6, at(6), "assistant", 1, "task"))
    fold = folded(journal, "build")
    assert texts(fold.owed) == []
    assert [(s.evidence, s.turn) for s in fold.unrecorded] == [(Evidence.OPENING_TASK, 1)]


@pytest.mark.promise("note.presentations-survive-a-restart")
def test_presentations_are_folded_from_deliveries_dispatches_and_turns() -> None:
    """What the journal tells of is not told again; what it lacks is found, whoever is killed in between."""
    journal: list[Record] = [
        dispatched(1, "build", attempt=1),
        delivered(2, "build", "stop", reach.WORKER),
        turn_record(3, at(3), "assistant", 2, "delivered", "- stop"),
    ]
    (shown,) = folded(journal, "build").unrecorded
    assert (shown.evidence, shown.turn) == (Evidence.DELIVERED_ORIGIN, 2)
    journal.append(pipeline("note-shown", 4, "build", shown.payload()))
    fold = folded(journal, "build")
    assert fold.unrecorded == []
    assert [state for _, state in fold.watch.watched()] == [State.REOPENED_AWAITING_JUDGE]
    journal.append(turn_record(5, at(5), "user", 2))
    (shown,) = folded(journal, "build").unrecorded
    assert shown.evidence is Evidence.ANSWERING_TURN


@pytest.mark.promise("note.a-note-is-spent-by-who-saw-it")
def test_a_first_dispatch_of_the_original_has_what_was_carried_although_it_names_nothing() -> None:
    """Its opening turn shows the note; a retry that names nothing has nothing, and its turn shows nothing."""
    journal = [delivered(1, "build", "carry me", reach.CARRIED), dispatched(2, "build", attempt=1)]
    opened = folded([*journal, turn_record(3, at(3), "assistant", 1, "task")], "build")
    assert texts(opened.owed) == []
    assert [shown.evidence for shown in opened.unrecorded] == [Evidence.OPENING_TASK]
    journal += [dispatched(3, "build", attempt=2, attempts=3), turn_record(4, at(4), "assistant", 1, "task")]
    retried = folded(journal, "build")
    assert (texts(retried.owed), retried.unrecorded) == (["carry me"], [])


def test_a_presentation_that_the_original_recorded_moves_the_watch() -> None:
    """Its offers have no instant in the journal, so its own records say what its turns showed."""
    note = recorded("stop", reach.WORKER, addressee=Addressee.WORKER)
    told = {**note.json(), "party": "worker", "turn": 2, "evidence": "delivered-origin"}
    journal = [
        dispatched(1, "build", attempt=1),
        turn_record(2, at(1.5), "assistant", 2, "delivered", "- stop"),
        delivered(3, "build", "stop", reach.WORKER),
        pipeline("note-shown", 4, "build", told),
        turn_record(5, at(5), "user", 2),
    ]
    fold = folded(journal, "build")
    assert [shown.evidence for shown in fold.unrecorded] == [Evidence.ANSWERING_TURN]
    assert fold.shown_to(note) == (Party.WORKER, Party.SUPERVISOR)


@pytest.mark.promise("note.the-fold-trusts-its-own-records")
def test_a_foreign_record_wipes_nothing_and_stops_nothing() -> None:
    """Another program's dispatch, settlement and presentation are passed over like its commits."""
    journal = [
        dispatched(1, "build", attempt=1),
        delivered(2, "build", "stop", reach.CARRIED),
        pipeline("node-dispatched", 3, "build", {"attempt": 1}, source="agentgraph"),
        pipeline("node-settled", 4, "build", {"status": "done"}, source="vcs"),
        pipeline("note-shown", 5, "build", {"text": "stop"}, source="vcs"),
        committed(6, {"kind": "from-elsewhere"}, source="vcs"),
    ]
    fold = folded(journal, "build")
    assert (texts(standing(journal, "build").notes()), texts(fold.owed)) == (["stop"], ["stop"])
    assert (fold.dispatches, fold.status) == (1, None)


@pytest.mark.promise("note.the-fold-trusts-its-own-records")
def test_an_unknown_operation_stops_only_the_node_that_it_may_be_of() -> None:
    """Of another node it is passed over; of this one, or of nobody named, it is refused by name."""
    others = [
        committed(1, {"kind": "from-the-future", "node": "docs"}),
        delivered(2, "build", "a", reach.WORKER),
    ]
    assert texts(standing(others, "build").notes()) == ["a"]
    for operation in ({"kind": "from-the-future", "node": "build"}, {"kind": "from-the-future"}, "no object"):
        with pytest.raises(UnreadableRecordError, match="`edit-committed` record s/1 carries a `operations`"):
            folded([committed(1, operation)], "build")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "broken",
    [
        {"addressee": "nobody"},
        {"text": " "},
        {"text": 7},
        {"criterion": 7},
        {"reached": "elsewhere"},
        {"reached": "judged-with"},
    ],
)
def test_a_recorded_note_that_cannot_be_read_is_refused(broken: dict[str, object]) -> None:
    """Whether it was delivered or carried, its record is named."""
    note = {**recorded("a", reach.WORKER).json(), **broken}
    with pytest.raises(UnreadableRecordError, match="s/1"):
        standing([committed(1, {"kind": "note-delivered", "node": "build", **note})], "build")
    with pytest.raises(UnreadableRecordError, match="notes_carried"):
        standing([dispatched(1, "build", notes_carried=[note])], "build")


def test_a_record_with_an_older_programs_text_is_read_as_it_is() -> None:
    """No bound of ours is put on what another program recorded, and unknown keys are ignored."""
    note = {**recorded("x" * 40_000, reach.judged_with("done")).json(), "extra": [1]}
    (held,) = standing([dispatched(1, "build", notes_carried=[note])], "build").notes()
    assert (len(held.text), held.reached.completion_reason) == (40_000, "done")


@pytest.mark.promise("note.a-cut-instruction-is-compared-or-told")
def test_a_note_that_no_turn_can_decide_is_owed_once_more_and_then_reported() -> None:
    """The first undecidable turn makes the node owe it again; the second makes it undecidable."""

    def cut(seq: int) -> Record:
        return turn_record(seq, at(seq), "assistant", seq, "delivered", "- st", instruction_truncated=True)

    journal: list[Record] = [
        dispatched(1, "build", attempt=1),
        delivered(2, "build", "stop it", reach.WORKER),
    ]
    assert texts(folded(journal, "build").owed) == []
    journal.append(cut(3))
    fold = folded(journal, "build")
    assert (texts(fold.owed), texts(fold.undecidable)) == (["stop it"], [])
    journal.append(cut(4))
    fold = folded(journal, "build")
    assert (texts(fold.owed), texts(fold.undecidable)) == ([], ["stop it"])


def test_a_turn_that_opened_while_a_note_was_offered_is_found_at_its_commit() -> None:
    """The record of a delivery says when it was offered; turns since then count, whoever saw them first."""
    note = RecordedNote(Addressee.WORKER, "stop", reach.WORKER, None, "note_0123456789abcdef01234567")
    offered = {
        "kind": "note-delivered",
        "node": "build",
        **note.json(),
        "offered_at": "2026-08-06T07:06:42.000Z",
    }
    journal = [
        dispatched(1, "build", attempt=1),
        turn_record(2, at(1.5), "assistant", 1, "delivered", "- stop"),
        turn_record(3, at(2.5), "assistant", 2, "delivered", "- stop"),
        committed(4, offered),
    ]
    assert [shown.turn for shown in folded(journal, "build").unrecorded] == [2]


def test_a_note_is_shown_by_the_member_that_reported_last_before_it_was_offered() -> None:
    """A node's members have turns of their own; another one's judge answers nothing of this note."""
    journal = [
        dispatched(1, "build", attempt=1),
        turn_record(2, at(1.5), "assistant", 1, "task", member="reviewer"),
        turn_record(3, at(2), "assistant", 1, "task", member="engineer"),
        delivered(4, "build", "stop", reach.QUEUED),
        turn_record(5, at(5), "user", 1, member="reviewer"),
    ]
    assert folded(journal, "build").unrecorded == []
    journal.append(turn_record(6, at(6), "user", 1, member="engineer"))
    assert [shown.evidence for shown in folded(journal, "build").unrecorded] == [Evidence.ANSWERING_TURN]


def test_a_turn_that_opened_meanwhile_counts_in_a_dispatch_of_any_length() -> None:
    """The latest turns are the ones that are kept to be replayed."""
    many = [turn_record(n, at(2), "assistant", n, "supervisor") for n in range(1, TURNS_MAX + 10)]
    note = {**recorded("stop", reach.WORKER).json(), "offered_at": "2026-08-06T07:06:43.000Z"}
    journal = [
        dispatched(1, "build", attempt=1),
        *many,
        turn_record(TURNS_MAX + 10, at(3.5), "assistant", TURNS_MAX + 10, "delivered", "- stop"),
        committed(4, {"kind": "note-delivered", "node": "build", **note}),
    ]
    assert [shown.turn for shown in folded(journal, "build").unrecorded] == [TURNS_MAX + 10]


def test_an_offer_that_outlives_its_dispatch_is_not_watched_in_the_next() -> None:
    """A conversation that is over shows nothing more."""
    note = {**recorded("stop", reach.WORKER).json(), "offered_at": "2026-08-06T07:06:42.000Z"}
    journal = [
        dispatched(1, "build", attempt=1),
        dispatched(3, "build", attempt=2),
        committed(4, {"kind": "note-delivered", "node": "build", **note}),
    ]
    assert folded(journal, "build").watch.watched() == ()


def test_a_dispatch_is_composed_from_both_folds_and_says_what_it_spends() -> None:
    """Fresh: what nobody read, the rest is spent with what a superseded node held; a continuation: all."""
    journal = [
        dispatched(1, "build", attempt=1),
        delivered(2, "build", "read", reach.WORKER),
        delivered(3, "build", "carried", reach.CARRIED),
        delivered(4, "old", "superseded", reach.SUPERVISOR),
    ]
    stands, still = standing(journal, "build"), owed(journal, "build")
    fresh = composed(stands, still, superseded=[standing(journal, "old")])
    assert (texts(fresh.carried), texts(fresh.spent)) == (["carried"], ["read", "superseded"])
    assert fresh.payload().keys() == {"notes_carried", "notes_spent"}
    more = composed(stands, still, continuation=True)
    assert (texts(more.carried), texts(more.spent)) == (["read", "carried"], [])
    assert composed(Standing(), ()).payload() == {}
    assert payload_of(more.carried)[1]["reached"] == "carried"


def test_the_section_of_notes_quotes_what_they_say() -> None:
    """Number, addressee, what became of it, the text behind quote marks, the criterion on one line."""
    notes = [
        recorded("keep it\n## Amendment\nor not", reach.WORKER, criterion="the old\nflag parses"),
        recorded("and this", reach.CARRIED, addressee=Addressee.SUPERVISOR),
    ]
    assert section(notes) == (
        "## Manager notes\n\n"
        "What a manager decided while this node ran. Where it and the task above disagree, this holds.\n\n"
        "1. For the worker and the supervisor (read by an earlier dispatch's worker):\n\n"
        "   > keep it\n   > ## Amendment\n   > or not\n\n"
        "   Criterion: the old flag parses\n\n"
        "2. For the supervisor (carried; no turn has read it):\n\n"
        "   > and this\n"
    )
    assert section([]) == ""
