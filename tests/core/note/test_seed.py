"""The seven tests of the original's note module, under their own names."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from mail4agent_core.note import reach
from mail4agent_core.note.carry import carry, drain_carried, store_of, stored
from mail4agent_core.note.faults import InvalidError, LedgerError, UnreadableRecordError
from mail4agent_core.note.note import Note
from mail4agent_core.note.paths import RunPaths
from mail4agent_core.note.presentations import Presentations
from mail4agent_core.note.recorded import Delivery, RecordedNote, note_of_delivery
from mail4agent_core.note.standing import Standing, payload_of, standing
from mail4agent_core.note.words import CARRIED_KEY, HEADING, SPENT_KEY, Addressee, Evidence, Kind, Party

from .records import (
    START_MS,
    committed,
    delivered,
    dispatched,
    observed,
    recorded,
    turn_record,
)

DOCS = Path(__file__).resolve().parents[3] / "docs"
HEADER = '{"schema_version":1,"kind":"onemessagebus-carry-store"}\n'


def texts(notes: tuple[RecordedNote, ...]) -> list[str]:
    """What notes say."""
    return [note.text for note in notes]


@pytest.mark.promise("note.a-carry-store-decides-nothing")
def test_a_carried_note_waits_in_its_nodes_store_and_one_dispatch_takes_it(tmp_path: Path) -> None:
    """A store hands each note over once, and what a dispatch is composed with stays the fold's."""
    folder = RunPaths.create(tmp_path / "runs", "demo").folder

    def send(node: str, text: str) -> None:
        carry(folder, node, Note.of("worker", text), now_ms=START_MS)

    send("later", "first")
    send("later", "second")
    send("a/../b", "elsewhere")
    assert [entry.text for entry in stored(folder, "later")] == ["first", "second"]
    assert store_of(folder, "a/../b").name == "a%2F%2E%2E%2Fb.carried.jsonl"
    assert store_of(folder, "a/../b").read_text("utf-8").startswith(HEADER)

    journal = [delivered(1, "later", "first", reach.CARRIED), delivered(2, "later", "second", reach.CARRIED)]
    owed = standing(journal, "later")
    adopted = drain_carried(folder, "later", owed)
    assert texts(adopted.carried()) == ["first", "second"]
    assert adopted == owed
    assert stored(folder, "later") == ()
    assert len(stored(folder, "a/../b")) == 1

    again = drain_carried(folder, "later", owed)
    assert texts(again.carried()) == ["first", "second"]
    assert drain_carried(folder, "never", Standing()).held == ()

    store_of(folder, "later").write_text("not a carry store\n")
    with pytest.raises(InvalidError, match=r"node 'later'.*later\.carried\.jsonl"):
        drain_carried(folder, "later", Standing())
    assert store_of(folder, "later").read_text() == "not a carry store\n"

    (folder / "notes" / "blocked.carried.jsonl").mkdir()
    with pytest.raises(InvalidError, match=r"node 'blocked'.*blocked\.carried\.jsonl"):
        send("blocked", "held")

    filed = RunPaths.create(tmp_path / "runs", "filed").folder
    (filed / "notes").write_text("not a directory")
    with pytest.raises(LedgerError) as refused:
        carry(filed, "later", Note.of("worker", "held"), now_ms=START_MS)
    assert refused.value.path == filed / "notes"


@pytest.mark.promise("note.standing-is-folded-from-the-journal")
def test_what_stands_for_a_node_starts_at_its_last_dispatch_and_reads_forward() -> None:
    """What its last dispatch was composed with, and what reached it since; nothing from before."""
    journal = [
        dispatched(1, "build", attempt=1),
        delivered(2, "build", "first ruling", reach.WORKER),
        delivered(3, "other", "not yours", reach.WORKER),
        delivered(4, "build", "landed nowhere", reach.CARRIED),
    ]
    before = standing(journal, "build")
    assert texts(before.notes()) == ["first ruling", "landed nowhere"]
    assert texts(before.read()) == ["first ruling"]

    composed = payload_of(before.notes())
    assert composed[1]["reached"] == "carried"
    assert "shown_to" not in composed[0]

    continued = [
        *journal,
        dispatched(5, "build", attempt=2, **{CARRIED_KEY: composed}),
        delivered(6, "build", "second ruling", reach.SUPERVISOR),
    ]
    after = standing(continued, "build")
    assert texts(after.notes()) == ["first ruling", "landed nowhere", "second ruling"]
    assert texts(after.read()) == ["first ruling", "landed nowhere", "second ruling"]

    assert standing([*continued, dispatched(7, "build", attempt=1)], "build") == Standing()


