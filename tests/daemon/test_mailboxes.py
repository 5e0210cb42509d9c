"""The file mailboxes through the door: looked at, never touched, and only by who may."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from mail4agent_api.codec import encode
from mail4agent_core.mailbox import MailboxStore
from mail4agent_core.mailbox.wire import text_with
from mail4agent_core.taint import BOTH, CLEAN
from tests import oracle
from tests.core.mailbox.post import Post, on_disk, original, placed

from .inside import Inside, inside

pytestmark = pytest.mark.promise("mailbox.the-daemon-looks-and-touches-nothing")


async def permitted(daemon: Inside) -> None:
    """Let ada look at the mailboxes."""
    await daemon.add("ada")
    granted = {"id": "ada", "grant": ["mailbox:read"], "revoke": []}
    assert (await daemon.post("/admin/participant/permit", granted)).status == 200


async def test_what_waits_is_listed_and_shown_and_stays_as_it_is(tmp_path: Path) -> None:
    """By recipient and order of sending; a lease that is over is shown as none and written nowhere."""
    home = tmp_path / "home"
    async with inside(home) as daemon:
        await permitted(daemon)
        assert (await daemon.post("/mailbox/list", {}, "ada")).json == {"messages": [], "total": 0}
        assert not (home / "messages").exists()
        with MailboxStore.open(home / "messages", clock=daemon.clock) as store:
            post = Post(store)
            ids = [post.sent("one"), post.sent("two", taint=BOTH), post.sent("three", to="scout")]
            store.claim("chat", "s1", 1)
            daemon.clock.step(1_000)
            bad = placed(store, b"{", name="x.json")
            before = on_disk(store, ids[0])
            listed = (await daemon.post("/mailbox/list", {"limit": 2}, "ada")).json
            assert listed["total"] == 3
            assert [(each["id"], each["status"], each["attempts"]) for each in listed["messages"]] == [
                (ids[0], "pending", 1), (ids[1], "pending", 1),
            ]  # fmt: skip
            shown = (await daemon.post("/mailbox/show", {"id": ids[1]}, "ada")).json
            assert (shown["body"], shown["entry"]["taint"]) == ("two", {"private": True, "untrusted": True})
            assert on_disk(store, ids[0]) == before
            assert bad.exists()
            store.claim_pending("scout", "s2")
            assert (await daemon.post("/mailbox/list", {"to": "scout"}, "ada")).json["total"] == 0
            assert (await daemon.post("/mailbox/list", {"to": "scout", "all": True}, "ada")).json[
                "total"
            ] == 1


@pytest.mark.promise("console.dead-letters-are-shown")
async def test_dead_messages_are_listed_by_their_status_and_stay_as_they_are(tmp_path: Path) -> None:
    """As the lease stands now, whatever was looked at before; what a person dismissed is gone."""
    home = tmp_path / "home"
    asked = {"status": "dead"}
    async with inside(home) as daemon:
        await permitted(daemon)
        assert (await daemon.post("/mailbox/list", asked, "ada")).json["total"] == 0
        with MailboxStore.open(home / "messages", clock=daemon.clock) as store:
            post = Post(store)
            poison = post.sent("poison")
            post.sent("other", to="scout")
            for attempt in range(5):
                store.claim("chat", f"s{attempt}", 1)
                assert (await daemon.post("/mailbox/list", asked, "ada")).json["total"] == 0
                daemon.clock.step(1_000)
            before = on_disk(store, poison)
            for _ in range(2):
                (found,) = (await daemon.post("/mailbox/list", asked, "ada")).json["messages"]
                assert (found["id"], found["status"], found["attempts"]) == (poison, "dead", 5)
            assert (await daemon.post("/mailbox/list", {**asked, "to": "scout"}, "ada")).json["total"] == 0
            assert on_disk(store, poison) == before
            assert (await daemon.post("/mailbox/list", {"status": "pending"}, "ada")).json["total"] == 1
            store.dismiss(poison)
            assert (await daemon.post("/mailbox/list", asked, "ada")).json["total"] == 0
            (over,) = (await daemon.post("/mailbox/list", {"status": "dismissed"}, "ada")).json["messages"]
            assert over["id"] == poison


async def test_without_the_capability_nothing_is_said(tmp_path: Path) -> None:
    """An operator has it no more than others until it is granted."""
    async with inside(tmp_path / "home") as daemon:
        await daemon.add("ada", operator=True)
        for path, body in (("/mailbox/list", {}), ("/mailbox/show", {"id": "a"})):
            answer = await daemon.post(path, body, "ada")
            assert (answer.status, answer.json) == (
                403,
                {"kind": "permission_denied", "need": "mailbox:read"},
            )


async def test_an_unknown_message_and_mailboxes_that_cannot_be_used_are_named(tmp_path: Path) -> None:
    """A link where the root should be is the store that is unavailable."""
    async with inside(tmp_path / "home") as daemon:
        await permitted(daemon)
        unknown = await daemon.post("/mailbox/show", {"id": "nothing"}, "ada")
        assert (unknown.status, unknown.json) == (404, {"kind": "unknown_item", "id": "nothing"})
        (tmp_path / "elsewhere").mkdir()
        (tmp_path / "home" / "messages").symlink_to(tmp_path / "elsewhere")
        refused = await daemon.post("/mailbox/list", {}, "ada")
        assert (refused.status, refused.json["kind"]) == (503, "store_unavailable")


@pytest.mark.parametrize(
    "changes",
    [
        {"body": "\x1b[2J\u0085\r\n\tx" + "é" * 70_000, "created_at": "yesterday", "reply_to": "a b"},
        {
            "status": "leased",
            "lease": {"session": "a/b", "until": "2030-01-01T00:00:00Z", "attempt": -5},
            "schema": 2,
        },
        {
            "status": "leased",
            "lease": {"session": "s", "until": "2030-01-01T00:00:00Z", "attempt": 9**9},
            "schema": 2,
        },
        {"status": "x" * 300, "attempts": 2**32 - 1, "schema": 2, "delivered_to": "\n", "dismissed_at": "-"},
    ],
)
def test_whatever_a_file_says_is_shown_within_the_contract(
    tmp_path: Path, changes: dict[str, object]
) -> None:
    """What no value of the contract can say is null, and a text is cut at its bound."""
    with MailboxStore.open(tmp_path / "messages") as store:
        placed(store, original(**changes))
        (message,) = store.snapshot("chat")
        raw = encode(text_with(message))
    assert oracle.decodes("MailboxText", raw)
    assert json.loads(raw)["entry"]["taint"] == CLEAN.model_dump() or "schema" in changes
