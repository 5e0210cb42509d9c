"""A daemon on the embedded store, under kills, cuts, a full disk, a moved clock and changed rights at once.

CI plays one short round of a fixed seed. M4A_TORTURE_SECS sets another length, M4A_SEED the first seed.
"""

import asyncio
import sys
from pathlib import Path
from random import Random

import pytest

from mail4agent_core.mail.sqlite.verify import verify
from tests.daemon.disk import Filler, small_disk

from .conductor import Conductor
from .parties import Site
from .rounds import SECS, WALK, WALKER, door_of, examined, new_site, nobody_waits, play, seeds


class DiskConductor(Conductor):
    """Fills the daemon's disk, too, and sometimes kills the daemon while it is full."""

    def __init__(self, site: Site, random: Random, accounts: list[str], disk: Path) -> None:
        super().__init__(site, random, accounts, WALKER, WALK)
        self._disk = disk
        self.acts += [self.fill, self.fill]

    async def fill(self) -> None:
        """Nothing fits for a while."""
        (door,) = self.site.doors
        filler = Filler(self._disk, door.daemon.pid)
        await asyncio.to_thread(filler.fill)
        killed = self.random.random() < 0.3
        try:
            await self.lasts(0.3)
            if killed:
                door.up.clear()
                door.daemon.kill()
        finally:
            (Filler(self._disk) if killed else filler).free()
        if killed:
            await self._started(door)


@pytest.mark.promise(
    "mail.acknowledged-send-is-durable",
    "mail.same-key-same-effect",
    "mail.paging-misses-and-repeats-nothing",
    "mail.position-never-decreases",
    "account.dead-secret-is-refused",
    "store.broken-disk-is-named",
)
@pytest.mark.timeout(240)
@pytest.mark.parametrize("seed", seeds())
async def test_what_clients_of_a_tortured_daemon_were_told_is_what_it_holds(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], seed: int
) -> None:
    """Nothing acknowledged is lost or doubled, no reader skips, nobody waits for ever; doctor is content."""
    with small_disk(tmp_path / "disk", "48m") as disk:
        door = door_of(disk / "home", seed)
        try:
            await asyncio.to_thread(door.daemon.start)
            site = new_site([door], seed)
            await play(site, seed, lambda site, random, accounts: DiskConductor(site, random, accounts, disk))
            await nobody_waits(door)
            assert door.daemon.stop() == 0
        finally:
            door.daemon.kill()
        with capsys.disabled():
            sys.stdout.write(
                f"\nM4A_SEED={seed}, {SECS:g} s: {site.ledger.summary}, cuts {dict(door.proxy.done)}\n"
            )
        assert verify(door.daemon.database) == []
        await asyncio.to_thread(examined, door.daemon.home, {})
