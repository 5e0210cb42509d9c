"""Parked readers: nothing is missed, nothing is kept, nobody waits for ever."""

import asyncio
from itertools import pairwise
from typing import Any

import pytest

from mail4agent_api.errors import OverloadedError
from mail4agent_daemon.limits import Limits
from mail4agent_daemon.waiting import WAKE_STEP, WAKE_STEP_SECS, Outcome, Waiters, disconnection

FOREVER = 3600.0


@pytest.fixture
def waiters() -> Waiters:
    """Places for two readers of an account, three in all."""
    return Waiters(Limits(parked_max=3, parked_per_account_max=2))


async def parked(waiters: Waiters, *keys: str, account: str = "alice") -> "asyncio.Task[Outcome]":
    """A reader that has reached its wait."""
    ticket = waiters.register(keys, account)

    async def wait() -> Outcome:
        with ticket:
            return await ticket.wait(FOREVER)

    task = asyncio.create_task(wait())
    await asyncio.sleep(0)
    assert not task.done()
    return task


async def test_a_wake_on_any_key_ends_the_wait(waiters: Waiters) -> None:
    """A reader of several boxes is woken by each of them."""
    first = await parked(waiters, "alice", "#desk")
    second = await parked(waiters, "bob", "#desk", account="bob")
    waiters.wake(["alice"])
    assert await first is Outcome.WOKEN
    assert not second.done()
    waiters.wake(["#desk", "nobody"])
    assert await second is Outcome.WOKEN
    assert waiters.parked == 0


async def test_a_wake_between_look_and_wait_is_not_lost(waiters: Waiters) -> None:
    """What is committed after a reader looked and before it waits ends its wait at once."""
    with waiters.register(["alice"], "alice") as ticket:
        box: list[str] = []
        looked = list(box)
        box.append("message")
        waiters.wake(["alice"])
        assert looked == []
        assert await ticket.wait(FOREVER) is Outcome.WOKEN


async def test_a_wake_between_two_waits_is_not_lost(waiters: Waiters) -> None:
    """A reader that was woken for nothing and looks again misses nothing that comes meanwhile."""
    with waiters.register(["alice"], "alice") as ticket:
        waiters.wake(["alice"])
        assert await ticket.wait(FOREVER) is Outcome.WOKEN
        waiters.wake(["alice"])
        assert await ticket.wait(FOREVER) is Outcome.WOKEN
        assert await ticket.wait(0) is Outcome.TIMED_OUT


async def test_many_wakes_are_one(waiters: Waiters) -> None:
    """Wake-ups say that something happened, not how often."""
    with waiters.register(["alice", "#desk"], "alice") as ticket:
        waiters.wake(["alice", "#desk"])
        waiters.wake(["alice"])
        assert await ticket.wait(FOREVER) is Outcome.WOKEN
        assert await ticket.wait(0) is Outcome.TIMED_OUT


async def test_a_wait_ends_with_its_time(waiters: Waiters) -> None:
    """Without a wake-up the time ends the wait, and no timer is left."""
    with waiters.register(["alice"], "alice") as ticket:
        async with asyncio.timeout(20):
            assert await ticket.wait(0.01) is Outcome.TIMED_OUT
    assert waiters.parked == 0


async def test_all_waits_end_at_the_stop_and_no_new_one_begins(waiters: Waiters) -> None:
    """When the daemon drains, everybody is released, whoever comes later too, and no place is counted."""
    tasks = [await parked(waiters, "alice"), await parked(waiters, "bob", account="bob")]
    waiters.close_all()
    assert await asyncio.gather(*tasks) == [Outcome.RELEASED, Outcome.RELEASED]
    assert waiters.draining
    with waiters.register(["alice"], "alice") as ticket:
        assert waiters.parked == 0
        assert await ticket.wait(FOREVER) is Outcome.RELEASED
        waiters.wake(["alice"])
        assert await ticket.wait(FOREVER) is Outcome.RELEASED


async def test_a_change_of_rights_ends_the_waits_it_concerns(waiters: Waiters) -> None:
    """Readers of a released key end, and do not wait again on that ticket; others stay."""
    concerned = await parked(waiters, "alice", "#desk")
    other = await parked(waiters, "bob", account="bob")
    waiters.release(["alice"])
    assert await concerned is Outcome.RELEASED
    assert not other.done()
    waiters.wake(["bob"])
    await other


async def test_released_counts_before_woken(waiters: Waiters) -> None:
    """A reader whose rights changed is not told to look with its old ones."""
    with waiters.register(["alice"], "alice") as ticket:
        waiters.wake(["alice"])
        waiters.release(["alice"])
        assert await ticket.wait(FOREVER) is Outcome.RELEASED


async def test_one_account_cannot_take_all_places(waiters: Waiters) -> None:
    """Past its share an account is refused with a time to come back; another one is not."""
    tickets = [waiters.register(["alice"], "alice") for _ in range(2)]
    with pytest.raises(OverloadedError) as refused:
        waiters.register(["alice"], "alice")
    assert refused.value.refusal.retry_after_secs > 0
    bob = waiters.register(["bob"], "bob")
    tickets[0].close()
    tickets.append(waiters.register(["alice"], "alice"))
    assert waiters.parked == 3
    for ticket in (*tickets, bob):
        ticket.close()
    assert waiters.parked == 0


async def test_all_places_together_are_bounded(waiters: Waiters) -> None:
    """When every place is taken a further account is refused, and nothing of it is kept."""
    tickets = [waiters.register(["#desk"], account) for account in ("a", "b", "c")]
    with pytest.raises(OverloadedError):
        waiters.register(["#desk"], "d")
    for ticket in tickets:
        ticket.close()
        ticket.close()
    assert (waiters.parked, waiters._by_key, waiters._by_account) == (0, {}, {})


