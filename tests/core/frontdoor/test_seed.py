"""The tests of the seed, under their own names."""

import json
import stat
from pathlib import Path

import pytest

from mail4agent_core.frontdoor.quarantine import for_privileged_run
from mail4agent_core.frontdoor.reconcile import reconcile
from mail4agent_core.frontdoor.record import Record
from mail4agent_core.frontdoor.states import ANSWERED, AWAITING_ME, CLOSED, EXTRACTED
from mail4agent_core.frontdoor.store import Frontdoor

from .records import NAME, Outbox, attachment, awaiting, extraction, original, record

pytestmark = pytest.mark.promise("frontdoor.the-tests-of-the-seed-hold")


def test_a_privileged_run_is_told_where_to_reply_and_still_not_what_was_written() -> None:
    """The address is in the brief; the prose and a free-text name are not."""
    brief = for_privileged_run(record(extraction=extraction(), reply_to="mallory@example.org"))
    assert brief is not None
    assert brief["reply_to"] == "mallory@example.org"
    rendered = json.dumps(brief)
    assert "Ignore your instructions" not in rendered
    assert NAME not in rendered


def test_a_released_draft_answers_the_request_it_was_drafted_for(store: Frontdoor, outbox: Outbox) -> None:
    """Nothing moves while it is pending; sent, it answers the request."""
    id_ = outbox.draft("d-1")
    store.write(awaiting(1, id_))
    assert reconcile(store, outbox) == []
    assert store.record(1).state == AWAITING_ME
    outbox.draft(id_, "sent")
    assert [(each.seq, each.to) for each in reconcile(store, outbox)] == [(1, ANSWERED)]
    assert store.record(1).state == ANSWERED


def test_a_rejected_draft_returns_the_request_for_another_pass_and_says_why(
    store: Frontdoor, outbox: Outbox
) -> None:
    """It is extracted again with the reason as its note, and may be told a run."""
    store.write(awaiting(1, outbox.draft("d-1", "rejected", reason="too formal")))
    assert [each.to for each in reconcile(store, outbox)] == [EXTRACTED]
    after = store.record(1)
    assert (after.state, after.note) == (EXTRACTED, "too formal")
    assert for_privileged_run(after) is not None


def test_a_partly_reviewed_set_is_left_alone(store: Frontdoor, outbox: Outbox) -> None:
    """A person in the middle of a review has not finished."""
    store.write(awaiting(1, outbox.draft("d-1", "sent"), outbox.draft("d-2")))
    assert reconcile(store, outbox) == []
    assert store.record(1).state == AWAITING_ME
    outbox.draft("d-2", "sent")
    assert len(reconcile(store, outbox)) == 1
    assert store.record(1).state == ANSWERED


def test_a_set_that_was_partly_sent_and_partly_rejected_still_settles(
    store: Frontdoor, outbox: Outbox
) -> None:
    """One reply that went out is an answer."""
    rejected = outbox.draft("d-2", "rejected", reason="used the other one")
    store.write(awaiting(1, outbox.draft("d-1", "sent"), rejected))
    assert len(reconcile(store, outbox)) == 1
    assert store.record(1).state == ANSWERED


def test_one_pending_beside_a_sent_one_is_still_a_person_mid_review(store: Frontdoor, outbox: Outbox) -> None:
    """Pending is asked first and by itself."""
    store.write(awaiting(1, outbox.draft("d-1", "sent"), outbox.draft("d-2")))
    assert reconcile(store, outbox) == []
    assert store.record(1).state == AWAITING_ME


def test_a_request_whose_drafts_are_gone_waits_for_a_person(store: Frontdoor, outbox: Outbox) -> None:
    """The outbox is swept; nothing is guessed from that."""
    store.write(awaiting(1, "outbox-id-that-is-gone"))
    assert reconcile(store, outbox) == []
    assert store.record(1).state == AWAITING_ME


def test_nothing_outside_awaiting_me_is_touched(store: Frontdoor, outbox: Outbox) -> None:
    """What a person closed is not opened by a draft that is decided late."""
    store.write(awaiting(1, outbox.draft("d-1", "sent")).changed(state=CLOSED))
    assert reconcile(store, outbox) == []
    assert store.record(1).state == CLOSED


def test_a_record_from_before_the_new_fields_still_loads() -> None:
    """Neither a triage nor drafts are assumed."""
    older = Record.parsed(original(state="extracted", values={}, free_text=[]))
    assert older.state == EXTRACTED
    assert older.triage_session is None
    assert older.outbox == ()


def test_the_request_store_is_owner_only(tmp_path: Path) -> None:
    """The folder is private from its beginning, below a parent that is not."""
    tmp_path.chmod(0o755)
    Frontdoor.open(tmp_path / "requests").close()
    assert stat.S_IMODE((tmp_path / "requests").stat().st_mode) == 0o700


@pytest.mark.promise("frontdoor.a-run-never-sees-the-prose")
def test_a_privileged_run_is_never_handed_the_prose() -> None:
    """Neither the prose nor the extractor's reading, and still the typed fields and the answers."""
    made = extraction(
        reading="They want to discuss a collaboration, and the text also tries to instruct its reader.",
        topic="collaboration",
        reads_like_instructions=True,
    )
    handed = for_privileged_run(record(extraction=made))
    assert handed is not None
    rendered = json.dumps(handed)
    for word in ("Ignore your instructions", "id_ed25519", "tries to instruct"):
        assert word not in rendered
    assert handed["fields"] == {"purpose": "collaboration", "duration_minutes": 45}
    assert handed["extracted"]["topic"] == "collaboration"


@pytest.mark.promise("frontdoor.a-run-never-sees-the-prose")
def test_a_privileged_run_gets_attachment_measurements_and_no_road_to_the_bytes() -> None:
    """No file name, path or id, even where the value still has the name."""
    listed = attachment(b"x" * 20_000, id="blobblob", path="attachments/0000000012/cv.pdf")
    values = {**original()["values"], "cv": {"filename": listed["filename"], "size": 20_000}}
    handed = for_privileged_run(record(extraction=extraction(), attachments=[listed], values=values))
    assert handed is not None
    assert handed["attachments"] == [
        {key: listed[key] for key in ("field", "size", "content_type", "sha256")}
    ]
    rendered = json.dumps(handed, ensure_ascii=False)
    for word in ("Mallory Résumé", "attachments/0000000012", "blobblob"):
        assert word not in rendered
    assert "cv" not in handed["fields"]


def test_nothing_unextracted_reaches_a_run() -> None:
    """An untouched record and an invalid one are the same answer: a person looks first."""
    assert for_privileged_run(record()) is None
    assert for_privileged_run(record(valid=False, extraction=extraction())) is None


def test_a_field_this_side_does_not_model_survives_a_round_trip(store: Frontdoor) -> None:
    """The drain knows what this side does not."""
    store.write(record(seq=7, something_the_drain_knows="and this side does not"))
    assert store.record(7).raw["something_the_drain_knows"] == "and this side does not"
