"""What a run has of the mailboxes, and what its tool tells the model."""

import logging
from pathlib import Path

import pytest

from mail4agent_core.mailbox import (
    InboundPolicy,
    MailboxRoute,
    MailboxStore,
    MessageSendTool,
    Phase,
    ToolContext,
    inbound_policy,
)
from mail4agent_core.taint import CLEAN

from .post import Post
from .test_taint import Conversation


@pytest.fixture
def route(store: MailboxStore) -> MailboxRoute:
    """A run that takes mail."""
    made = MailboxRoute(store, True)
    made.set_identity("chat", "s1")
    return made


def test_an_attended_run_holds_and_an_unattended_one_accepts_unless_it_is_set() -> None:
    """Refusing is holding: a sender does not read the policy of its recipient."""
    assert inbound_policy(None, unattended=True).delivers
    assert not inbound_policy(None, unattended=False).delivers
    assert [policy.delivers for policy in InboundPolicy] == [True, False, False]
    for policy in InboundPolicy:
        assert inbound_policy(policy, unattended=True) is policy


def test_a_run_without_an_identity_neither_sends_nor_receives(store: MailboxStore, post: Post) -> None:
    """There is no mailbox of nobody."""
    route = MailboxRoute(store, True)
    id_ = post.sent("hello")
    conversation = Conversation()
    assert route.receive(conversation) == []
    assert conversation.seen == []
    assert route.confirm(store.pending_for("chat")).lost == (id_,)
    told = MessageSendTool(route).call({"to": "chat", "body": "hi"}, ToolContext(taint=CLEAN))
    assert told.is_error
    assert "no messaging identity" in told.content
    assert len(store.pending_for("chat")) == 1


@pytest.mark.promise("mailbox.a-claim-is-a-lease")
def test_a_turn_that_is_saved_confirms_what_it_took(route: MailboxRoute, post: Post) -> None:
    """Until then the messages are the run's for as long as the lease lasts."""
    post.sent("one")
    post.sent("two")
    claimed = route.receive(Conversation(), lease_secs=60)
    assert route.receive(Conversation(), lease_secs=60) == []
    assert route.confirm(claimed).confirmed == tuple(message.id for message in claimed)
    assert [message.status for message in route.store.messages_for("chat")] == ["delivered"] * 2


def test_on_hold_everything_stays_pending(store: MailboxStore, post: Post) -> None:
    """A person reads it."""
    route = MailboxRoute(store, InboundPolicy.HOLD.delivers)
    route.attach("chat", "s1")
    post.sent("hello")
    assert not route.delivers()
    assert route.receive(Conversation()) == []
    assert len(store.pending_for("chat")) == 1


def test_what_fails_never_fails_the_run(
    store: MailboxStore, post: Post, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """A mailbox and markers that cannot be used are logged, and the model is told."""
    for name in ("chat", ".agents"):
        (store.root / name).symlink_to(tmp_path)
    route = MailboxRoute(store, True)
    with caplog.at_level(logging.WARNING):
        route.attach("chat", "s1")
        assert route.claim_pending() == []
        route.detach("s1")
    assert len(caplog.records) == 3
    told = MessageSendTool(route).call({"to": "chat", "body": "hi"}, ToolContext(taint=CLEAN))
    assert told.is_error
    assert "cannot be used" in told.content


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ({}, "needs `to`"), ({"to": "chat"}, "needs `body`"), ({"to": 7, "body": "x"}, "needs `to`"),
        ({"to": "chat", "body": ["x"]}, "needs `body`"),
        ({"to": "../x", "body": "x"}, "producer name must be"),
        ({"to": "chat", "body": "  "}, "must not be blank"),
        ({"to": "chat", "body": "x", "reply_to": "a b"}, "mailbox message id must be"),
        ({"to": "c" * 65, "body": "x"}, "too_large"),
    ],
)  # fmt: skip
def test_a_call_that_cannot_be_carried_out_is_an_error_for_the_model(
    route: MailboxRoute, arguments: dict[str, object], told: str
) -> None:
    """No exception, and nothing is written."""
    said = MessageSendTool(route).call(arguments, ToolContext(taint=CLEAN))
    assert said.is_error
    assert told in said.content
    assert route.store.recipients() == []


def test_a_full_mailbox_a_duplicate_and_an_unknown_name_are_said(route: MailboxRoute) -> None:
    """Each in words that tell the model what to do, or not to do, next."""
    route.store.with_limits(2, 65_536)
    route.store.announce("scout", "s2")
    tool, context = MessageSendTool(route), ToolContext(taint=CLEAN)
    sent = tool.call({"to": "scot", "body": "one"}, context).content
    assert "Do not retry" in sent
    assert "Did you mean `scout`?" in sent
    assert "already pending" in tool.call({"to": "scot", "body": "one"}, context).content
    assert "full for you" in tool.call({"to": "scot", "body": "two"}, context).content
    Post(route.store).sent("other", to="scot", from_="user")
    assert tool.call({"to": "scot", "body": "two"}, context).content == (
        "message_send failed: mailbox for `scot` is full (2 pending). Nothing was sent — the backlog has to "
        "be read or cleared first."
    )
    known = tool.call({"to": "scout", "body": "one"}, context)
    assert not known.is_error
    assert "ever seen" not in known.content


def test_the_tool_is_described_as_the_original_does() -> None:
    """Word for word; two texts are required, no capability is asked for, and it is read-only to the gate."""
    assert MessageSendTool.name == "message_send"
    assert MessageSendTool.read_only
    assert MessageSendTool.description == (
        "Leave a short text message for another mecha agent on this machine, named by producer: `chat` for "
        "the interactive session, a trigger's name for a scheduled run. Delivered at the recipient's next "
        "turn; if none is running, it waits. Text only — for anything large, write a file and send its path. "
        "No reply is guaranteed."
    )
    assert MessageSendTool.input_schema == {
        "type": "object",
        "properties": {
            "to": {
                "type": "string",
                "description": "Recipient producer name (lowercase letters, digits, `-`, `_`).",
            },
            "body": {"type": "string"},
            "reply_to": {"type": "string", "description": "Id of the message this answers, if any."},
        },
        "required": ["to", "body"],
    }


def test_what_the_tool_tells_a_model_is_the_originals(route: MailboxRoute) -> None:
    """Word for word, so that a harness that looks for them finds them."""
    route.store.announce("scout", "s2")
    tool, arguments = MessageSendTool(route), {"to": "scout", "body": "one"}
    sent, again = (tool.call(arguments, ToolContext(taint=CLEAN)).content for _ in range(2))
    (message,) = route.store.pending_for("scout")
    assert sent == (
        f"Sent to `scout` as {message.id}. It is delivered when that agent next takes a turn; no reply is "
        "guaranteed. Do not retry the call."
    )
    assert again == (
        f"An identical message to `scout` is already pending as {message.id}. Nothing new was sent; do not "
        "retry the call."
    )
    planning = tool.call(arguments, ToolContext(Phase.PLAN, CLEAN))
    assert planning.content == (
        "message_send is not available while planning — sending sets another agent in motion, which is not a "
        "planning action. Nothing was sent."
    )
    nobody = MessageSendTool(MailboxRoute(route.store, True)).call(arguments, ToolContext(taint=CLEAN))
    assert nobody.content == "this run has no messaging identity, so it cannot send. Nothing was sent."
    route.store.with_limits(50, 8)
    large = tool.call({"to": "scout", "body": "far too long"}, ToolContext(taint=CLEAN))
    assert large.content == (
        "message_send failed: message body is 12 bytes; the limit is 8. Write the content to a file in your "
        "workspace and send its path instead."
    )
