"""Who gets a place in a mailbox, and what a sender is told of its recipient."""

import pytest

from mail4agent_api.errors import (
    MailboxFullError,
    MalformedError,
    RefusalError,
    TooLargeError,
    UnknownItemError,
)
from mail4agent_core.clock import HandClock
from mail4agent_core.mailbox import Duplicate, MailboxStore
from mail4agent_core.mailbox.outcomes import Known

from .post import Post, original, placed


@pytest.mark.promise("mailbox.one-sender-cannot-silence-others")
@pytest.mark.parametrize(("cap", "share"), [(1, 1), (2, 1), (3, 2), (50, 25)])
def test_one_sender_gets_half_of_the_places(store: MailboxStore, post: Post, cap: int, share: int) -> None:
    """At its share it is refused by name, others are not, and the user is exempt up to the cap."""
    store.with_limits(cap, 65_536)
    for number in range(share):
        post.sent(f"m{number}", from_="loop")
    with pytest.raises(MailboxFullError) as caught:
        post.outcome("one more", from_="loop")
    assert caught.value.refusal.scope == ("sender" if share < cap else "mailbox")
    for number in range(cap - share):
        post.sent(f"u{number}", from_="user")
    with pytest.raises(MailboxFullError) as caught:
        post.outcome("one more", from_="user")
    assert caught.value.refusal.scope == "mailbox"


@pytest.mark.promise("mailbox.one-sender-cannot-silence-others")
def test_the_user_may_fill_a_mailbox_alone(store: MailboxStore, post: Post) -> None:
    """Who clears mailboxes has no share; the fifty-first message is refused for the mailbox."""
    for number in range(50):
        post.sent(f"m{number}", from_="user")
    with pytest.raises(MailboxFullError) as caught:
        post.outcome("one more", from_="user")
    assert caught.value.refusal.scope == "mailbox"


def test_the_newest_hundred_that_are_resolved_are_kept(store: MailboxStore, post: Post) -> None:
    """The hundred and first makes the oldest go."""
    ids = [post.sent(f"m{number}", from_="user") for number in range(50)]
    for number in range(50, 101):
        store.claim_pending("chat", "s")
        ids.append(post.sent(f"m{number}", from_="user"))
    store.claim_pending("chat", "s")
    assert [message.id for message in store.messages_for("chat")] == ids[1:]


def test_what_is_leased_or_dead_keeps_its_place(store: MailboxStore, post: Post, clock: HandClock) -> None:
    """A claim that nobody confirms makes no room; a dismissal does."""
    store.with_limits(1, 65_536)
    id_ = post.sent("first")
    for _ in range(5):
        store.claim("chat", "s1", 1)
        with pytest.raises(MailboxFullError):
            post.outcome("second", from_="other")
        clock.step(1_000)
    with pytest.raises(MailboxFullError):
        post.outcome("second", from_="other")
    store.dismiss(id_)
    post.sent("second", from_="other")


def test_a_duplicate_in_a_full_mailbox_is_a_duplicate(store: MailboxStore, post: Post) -> None:
    """The brake comes before the cap, and a message that a session holds is no longer pending."""
    store.with_limits(2, 65_536)
    id_ = post.sent("again")
    assert isinstance(post.outcome("again"), Duplicate)
    store.claim("chat", "s1", 60)
    with pytest.raises(MailboxFullError):
        post.outcome("again")
    store.confirm("chat", "s1", [id_])
    post.sent("again")


@pytest.mark.promise("mailbox.an-unknown-recipient-is-said")
def test_an_unknown_recipient_is_said_with_near_names(store: MailboxStore, post: Post) -> None:
    """The message is kept, because the producer may come; with the demand that it is known it is refused."""
    store.announce("morning-report", "s1")
    assert post.outcome("hi", to="mornin-report").recipient == Known(
        seen=False, live=False, near=("morning-report",)
    )
    with pytest.raises(UnknownItemError) as caught:
        post.outcome("hi", to="evening", require_known=True)
    assert caught.value.refusal.id == "evening"
    assert "evening" not in store.recipients()


