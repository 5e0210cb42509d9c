"""The machine of presentations: every row of the reference's table, generated, and the turns it reads."""

from __future__ import annotations

from itertools import product

import pytest

from mail4agent_core.note import presentations, reach
from mail4agent_core.note.presentations import Presentations, State, Turn
from mail4agent_core.note.record import Record
from mail4agent_core.note.recorded import RecordedNote
from mail4agent_core.note.words import Evidence, Party

from .records import observed, recorded, turn_record

W, J = Party.WORKER, Party.SUPERVISOR
SHOWS = Evidence
#: The reference's table, row by row: state, party, what must hold of the turn, next state, evidence.
REFERENCE = [
    ("REOPENED_AWAITING_WORKER", W, "dlv", "REOPENED_AWAITING_JUDGE", SHOWS.DELIVERED_ORIGIN),
    ("REOPENED_AWAITING_JUDGE", J, "turn >= w", "SETTLED", SHOWS.ANSWERING_TURN),
    ("COMPOSED_AWAITING_WORKER", W, "any", "COMPOSED_AWAITING_JUDGE", SHOWS.OPENING_TASK),
    ("COMPOSED_AWAITING_JUDGE", J, "turn >= w", "SETTLED", SHOWS.ANSWERING_TURN),
    ("OUTSIDE_AWAITING_WORKER", W, "text", "OUTSIDE_AWAITING_JUDGE", SHOWS.INSTRUCTION_TEXT),
    ("OUTSIDE_AWAITING_JUDGE", J, "turn >= w", "SETTLED", SHOWS.ANSWERING_TURN),
    ("RIDES", W, "dlv", "SETTLED", SHOWS.DELIVERED_ORIGIN),
    ("NEXT_TURN", W, "dlv", "NEXT_TURN_WORKER_SHOWN", SHOWS.DELIVERED_ORIGIN),
    ("NEXT_TURN", J, "any", "NEXT_TURN_JUDGE_SHOWN", SHOWS.ANSWERING_TURN),
    ("NEXT_TURN_JUDGE_SHOWN", W, "dlv", "SETTLED", SHOWS.DELIVERED_ORIGIN),
    ("NEXT_TURN_WORKER_SHOWN", J, "any", "SETTLED", SHOWS.ANSWERING_TURN),
]
TEXT = "keep the old flag working"
#: How a state is reached: the route that opens it, and the turns before.
REACHED = {
    "REOPENED_AWAITING_WORKER": (reach.WORKER, []),
    "REOPENED_AWAITING_JUDGE": (reach.WORKER, ["worker"]),
    "COMPOSED_AWAITING_WORKER": (None, []),
    "COMPOSED_AWAITING_JUDGE": (None, ["worker"]),
    "OUTSIDE_AWAITING_WORKER": (reach.CARRIED, []),
    "OUTSIDE_AWAITING_JUDGE": (reach.CARRIED, ["worker"]),
    "RIDES": (reach.SUPERVISOR, []),
    "NEXT_TURN": (reach.QUEUED, []),
    "NEXT_TURN_WORKER_SHOWN": (reach.QUEUED, ["worker"]),
    "NEXT_TURN_JUDGE_SHOWN": (reach.QUEUED, ["judge"]),
}
ROLE = {W: "assistant", J: "user"}
WORKER_TURN = 5


def watch_in(state: str) -> Presentations:
    """A watch of one note that has come as far as a state, its worker's turn being number five."""
    reached, turns = REACHED[state]
    watch = Presentations()
    if reached is None:
        watch.composed_into_the_task(recorded(TEXT, reach.CARRIED), 1_000)
    else:
        watch.delivered_while_live(recorded(TEXT, reached), 1_000)
    for who in turns:
        role = "assistant" if who == "worker" else "user"
        assert observed(watch, turn_record(1, 1_100, role, WORKER_TURN, "delivered", TEXT))
    ((_, found),) = watch.watched()
    assert found is State[state]
    return watch