@pytest.mark.promise("note.what-cannot-be-read-is-refused-by-name")
def test_a_record_the_fold_cannot_read_is_refused_by_name_rather_than_read_past() -> None:
    """The refusal names the kind, the record and the field; a sibling's record is passed over."""
    with pytest.raises(UnreadableRecordError) as refused:
        standing([dispatched(1, "build", attempt=2, **{CARRIED_KEY: "a ruling"})], "build")
    assert all(part in str(refused.value) for part in ("node-dispatched", "s/1", CARRIED_KEY))

    with pytest.raises(UnreadableRecordError, match="`operations`"):
        standing([committed(2, {"kind": "from-the-future"})], "build")

    foreign = committed(3, {"kind": "not ours"}, source="agentgraph")
    assert standing([foreign], "build") == Standing()


@pytest.mark.promise("note.each-disposition-says-whom-it-reached")
def test_each_disposition_tells_a_confirmed_presentation_from_a_routed_one() -> None:
    """Two facts of the record rather than one, each left out where it is empty."""
    worker, judge = Party.WORKER, Party.SUPERVISOR
    table = {
        reach.WORKER: ((), (worker, judge)),
        reach.SUPERVISOR: ((judge,), (worker,)),
        reach.judged_with("done"): ((judge,), ()),
        reach.QUEUED: ((), (worker, judge)),
        reach.CARRIED: ((), ()),
    }
    for reached, (shown, routed) in table.items():
        assert (reached.shown_at_delivery, reached.routed_to) == (shown, routed)

    def wire(reached: reach.Reached) -> dict[str, Any]:
        return Delivery("build", recorded("ship it", reached)).json()

    assert not wire(reach.CARRIED).keys() & {"shown_to", "routed_to"}
    assert "shown_to" not in wire(reach.WORKER)
    assert wire(reach.WORKER)["routed_to"] == ["worker", "supervisor"]
    assert wire(reach.SUPERVISOR)["shown_to"] == ["supervisor"]
    assert wire(reach.SUPERVISOR)["routed_to"] == ["worker"]
    read_back = note_of_delivery(json.loads(json.dumps(wire(reach.SUPERVISOR))))
    assert read_back == recorded("ship it", reach.SUPERVISOR)


