"""What a sender read arms its receiver before the text is there; what is not recorded arms it fully."""

from __future__ import annotations

from typing import Any

import pytest

from mail4agent_api.mail import Taint
from mail4agent_core.clock import HandClock
from mail4agent_core.mailbox import MailboxRoute, MailboxStore, MessageSendTool, ToolContext
from mail4agent_core.taint import BOTH, CLEAN, armed, merged, recorded

from .post import Post, on_disk, original, placed

PRIVATE, UNTRUSTED = Taint(private=True, untrusted=False), Taint(private=False, untrusted=True)


class Conversation:
    """Writes down what it is given, in order."""

    def __init__(self) -> None:
        self.taint = CLEAN
        self.seen: list[Taint | str] = []

    def merge_taint(self, taint: Taint) -> None:
        """Set legs."""
        self.taint = merged(self.taint, taint)
        self.seen.append(taint)

    def fold(self, text: str) -> None:
        """Add a text, with the taint that stands at this moment."""
        self.seen += [self.taint, text]


@pytest.mark.promise("mailbox.taint-arrives-before-the-text")
@pytest.mark.parametrize("lease_secs", [None, 60])
@pytest.mark.parametrize("taint", [CLEAN, PRIVATE, UNTRUSTED, BOTH])
def test_a_tainted_sender_arms_the_receiver_before_its_text_is_there(
    store: MailboxStore, post: Post, taint: Taint, lease_secs: int | None
) -> None:
    """At the moment of the fold the conversation has the taint already, by a lease or without."""
    post.sent("the report", taint=taint)
    route = MailboxRoute(store, True)
    route.set_identity("chat", "s1")
    conversation = Conversation()
    (claimed,) = route.receive(conversation, lease_secs=lease_secs)
    *_, at_the_fold, text = conversation.seen
    assert at_the_fold == taint
    assert isinstance(text, str)
    assert "the report" in text
    assert ("<untrusted-content" in text) is taint.untrusted
    assert claimed.effective_taint() == taint


@pytest.mark.promise("mailbox.taint-arrives-before-the-text")
def test_taint_survives_every_state_of_a_message(store: MailboxStore, post: Post, clock: HandClock) -> None:
    """Leased, given back, leased again, dead, dismissed."""
    id_ = post.sent("the report", taint=UNTRUSTED)
    for _ in range(5):
        assert [each.effective_taint() for each in store.claim("chat", "s", 1)] == [UNTRUSTED]
        clock.step(1_000)
        assert [each.effective_taint() for each in store.messages_for("chat")] == [UNTRUSTED]
    assert store.dismiss(id_).effective_taint() == UNTRUSTED


@pytest.mark.promise("mailbox.unrecorded-taint-is-both-legs")
@pytest.mark.parametrize(
    "taint",
    [
        ..., None, {}, [], "clean", False, 0, {"private": False}, {"untrusted": False},
        {"private": 0, "untrusted": 0}, {"private": "false", "untrusted": False},
        {"private": None, "untrusted": False}, {"private": False, "untrusted": False, "checked": True},
        {"Private": False, "untrusted": False},
    ],
)  # fmt: skip
def test_a_taint_that_is_not_whole_reads_as_both_legs(store: MailboxStore, taint: Any) -> None:
    """And the message is neither lost nor clean, now and after it was rewritten."""
    id_ = placed(store, original(taint=taint)).stem
    (claimed,) = store.claim("chat", "s", 60)
    assert claimed.effective_taint() == BOTH
    assert store.message(id_).effective_taint() == BOTH


@pytest.mark.promise("mailbox.unrecorded-taint-is-both-legs")
@pytest.mark.parametrize("flag", [..., None, False, 0, 1, "true", "yes", [True]])
def test_a_flag_that_is_not_true_records_nothing(store: MailboxStore, flag: Any) -> None:
    """Only ``true`` says that the taint was recorded."""
    placed(store, original(taint_recorded=flag))
    (claimed,) = store.claim("chat", "s", 60)
    assert claimed.effective_taint() == BOTH
    assert store.messages_for("chat")[0].effective_taint() == BOTH


EDITS: list[dict[str, Any]] = [
    {"taint": {"private": False, "untrusted": False}}, {"taint": {"private": True, "untrusted": False}},
    {"body": "do as the user says"}, {"from": "user"}, {"from_session": "s2"}, {"reply_to": "a"},
    {"created_at": "2026-01-01T00:00:00+00:00"}, {"seal": None}, {"seal": "0" * 64}, {"seal": ...},
    {"schema": ..., "seal": ...}, {"schema": 1, "seal": None},
    {"taint": {"private": False, "untrusted": False}, "schema": ..., "seal": ..., "attempts": ...},
]  # fmt: skip


@pytest.mark.promise("mailbox.unrecorded-taint-is-both-legs")
@pytest.mark.parametrize("edit", EDITS)
def test_a_file_of_ours_that_was_edited_by_hand_reads_as_both_legs(
    store: MailboxStore, post: Post, edit: dict[str, Any]
) -> None:
    """Whatever key was touched, or taken out, and however often it is rewritten after that."""
    id_ = post.sent("the report", taint=UNTRUSTED)
    value = {key: each for key, each in (on_disk(store, id_) | edit).items() if each is not ...}
    placed(store, value)
    assert store.pending_for("chat")[0].effective_taint() == BOTH
    (claimed,) = store.claim("chat", "s", 60)
    assert claimed.effective_taint() == BOTH
    assert store.message(id_).effective_taint() == BOTH


@pytest.mark.promise("mailbox.sends-are-stamped")
def test_a_send_carries_the_taint_of_its_turn(store: MailboxStore) -> None:
    """On hold too; without a stamp, as a subagent has none, it carries both legs."""
    route = MailboxRoute(store, False)
    route.set_identity("scout", "s1")
    tool = MessageSendTool(route)
    for number, (given, stamped) in enumerate([(CLEAN, CLEAN), (UNTRUSTED, UNTRUSTED), (None, BOTH)]):
        assert not tool.call({"to": "chat", "body": f"m{number}"}, ToolContext(taint=given)).is_error
        assert store.pending_for("chat")[-1].effective_taint() == stamped


@pytest.mark.promise("mailbox.taint-arrives-before-the-text")
def test_what_was_shown_elsewhere_arms_the_session_and_what_it_sends(store: MailboxStore) -> None:
    """Its harness takes it in at the next turn, on hold too; a record that cannot be read is both legs."""
    route = MailboxRoute(store, False)
    route.attach("chat", "s1")
    assert route.stamped(CLEAN) == CLEAN
    store.registry.arm("s1", CLEAN)
    store.registry.arm("s1", UNTRUSTED)
    store.registry.arm("s1", CLEAN)
    conversation = Conversation()
    assert route.receive(conversation) == []
    assert conversation.taint == UNTRUSTED
    assert route.stamped(PRIVATE) == BOTH
    assert [marker.session_id for marker in store.agents()] == ["s1"]
    (store.root / ".agents" / "s1.taint").write_text('{"private": false}')
    assert route.shown() == BOTH
    route.detach("s1")
    # A conversation that is resumed under the same id has still seen it.
    assert route.shown() == BOTH


def test_legs_are_set_and_never_cleared() -> None:
    """Merging is or; both together are what must be stopped."""
    assert merged(PRIVATE, UNTRUSTED) == BOTH
    assert merged(UNTRUSTED, CLEAN) == UNTRUSTED
    assert [armed(taint) for taint in (CLEAN, PRIVATE, UNTRUSTED, BOTH)] == [False, False, False, True]
    assert recorded({"private": True, "untrusted": False}) == PRIVATE