@pytest.mark.promise("note.a-presentation-is-recorded-when-a-turn-shows-it")
@pytest.mark.parametrize(
    ("state", "party", "origin", "text", "number"),
    list(
        product(
            REACHED,
            Party,
            (None, "task", "supervisor", "delivered"),
            (True, False),
            (WORKER_TURN - 1, WORKER_TURN, WORKER_TURN + 1),
        )
    ),
)
def test_every_row_of_the_table_and_no_other_is_a_presentation(
    state: str, party: Party, origin: str | None, text: bool, number: int
) -> None:
    """Each state meets each turn: what the reference lists moves it and is evidence, all else leaves it."""
    delivered = origin == "delivered" and text
    holds = {
        "any": True,
        "dlv": delivered,
        "text": text,
        "turn >= w": number >= WORKER_TURN,
    }
    rows = [row for row in REFERENCE if (row[0], row[1]) == (state, party) and holds[row[2]]]
    watch = watch_in(state)
    said = f"- {TEXT}" if text else "carry on"
    shown = observed(watch, turn_record(2, 1_200, ROLE[party], number, origin, said))
    assert [each.evidence for each in shown] == [row[4] for row in rows]
    assert all(each.evidence.party is party and each.turn == number for each in shown)
    after = rows[0][3] if rows else state
    assert [found.name for _, found in watch.watched()] == ([] if after == "SETTLED" else [after])


@pytest.mark.parametrize(
    "changed",
    [
        {"role": "system"},
        {"turn": "5"},
        {"turn": True},
        {"started_at": "yesterday"},
        {"instruction": None},
        {"instruction_truncated": "yes"},
        {"origin": "elsewhere"},
        {"note_ids": []},
    ],
)
def test_a_turn_of_another_shape_shows_nothing(changed: dict[str, object]) -> None:
    """What the producer's own type refuses is no evidence, and is no failure."""
    record = turn_record(1, 1_100, "assistant", 1, "delivered", TEXT)
    record.payload.update(changed)  # type: ignore[attr-defined]  # the test's own mapping
    assert Turn.of(record) is None


def test_only_the_producers_own_turns_count() -> None:
    """A turn from another source, and another kind of record, is passed over."""
    record = turn_record(1, 1_100, "assistant", 1)
    assert Turn.of(record) is not None
    for other in ({"source": "vcs"}, {"kind": "turn-completed"}):
        assert Turn.of(record._replace(**other)) is None


@pytest.mark.promise("note.a-presentation-is-recorded-when-a-turn-shows-it")
def test_a_turn_counts_from_the_instant_of_the_offer_on() -> None:
    """A millisecond before it shows nothing; the same instant counts."""
    watch = Presentations()
    watch.delivered_while_live(recorded(TEXT, reach.WORKER), 1_000)
    assert observed(watch, turn_record(1, 999, "assistant", 1, "delivered", TEXT)) == ()
    (shown,) = observed(watch, turn_record(2, 1_000, "assistant", 2, "delivered", TEXT))
    assert shown.turn == 2


@pytest.mark.promise("note.a-presentation-is-recorded-when-a-turn-shows-it")
@pytest.mark.parametrize("other", [{"member": "reviewer"}, {"run": "elsewhere"}])
def test_a_turn_of_another_member_shows_nothing(other: dict[str, str]) -> None:
    """Its turns have numbers of their own: its judge answers nobody else's worker."""

    def foreign(seq: int, role: str, number: int, *said: str) -> Record:
        member = other.get("member", "engineer")
        record = turn_record(seq, 2_000, role, number, *said, member=member)
        return record._replace(labels={**record.labels, "run_id": other.get("run", "demo")})

    for reached in (reach.WORKER, reach.QUEUED, reach.CARRIED):
        watch = Presentations()
        watch.delivered_while_live(recorded(TEXT, reached), 1_000, ("demo", "engineer"))
        assert observed(watch, foreign(1, "assistant", 2, "delivered", TEXT)) == ()
        assert observed(watch, foreign(2, "user", 2)) == ()
        assert observed(watch, turn_record(3, 2_000, "assistant", 2, "delivered", TEXT, member="engineer"))
        assert observed(watch, foreign(4, "user", 3)) == ()
        assert observed(watch, turn_record(5, 2_000, "user", 2, member="engineer"))
    watch = Presentations()
    watch.composed_into_the_task(recorded(TEXT, reach.CARRIED), 1_000)
    assert observed(watch, turn_record(6, 2_000, "assistant", 1, "task", member="engineer"))
    assert observed(watch, foreign(7, "user", 1)) == ()
    assert observed(watch, turn_record(8, 2_000, "user", 1, member="engineer"))