@pytest.mark.promise("mailbox.an-unknown-recipient-is-said")
def test_a_producer_is_known_once_it_ran_or_claimed(store: MailboxStore, post: Post) -> None:
    """Live while its process lives, seen for ever after; a mailbox alone proves nothing."""
    assert post.outcome("one", to="scout").recipient == Known(seen=False, live=False)
    assert post.outcome("two", to="scout").recipient == Known(seen=False, live=False)
    store.announce("scout", "s1")
    assert post.outcome("three", to="scout", require_known=True).recipient == Known(seen=True, live=True)
    store.depart("s1")
    assert post.outcome("four", to="scout").recipient == Known(seen=True, live=False)
    assert post.outcome("hi", to="user").recipient.seen
    placed(store, original(to="elder", status="delivered", delivered_to="s9"), recipient="elder")
    assert post.outcome("hi", to="elder").recipient.seen


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"to": "a.b"}, "producer name"), ({"to": "a/b"}, "producer name"), ({"to": "Chat"}, "producer name"),
        ({"to": "."}, "producer name"), ({"to": ".."}, "producer name"), ({"to": ""}, "producer name"),
        ({"to": ".agents"}, "producer name"), ({"to": "a" * 65}, "producer name"),
        ({"to": "chat\n"}, "producer name"), ({"from_": "User"}, "producer name"),
        ({"from_": "a" * 65}, "producer name"), ({"session": "../x"}, "session"),
        ({"session": "s" * 129}, "session"), ({"reply_to": "a" * 5000}, "mailbox message id"),
        ({"reply_to": "a b"}, "mailbox message id"), ({"body": "a" * 65_537}, "body"),
        ({"body": "é" * 32_769}, "body"), ({"body": " \n\t "}, "body"), ({"body": ""}, "body"),
        ({"body": "a\x1b[2Jb"}, "body"), ({"body": "a\rb"}, "body"), ({"body": "\ud800"}, "body"),
    ],
)  # fmt: skip
def test_bad_input_gets_a_refusal_and_changes_nothing(
    store: MailboxStore, post: Post, changes: dict[str, str], field: str
) -> None:
    """Each names its field, and no folder is made."""
    with pytest.raises(RefusalError) as caught:
        post.outcome(**{"body": "hello", **changes})
    assert isinstance(caught.value, MalformedError | TooLargeError)
    assert caught.value.refusal.field == field
    assert store.recipients() == []


@pytest.mark.parametrize(
    "changes", [{"to": "a" * 64}, {"from_": "-_09"}, {"body": "é" * 32_768}, {"body": "\t\nx"}]
)
def test_what_is_at_a_bound_is_taken(store: MailboxStore, post: Post, changes: dict[str, str]) -> None:
    """The last name and the last text that are allowed."""
    id_ = post.sent(**{"body": "hello", **changes})
    assert store.message(id_).body == changes.get("body", "hello")


@pytest.mark.parametrize("id_", ["a" * 5000, "../chat", "", "*", "a\0b"])
def test_an_id_that_is_none_is_refused(store: MailboxStore, post: Post, id_: str) -> None:
    """Before any file is looked for."""
    post.sent("hello")
    for ask in (store.message, store.dismiss, lambda each: store.confirm("chat", "s", [each])):
        with pytest.raises(RefusalError) as caught:
            ask(id_)
        assert caught.value.refusal.kind in {"malformed", "too_large"}


def test_a_beginning_of_several_ids_names_none(store: MailboxStore, post: Post) -> None:
    """Neither one is shown or dismissed; one that is nobody's beginning is unknown."""
    post.sent("one")
    post.sent("two")
    with pytest.raises(MalformedError, match="malformed"):
        store.message("2023")
    with pytest.raises(UnknownItemError, match="unknown_item"):
        store.dismiss("2024")
