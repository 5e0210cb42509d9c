"""What every store tells of listeners that fail: which are dead, since when, what trying again forgets."""

import pytest

from mail4agent_api.addresses import text_of
from mail4agent_api.mail import (
    AuditRequest,
    ListenerListRequest,
    ListenerPage,
    ListenerRemoveRequest,
    ListenerRetryRequest,
    ListenerState,
    ParticipantId,
)
from mail4agent_core.clock import HandClock
from mail4agent_core.mail.doorbells import DEAD_FAILURES, Turn

from .contract_doorbells import answered, failed, hang, rung, shown, turn
from .office import SESSION, Office


async def fail(office: Office, owner: str, times: int) -> None:
    """Let a listener fail so often in a row, a second between two attempts."""
    for _ in range(times):
        office.clock.step(1_000)
        ring = (await turn(office, owner)).ring
        assert ring is not None
        await turn(office, owner, failed(office, ring))


async def page(office: Office, state: ListenerState = "failing", **fields: object) -> ListenerPage:
    """Listeners as an operator is shown them."""
    request = ListenerListRequest(state=state, **fields)  # pyright: ignore[reportArgumentType]
    return await office.listeners.listener_list(office.operator, request)


async def owners(office: Office, state: ListenerState) -> list[str]:
    """Whose listeners are of a state."""
    found = await page(office, state)
    assert found.total == len(found.listeners)
    return [text_of(each.listener.owner) for each in found.listeners]


class DeadListenerContract:
    """Listeners that fail."""

    @pytest.mark.promise("doorbell.dead-is-shown")
    async def test_a_listener_that_fails_is_listed_and_is_dead_after_five_in_a_row(
        self, office: Office, clock: HandClock
    ):
        """With since when, how often, what waits and when it is tried again; one success ends it all."""
        ann, _, _ = await office.accounts("ann", "bob", "cid")
        await hang(office, "ann", "bob", "cid")
        await office.send(ann, "bob", "waits")
        await office.send(ann, "cid")
        began = clock.now_ms() + 1_000
        await fail(office, "bob", DEAD_FAILURES - 1)
        assert (await owners(office, "failing"), await owners(office, "dead")) == (["bob"], [])
        await fail(office, "bob", 1)
        assert await owners(office, "dead") == ["bob"]
        assert await owners(office, "all") == ["ann", "bob", "cid"]
        (standing,) = (await page(office)).listeners
        assert (standing.dead, standing.failures, standing.failing_since_unix_ms) == (True, 5, began)
        assert standing.retry_at_unix_ms == clock.now_ms() + 1_000
        assert (standing.listener.failure, standing.listener.outstanding) == ("refused", 1)
        assert standing.listener.last_failed_at_unix_ms == clock.now_ms()
        clock.step(1_000)
        assert await rung(office, "bob") == ["waits"]
        assert await owners(office, "failing") == []
        (standing,) = (each for each in (await page(office, "all")).listeners if each.listener.rung)
        assert (standing.dead, standing.failures, standing.failing_since_unix_ms) == (False, 0, None)
        assert standing.retry_at_unix_ms is None

    @pytest.mark.promise("doorbell.dead-is-shown")
    async def test_failing_listeners_are_paged_by_their_owners(self, office: Office):
        """A session's follow its account's; the total is that of all pages."""
        ann, bob = await office.accounts("ann", "bob")
        await office.session(bob)
        names = ["ann", "bob", f"bob/{SESSION}"]
        await hang(office, *names)
        for sender, to in ((ann, "bob"), (bob, "ann")):
            await office.send(sender, to)
        for name in names:
            await fail(office, name, 1)
        seen: list[str] = []
        after = None
        while found := (await page(office, after=after, limit=1)).listeners:
            assert (await page(office, limit=1)).total == 3
            after = found[0].listener.owner
            seen.append(text_of(after))
        assert seen == names

    @pytest.mark.promise("doorbell.dead-is-tried-again")
    async def test_a_dead_listener_that_is_tried_again_is_as_one_just_set(
        self, office: Office, clock: HandClock
    ):
        """Due at once, its counts kept, the deed recorded; what another answers late changes nothing."""
        ann, _ = await office.accounts("ann", "bob")
        await hang(office, "bob")
        await office.send(ann, "bob", "waits")
        await fail(office, "bob", DEAD_FAILURES)
        assert (await turn(office, "bob")).ring is None
        request = ListenerRetryRequest(account=ParticipantId("bob"))
        found = (await office.listeners.listener_retry(office.operator, request)).listener
        assert found is not None
        assert (found.failure, found.outstanding) == (None, 1)
        assert await owners(office, "failing") == []
        assert (await shown(office, "bob")).due_at == 0
        ring = (await turn(office, "bob")).ring
        assert ring is not None
        assert await turn(office, "bob", answered(office, ring)) == Turn()
        (deed, *_) = (await office.administration.audit(office.operator, AuditRequest())).entries
        assert (deed.operation, deed.target) == ("admin.listener.retry", "bob")

    @pytest.mark.promise("doorbell.dead-is-tried-again")
    async def test_a_sessions_listener_is_tried_again_and_ended_by_an_operator(self, office: Office):
        """Its account's is left as it is, and so is everything where there is none."""
        ann, bob = await office.accounts("ann", "bob")
        await office.session(bob)
        owner = f"bob/{SESSION}"
        await hang(office, "bob", owner)
        await office.send(ann, "bob")
        await fail(office, owner, DEAD_FAILURES)
        await fail(office, "bob", DEAD_FAILURES)
        named = {"account": ParticipantId("bob"), "session": SESSION}
        await office.listeners.listener_retry(office.operator, ListenerRetryRequest(**named))
        assert await owners(office, "dead") == ["bob"]
        for _ in range(2):
            await office.listeners.listener_remove(office.operator, ListenerRemoveRequest(**named))
        assert await office.store.doorbells() == ["bob"]
        again = await office.listeners.listener_retry(office.operator, ListenerRetryRequest(**named))
        assert again.listener is None
        assert await owners(office, "dead") == ["bob"]

    @pytest.mark.promise("doorbell.dead-is-tried-again")
    async def test_a_ring_that_was_on_its_way_while_it_was_tried_again_silences_nobody(self, office: Office):
        """Its failure is of the listener before, as it is where another URL was set meanwhile."""
        ann, _ = await office.accounts("ann", "bob")
        await hang(office, "bob")
        await office.send(ann, "bob", "waits")
        request = ListenerRetryRequest(account=ParticipantId("bob"))
        for deed in (
            lambda: office.listeners.listener_retry(office.operator, request),
            lambda: hang(office, "bob", url="http://127.0.0.1:18401/doorbell"),
        ):
            await fail(office, "bob", DEAD_FAILURES)
            office.clock.step(1_000)
            ring = (await turn(office, "bob")).ring
            assert ring is not None
            await deed()
            again = (await turn(office, "bob", failed(office, ring, pause=300_000))).ring
            assert again is not None
            assert await owners(office, "failing") == []
        assert again.doorbell.url == "http://127.0.0.1:18401/doorbell"

    async def test_a_listener_that_is_set_again_does_not_fail_any_more(self, office: Office):
        """Until it does; then since that moment."""
        ann, _ = await office.accounts("ann", "bob")
        await hang(office, "bob")
        await office.send(ann, "bob")
        await fail(office, "bob", DEAD_FAILURES)
        await hang(office, "bob")
        assert await owners(office, "failing") == []
        await fail(office, "bob", 1)
        (standing,) = (await page(office)).listeners
        assert (standing.failing_since_unix_ms, standing.failures) == (office.clock.now_ms(), 1)