@pytest.mark.promise("note.a-presentation-is-recorded-when-a-turn-shows-it")
def test_a_presentation_is_recorded_when_the_stream_shows_it_and_in_the_producers_order() -> None:
    """Never by a turn that opened before the note was offered, and never to the judge ahead of the worker."""
    told = "## Notes delivered to you during this run\n\n- "
    watch = Presentations()
    watch.delivered_while_live(recorded("stop", reach.WORKER), 1_000)
    for silent in (
        turn_record(1, 900, "user", 1),
        turn_record(2, 950, "assistant", 1, "task"),
        turn_record(3, 1_100, "assistant", 2, "supervisor"),
        turn_record(4, 1_200, "user", 2),
        turn_record(5, 1_250, "assistant", 3, "delivered", f"{told}carry on"),
    ):
        assert observed(watch, silent) == ()
    (shown,) = observed(watch, turn_record(5, 1_300, "assistant", 3, "delivered", f"{told}stop"))
    assert (shown.evidence.party, shown.turn, shown.evidence) == (
        Party.WORKER,
        3,
        Evidence.DELIVERED_ORIGIN,
    )
    assert shown.payload() == {
        "addressee": "both",
        "text": "stop",
        "reached": "worker",
        "party": "worker",
        "turn": 3,
        "evidence": "delivered-origin",
    }
    (shown,) = observed(watch, turn_record(6, 1_400, "user", 3))
    assert shown.evidence.party is Party.SUPERVISOR
    assert observed(watch, turn_record(7, 1_500, "user", 4)) == ()

    watch = Presentations()
    watch.delivered_while_live(recorded("ruling", reach.SUPERVISOR), 2_000)
    assert observed(watch, turn_record(8, 2_100, "user", 5)) == ()
    (shown,) = observed(
        watch, turn_record(9, 2_200, "assistant", 6, "delivered", "the supervisor was told: ruling")
    )
    assert shown.evidence.party is Party.WORKER

    watch = Presentations()
    watch.composed_into_the_task(recorded("carried in", reach.CARRIED), 3_000)
    (shown,) = observed(watch, turn_record(10, 3_100, "assistant", 1, "task"))
    assert (shown.evidence.party, shown.evidence) == (Party.WORKER, Evidence.OPENING_TASK)
    (shown,) = observed(watch, turn_record(11, 3_200, "user", 1))
    assert shown.evidence.party is Party.SUPERVISOR

    watch = Presentations()
    watch.delivered_while_live(recorded("stop re-running the tier", reach.CARRIED), 5_000)
    said = "The manager says: stop re-running"
    cut = turn_record(13, 5_100, "assistant", 2, "supervisor", said, instruction_truncated=True)
    assert observed(watch, cut) == ()
    assert observed(watch, turn_record(14, 5_200, "assistant", 3, "supervisor", "carry on as you were")) == ()
    aloud = "The manager says: stop re-running the tier. Do that."
    (shown,) = observed(watch, turn_record(15, 5_300, "assistant", 4, "supervisor", aloud))
    assert (shown.evidence.party, shown.evidence) == (Party.WORKER, Evidence.INSTRUCTION_TEXT)
    (shown,) = observed(watch, turn_record(16, 5_400, "user", 4))
    assert shown.evidence is Evidence.ANSWERING_TURN

    watch = Presentations()
    watch.delivered_while_live(recorded("first ruling", reach.WORKER), 6_000)
    watch.delivered_while_live(recorded("second ruling", reach.WORKER), 6_000)
    first = observed(watch, turn_record(17, 6_100, "assistant", 2, "delivered", f"{told}first ruling"))
    assert [each.note.text for each in first] == ["first ruling"]
    second = observed(watch, turn_record(18, 6_200, "assistant", 3, "delivered", f"{told}second ruling"))
    assert [(each.note.text, each.turn) for each in second] == [("second ruling", 3)]
    assert len(observed(watch, turn_record(19, 6_300, "user", 3))) == 2

    watch = Presentations()
    watch.delivered_while_live(recorded("queued ruling", reach.QUEUED), 7_000)
    assert observed(watch, turn_record(20, 6_900, "user", 1)) == ()
    assert observed(watch, turn_record(21, 7_050, "assistant", 2, "supervisor")) == ()
    (shown,) = observed(watch, turn_record(22, 7_100, "assistant", 3, "delivered", f"{told}queued ruling"))
    assert (shown.evidence, shown.payload()["reached"]) == (Evidence.DELIVERED_ORIGIN, "queued")
    (shown,) = observed(watch, turn_record(23, 7_200, "user", 3))
    assert shown.evidence is Evidence.ANSWERING_TURN
    assert observed(watch, turn_record(24, 7_300, "user", 4)) == ()

    watch = Presentations()
    watch.delivered_while_live(recorded("queued ruling", reach.QUEUED), 8_000)
    (shown,) = observed(watch, turn_record(25, 8_100, "user", 5))
    assert shown.evidence.party is Party.SUPERVISOR
    (shown,) = observed(watch, turn_record(26, 8_200, "assistant", 6, "delivered", f"{told}queued ruling"))
    assert shown.evidence.party is Party.WORKER
    late = turn_record(27, 8_300, "assistant", 7, "delivered", f"{told}queued ruling")
    assert observed(watch, late) == ()

    watch = Presentations()
    watch.delivered_while_live(recorded("passed", reach.judged_with("done")), 4_000)
    assert watch.watched() == ()
    assert observed(watch, turn_record(12, 4_100, "assistant", 7, "delivered")) == ()


@pytest.mark.promise("note.names-are-those-of-the-original")
def test_the_names_this_module_writes_are_the_ones_the_divergence_record_states() -> None:
    """The page of names and what is written cannot drift apart."""
    page = (DOCS / "note-names.md").read_text("utf-8")
    (block,) = re.findall(r"^```json\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    names = json.loads(block)
    assert names["node_dispatched_keys"] == [CARRIED_KEY, SPENT_KEY]
    assert names["heading"] == HEADING
    written = Delivery("build", recorded("ship it", reach.SUPERVISOR)).json()
    assert names["note_delivered_fields"] == ["shown_to", "routed_to"]
    assert written.keys() >= set(names["note_delivered_fields"])
    assert names["event_kinds"] == [Kind.NOTE_SHOWN.value]
    assert names["note_shown_evidence"] == [each.value for each in Evidence]


def test_a_recorded_note_is_the_deliverys_own_fields_less_the_node_and_the_presentations() -> None:
    """The two shapes share the note's fields; any other operation carries no note."""
    note = RecordedNote(Addressee.BOTH, "ship it", reach.SUPERVISOR, "`version.txt` holds `v: 2`")
    delivery = Delivery("build", note).json()
    for not_the_notes_own in ("kind", "node", "shown_to", "routed_to"):
        delivery.pop(not_the_notes_own)
    assert note.json() == delivery
    assert note_of_delivery({"kind": "human-attested", "node": "approve"}) is None
