"""The tests that came with the original mailbox, under their own names."""

import json
import os
import re
from pathlib import Path

import pytest

from mail4agent_api.errors import (
    MailboxFullError,
    MalformedError,
    NotPendingError,
    RefusalError,
    TooLargeError,
)
from mail4agent_core.mailbox import (
    DELIVERY_STEM,
    Duplicate,
    MailboxRoute,
    MailboxStore,
    MessageSendTool,
    Phase,
    Sent,
    StoredMessage,
    ToolContext,
    is_harness_voice,
    render_delivery,
)
from mail4agent_core.mailbox.message import decoded
from mail4agent_core.taint import CLEAN, Taint, armed

from .post import Post, placed

pytestmark = pytest.mark.promise("mailbox.read-once-by-the-right-one")


def message(**changes: object) -> StoredMessage:
    """A message that is in no file."""
    values = {
        "id": "m1", "status": "pending", "from_": "morning", "to": "chat", "body": "the report is ready",
        "created_at": "", "taint": CLEAN, "taint_recorded": True,
    }  # fmt: skip
    return StoredMessage(**{**values, **changes})  # type: ignore[arg-type]


def test_send_then_claim_marks_delivered(store: MailboxStore, post: Post) -> None:
    """Claimed means claimed: another session of the producer gets nothing, and the record remains."""
    id_ = post.sent("3 drafts staged")
    (claimed,) = store.claim_pending("chat", "sess-1")
    assert (claimed.id, claimed.body, claimed.delivered_to) == (id_, "3 drafts staged", "sess-1")
    assert store.claim_pending("chat", "sess-2") == []
    assert store.message(id_).status == "delivered"


def test_identical_pending_message_deduplicates(store: MailboxStore, post: Post) -> None:
    """The brake is on the pending backlog, not on ever repeating oneself."""
    id_ = post.sent("same text")
    again = post.outcome("same text")
    assert isinstance(again, Duplicate)
    assert again.id == id_
    assert isinstance(post.outcome("same text", from_="evening"), Sent)
    store.claim_pending("chat", "s")
    assert isinstance(post.outcome("same text"), Sent)


def test_full_mailbox_refuses_rather_than_dropping(store: MailboxStore, post: Post) -> None:
    """Both earlier messages remain, and the third sender is told."""
    store.with_limits(2, 65_536)
    post.sent("one", from_="a")
    post.sent("two", from_="b")
    with pytest.raises(MailboxFullError, match="full") as caught:
        post.outcome("three", from_="c")
    assert caught.value.refusal.scope == "mailbox"
    assert len(store.pending_for("chat")) == 2


def test_oversized_body_is_refused_with_advice(store: MailboxStore, post: Post) -> None:
    """The refusal has the numbers, and the model is told to send a file's path."""
    store.with_limits(50, 8)
    with pytest.raises(TooLargeError) as caught:
        post.outcome("far too long", from_="a")
    assert (caught.value.refusal.limit, caught.value.refusal.actual) == (8, 12)
    route = MailboxRoute(store, True)
    route.set_identity("a", "s")
    told = MessageSendTool(route).call({"to": "chat", "body": "far too long"}, ToolContext(taint=CLEAN))
    assert told.is_error
    assert "file" in told.content


def test_dismiss_frees_the_cap_and_cannot_double_fire(store: MailboxStore, post: Post) -> None:
    """A dismissed message is out of reach of a second dismissal and of a claim."""
    store.with_limits(1, 65_536)
    id_ = post.sent("first", from_="a")
    with pytest.raises(MailboxFullError):
        post.outcome("second", from_="b")
    dismissed = store.dismiss(id_)
    assert dismissed.status == "dismissed"
    assert dismissed.dismissed_at is not None
    post.sent("second", from_="b")
    with pytest.raises(NotPendingError, match="not_pending"):
        store.dismiss(id_)
    assert [claimed.body for claimed in store.claim_pending("chat", "s")] == ["second"]


def test_message_send_refuses_while_planning(store: MailboxStore) -> None:
    """A plan writes nothing; the same call goes through when it is carried out."""
    route = MailboxRoute(store, True)
    route.set_identity("scout", "s1")
    tool = MessageSendTool(route)
    refused = tool.call({"to": "chat", "body": "go"}, ToolContext(Phase.PLAN, CLEAN))
    assert refused.is_error
    assert "planning" in refused.content
    assert store.pending_for("chat") == []
    done = tool.call({"to": "chat", "body": "go"}, ToolContext(Phase.EXECUTE, CLEAN))
    assert not done.is_error, done.content
    assert len(store.pending_for("chat")) == 1


