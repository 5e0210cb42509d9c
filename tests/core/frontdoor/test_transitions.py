"""Who may move a request from which state to which: the whole table, and the store that asks it."""

import itertools
from contextlib import suppress

import pytest

from mail4agent_api.errors import MalformedError, NotPendingError, UnknownItemError
from mail4agent_core.frontdoor.extracted import Extraction
from mail4agent_core.frontdoor.hand_over import ExtractionError
from mail4agent_core.frontdoor.states import STATES
from mail4agent_core.frontdoor.store import Frontdoor
from mail4agent_core.frontdoor.transitions import TABLE, Actor, extractable, may, reopened

from .records import extraction, original, placed, record

#: Every move that there is, written out a second time.
MOVES = {
    ("extractor", "drained", "extracted"),
    ("extractor", "drained", "extraction_failed"),
    ("extractor", "extraction_failed", "extracted"),
    ("extractor", "extraction_failed", "extraction_failed"),
    ("run", "extracted", "triaged"),
    ("run", "extracted", "awaiting_me"),
    ("reconciler", "awaiting_me", "answered"),
    ("reconciler", "awaiting_me", "extracted"),
    *(("person", state, "closed") for state in STATES if state != "closed"),
    *(("person", state, "needs_info") for state in STATES if state not in {"closed", "needs_info"}),
    *(
        ("person", state, to)
        for state in ("needs_info", "triaged", "closed")
        for to in ("extracted", "drained")
    ),
}
EVERY = [*itertools.product(Actor, STATES, STATES)]


@pytest.mark.promise("frontdoor.only-the-table-moves-a-request")
def test_the_table_allows_these_moves_and_no_other() -> None:
    """Each actor, from each state to each."""
    assert {(str(actor), a, b) for actor, a, b in EVERY if may(actor, a, b)} == MOVES
    assert set(TABLE) == set(Actor)
    assert not any(may(actor, "booked", state) for actor in Actor for state in STATES)


@pytest.mark.promise("frontdoor.only-the-table-moves-a-request")
def test_the_store_moves_what_the_table_allows_and_names_the_state_that_forbids_the_rest(
    store: Frontdoor,
) -> None:
    """All 256 of them, on files."""
    moved: set[tuple[str, str, str]] = set()
    for actor, from_, to in EVERY:
        store.write(record(state=from_))
        if may(actor, from_, to):
            store.move(1, actor, to)
            moved.add((str(actor), from_, store.record(1).state))
            continue
        with pytest.raises(NotPendingError) as refused:
            store.move(1, actor, to)
        assert refused.value.refusal.model_dump() == {"kind": "not_pending", "id": "1", "status": from_}
        assert store.record(1).state == from_
    assert moved == MOVES


@pytest.mark.promise("frontdoor.only-the-table-moves-a-request")
@pytest.mark.parametrize("state", STATES)
def test_the_extractor_takes_drained_requests_and_failures_only_when_asked(
    store: Frontdoor, state: str
) -> None:
    """It never touches what a person closed, parked or had answered."""
    store.write(record(state=state))
    for retry in (False, True):
        allowed = state == "drained" or (state == "extraction_failed" and retry)
        assert extractable(state, retry=retry) is allowed
        assert store.waiting_for_extraction(retry=retry) == ([1] if allowed else [])
        with suppress(NotPendingError):
            store.claim_for_extraction(1, retry=retry)
            assert allowed


def test_an_invalid_request_is_not_extracted(store: Frontdoor) -> None:
    """Its state is drained, and it waits for a person."""
    store.write(record(valid=False))
    assert store.waiting_for_extraction() == []
    with pytest.raises(NotPendingError):
        store.claim_for_extraction(1)


@pytest.mark.promise("frontdoor.a-late-write-undoes-no-decision")
@pytest.mark.parametrize("late", [Extraction(topic="late"), ExtractionError("late")])
def test_an_extraction_that_comes_after_a_persons_decision_is_not_kept(
    store: Frontdoor, late: Extraction | ExtractionError
) -> None:
    """The state that it was taken in is not the one on disk."""
    store.write(record())
    unread = store.claim_for_extraction(1)
    store.move(1, Actor.PERSON, "closed", note="spam")
    with pytest.raises(NotPendingError):
        store.record_extraction(unread, late)
    after = store.record(1)
    assert (after.state, after.note, after.extraction) == ("closed", "spam", None)


@pytest.mark.promise("frontdoor.a-late-write-undoes-no-decision")
def test_a_move_from_a_state_that_was_read_is_refused_from_any_other(store: Frontdoor) -> None:
    """Although the table would allow it."""
    store.write(record(state="triaged"))
    with pytest.raises(NotPendingError):
        store.move(1, Actor.PERSON, "closed", read="extracted")
    assert store.record(1).state == "triaged"


def test_a_failure_keeps_its_diagnosis_until_an_extraction_succeeds(store: Frontdoor) -> None:
    """On one line and within bounds, whatever it says."""
    store.write(record())
    failed = store.record_extraction(store.claim_for_extraction(1), ExtractionError("timed\nout" + "é" * 999))
    assert failed.state == "extraction_failed"
    assert failed.raw["extraction_error"].startswith("timed out")
    assert len(failed.raw["extraction_error"].encode()) <= 512
    made = store.record_extraction(store.claim_for_extraction(1, retry=True), Extraction(topic="a talk"))
    assert (made.state, made.extraction) == ("extracted", Extraction(topic="a talk"))
    assert "extraction_error" not in made.raw


def test_reopening_leads_to_the_extraction_where_there_is_one() -> None:
    """Otherwise the request is for the extractor again."""
    assert reopened(extracted=True) == "extracted"
    assert reopened(extracted=False) == "drained"


@pytest.mark.parametrize(
    "name", ["0000000001-other.json", "by-hand.json", "1-other.json", "²²²²²²²²²²-x.json"]
)
def test_a_number_that_two_files_have_is_nobodys_to_move(store: Frontdoor, name: str) -> None:
    """Which of them is meant nobody knows; both are listed, whatever the second is called."""
    store.write(record(extraction=extraction()))
    placed(store.root, original(type_id="other"), name=name)
    assert store.listing().duplicates == {1}
    assert len(store.listing().entries) == 2
    with pytest.raises(MalformedError):
        store.move(1, Actor.PERSON, "closed")


def test_a_number_that_nothing_has_is_unknown(store: Frontdoor) -> None:
    """And is named."""
    with pytest.raises(UnknownItemError):
        store.record(5)
