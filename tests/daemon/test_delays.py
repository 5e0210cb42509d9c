"""A wrong secret is refused late: how late, for whom, and that this can wear nothing out."""

import asyncio
from collections.abc import Callable

import pytest

from mail4agent_daemon import delays as module
from mail4agent_daemon.delays import Delays
from mail4agent_daemon.link import Link
from mail4agent_daemon.peer import Peer

from .host.served import BOUND_SECS, until
from .inside import Inside

SHOWN = [(b"authorization", b"Bearer wrong")]


class HandTimer:
    """One call that a test lets come."""

    def __init__(self, secs: float, call: Callable[[], None]) -> None:
        self.secs = secs
        self.call = call
        self.cancelled = False

    def cancel(self) -> None:
        self.cancelled = True


class HandLater:
    """Keeps the calls that are to come."""

    def __init__(self) -> None:
        self.timers: list[HandTimer] = []

    def __call__(self, secs: float, call: Callable[[], None]) -> HandTimer:
        self.timers.append(HandTimer(secs, call))
        return self.timers[-1]


def a_link() -> Link:
    """A connection."""
    return Link(Peer("tcp"))


async def begun(delays: Delays, link: Link) -> "asyncio.Task[None]":
    """A refusal that is being held back, or is over already."""
    task = asyncio.create_task(delays.failed(link, SHOWN))
    await asyncio.sleep(0)
    return task


async def ended(task: "asyncio.Task[None]") -> None:
    """Wait for its end, for a bounded time."""
    async with asyncio.timeout(BOUND_SECS):
        await task


@pytest.mark.promise("limits.a-wrong-secret-is-refused-late")
async def test_each_failure_on_a_connection_waits_twice_as_long_up_to_two_seconds() -> None:
    """A good secret begins anew, and so does another connection."""
    later = HandLater()
    delays, link = Delays(0.1, later), a_link()
    for _ in range(7):
        task = await begun(delays, link)
        later.timers[-1].call()
        await ended(task)
    delays.passed(link)
    for each in (link, a_link()):
        task = await begun(delays, each)
        later.timers[-1].call()
        await ended(task)
    assert [timer.secs for timer in later.timers] == [0.1, 0.2, 0.4, 0.8, 1.6, 2.0, 2.0, 0.1, 0.1]
    assert (len(delays), delays.delayed, delays.undelayed) == (0, 9, 0)


async def test_who_shows_no_secret_is_not_held_back() -> None:
    """Nothing was guessed, and nothing is counted."""
    later = HandLater()
    delays, link = Delays(0.1, later), a_link()
    await delays.failed(link, [(b"host", b"localhost")])
    assert (later.timers, link.failures) == ([], 0)


@pytest.mark.promise("limits.a-wrong-secret-is-refused-late")
async def test_a_release_ends_what_is_held_back_and_what_would_be() -> None:
    """When the connection ends or the daemon stops; the timer is not left behind."""
    later = HandLater()
    delays, link = Delays(0.1, later), a_link()
    task = await begun(delays, link)
    assert len(delays) == 1
    link.release()
    await ended(task)
    await delays.failed(link, SHOWN)
    assert ([timer.cancelled for timer in later.timers], len(delays)) == ([True], 0)


@pytest.mark.promise("limits.delays-wear-nothing-out")
async def test_one_too_many_is_refused_at_once_and_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    """However many guess at once, a bounded number of them is held."""
    monkeypatch.setattr(module, "DELAYED_MAX", 3)
    later = HandLater()
    delays = Delays(0.1, later)
    tasks = [await begun(delays, a_link()) for _ in range(3)]
    link = a_link()
    await delays.failed(link, SHOWN)
    assert (len(delays), delays.undelayed, link.failures) == (3, 1, 1)
    for timer in later.timers:
        timer.call()
    for task in tasks:
        await ended(task)
    assert len(delays) == 0


async def test_a_cancelled_request_leaves_nothing_held() -> None:
    """As when the stop cuts it."""
    later = HandLater()
    delays, link = Delays(0.1, later), a_link()
    task = await begun(delays, link)
    task.cancel()
    await asyncio.wait({task})
    assert (later.timers[0].cancelled, len(delays), link.on_release) == (True, 0, None)


async def test_nothing_is_held_back_where_that_is_set() -> None:
    """With 0 every refusal comes at once."""
    later = HandLater()
    delays = Delays(0.0, later)
    await delays.failed(a_link(), SHOWN)
    assert later.timers == []


@pytest.fixture
def endless(monkeypatch: pytest.MonkeyPatch) -> None:
    """Delays that no test waits out."""
    monkeypatch.setattr(Delays.__init__, "__defaults__", (HandLater(),))


def held(inside: Inside) -> int:
    """How many refusals the daemon holds back."""
    return len(inside.made.delays)


@pytest.mark.usefixtures("endless")
@pytest.mark.promise("limits.a-wrong-secret-is-refused-late")
async def test_only_the_guessing_connection_waits(inside: Inside) -> None:
    """Others, the same account's among them, are answered meanwhile; a missing header too."""
    inside.keys["guess"] = "0" * 64
    wire = await inside.connect()
    await wire.send(inside.request("/mail/whoami", b"", "guess"))
    await until(lambda: held(inside) == 1)
    assert (await inside.post("/mail/whoami", b"", "ada")).status == 200
    assert (await inside.post("/mail/whoami", b"", None)).status == 401
    assert held(inside) == 1
    await inside.stopped()
    answer = await wire.answer()
    assert (answer.status, answer.json) == (401, {"kind": "unauthenticated"})


@pytest.mark.usefixtures("endless")
@pytest.mark.promise("limits.delays-wear-nothing-out")
async def test_a_client_that_leaves_is_not_waited_for(inside: Inside) -> None:
    """Its place is free at once, also when it had begun to send a body."""
    inside.keys["guess"] = "0" * 64
    for request in (
        inside.request("/mail/whoami", b"", "guess"),
        inside.request("/mail/send", b"x" * 100_000, "guess"),
    ):
        wire = await inside.connect()
        await wire.send(request)
        await until(lambda: held(inside) == 1)
        wire.close()
        await until(lambda: held(inside) == 0)
    await until(lambda: len(inside.made.connections) == 0)


@pytest.mark.usefixtures("endless")
@pytest.mark.promise("limits.delays-wear-nothing-out")
async def test_many_connections_with_wrong_secrets_keep_nobody_out(
    inside: Inside, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Past the bound they are refused at once, and a good secret is served throughout."""
    monkeypatch.setattr(module, "DELAYED_MAX", 20)
    inside.keys["guess"] = "0" * 64
    wires = [await inside.connect() for _ in range(60)]
    for wire in wires:
        await wire.send(inside.request("/mail/whoami", b"", "guess"))
    await until(lambda: held(inside) + inside.made.delays.undelayed == 60)
    assert held(inside) == 20
    assert (await inside.post("/mail/whoami", b"", "ada")).status == 200
    told = (await inside.get("/metrics")).body.decode()
    assert "mail4agent_held_refusals 20.0" in told
    assert 'mail4agent_wrong_secrets_total{held="no"} 40.0' in told