def test_resolved_messages_are_pruned_but_pending_are_never_touched(store: MailboxStore, post: Post) -> None:
    """The oldest delivered ones go, the two newest and everything pending stay."""
    store.with_keep(2)
    for body in ("m1", "m2", "m3", "m4", "m5"):
        post.sent(body, from_="a")
        store.claim_pending("chat", "s")
    post.sent("pending-1", from_="a")
    post.sent("pending-2", from_="a")
    every = store.messages_for("chat")
    assert [each.body for each in every if each.status == "delivered"] == ["m4", "m5"]
    assert [each.body for each in every if each.status == "pending"] == ["pending-1", "pending-2"]


def test_same_body_to_different_threads_is_not_a_duplicate(store: MailboxStore, post: Post) -> None:
    """ "done" for one request and "done" for another are two answers."""
    post.sent("done", from_="peer", reply_to="req-A")
    post.sent("done", from_="peer", reply_to="req-B")
    assert isinstance(post.outcome("done", from_="peer", reply_to="req-A"), Duplicate)
    assert len(store.pending_for("chat")) == 2


def test_transient_io_error_does_not_quarantine(store: MailboxStore, post: Post) -> None:
    """What cannot be parsed is set aside; a valid file survives the scan."""
    post.sent("keep me", from_="a")
    bad = placed(store, b"not json", name="99999999-corrupt.json")
    assert [each.body for each in store.messages_for("chat")] == ["keep me"]
    assert bad.with_suffix(".bad").exists()


def test_invalid_names_are_refused(post: Post) -> None:
    """Neither a recipient nor a sender leads out of the root."""
    with pytest.raises(MalformedError):
        post.outcome("x", to="../escape", from_="a")
    with pytest.raises(MalformedError):
        post.outcome("x", from_="Not Valid")


def test_malformed_file_is_quarantined_not_wedging(store: MailboxStore, post: Post) -> None:
    """The good message still reads, the bad one is kept aside and does not come back."""
    post.sent("good", from_="a")
    bad = placed(store, b"{ not json", name="00000000-bad.json")
    assert len(store.messages_for("chat")) == 1
    assert bad.with_suffix(".bad").read_bytes() == b"{ not json"
    assert len(store.messages_for("chat")) == 1


def test_unrecorded_taint_reads_as_fully_untrusted() -> None:
    """A default is no record, and neither is a file of an older writer without the keys."""
    unrecorded = message(taint_recorded=False).effective_taint()
    assert unrecorded.untrusted
    assert unrecorded.private
    raw = b'{"id":"y","status":"pending","from":"a","to":"chat","body":"hi","created_at":""}'
    old = decoded(raw, "y", "chat")
    assert not old.taint_recorded
    assert armed(old.effective_taint())


def test_untrusted_sender_gets_the_wrapper_and_clean_does_not() -> None:
    """Both say who speaks; only a text that may be a stranger's is marked as data."""
    clean = render_delivery(message(from_session="s1"), True)
    assert "not the user" in clean
    assert "cannot approve" in clean
    assert "<untrusted-content" not in clean
    marked = render_delivery(message(taint=Taint(private=False, untrusted=True)), True)
    assert "<untrusted-content" in marked
    assert "the report is ready" in marked


def test_a_folded_delivery_is_recognised_as_the_harness_speaking_not_the_user() -> None:
    """However the peer's text reads on its own."""
    delivered = render_delivery(message(from_="researcher", body="no, use the other config"), True)
    assert DELIVERY_STEM in delivered
    assert is_harness_voice(delivered)


def test_registry_lists_live_and_cleans_dead(store: MailboxStore) -> None:
    """A marker of a process that cannot exist reads as absent and is removed."""
    store.announce("chat", "sess-live")
    (live,) = store.agents()
    assert (live.producer, live.pid) == ("chat", os.getpid())
    dead: Path = store.root / ".agents" / "sess-dead.json"
    marker = {"producer": "chat", "session_id": "sess-dead", "pid": 2**32 - 1, "started_at": ""}
    dead.write_text(json.dumps(marker))
    assert len(store.agents()) == 1
    assert not dead.exists()
    store.depart("sess-live")
    assert store.agents() == []


def test_agents_dir_is_not_a_recipient(store: MailboxStore, post: Post) -> None:
    """What begins with a dot is no producer."""
    store.announce("chat", "s1")
    post.sent("hi", from_="a")
    assert store.recipients() == ["chat"]


def test_all_sixteen_are_here() -> None:
    """The names are those of the original's own tests."""
    names = re.findall(r"^def (test_\w+)", Path(__file__).read_text("utf-8"), re.MULTILINE)
    assert len(names) == 17
    assert issubclass(MailboxFullError, RefusalError)
