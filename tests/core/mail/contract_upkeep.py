"""What every store does in upkeep: what retention deletes, and what it spares."""

import pytest

from mail4agent_api.mail import RetentionReport, RetentionRequest
from mail4agent_core.clock import HandClock

from .office import DAY_MS, OTHER_SESSION, SESSION, Office


async def run(office: Office) -> RetentionReport:
    """Run retention now."""
    return await office.administration.retention(office.operator, RetentionRequest(run=True))


class UpkeepContract:
    """Retention, with 180 days."""

    @pytest.mark.promise("admin.retention-spares-unsettled-mail")
    async def test_settled_mail_goes_180_days_after_it_was_settled(self, office: Office, clock: HandClock):
        """The age counts from the acknowledgement, and the report tells the run."""
        ann, bob = await office.accounts("ann", "bob")
        letter = await office.send(ann, "bob", "settled")
        await office.send(ann, "bob", "unsettled")
        clock.step(10 * DAY_MS)
        await office.ack(bob, letter)
        clock.step(180 * DAY_MS)
        assert (await run(office)).removed_messages == 0
        clock.step(1)
        report = await run(office)
        assert (report.keep_days, report.last_run_unix_ms) == (180, clock.now_ms())
        assert report.removed_messages == 1
        assert await office.subjects(bob) == ["unsettled"]
        assert await office.unread(bob) == 1
        assert await office.administration.retention(office.operator, RetentionRequest()) == report

    @pytest.mark.promise("admin.retention-spares-unsettled-mail")
    async def test_unsettled_mail_is_never_removed(self, office: Office, clock: HandClock):
        """Whatever its age and whoever it waits for."""
        ann, bob = await office.accounts("ann", "bob")
        await office.room("hall", ann, bob)
        await office.room("empty")
        await office.session(bob)
        for to in ("bob", "#hall", "#empty", f"bob/{SESSION}"):
            await office.send(ann, to, to)
        clock.step(10_000 * DAY_MS)
        assert (await run(office)).removed_messages == 0
        assert len(await office.sent(ann)) == 4

    async def test_account_mail_is_settled_by_any_address_of_the_account(
        self, office: Office, clock: HandClock
    ):
        """The first acknowledgement of any of them counts."""
        ann, bob = await office.accounts("ann", "bob")
        session = await office.session(bob)
        letter = await office.send(ann, "bob")
        await office.ack(session, letter)
        clock.step(DAY_MS)
        await office.ack(bob, letter)
        clock.step(180 * DAY_MS - 1)
        assert (await run(office)).removed_messages == 1

    async def test_session_mail_is_settled_by_that_session_alone(self, office: Office, clock: HandClock):
        """Neither account nor sibling can; an acknowledgement of its own does."""
        ann, bob = await office.accounts("ann", "bob")
        session = await office.session(bob)
        await office.session(bob, OTHER_SESSION)
        letter = await office.send(ann, f"bob/{SESSION}")
        clock.step(200 * DAY_MS)
        assert (await run(office)).removed_messages == 0
        await office.ack(session, letter)
        clock.step(181 * DAY_MS)
        assert (await run(office)).removed_messages == 1

    async def test_room_mail_is_settled_by_every_present_member(self, office: Office, clock: HandClock):
        """One who has not is waited for; one who left is not; the author's own counts as settled."""
        ann, bob, cid = await office.accounts("ann", "bob", "cid")
        await office.room("hall", ann, bob, cid)
        post = await office.send(ann, "#hall")
        await office.ack(bob, post)
        clock.step(200 * DAY_MS)
        assert (await run(office)).removed_messages == 0
        await office.leave("hall", cid)
        assert (await run(office)).removed_messages == 1

    async def test_history_counts_as_settled_for_who_joined_later(self, office: Office, clock: HandClock):
        """A new member does not hold back what all before it have settled."""
        ann, bob = await office.accounts("ann", "bob")
        await office.room("hall", ann)
        await office.send(ann, "#hall")
        clock.step(200 * DAY_MS)
        await office.join("hall", bob)
        assert (await run(office)).removed_messages == 1

    async def test_what_a_session_inherited_is_not_settled_before_its_acknowledgement(
        self, office: Office, clock: HandClock
    ):
        """A session met after a late acknowledgement does not make it an early one."""
        ann, bob = await office.accounts("ann", "bob")
        letter = await office.send(ann, "bob", "late")
        clock.step(200 * DAY_MS)
        await office.ack(bob, letter)
        await office.session(bob)
        assert (await run(office)).removed_messages == 0
        assert await office.subjects(bob) == ["late"]

    async def test_keys_go_after_seven_days(self, office: Office, clock: HandClock):
        """Within them a repeat gets the first answer; after them it is a message of its own."""
        ann, _ = await office.accounts("ann", "bob")
        first = await office.send(ann, "bob", "once", key="k")
        clock.step(7 * DAY_MS)
        assert (await run(office)).removed_keys == 0
        assert await office.send(ann, "bob", "once", key="k") == first
        clock.step(1)
        assert (await run(office)).removed_keys == 1
        assert await office.send(ann, "bob", "once", key="k") != first

    async def test_retention_leaves_counts_true_in_every_box(self, office: Office, clock: HandClock):
        """Many messages over many steps, some settled, some not, for several readers."""
        ann, bob, cid = await office.accounts("ann", "bob", "cid")
        await office.room("hall", bob, cid)
        sent = [await office.send(ann, ("bob", "#hall")[n % 2], str(n)) for n in range(500)]
        for start in range(0, 500, 250):
            part = sent[start : start + 250]
            await office.ack_many(bob, *(each for n, each in enumerate(part) if n % 5))
            await office.ack_many(cid, *(each for n, each in enumerate(part) if n % 2 and n % 3))
        clock.step(181 * DAY_MS)
        removed = (await run(office)).removed_messages
        kept = [
            str(n)
            for n in range(500)
            if (n % 250) % 5 == 0 or (n % 2 and not ((n % 250) % 2 and (n % 250) % 3))
        ]
        assert await office.walk(bob, limit=100) == kept
        assert removed == 500 - len(kept)
        for reader in (bob, cid):
            assert await office.unread(reader) == len(await office.walk(reader, limit=100, unread_only=True))

    async def test_mail_of_a_removed_account_waits_for_its_purge(self, office: Office, clock: HandClock):
        """Unread mail of a removed account is kept by retention and counted by the purge."""
        ann, _ = await office.accounts("ann", "bob")
        await office.send(ann, "bob")
        await office.remove("bob")
        clock.step(1_000 * DAY_MS)
        assert (await run(office)).removed_messages == 0
        assert await office.purge("bob") == 1
        assert await office.sent(ann) == []
