"""/health and /metrics: what they say is true, recent, and names nobody."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from mail4agent_api.errors import StoreUnavailableError
from mail4agent_core.clock import HandClock
from mail4agent_daemon.health import HealthCheck

from .host.served import until
from .inside import Inside

pytestmark = pytest.mark.promise("daemon.health-is-a-real-answer")


class Numbers:
    """A store of numbers that does as it is told."""

    def __init__(self) -> None:
        self.beats: list[int] = []
        self.held = asyncio.Event()
        self.held.set()
        self.answer: Callable[[int], int | None] = lambda value: value

    async def remember(self, name: str, value: int | None) -> int | None:
        """Keep a number."""
        assert value is not None
        self.beats.append(value)
        await self.held.wait()
        return self.answer(value)


class Ticks:
    """A monotonic clock that moves when told to."""

    now = 100.0

    def __call__(self) -> float:
        """Seconds."""
        return self.now


@pytest.fixture
def numbers() -> Numbers:
    """The store."""
    return Numbers()


@pytest.fixture
def ticks() -> Ticks:
    """The time."""
    return Ticks()


@pytest.fixture
def check(numbers: Numbers, ticks: Ticks) -> HealthCheck:
    """A check on both."""
    store: Any = numbers
    return HealthCheck(store, HandClock(1_700_000_000_999), "1.2.3", ticks)


async def test_health_has_the_originals_seven_keys(check: HealthCheck, ticks: Ticks) -> None:
    """Its start in UTC to the second, and how long ago that was."""
    ticks.now += 61.9
    assert (await check.answer()).model_dump() == {
        "ok": True,
        "service": "mail4agent",
        "version": "1.2.3",
        "started_at": "2023-11-14T22:13:20Z",
        "uptime_secs": 61,
        "dependencies": [],
        "background_tasks": [],
    }


async def test_an_answer_is_two_seconds_old_at_most(
    check: HealthCheck, numbers: Numbers, ticks: Ticks
) -> None:
    """Within two seconds a beat serves all who ask; past them the store is asked anew."""
    for elapsed, beats in ((0, 1), (1.9, 1), (0.2, 2), (3600, 3)):
        ticks.now += elapsed
        await check.answer()
        assert len(numbers.beats) == beats


async def test_the_age_counts_from_the_beginning_of_the_beat(
    check: HealthCheck, numbers: Numbers, ticks: Ticks
) -> None:
    """A write that took long says nothing of the time after it began."""
    numbers.held.clear()
    asking = asyncio.create_task(check.answer())
    await until(lambda: bool(numbers.beats))
    ticks.now += 5
    numbers.held.set()
    await asking
    await check.answer()
    assert len(numbers.beats) == 2


async def test_those_who_ask_together_share_one_beat(check: HealthCheck, numbers: Numbers) -> None:
    """A crowd at the door is one write; that one of it goes away takes nothing from the others."""
    numbers.held.clear()
    asking = [asyncio.create_task(check.answer()) for _ in range(50)]
    await until(lambda: bool(numbers.beats))
    asking[0].cancel()
    await asyncio.sleep(0)
    numbers.held.set()
    assert all(answer.ok for answer in await asyncio.gather(*asking[1:]))
    assert len(numbers.beats) == 1


@pytest.mark.parametrize("answer", [lambda _: None, lambda value: value - 1], ids=["nothing", "an old value"])
async def test_a_store_that_gives_another_number_back_is_not_well(
    check: HealthCheck, numbers: Numbers, answer: Callable[[int], int | None]
) -> None:
    """What was written must be what is read."""
    numbers.answer = answer
    with pytest.raises(StoreUnavailableError):
        await check.answer()


async def test_a_beat_never_repeats_the_number_before(
    check: HealthCheck, numbers: Numbers, ticks: Ticks
) -> None:
    """With the clock standing still, too, a stale number cannot pass for a fresh one."""
    for _ in range(3):
        await check.answer()
        ticks.now += 10
    assert len(set(numbers.beats)) == 3


async def test_a_write_that_hangs_counts_as_a_store_that_is_gone(
    check: HealthCheck, numbers: Numbers, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The answer comes in time, and the next one is asked for anew."""
    monkeypatch.setattr("mail4agent_daemon.health.BEAT_TIMEOUT_SECS", 0)
    numbers.held.clear()
    with pytest.raises(StoreUnavailableError):
        await check.answer()
    numbers.held.set()
    monkeypatch.setattr("mail4agent_daemon.health.BEAT_TIMEOUT_SECS", 20)
    assert (await check.answer()).ok


async def test_health_writes_into_the_very_store_that_holds_the_mail(inside: Inside) -> None:
    """The number was not there before and is afterwards; upkeep may commit beside it."""
    assert await inside.made.store.remember("health.beat", None) is None
    before = inside.made.store.figures.commits
    answer = await inside.get("/health")
    assert (answer.status, answer.json["ok"], answer.json["service"]) == (200, True, "mail4agent")
    assert inside.made.store.figures.commits > before
    assert await inside.made.store.remember("health.beat", None) is not None


async def test_health_of_a_store_that_is_gone_is_a_refusal(inside: Inside) -> None:
    """Who watches the daemon sees it at once."""
    await inside.made.store.close()
    answer = await inside.get("/health")
    assert (answer.status, answer.json) == (503, {"kind": "store_unavailable", "operation": "health"})
    assert answer.header("retry-after")


async def test_metrics_count_and_name_nobody(inside: Inside) -> None:
    """Requests by path and status, waits, connections and commits; no account, address, id or secret."""
    await inside.send("ada", "ben")
    await inside.post("/mail/send", {}, "ada")
    await inside.get("/no/such/path")
    await inside.park("/mail/wait", {"wait_secs": 60}, "eve")
    answer = await inside.get("/metrics")
    text = answer.body.decode()
    assert answer.header("content-type") == "text/plain; version=0.0.4; charset=utf-8"
    for line in (
        'mail4agent_requests_total{route="/mail/send",status="200"} 1.0',
        'mail4agent_requests_total{route="/mail/send",status="400"} 1.0',
        'mail4agent_requests_total{route="none",status="404"} 1.0',
        "mail4agent_parked_readers 1.0",
        "mail4agent_store_faults_total 0.0",
    ):
        assert line in text.splitlines()
    assert not [
        word for word in ("ada", "ben", "eve", "operator", "/no/such", *inside.keys.values()) if word in text
    ]


async def test_a_stranger_cannot_make_the_metrics_grow(inside: Inside) -> None:
    """Paths and methods that are not ours all count as one."""

    async def size() -> int:
        text = (await inside.get("/metrics")).body.decode()
        return len([line for line in text.splitlines() if not line.startswith("#")])

    await inside.get("/none/of/ours")
    before = await size()
    before = await size()
    for number in range(20):
        await inside.get(f"/none/of/ours/{number}")
    assert await size() == before
