"""Sessions of a store that daemons on several machines share."""

import pytest

from mail4agent_api.mail import ParticipantId
from mail4agent_core.clock import HandClock
from mail4agent_core.ids import SeededIds
from mail4agent_core.mail.memory import MemoryStore
from mail4agent_core.mail.process import Evidence, ProcessId
from mail4agent_core.mail.session import Session
from mail4agent_core.mail.sessions import CREDENTIAL_MS, LIVE_MS, Sessions

from .office import Office

BOOT_MS = 1_600_000_000_000
ANN = ParticipantId("ann")


class Machine:
    """A daemon on a machine of its own, over the same store as the others."""

    def __init__(self, store: MemoryStore, clock: HandClock, boot: str, seed: int) -> None:
        self.boot = boot
        self.running: set[ProcessId] = set()
        self.sessions = Sessions(
            store,
            clock,
            SeededIds(seed),
            alive=self.running.__contains__,
            parked=lambda _: False,
            shared=True,
        )

    async def begin(self) -> None:
        """Start."""
        await self.sessions.prepare(self.boot, BOOT_MS)


async def session_of(store: MemoryStore) -> Session:
    """The one session that there is."""
    (found,) = await store.look(lambda registry: registry.sessions.listed(0, 9))
    return found


@pytest.mark.promise("store.daemons-share-a-database")
async def test_a_process_of_another_machine_lives_until_its_own_daemon_says_otherwise(
    memory_store: MemoryStore, clock: HandClock
):
    """A daemon that cannot see it does not bury it, and believes the one that can."""
    await Office(memory_store, clock).accounts("ann")
    here, there = Machine(memory_store, clock, "here", 1), Machine(memory_store, clock, "there", 2)
    await here.begin()
    await there.begin()
    process = ProcessId("there", 1, 7)
    there.running.add(process)
    await there.sessions.meet(ANN, Evidence(process))
    clock.step(LIVE_MS * 2)
    await here.sessions.flush()
    session = await session_of(memory_store)
    assert session.dead_at is None
    assert here.sessions.live(session)
    assert there.sessions.live(session)
    there.running.clear()
    await there.sessions.flush()
    session = await session_of(memory_store)
    assert session.dead_at == clock.now_ms()
    assert not here.sessions.live(session)


@pytest.mark.promise("store.daemons-share-a-database")
async def test_a_process_whose_machine_is_gone_is_dead_after_a_day(
    memory_store: MemoryStore, clock: HandClock
):
    """Nobody else can say so any more."""
    await Office(memory_store, clock).accounts("ann")
    here, there = Machine(memory_store, clock, "here", 1), Machine(memory_store, clock, "there", 2)
    await here.begin()
    await there.begin()
    await there.sessions.meet(ANN, Evidence(ProcessId("there", 1, 7)))
    clock.step(CREDENTIAL_MS - 1)
    assert here.sessions.live(await session_of(memory_store))
    clock.step(1)
    assert not here.sessions.live(await session_of(memory_store))
    await here.sessions.flush()
    assert (await session_of(memory_store)).dead_at == clock.now_ms()
