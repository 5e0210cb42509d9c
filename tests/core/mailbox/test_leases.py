"""Claims that end, and what becomes of messages that nobody confirmed."""

from typing import Any

import pytest

from mail4agent_api.errors import MalformedError, NotPendingError
from mail4agent_core.clock import HandClock
from mail4agent_core.mailbox import MailboxStore
from mail4agent_core.mailbox.message import STEPS, Status, StoredMessage

from .post import Post, on_disk, original, placed


@pytest.mark.promise("mailbox.a-claim-is-a-lease")
def test_a_lease_holds_until_it_is_confirmed_or_over(
    store: MailboxStore, post: Post, clock: HandClock
) -> None:
    """One session at a time has the message; the next one gets it when the first has let it go."""
    id_ = post.sent("do this")
    (first,) = store.claim("chat", "s1", 60)
    assert (first.status, first.attempts) == ("leased", 1)
    assert store.claim("chat", "s2", 60) == []
    clock.step(59_999)
    assert store.claim("chat", "s2", 60) == []
    clock.step(1)
    (second,) = store.claim("chat", "s2", 60)
    assert (second.id, second.attempts) == (id_, 2)
    assert store.confirm("chat", "s1", [id_]).lost == (id_,)
    assert store.confirm("chat", "s2", [id_]).confirmed == (id_,)
    assert store.confirm("chat", "s2", [id_]).confirmed == (id_,)
    assert (store.message(id_).status, store.message(id_).delivered_to) == ("delivered", "s2")
    clock.step(10**9)
    assert store.claim("chat", "s3", 60) == []


def test_a_holder_that_is_late_confirms_what_nobody_took(
    store: MailboxStore, post: Post, clock: HandClock
) -> None:
    """As long as no scan gave the message back it is still the holder's."""
    id_ = post.sent("do this")
    store.claim("chat", "s1", 1)
    clock.step(5_000)
    assert store.confirm("chat", "s1", [id_]).confirmed == (id_,)


@pytest.mark.promise("mailbox.a-claim-is-a-lease")
def test_after_five_attempts_a_message_waits_for_a_person(
    store: MailboxStore, post: Post, clock: HandClock
) -> None:
    """It is not handed out a sixth time, keeps its place, and can be dismissed."""
    id_ = post.sent("poison")
    for attempt in range(1, 6):
        assert [message.attempts for message in store.claim("chat", f"s{attempt}", 1)] == [attempt]
        clock.step(1_000)
    assert store.claim("chat", "s6", 1) == []
    assert on_disk(store, id_)["status"] == "dead"
    assert on_disk(store, id_)["dead_at"] is not None
    assert store.dismiss(id_).status == "dismissed"


def test_the_next_scan_gives_back_what_a_lease_no_longer_holds(
    store: MailboxStore, post: Post, clock: HandClock
) -> None:
    """On disk, so that the original finds it pending."""
    id_ = post.sent("do this")
    store.claim("chat", "s1", 1)
    assert on_disk(store, id_)["lease"] == {
        "session": "s1", "until": "2023-11-14T22:13:21.000000+00:00", "attempt": 1,
    }  # fmt: skip
    clock.step(1_000)
    assert [message.id for message in store.pending_for("chat")] == [id_]
    assert (on_disk(store, id_)["status"], on_disk(store, id_)["lease"]) == ("pending", None)


def test_a_snapshot_shows_what_is_and_changes_nothing(
    store: MailboxStore, post: Post, clock: HandClock
) -> None:
    """A message whose lease is over is shown as pending, and its file stays as it was."""
    id_ = post.sent("do this")
    store.claim("chat", "s1", 1)
    clock.step(1_000)
    bad = placed(store, b"{", name="x.json")
    assert [message.status for message in store.snapshot("chat")] == ["pending"]
    assert on_disk(store, id_)["status"] == "leased"
    assert bad.exists()


@pytest.mark.promise("mailbox.a-claim-is-a-lease")
@pytest.mark.parametrize("step_ms", [-(10**11), 10**11])
def test_a_clock_that_steps_keeps_no_message_for_ever(
    store: MailboxStore, post: Post, clock: HandClock, step_ms: int
) -> None:
    """Back or ahead by years, the lease is over, because no lease lasts that long."""
    id_ = post.sent("do this")
    store.claim("chat", "s1", 3600)
    clock.step(step_ms)
    assert [message.id for message in store.claim("chat", "s2", 3600)] == [id_]


@pytest.mark.parametrize("secs", [0, -1, 86_401, 10**30])
def test_a_lease_of_no_length_is_refused(store: MailboxStore, post: Post, secs: int) -> None:
    """Nothing is claimed by it."""
    post.sent("do this")
    with pytest.raises(MalformedError, match="malformed"):
        store.claim("chat", "s1", secs)
    assert len(store.pending_for("chat")) == 1


@pytest.mark.parametrize("lease", ["x", {}, {"session": "s1", "until": "soon", "attempt": 1}, None])
def test_a_lease_that_says_nothing_holds_nothing(store: MailboxStore, lease: Any) -> None:
    """A file that claims to be leased and has no lease is pending."""
    placed(store, original(status="leased", schema=2, lease=lease))
    assert [message.status for message in store.messages_for("chat")] == ["pending"]


@pytest.mark.parametrize("status", [*Status, "from a later program"])
def test_only_pending_and_dead_messages_are_dismissed(store: MailboxStore, status: str) -> None:
    """Every other state refuses by name."""
    lease = {"session": "s1", "until": "2023-11-14T22:14:00+00:00", "attempt": 1}
    id_ = placed(store, original(status=status, schema=2, lease=lease)).stem
    if status in {"pending", "dead"}:
        assert store.dismiss(id_).status == "dismissed"
    else:
        with pytest.raises(NotPendingError) as caught:
            store.dismiss(id_)
        assert caught.value.refusal.status == status


@pytest.mark.parametrize(
    ("status", "said"), [("é" * 300, "é" * 32), ("\x1b[2J\n", "[2J"), ("\n", "unknown"), ("", "unknown")]
)
def test_a_refusal_quotes_no_more_of_a_file_than_a_word(store: MailboxStore, status: str, said: str) -> None:
    """What a file calls its status may be anything."""
    id_ = placed(store, original(status=status)).stem
    with pytest.raises(NotPendingError) as caught:
        store.dismiss(id_)
    assert caught.value.refusal.status == said


def test_the_table_of_steps_is_what_messages_follow() -> None:
    """Every pair is there once, and a status that nobody knows leads nowhere."""
    assert set(STEPS) == set(Status)
    message = StoredMessage(id="a", status="read", from_="a", to="b", body="c", created_at="")
    assert not any(message.may_become(status) for status in Status)


def test_without_a_lease_a_claim_is_the_originals(store: MailboxStore, post: Post) -> None:
    """Delivered at once; confirming is not needed and does no harm."""
    id_ = post.sent("do this")
    store.claim_pending("chat", "s1")
    assert on_disk(store, id_)["status"] == "delivered"
    assert store.confirm("chat", "s1", [id_]).confirmed == (id_,)
    assert store.confirm("chat", "s2", [id_, "none"]).lost == (id_, "none")
    assert store.confirm("nobody", "s2", [id_]).lost == (id_,)
