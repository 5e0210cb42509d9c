"""A store with its doorbells and no door: clock, dice, limits and port owners are the test's."""

import io
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from mail4agent_api.addresses import participant_of
from mail4agent_api.mail import ListenerRecord, ListenerSetRequest, ParticipantId
from mail4agent_core.clock import HandClock
from mail4agent_core.mail.identity import SEND, account_caller
from mail4agent_core.mail.listeners import ListenerDesk
from mail4agent_core.mail.sqlite import SqliteStore
from mail4agent_daemon.doorbells import Doorbells
from mail4agent_daemon.limits import Limits
from mail4agent_daemon.log import Log
from tests.core.mail.office import Office

from .host.served import until

#: The daemon's own port, of this daemon that has none.
OWN_PORT = 18_301


@dataclass
class Tower:
    """What a test works with. ``owners`` says whose process listens on a port."""

    store: SqliteStore
    office: Office
    doorbells: Doorbells
    desk: ListenerDesk
    clock: HandClock
    lines: io.StringIO
    owners: dict[int, int] = field(default_factory=dict[int, int])

    async def hang(self, account: str, url: str, key: str | None = None) -> None:
        """Set an account's listener as an operator does."""
        request = ListenerSetRequest(account=ParticipantId(account), url=url, key=key)
        await self.desk.listener(self.office.operator, request)
        self.doorbells.hear(account)

    async def record(self, owner: str) -> ListenerRecord:
        """A listener as it is shown."""
        address = participant_of(owner)
        found = await self.store.look(lambda registry: registry.listeners_of(address.participant))
        return next(each.record for each in found if each.owner == address)

    async def quiet(self) -> None:
        """Wait until nothing is on its way."""
        bells = self.doorbells
        await until(lambda: not (bells._serving or any(bells._queues) or bells._woken.is_set()))

    async def later(self, ms: int) -> None:
        """Turn the clock, and wait until that has had its effect."""
        self.clock.step(ms)
        self.doorbells.look()
        await self.quiet()

    @property
    def log(self) -> list[dict[str, Any]]:
        """What was logged."""
        return [json.loads(line) for line in self.lines.getvalue().splitlines()]


@asynccontextmanager
async def tower(path: Path, clock: HandClock, seed: int = 0, **limits: Any) -> AsyncIterator[Tower]:
    """One over a database for the length of the block; the dice always show their highest number."""
    store = await SqliteStore.open(path, clock)
    lines = io.StringIO()
    owners: dict[int, int] = {}

    async def owner_of(port: int) -> int | None:
        return owners.get(port)

    bounds = replace(Limits(), **limits)
    doorbells = Doorbells(store, clock, bounds, Log(lines), port_owner=owner_of, dice=lambda: 1.0)
    desk = ListenerDesk(store, clock, own_port=OWN_PORT, port_owner=owner_of)
    try:
        await doorbells.start()
        yield Tower(store, Office(store, clock, seed), doorbells, desk, clock, lines, owners)
    finally:
        await doorbells.close()
        await store.close()


async def sent(bells: Tower, to: str = "bob", subject: str = "subject", sender: str = "ann") -> str:
    """Send one message, as an account that may."""
    return await bells.office.send(account_caller(ParticipantId(sender), (SEND,)), to, subject)
