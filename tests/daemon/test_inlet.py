"""The way of a request's events to the application."""

import asyncio
from typing import Any

import pytest

from mail4agent_daemon.inlet import Inlet

GONE: Any = {"type": "http.disconnect"}


def part(number: int) -> Any:
    """One event of a body."""
    return {"type": "http.request", "body": b"%d" % number, "more_body": True}


@pytest.fixture
def inlet() -> Inlet:
    """A way for two events at once."""
    return Inlet(2)


async def test_events_come_out_in_order(inlet: Inlet) -> None:
    """A reader that waits gets each event, a disconnection after all others, and that one for ever."""
    reading = asyncio.create_task(inlet.get())
    await asyncio.sleep(0)
    await inlet.put(part(0))
    assert await reading == part(0)
    await inlet.put(part(1))
    await inlet.put(GONE)
    assert [await inlet.get() for _ in range(3)] == [part(1), GONE, GONE]


async def test_a_full_inlet_holds_its_writer_until_there_is_room(inlet: Inlet) -> None:
    """An application that does not read holds the client back instead of filling memory."""
    await inlet.put(part(0))
    await inlet.put(part(1))
    writing = asyncio.create_task(inlet.put(part(2)))
    await asyncio.sleep(0)
    assert not writing.done()
    assert await inlet.get() == part(0)
    async with asyncio.timeout(20):
        await writing
    assert [await inlet.get() for _ in range(2)] == [part(1), part(2)]


async def test_a_disconnection_passes_a_full_inlet_and_frees_its_writer(inlet: Inlet) -> None:
    """Whoever waits for room when the request ends is let go; its event and later ones are discarded."""
    await inlet.put(part(0))
    await inlet.put(part(1))
    writing = asyncio.create_task(inlet.put(part(2)))
    await asyncio.sleep(0)
    async with asyncio.timeout(20):
        await inlet.put(GONE)
        await writing
        await inlet.put(part(3))
    assert [await inlet.get() for _ in range(4)] == [part(0), part(1), GONE, GONE]


async def test_all_readers_learn_of_the_disconnection(inlet: Inlet) -> None:
    """A watcher beside the reader is not left waiting."""
    readers = [asyncio.create_task(inlet.get()) for _ in range(2)]
    await asyncio.sleep(0)
    await inlet.put(GONE)
    async with asyncio.timeout(20):
        assert await asyncio.gather(*readers) == [GONE, GONE]
