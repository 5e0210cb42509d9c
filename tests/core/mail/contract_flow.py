"""What every store counts of who wrote to whom."""

from typing import Any

import pytest

from mail4agent_api.addresses import text_of
from mail4agent_api.errors import PermissionDeniedError
from mail4agent_api.mail import Flow, FlowRequest, ParticipantId, RetentionRequest
from mail4agent_core.clock import HandClock
from mail4agent_core.mail.flow import SLOT_MS

from .office import DAY_MS, SESSION, Office


async def flow(office: Office, **fields: Any) -> Flow:
    """Who wrote to whom."""
    return await office.administration.flow(office.operator, FlowRequest(**fields))


def pairs(found: Flow) -> list[tuple[str, str, int]]:
    """Each pair with its number."""
    return [(text_of(each.from_), text_of(each.to), each.messages) for each in found.pairs]


class FlowContract:
    """The flow, by operation."""

    @pytest.mark.promise("admin.flow-counts-what-was-posted")
    async def test_posts_are_counted_by_account_and_room(self, office: Office, clock: HandClock):
        """Sessions count for their accounts on both sides; those who wrote most come first."""
        ann, bob = await office.accounts("ann", "bob")
        session = await office.session(bob)
        await office.room("hall", ann, bob)
        await office.send(ann, "bob")
        await office.send(ann, f"bob/{SESSION}")
        await office.send(session, "#hall")
        clock.step(7)
        await office.send(bob, "#hall")
        await office.send(bob, "#hall")
        found = await flow(office)
        assert pairs(found) == [("bob", "#hall", 3), ("ann", "bob", 2)]
        assert (found.total_pairs, found.total_messages) == (2, 5)
        assert found.pairs[0].last_at_unix_ms == clock.now_ms()
        assert found.since_unix_ms % SLOT_MS == 0
        assert clock.now_ms() - 3_600_000 - SLOT_MS < found.since_unix_ms <= clock.now_ms() - 3_600_000

    async def test_what_is_older_than_the_span_is_not_counted(self, office: Office, clock: HandClock):
        """An hour, a day and a week each have their own numbers."""
        ann, _ = await office.accounts("ann", "bob")
        for step in (5 * DAY_MS, DAY_MS // 2, 60_000):
            await office.send(ann, "bob")
            clock.step(step)
        for secs, messages in ((3_600, 1), (86_400, 2), (604_800, 3)):
            assert (await flow(office, secs=secs)).total_messages == messages

    @pytest.mark.promise("admin.flow-counts-what-was-posted")
    async def test_a_page_holds_the_first_and_says_how_many_there_are(self, office: Office):
        """The same number goes by name."""
        ann, bob, cid = await office.accounts("ann", "bob", "cid")
        for sender in (cid, bob, ann):
            await office.send(sender, "ann")
        await office.send(cid, "bob")
        await office.send(cid, "bob")
        found = await flow(office, limit=2)
        assert pairs(found) == [("cid", "bob", 2), ("ann", "ann", 1)]
        assert (found.total_pairs, found.total_messages) == (4, 5)

    async def test_a_deleted_message_still_counts_and_an_erased_account_or_room_does_not(
        self, office: Office
    ):
        """A room that is made under the old name starts with nothing."""
        ann, bob, _ = await office.accounts("ann", "bob", "cid")
        await office.room("hall", ann)
        letter = await office.send(ann, "bob")
        await office.send(ann, "#hall")
        await office.send(bob, "cid")
        await office.purge_message(letter)
        assert len((await flow(office)).pairs) == 3
        await office.remove_room("hall")
        await office.room("hall", ann)
        await office.remove("cid")
        await office.purge("cid")
        assert pairs(await flow(office)) == [("ann", "bob", 1)]

    async def test_upkeep_forgets_what_is_older_than_a_week(self, office: Office, clock: HandClock):
        """And spares all that a week can still ask for."""
        ann, _ = await office.accounts("ann", "bob")
        await office.send(ann, "bob")
        clock.step(SLOT_MS)
        await office.send(ann, "bob")
        clock.step(7 * DAY_MS)
        await office.administration.retention(office.operator, RetentionRequest(run=True))
        assert (await flow(office, secs=604_800)).total_messages == 1
        counted = await office.store.flow(ParticipantId("root"), 0, 256)
        assert counted.messages == 1

    @pytest.mark.promise("admin.flow-counts-what-was-posted")
    async def test_a_repeat_by_key_is_counted_once(self, office: Office):
        """What posts nothing counts nothing, and neither does what is refused."""
        ann, _ = await office.accounts("ann", "bob")
        for _ in range(3):
            await office.send(ann, "bob", key="once")
        assert (await flow(office)).total_messages == 1

    async def test_only_an_operator_is_told(self, office: Office):
        """Others are refused."""
        ann = await office.account("ann")
        with pytest.raises(PermissionDeniedError):
            await office.administration.flow(ann, FlowRequest())
