"""Two daemons on one PostgreSQL: kills of them and of the server, cuts of all connections, broken disks.

The disk is the server's. CI plays one round of a minute and a fixed seed, in which each fault comes once at
least. M4A_TORTURE_SECS sets another length, M4A_SEED the first seed.
"""

import asyncio
import shutil
import sys
from contextlib import suppress
from pathlib import Path
from random import Random
from subprocess import CalledProcessError

import pytest

from mail4agent_core.mail.postgres.verify import verify
from tests.postgres import PostgresServer, postgres
from tests.process import BOUND_SECS

from .conductor import Conductor
from .cutting import CuttingProxy
from .parties import Site
from .rounds import SECS, WHOLE_SECS, door_of, examined, new_site, nobody_waits, play, seeds


class ServerConductor(Conductor):
    """Kills the server of the database, too, and cuts what leads to it."""

    def __init__(
        self,
        site: Site,
        random: Random,
        accounts: list[str],
        server: PostgresServer,
        links: list[CuttingProxy],
    ) -> None:
        super().__init__(site, random, accounts, server.disk)
        self._server = server
        self._links = links
        self.acts += [self.kill_server, self.kill_server, self.unlink, self.unlink, self.unlink]

    async def kill_server(self) -> None:
        """The server ends as in a crash, and is started again."""
        await self.crash()
        await self.lasts(0.4)
        await self.recover()

    async def crash(self) -> None:
        """The server ends, unless a broken disk has ended it."""
        if await asyncio.to_thread(lambda: self._server.runs):
            with suppress(CalledProcessError):
                await asyncio.to_thread(self._server.stop)

    async def recover(self) -> None:
        """The server takes connections again, by itself or started anew."""
        async with asyncio.timeout(BOUND_SECS):
            while not await asyncio.to_thread(lambda: self._server.answers):
                if not await asyncio.to_thread(lambda: self._server.runs):
                    # What is left of the one before may still hold its memory.
                    with suppress(CalledProcessError):
                        await asyncio.to_thread(self._server.start)
                await self.lasts(0.1)

    async def unlink(self) -> None:
        """All connections of a daemon to the server are reset, and those that follow for a while are cut."""
        link = self.random.choice(self._links)
        link.calm = False
        link.cut_all()
        await self.lasts(0.5)
        link.calm = True
        link.cut_all()


@pytest.mark.promise(
    "mail.acknowledged-send-is-durable",
    "mail.same-key-same-effect",
    "mail.paging-misses-and-repeats-nothing",
    "store.daemons-share-a-database",
    "store.lost-server-is-named",
)
@pytest.mark.timeout(WHOLE_SECS)
@pytest.mark.parametrize("seed", seeds())
async def test_what_clients_of_two_tortured_daemons_were_told_is_what_both_show(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], seed: int
) -> None:
    """Nothing acknowledged is lost or doubled at either, no reader skips, nobody waits for ever."""
    with postgres(faulty=True) as server:
        url = server.create()
        socket = str(server.socket)
        links = [
            CuttingProxy(
                lambda: asyncio.open_unix_connection(socket), Random(seed + n), spared=0.3, longest=9_000
            )
            for n in range(2)
        ]
        for link in links:
            await link.start()
        database = url.partition("?")[0].rpartition("/")[2]
        urls = [f"postgresql://mail@127.0.0.1:{link.port}/{database}" for link in links]
        doors = [
            door_of(tmp_path / f"home-{n}", seed + 10 + n, {"M4A_STORE__URL": url})
            for n, url in enumerate(urls)
        ]
        try:
            await asyncio.to_thread(doors[0].daemon.start)
            doors[1].daemon.home.mkdir(mode=0o700)
            shutil.copy2(doors[0].daemon.home / "operator.key", doors[1].daemon.home / "operator.key")
            await asyncio.to_thread(doors[1].daemon.start)
            site = new_site(doors, seed)
            site.may_be_unknown = True
            await play(site, seed, lambda *given: ServerConductor(*given, server, links))
            for door in doors:
                await nobody_waits(door)
                assert await asyncio.to_thread(door.daemon.stop) == 0
        finally:
            for door in doors:
                door.daemon.kill()
            for link in links:
                await link.close()
        with capsys.disabled():
            cuts = sum((each.done for each in links), doors[0].proxy.done + doors[1].proxy.done)
            sys.stdout.write(
                f"\nM4A_SEED={seed}, {SECS:g} s: {site.ledger.summary}, cuts {dict(cuts)}, "
                f"{server.disk.told}\n"
            )
        assert verify(url) == []
        await asyncio.to_thread(examined, doors[0].daemon.home, {"M4A_STORE__URL": url})
