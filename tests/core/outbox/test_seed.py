"""The original's own tests, under its names."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from mail4agent_api.errors import MalformedError, NotPendingError, TooLargeError
from mail4agent_api.mail import Taint
from mail4agent_core.outbox import (
    DraftView,
    NotSent,
    OutboxItem,
    OutboxKind,
    OutboxRoute,
    OutboxStore,
    UnreadableItemError,
    WritingOutcome,
    WritingTally,
    spoken,
    summarize,
    with_body,
)
from mail4agent_core.outbox.item import decoded
from mail4agent_core.taint import armed

from .office import Office


def heard(args: dict[str, Any]) -> str:
    """A draft, read aloud."""
    return spoken(DraftView.of(args)).text()


def test_a_summary_leads_with_who_and_what_when_the_arguments_say() -> None:
    """Whom it is to and what it is about, else the arguments, and never more than fits a line."""
    assert (
        summarize("mail__send", {"to": "a@x.org", "subject": "Tuesday?", "body_markdown": "long"})
        == 'mail__send to a@x.org — "Tuesday?"'
    )
    assert (
        summarize("mail__send", {"to": ["a@x.org", "b@x.org"], "body": "hi"})
        == "mail__send to a@x.org, b@x.org"
    )
    assert (
        summarize("cal__event_create", {"title": "Standup", "start": "soon"}) == 'cal__event_create "Standup"'
    )
    assert "bundle" in summarize("factory__bundle_publish", {"bundle": "/srv/x"})
    long = summarize("t", {"to": "x" * 200})
    assert len(long.encode()) < 120
    assert long.endswith("…")
    assert summarize("t", {"to": "", "body": "x"}) == 't {"body":"x","to":""}'


def test_an_item_round_trips_and_lists_in_id_order(office: Office, store: OutboxStore) -> None:
    """What is staged is found again as it was, in the order of staging."""
    a = office.stage({"url": "https://a"}, tool="web__fetch")
    b = office.stage(
        {"to": "x@y"}, tool="email__send", taint=Taint(private=True, untrusted=True), session="sess-1"
    )
    assert [item.id for item in store.items()] == [a.id, b.id]
    loaded = store.item(b.id)
    assert loaded.tool == "email__send"
    assert armed(loaded.taint)
    assert loaded.session_id == "sess-1"
    assert loaded.args == loaded.args_before
    assert not loaded.edited()


def test_items_skips_a_malformed_file_but_items_strict_bails_on_it(
    office: Office, store: OutboxStore
) -> None:
    """A list shows what it can; whoever writes down what it finds is told of the file."""
    office.stage({})
    (store.root / "zzz-corrupt.json").write_text("{not json")
    assert len(store.items()) == 1
    with pytest.raises(UnreadableItemError, match=r"zzz-corrupt\.json"):
        store.items_strict()


def test_a_prefix_that_matches_two_items_is_an_error_not_a_guess(office: Office, store: OutboxStore) -> None:
    """Both ids begin with the year."""
    office.stage({})
    office.stage({})
    with pytest.raises(MalformedError) as refused:
        store.item("2")
    assert "matches 2" in refused.value.refusal.reason


def test_editing_replaces_args_and_never_touches_the_baseline(office: Office) -> None:
    """What was drafted stays beside what will leave."""
    item = office.stage({"url": "https://a"}, tool="web__fetch")
    edited = office.edit(item, {"url": "https://b"})
    assert edited.edited()
    assert edited.args_before == {"url": "https://a"}
    assert edited.args == {"url": "https://b"}


@pytest.mark.parametrize(
    ("kind", "status", "edited", "expected"),
    [
        (OutboxKind.MESSAGE, "sent", True, True),
        (OutboxKind.PUBLISH, "sent", True, False),
        (OutboxKind.MESSAGE, "sent", False, False),
        (OutboxKind.MESSAGE, "rejected", True, False),
        (OutboxKind.MESSAGE, "pending", True, False),
    ],
)
def test_the_writing_miner_takes_edited_messages_and_never_publishes(
    office: Office, kind: OutboxKind, status: str, edited: bool, expected: bool
) -> None:
    """Only a message that was rewritten and sent is a correction."""
    item = replace(office.stage({"path": "/srv/a"}, kind=kind), status=status)
    item = replace(item, args={"path": "/srv/b"}) if edited else item
    assert item.mineable_as_writing() is expected


def test_a_draft_sent_as_written_is_positive_evidence_and_never_a_correction(office: Office) -> None:
    """Approval counts for itself; what is undecided, rejected or published says nothing."""

    def staged(kind: OutboxKind, status: str) -> OutboxItem:
        return replace(office.stage({"body": "Dear D,"}, kind=kind), status=status)

    unchanged = staged(OutboxKind.MESSAGE, "sent")
    edited = replace(staged(OutboxKind.MESSAGE, "sent"), args={"body": "Dear Dr B,"})
    pending = staged(OutboxKind.MESSAGE, "pending")
    rejected = staged(OutboxKind.MESSAGE, "rejected")
    published = staged(OutboxKind.PUBLISH, "sent")
    assert unchanged.writing_outcome() == WritingOutcome.SENT_UNCHANGED
    assert not unchanged.mineable_as_writing()
    assert edited.writing_outcome() == WritingOutcome.SENT_EDITED
    assert edited.mineable_as_writing()
    assert [item.writing_outcome() for item in (pending, rejected, published)] == [None] * 3
    tally = WritingTally.of([unchanged, edited, pending, rejected, published])
    assert tally == WritingTally(unchanged=1, edited=1)
    assert tally.unchanged_rate() == 0.5


def test_a_rate_over_nothing_sent_is_absent_rather_than_zero() -> None:
    """Nothing sent and everything rewritten are opposite findings."""
    assert WritingTally().unchanged_rate() is None
    assert WritingTally().sent() == 0
    assert WritingTally(unchanged=0, edited=3).unchanged_rate() == 0.0


def test_a_routes_kind_comes_from_config_and_defaults_to_message(store: OutboxStore) -> None:
    """The settings say what a publication is; whatever they do not name is shown as it is."""
    route = OutboxRoute(store, ["mail__send", "factory__bundle_publish"], ["factory__bundle_publish"])
    assert route.kind_of("factory__bundle_publish") is OutboxKind.PUBLISH
    assert route.kind_of("mail__send") is OutboxKind.MESSAGE
    assert route.kind_of("never__heard_of_it") is OutboxKind.MESSAGE


def test_an_item_recorded_before_kinds_existed_loads_as_a_message() -> None:
    """An old file is what it was."""
    item = decoded(
        json.dumps(
            {
                "id": "20260101-000000-abc",
                "status": "sent",
                "tool": "mail__send",
                "args_before": {"body": "a"},
                "args": {"body": "b"},
                "summary": "mail__send",
                "created_at": "2026-01-01T00:00:00Z",
            }
        ).encode()
    )
    assert item.kind is OutboxKind.MESSAGE
    assert item.mineable_as_writing()
    assert item.workspace is None


def test_a_staged_call_records_the_jail_it_was_drafted_under(office: Office, store: OutboxStore) -> None:
    """The folder that a relative path means is on the file, the only form that a reviewer sees."""
    jail = "/home/someone/work/morning"
    item = office.stage({"bundle": "site", "id": "brief"}, kind=OutboxKind.PUBLISH, workspace=jail)
    assert item.workspace == jail
    assert store.item(item.id).workspace == jail


def test_resolution_rewrites_in_place_and_only_pending_resolves(office: Office, store: OutboxStore) -> None:
    """One file, decided once."""
    item = office.stage({})
    sent = office.release(item)
    assert sent.status == "sent"
    assert sent.resolved_at is not None
    assert len(store.items()) == 1
    with pytest.raises(NotPendingError):
        office.reject(item)
    with pytest.raises(NotPendingError):
        office.edit(item, {"x": 1})


def test_a_failed_release_records_the_error_and_stays_pending(office: Office, store: OutboxStore) -> None:
    """The draft is still good, the delivery was not; a later one clears the error."""
    item = office.stage({})
    office.release(item, NotSent("server unreachable"))
    loaded = store.item(item.id)
    assert loaded.status == "pending"
    assert loaded.error == "server unreachable"
    assert office.release(item).error is None


@pytest.mark.parametrize("hostile", ["../outbox-evil", "a/b", "a.b", ".", "", "x" * 200])
def test_an_exact_lookup_reads_one_file_and_refuses_a_hostile_id(
    office: Office, store: OutboxStore, tmp_path: Path, hostile: str
) -> None:
    """Found, or honestly missing; what is shaped like a path names no file, even one that would load."""
    staged = office.stage({"to": "a@x.org"})
    found = store.item_exact(staged.id)
    assert found is not None
    assert (found.id, found.tool) == (staged.id, "mail__send")
    assert store.item_exact("20990101T000000-deadbeef") is None
    (tmp_path / "outbox-evil.json").write_bytes(staged.encoded())
    with pytest.raises((MalformedError, TooLargeError)):
        store.item_exact(hostile)


def test_a_draft_view_drops_no_argument() -> None:
    """Every argument stands in exactly one of the three, in reading order."""
    args = {
        "to": ["a@x.org", "b@x.org"],
        "subject": "Tuesday?",
        "body_markdown": "Dear A,\n\nHello.\n\nL",
        "account": "work",
        "importance": "high",
        "attachments": [{"name": "f.pdf"}],
    }
    view = DraftView.of(args)
    names = [name for name, _ in view.headers] + [view.body_field] + [name for name, _ in view.other]
    assert sorted(filter(None, names)) == sorted(args)
    assert view.body == "Dear A,\n\nHello.\n\nL"
    assert [name for name, _ in view.headers] == ["to", "subject", "account"]
    assert view.headers[0][1] == "a@x.org, b@x.org"


def test_a_spoken_draft_utters_every_argument() -> None:
    """Whoever listens hears every value, and no name of a field in front of the prose."""
    said = heard(
        {
            "to": ["a@x.org", "b@x.org"],
            "subject": "Tuesday?",
            "body_markdown": "Dear A,\n\nHello.\n\nLuke",
            "account": "dartmouth",
            "importance": "high",
        }
    )
    for audible in ("a@x.org", "b@x.org", "Tuesday?", "Dear A,", "Luke", "dartmouth", "high"):
        assert audible in said
    assert "Subject: Tuesday?." in said
    assert "Body markdown" not in said
    assert "Importance: high." in said


def test_a_timestamp_is_spoken_as_a_time_in_its_own_offset() -> None:
    """A moment that can be checked by ear, never moved into another zone, start before end."""
    said = heard(
        {
            "title": "Walk",
            "start_time": "2026-08-28T14:00:00-04:00",
            "end_time": "2026-08-28T14:30:00-04:00",
        }
    )
    assert "Friday August 28 at 2 PM" in said
    assert "Friday August 28 at 2:30 PM" in said
    assert "T14:00" not in said
    naive = heard({"start_time": "2026-08-28T16:00:00", "timezone": "America/New_York"})
    assert "Friday August 28 at 4 PM" in naive
    assert said.index("Start time") < said.index("End time")


def test_an_unparseable_value_is_spoken_unchanged() -> None:
    """What is no moment is said as it is."""
    assert heard({"when": "sometime next week"}) == "When: sometime next week."


def test_an_unanticipated_argument_is_spoken_stiffly_not_silently() -> None:
    """A tool that nobody thought of is heard whole."""
    assert heard({"emoji": "wave", "ts": 17}) == "Emoji: wave. Ts: 17."


def test_an_unrecognised_draft_shows_everything_as_other() -> None:
    """No header, no prose, and every argument there."""
    view = DraftView.of({"emoji": "wave", "ts": 17})
    assert view.headers == ()
    assert view.body is None
    assert view.other == (("emoji", "wave"), ("ts", "17"))


def test_an_empty_argument_says_so() -> None:
    """Blank on purpose, and no broken display."""
    assert DraftView.of({"to": "", "body": "hi"}).headers == (("to", "(empty)"),)


def test_an_edited_body_returns_to_its_own_field() -> None:
    """To the argument that it came from and to nothing else; without prose there is none to replace."""
    args = {"thread_id": "t1", "body_markdown": "old", "account": "personal"}
    assert with_body(args, "new") == {**args, "body_markdown": "new"}
    assert with_body({"event_id": "e1", "response": "accept"}, "x") is None