async def test_a_cancelled_wait_gives_its_place_back(waiters: Waiters) -> None:
    """A request that is cut leaves nothing behind."""
    task = await parked(waiters, "alice")
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert (waiters.parked, waiters._by_key) == (0, {})


class Client:
    """What a client does after its request: nothing, until it disconnects."""

    def __init__(self) -> None:
        self.events: asyncio.Queue[Any] = asyncio.Queue()
        self.events.put_nowait({"type": "http.request", "body": b"", "more_body": False})

    async def receive(self) -> Any:
        """The next event."""
        return await self.events.get()


async def test_a_client_that_goes_frees_its_place_at_once(waiters: Waiters) -> None:
    """The disconnection ends the wait, and the place is free for the next."""
    client = Client()
    entered = asyncio.Event()

    async def wait() -> Outcome:
        with waiters.register(["alice"], "alice") as ticket, disconnection(client.receive) as gone:
            entered.set()
            return await ticket.wait(FOREVER, gone)

    task = asyncio.create_task(wait())
    await entered.wait()
    assert waiters.parked == 1
    client.events.put_nowait({"type": "http.disconnect"})
    assert await task is Outcome.GONE
    assert waiters.parked == 0


async def test_gone_counts_before_all_else(waiters: Waiters) -> None:
    """For a client that has left no answer is made, also when it was woken or released."""
    gone = asyncio.get_running_loop().create_future()
    gone.set_result(None)
    with waiters.register(["alice"], "alice") as ticket:
        ticket.note()
        ticket.resume()
        ticket.release()
        assert await ticket.wait(FOREVER, gone) is Outcome.GONE


async def test_the_watch_for_a_disconnection_ends_with_its_block() -> None:
    """A wait that ends otherwise leaves no task that reads from the client."""
    client = Client()
    with disconnection(client.receive) as gone:
        await asyncio.sleep(0)
        assert not gone.done()
    with pytest.raises(asyncio.CancelledError):
        await gone
    assert len(asyncio.all_tasks()) <= 2


async def test_wakes_of_one_key_reach_all_its_readers_and_no_others() -> None:
    """A room wakes each of its members once."""
    waiters = Waiters(Limits(parked_max=2000, parked_per_account_max=1))
    members = [await parked(waiters, f"m{n}", "#desk", account=f"m{n}") for n in range(500)]
    others = [await parked(waiters, f"o{n}", account=f"o{n}") for n in range(500)]
    waiters.wake(["#desk"])
    assert set(await asyncio.gather(*members)) == {Outcome.WOKEN}
    assert not any(task.done() for task in others)
    waiters.close_all()
    await asyncio.gather(*others)


async def test_thousands_are_woken_a_few_in_each_turn_and_all_in_the_end() -> None:
    """A room that wakes everybody leaves room for others between them."""
    waiters = Waiters(Limits())
    tasks = [await parked(waiters, "#desk", account=f"a{number}") for number in range(100)]
    waiters.wake(["#desk"])
    await asyncio.sleep(0)
    assert sum(task.done() for task in tasks) <= 2 * WAKE_STEP
    assert await asyncio.gather(*tasks) == [Outcome.WOKEN] * 100
    assert waiters.parked == 0


async def test_a_reader_that_is_told_often_before_it_looks_is_resumed_once() -> None:
    """What waits to be resumed grows with the readers, not with the messages."""
    waiters = Waiters(Limits())
    tasks = [await parked(waiters, "#desk", account=f"a{number}") for number in range(3 * WAKE_STEP)]
    for _ in range(50):
        waiters.wake(["#desk"])
    assert len(waiters._woken) < len(tasks)
    assert await asyncio.gather(*tasks) == [Outcome.WOKEN] * len(tasks)


async def test_readers_of_the_same_keys_share_an_entry(waiters: Waiters) -> None:
    """A wake-up reaches each of them, and the last one that goes takes the entry with it."""
    tickets = [waiters.register(["alice", "#desk"], "alice") for _ in range(2)]
    other = waiters.register(["bob", "#desk"], "bob")
    assert {key: len(groups) for key, groups in waiters._by_key.items()} == {"alice": 1, "#desk": 2, "bob": 1}
    tickets[0].close()
    waiters.wake(["#desk"])
    assert [await ticket.wait(0) for ticket in (*tickets, other)] == [
        Outcome.TIMED_OUT,
        Outcome.WOKEN,
        Outcome.WOKEN,
    ]
    tickets[1].close()
    assert waiters._by_key.keys() == {"#desk", "bob"}
    other.close()
    assert (waiters._by_key, waiters._groups) == ({}, {})


async def test_readers_that_take_long_are_resumed_fewer_at_a_time() -> None:
    """A quick turn is followed by a larger one, up to the most, and a slow one by one of half as many."""
    seconds = 0.0
    waiters = Waiters(Limits(), lambda: seconds)
    tasks = [await parked(waiters, "#desk", account=f"a{number}") for number in range(9 * WAKE_STEP)]
    resumed = [0]
    waiters.wake(["#desk"])
    for slow in (*[False] * WAKE_STEP, True, True, True, True, False, False):
        resumed.append(len(tasks) - len(waiters._woken))
        seconds += WAKE_STEP_SECS * (2 if slow else 0.5)
        await asyncio.sleep(0)
    steps = [after - before for before, after in pairwise(resumed)]
    assert steps == [*range(1, WAKE_STEP + 1), WAKE_STEP, WAKE_STEP // 2, WAKE_STEP // 4, 1, 1, 2]
    assert await asyncio.gather(*tasks) == [Outcome.WOKEN] * len(tasks)
