"""The order of messages is that of sending."""

import pytest

from mail4agent_core.clock import HandClock
from mail4agent_core.mailbox import MailboxStore
from mail4agent_core.mailbox.leases import next_id

from .post import Post, original, placed


@pytest.mark.promise("mailbox.order-is-sending-order")
def test_order_is_sending_order_inside_a_second_and_across_a_clock_step(
    store: MailboxStore, post: Post, clock: HandClock
) -> None:
    """Ten a second, an hour back, a day ahead, and back again."""
    texts: list[str] = []
    for step_ms in (0, 0, 0, -3_600_000, 0, 86_400_000, 0, -86_400_000, 1_000):
        clock.step(step_ms)
        texts.append(f"m{len(texts)}")
        post.sent(texts[-1], from_="user")
    assert [message.body for message in store.claim("chat", "s", None)] == texts


@pytest.mark.promise("mailbox.order-is-sending-order")
def test_a_message_stands_after_those_of_the_original(
    store: MailboxStore, post: Post, clock: HandClock
) -> None:
    """Also after one that a clock ahead of ours has named."""
    clock.step(1_000)
    placed(store, original(id="20301231T235959-ffffffff", body="theirs"))
    post.sent("ours")
    post.sent("ours again")
    assert [message.body for message in store.pending_for("chat")] == ["theirs", "ours", "ours again"]


def test_ids_keep_the_originals_characters_and_are_found_by_their_beginning(
    store: MailboxStore, post: Post
) -> None:
    """A second, a number within it, something random."""
    id_ = post.sent("hello")
    assert id_.startswith("20231114T221320-00000000-")
    assert set(id_) <= set("0123456789abcdefT-")
    assert store.message(id_[:15]).id == id_


@pytest.mark.parametrize(
    ("taken", "after"),
    [
        ([], "20231114T221320-00000000"),
        (["20231114T221320-0000000a-deadbeef"], "20231114T221320-0000000b"),
        (["20231114T221320-ffffffff"], "20231114T221321-00000000"),
        (["99991231T235959-ffffffff", "20231114T221320-00000001-deadbeef"], "20231114T221320-00000002"),
        (["99999999T999999-ffffffff", "no-id", ""], "20231114T221320-00000000"),
        (["20220101T000000-ffffffff"], "20231114T221320-00000000"),
    ],
)
def test_the_next_id_is_after_all_that_have_an_order(taken: list[str], after: str) -> None:
    """What has none, and what has no place behind it, does not count."""
    assert next_id(taken, 1_700_000_000_000, "deadbeef") == f"{after}-deadbeef"
