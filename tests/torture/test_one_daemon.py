"""A daemon on the embedded store, under kills, cuts, broken disks, a moved clock and changed rights at once.

Its disk is full, takes no writes, makes nothing durable, or is slow. CI plays one round of a minute and a
fixed seed, in which each fault comes once at least. M4A_TORTURE_SECS sets another length, M4A_SEED the first
seed.
"""

import asyncio
import sys
from pathlib import Path
from random import Random

import pytest

from mail4agent_core.mail.sqlite.verify import verify
from tests.daemon.disk import Filler, small_disk
from tests.faulty import FaultyDisk

from .conductor import Conductor
from .parties import Site
from .rounds import DISK_MIB, SECS, WHOLE_SECS, door_of, examined, new_site, nobody_waits, play, seeds


class FileConductor(Conductor):
    """The daemon keeps the store: it is what crashes. Its disk is filled for real, too."""

    def __init__(
        self, site: Site, random: Random, accounts: list[str], disk: FaultyDisk, mounted: Path
    ) -> None:
        super().__init__(site, random, accounts, disk)
        self._mounted = mounted
        self.acts += [self.fill_up]

    async def crash(self) -> None:
        """The daemon ends."""
        (door,) = self.site.doors
        door.up.clear()
        door.daemon.kill()

    async def recover(self) -> None:
        """The daemon is started again."""
        (door,) = self.site.doors
        if not door.up.is_set():
            await self._started(door)

    async def fill_up(self) -> None:
        """Nothing more fits for a while."""
        (door,) = self.site.doors
        filler = Filler(self._mounted, door.daemon.pid)
        await asyncio.to_thread(filler.fill)
        killed = self.random.random() < 0.3
        try:
            await self.lasts(0.3)
            if killed:
                await self.crash()
        finally:
            (Filler(self._mounted) if killed else filler).free()
        await self.recover()


@pytest.mark.promise(
    "mail.acknowledged-send-is-durable",
    "mail.same-key-same-effect",
    "mail.paging-misses-and-repeats-nothing",
    "mail.position-never-decreases",
    "account.dead-secret-is-refused",
    "store.broken-disk-is-named",
)
@pytest.mark.timeout(WHOLE_SECS)
@pytest.mark.parametrize("seed", seeds())
async def test_what_clients_of_a_tortured_daemon_were_told_is_what_it_holds(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], seed: int
) -> None:
    """Nothing acknowledged is lost or doubled, no reader skips, nobody waits for ever; doctor is content."""
    with small_disk(tmp_path / "disk", f"{DISK_MIB}m") as mounted:
        disk = FaultyDisk(tmp_path, mounted / "home")
        door = door_of(mounted / "home", seed, disk.environment)
        try:
            await asyncio.to_thread(door.daemon.start)
            site = new_site([door], seed)
            await play(site, seed, lambda *given: FileConductor(*given, disk, mounted))
            await nobody_waits(door)
            assert door.daemon.stop() == 0
        finally:
            door.daemon.kill()
        with capsys.disabled():
            sys.stdout.write(
                f"\nM4A_SEED={seed}, {SECS:g} s: {site.ledger.summary}, cuts {dict(door.proxy.done)}, "
                f"{disk.told}\n"
            )
        assert verify(door.daemon.database) == []
        await asyncio.to_thread(examined, door.daemon.home, {})
