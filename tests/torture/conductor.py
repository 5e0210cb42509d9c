"""Does one bad thing after another to a site, each drawn from a seed, and puts all right at the end."""

from __future__ import annotations

import asyncio
import errno
import os
import signal
from collections.abc import Awaitable, Callable
from contextlib import suppress
from http.client import HTTPException
from random import Random
from typing import Any

from tests.faulty import FaultyDisk
from tests.process import BOUND_SECS

from .parties import WALK, WALKER, Door, Site

Act = Callable[[], Awaitable[None]]
HOUR_MS = 3_600_000


class Conductor:
    """What befalls every site; a kind of store adds its own."""

    def __init__(self, site: Site, random: Random, accounts: list[str], disk: FaultyDisk) -> None:
        self.site = site
        self.random = random
        self._accounts = accounts
        self._disk = disk
        self._inside = True
        self._over = asyncio.Event()
        self.acts: list[Act] = [
            self.kill, self.kill, self.stop, self.freeze, self.cut, self.step_clock, self.rotate,
            self.revoke, self.walk, self.fill, self.fail_writes, self.fail_syncs, self.fail_syncs_and_crash,
            self.slow_syncs,
        ]  # fmt: skip

    async def run(self, secs: float) -> None:
        """Act for so long, between answers that clients get, and until each act was played.

        The acts are dealt as cards are: none comes again before all the others have come.
        """
        loop = asyncio.get_running_loop()
        ends = loop.time() + secs
        for door in self.site.doors:
            door.proxy.calm = False
        deck = self._shuffled()
        while deck or loop.time() < ends:
            await self.site.ledger.after(self.random.randrange(5, 60))
            deck = deck or self._shuffled()
            act = deck.pop()
            began = loop.time()
            await act()
            self.site.ledger.acts.append(f"{act.__name__} {loop.time() - began:.1f} s")
        for door in self.site.doors:
            door.proxy.calm = True
        if not self._inside:
            await self.walk()

    def _shuffled(self) -> list[Act]:
        return self.random.sample(self.acts, len(self.acts))

    async def lasts(self, longest_secs: float) -> None:
        """A fault lasts for a drawn time."""
        with suppress(TimeoutError):
            await asyncio.wait_for(self._over.wait(), self.random.random() * longest_secs)

    async def kill(self) -> None:
        """A daemon ends as in a crash, and is started again."""
        door = self.random.choice(self.site.doors)
        door.up.clear()
        door.daemon.kill()
        await self.lasts(0.1)
        await self._started(door)

    async def stop(self) -> None:
        """A daemon is asked to stop, ends in order within its bound, and is started again."""
        door = self.random.choice(self.site.doors)
        door.up.clear()
        assert await asyncio.to_thread(door.daemon.stop) == 0
        await self._started(door)

    async def _started(self, door: Door) -> None:
        await asyncio.to_thread(door.daemon.start)
        door.up.set()

    async def freeze(self) -> None:
        """A daemon stands still, and goes on."""
        door = self.random.choice(self.site.doors)
        os.kill(door.daemon.pid, signal.SIGSTOP)
        try:
            await self.lasts(0.6)
        finally:
            os.kill(door.daemon.pid, signal.SIGCONT)

    async def cut(self) -> None:
        """All connections of clients to a daemon are reset."""
        self.random.choice(self.site.doors).proxy.cut_all()

    async def fill(self) -> None:
        """The store's disk is full for a while."""
        await self._befalls(lambda: self._disk.fail_writes(errno.ENOSPC))

    async def fail_writes(self) -> None:
        """The store's disk takes no write for a while: each fails after half of it."""
        await self._befalls(self._disk.fail_writes)

    async def fail_syncs(self) -> None:
        """The store's disk makes nothing durable for a while."""
        await self._befalls(self._disk.fail_syncs)

    async def fail_syncs_and_crash(self) -> None:
        """The same, and what keeps the store crashes in it, with what it wrote and could not make durable."""
        await self._befalls(self._disk.fail_syncs, crashes=True)

    async def slow_syncs(self) -> None:
        """The store's disk takes its time for a while."""
        await self._befalls(lambda: self._disk.slow_syncs(self.random.uniform(0.01, 0.3)))

    async def _befalls(self, fault: Callable[[], None], *, crashes: bool = False) -> None:
        before = self._disk.told.total
        crashes = crashes or self.random.random() < 0.2
        fault()
        try:
            await self.lasts(0.4)
            while self._disk.told.total == before:
                await self.site.ledger.after(1)
            if crashes:
                await self.crash()
        finally:
            self._disk.mend()
        await self.recover()

    async def crash(self) -> None:
        """What keeps the store ends as in a crash."""
        raise NotImplementedError

    async def recover(self) -> None:
        """What keeps the store runs again, if it did not go on by itself."""
        raise NotImplementedError

    async def step_clock(self) -> None:
        """The machine's clock is corrected."""
        hand = self.random.choice(self.site.doors).hand
        hand.step(self.random.choice((-HOUR_MS, -5_000, -3, 40, 10_000, HOUR_MS)))

    async def rotate(self) -> None:
        """An account gets another secret, also when it had none."""
        await self._changed(self.random.choice(self._accounts), revoked=False)

    async def revoke(self) -> None:
        """An account's secret is dead for a while, at every door."""
        await self._changed(self.random.choice(self._accounts), revoked=True)

    async def _changed(self, account: str, *, revoked: bool) -> None:
        old = self.site.secrets[account]
        self.site.changing.add(account)
        if revoked:
            await self.administer("admin.participant.revoke", {"id": account})
            await self._is_dead(old)
        issued = await self.administer("admin.participant.rotate", {"id": account})
        self.site.secrets[account] = issued["secret"]
        self.site.changing.discard(account)
        await self._is_dead(old)

    async def _is_dead(self, secret: str) -> None:
        answer = await self._answer("mail.whoami", {}, secret)
        assert answer.get("kind") == "unauthenticated", f"a dead secret was taken: {answer}"

    async def walk(self) -> None:
        """The walker leaves its room, and then sees nothing of it; or it comes back."""
        member = {"room": WALK, "participant": WALKER}
        verb = "remove" if self._inside else "add"
        await self.administer(f"admin.room.member.{verb}", member)
        self._inside = not self._inside
        asked = {"order": "newest", "limit": 200}
        page = await self._answer("mail.inbox", asked, self.site.secrets[WALKER])
        seen = [m["subject"] for m in page["messages"] if m["to"].get("room") == WALK]
        assert self._inside or not seen, f"{WALKER} left and sees {seen}"

    async def administer(self, operation: str, body: Any) -> Any:
        """An operator's change, asked for until it is answered."""
        answer = await self._answer(operation, body, None)
        assert "kind" not in answer, f"{operation} was refused: {answer}"
        return answer

    async def _answer(self, operation: str, body: Any, secret: str | None) -> Any:
        """The first answer, also a refusal, other than that the store cannot now."""
        async with asyncio.timeout(BOUND_SECS):
            while True:
                door = self.random.choice([door for door in self.site.doors if door.up.is_set()])
                with suppress(OSError, HTTPException):
                    status, answer = await asyncio.to_thread(
                        door.daemon.ask, operation, body, secret=secret or self.site.secrets["operator"]
                    )
                    unknown = self.site.may_be_unknown and status == 500
                    if status == 200 or not (unknown or answer["kind"] == "store_unavailable"):
                        return answer
