"""What decisions on drafts make of a request, beyond the seed."""

import pytest

from mail4agent_core.frontdoor.drafts import DraftFate
from mail4agent_core.frontdoor.quarantine import for_privileged_run
from mail4agent_core.frontdoor.reconcile import Verdict, judged, reconcile
from mail4agent_core.frontdoor.store import Frontdoor

from .records import Outbox, awaiting

pytestmark = pytest.mark.promise("frontdoor.re-triage-knows-why")


@pytest.mark.parametrize("by_person", [True, False])
def test_the_reason_of_the_last_rejection_is_told_a_run_only_when_a_person_wrote_it(
    store: Frontdoor, outbox: Outbox, by_person: bool
) -> None:
    """It is the request's note either way."""
    drafts = [
        outbox.draft("d-1", "rejected", reason="too long", reason_by_person=True),
        outbox.draft("d-2", "rejected", reason="too formal", reason_by_person=by_person),
    ]
    store.write(awaiting(1, *drafts))
    reconcile(store, outbox)
    after = store.record(1)
    assert after.note == "too formal"
    brief = for_privileged_run(after)
    assert brief is not None
    assert brief["note"] == ("too formal" if by_person else None)


def test_a_rejection_without_a_reason_leaves_fixed_words_that_no_run_is_told(outbox: Outbox) -> None:
    """Nobody wrote them."""
    verdict = judged(awaiting(1, outbox.draft("d-1", "rejected", reason_by_person=True)), outbox)
    assert verdict == Verdict("extracted", "the draft was rejected", note_by_person=False)


def test_the_note_goes_when_the_request_is_answered(store: Frontdoor, outbox: Outbox) -> None:
    """A rejection beside an answer would say the wrong thing."""
    store.write(awaiting(1, outbox.draft("d-1", "sent"), note="too formal", note_by_person=True))
    reconcile(store, outbox)
    after = store.record(1)
    assert (after.state, after.note, after.note_by_person) == ("answered", None, False)


def test_the_drafts_of_the_last_triage_are_judged_alone(outbox: Outbox) -> None:
    """What an earlier run sent answered what the request was before."""
    old = outbox.draft("d-1", "sent", session="earlier")
    assert judged(awaiting(1, old, outbox.draft("d-2")), outbox) is None
    assert judged(awaiting(1, old, outbox.draft("d-2", "rejected")), outbox) == Verdict(
        "extracted", "the draft was rejected"
    )
    # None of its own: all of them.
    assert judged(awaiting(1, old), outbox) == Verdict("answered")


@pytest.mark.parametrize("status", ["pending", "releasing", "unknown", "booked"])
def test_a_draft_that_is_undecided_or_in_doubt_holds_the_request(outbox: Outbox, status: str) -> None:
    """A status of a later version too."""
    outbox.draft("d-1", "sent")
    assert judged(awaiting(1, "d-1", outbox.draft("d-2", status)), outbox) is None


def test_withdrawn_drafts_count_as_absent(outbox: Outbox) -> None:
    """With none left the request is for another run, without a note."""
    withdrawn = outbox.draft("d-1", "withdrawn")
    assert judged(awaiting(1, withdrawn), outbox) == Verdict("extracted")
    assert judged(awaiting(1, withdrawn, outbox.draft("d-2")), outbox) is None
    assert judged(awaiting(1, withdrawn, outbox.draft("d-2", "sent")), outbox) == Verdict("answered")


def test_a_superseded_draft_counts_as_what_stands_in_its_place(outbox: Outbox) -> None:
    """Through any number of them."""
    first = outbox.draft("d-1", "superseded", superseded_by="d-2")
    outbox.draft("d-2", "superseded", superseded_by="d-3")
    outbox.draft("d-3")
    assert judged(awaiting(1, first), outbox) is None
    outbox.draft("d-3", "rejected", reason="no", reason_by_person=True)
    assert judged(awaiting(1, first), outbox) == Verdict("extracted", "no", note_by_person=True)


def test_drafts_that_stand_in_each_others_place_wait_for_a_person(outbox: Outbox) -> None:
    """A ring is nothing that the outbox makes, and it ends."""
    first = outbox.draft("d-1", "superseded", superseded_by="d-2")
    outbox.draft("d-2", "superseded", superseded_by="d-1")
    assert judged(awaiting(1, first), outbox) is None
    # One whose successor is gone says nothing.
    assert judged(awaiting(1, outbox.draft("d-4", "superseded", superseded_by="gone")), outbox) is None


def test_a_request_that_cannot_be_looked_at_stops_no_other(store: Frontdoor, outbox: Outbox) -> None:
    """Two files of one number are left, and the next request moves."""
    draft = outbox.draft("d-1", "sent")
    store.write(awaiting(1, draft))
    store.write(awaiting(1, draft, type_id="other"))
    store.write(awaiting(2, draft))
    assert [each.seq for each in reconcile(store, outbox)] == [2]


@pytest.mark.promise("frontdoor.a-late-write-undoes-no-decision")
def test_a_verdict_on_drafts_that_were_replaced_meanwhile_is_thrown_away(
    store: Frontdoor, outbox: Outbox
) -> None:
    """A person closed and reopened the request, and a run triaged it again: the state is the same."""
    store.write(awaiting(1, outbox.draft("d-1", "rejected", reason="no")))
    outbox.draft("d-2")

    class Meanwhile:
        def look(self, draft_id: str) -> DraftFate | None:
            store.write(awaiting(1, "d-1", "d-2"))
            return outbox.look(draft_id)

    assert reconcile(store, Meanwhile()) == []
    assert store.record(1).outbox == ("d-1", "d-2")
    assert store.record(1).state == "awaiting_me"
