"""A draft in the place of another, and drafts that nobody staged here: what the desk lets leave of them."""

from __future__ import annotations

from typing import Any

import pytest

from mail4agent_api import outbox as wire
from mail4agent_api.errors import MalformedError, NotPendingError, RefusalError
from mail4agent_core.outbox import OutboxStore
from mail4agent_core.outbox.decisions import Decisions
from mail4agent_daemon.outbox_desk import OutboxDesk
from tests.core.outbox.office import original, put

from .test_outbox_desk import AGENT, PERSON, Room, room

__all__ = ["room"]


def _request(id_: str, to: str, key: str | None = None) -> wire.OutboxSupersedeRequest:
    return wire.OutboxSupersedeRequest(
        id=wire.OutboxId(id_), args=wire.DraftArguments(to=to), idempotency_key=key
    )


@pytest.mark.promise("outbox.a-run-takes-back-its-own")
async def test_a_draft_that_is_sent_while_it_is_replaced_leaves_no_second_one_waiting(
    room: Room,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The refusal says that it was decided, and what would have stood in its place is withdrawn."""
    first = await room.stage()
    stage = OutboxDesk._stage

    async def released_meanwhile(desk: OutboxDesk, *given: Any) -> wire.OutboxStaged:
        staged = await stage(desk, *given)
        await room.release(first)
        return staged

    monkeypatch.setattr(OutboxDesk, "_stage", released_meanwhile)
    with pytest.raises(NotPendingError):
        await room.desk.supersede(AGENT, _request(first.id, "b@x.org"))
    assert (await room.desk.list(PERSON, wire.OutboxListRequest())).total == 0
    listed = await room.desk.list(PERSON, wire.OutboxListRequest(all=True))
    assert [entry.status for entry in listed.drafts] == ["sent", "withdrawn"]


@pytest.mark.promise("outbox.a-run-takes-back-its-own")
async def test_two_drafts_never_stand_in_each_others_place(room: Room) -> None:
    """A key that gives a draft that is over puts it in nobody's place: one is always left to read."""
    first = await room.stage(args={"to": "a@x.org"}, idempotency_key="a")
    second = await room.desk.supersede(AGENT, _request(first.id, "b@x.org", "b"))
    with pytest.raises(NotPendingError):
        await room.desk.supersede(AGENT, _request(second.id, "a@x.org", "a"))
    waiting = await room.desk.list(PERSON, wire.OutboxListRequest())
    assert [entry.id for entry in waiting.drafts] == [second.id]


@pytest.mark.promise("outbox.what-was-read-is-what-leaves")
async def test_a_file_of_another_program_does_not_leave_with_what_its_sink_does_not_carry(
    room: Room,
) -> None:
    """It was never staged here; its sink looks at it before the intent, and nothing is changed."""
    with OutboxStore.open(room.root):
        path = put(room.root, original(args={"to": "a@x.org", "bcc": "mallory@x.org"}))
    before, draft = path.read_bytes(), await room.get("20260101T000000-0a1b2c3d")
    with pytest.raises(MalformedError):
        await room.desk.release(PERSON, wire.OutboxReleaseRequest(id=draft.entry.id, digest=draft.digest))
    assert (room.sink.left, path.read_bytes()) == ([], before)


async def test_a_successor_that_cannot_be_withdrawn_hides_no_refusal(
    room: Room,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """What is told is why the draft was not replaced."""
    first = await room.stage()

    def fails(_: Decisions, *__: Any) -> None:
        raise NotPendingError(id="x", status="sent")

    monkeypatch.setattr(Decisions, "supersede", fails)
    monkeypatch.setattr(Decisions, "withdraw", fails)
    with pytest.raises(RefusalError) as refusal:
        await room.desk.supersede(AGENT, _request(first.id, "b@x.org"))
    assert refusal.value.kind == "not_pending"