@pytest.mark.promise("note.a-turn-that-names-its-notes-is-believed")
def test_ids_decide_where_a_turn_names_its_notes() -> None:
    """Two notes of one text are two notes; a text that occurs by accident shows nothing."""
    one, two = (RecordedNote.of({**recorded("go", reach.WORKER).json(), "note_id": i}) for i in ("a", "b"))
    watch = Presentations()
    watch.delivered_while_live(one, 1_000)
    watch.delivered_while_live(two, 1_000)
    silent = turn_record(1, 1_100, "assistant", 1, "delivered", "let it go", note_ids=[])
    assert observed(watch, silent) == ()
    (shown,) = observed(watch, turn_record(2, 1_200, "assistant", 2, "delivered", "x", note_ids=["b"]))
    assert shown.note is two
    assert observed(watch, turn_record(3, 1_300, "user", 2, note_ids=["a"])) == ()
    (shown,) = observed(watch, turn_record(4, 1_400, "user", 2, note_ids=["b"]))
    assert shown.evidence is Evidence.ANSWERING_TURN


def test_a_cut_instruction_is_compared_with_each_text_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Not with every text for every note: a run with many notes would take minutes to read."""
    compared: list[str] = []
    real = presentations._head

    def head(text: str, instruction: str) -> int:
        compared.append(text)
        return real(text, instruction)

    monkeypatch.setattr(presentations, "_head", head)
    watch = Presentations()
    texts = [f"{TEXT} {number}" for number in range(20)]
    for text in texts:
        watch.delivered_while_live(recorded(text, reach.WORKER), 1_000)
    watch.observe(Turn(1, W, TEXT, 1_100, delivered=True, cut=True))
    assert sorted(compared) == sorted(texts)


@pytest.mark.promise("note.a-cut-instruction-is-compared-or-told")
def test_a_cut_instruction_is_compared_by_all_that_is_left_of_it() -> None:
    """The head of the text at the cut shows the note; where two heads agree, or too little, none is shown."""
    long = "the parser keeps its old flag, and " * 200
    watch = Presentations()
    watch.delivered_while_live(recorded(long, reach.WORKER), 1_000)
    cut = f"## Notes\n\n- {long}"[:4_096]
    short = turn_record(1, 1_100, "assistant", 1, "delivered", cut[:20], instruction_truncated=True)
    turn = Turn.of(short)
    assert turn is not None
    found = watch.observe(turn)
    assert (found.shown, len(found.undecided)) == ((), 1)
    whole = turn_record(2, 1_200, "assistant", 2, "delivered", cut, instruction_truncated=True)
    (shown,) = observed(watch, whole)
    assert shown.evidence is Evidence.DELIVERED_ORIGIN

    watch = Presentations()
    watch.delivered_while_live(recorded(long + "one", reach.WORKER), 1_000)
    watch.delivered_while_live(recorded(long + "two", reach.WORKER), 1_000)
    turn = Turn.of(turn_record(3, 1_300, "assistant", 3, "delivered", cut, instruction_truncated=True))
    assert turn is not None
    found = watch.observe(turn)
    assert (found.shown, [note.text[-3:] for note in found.undecided]) == ((), ["one", "two"])
