"""One round of torture: clients, a conductor, and the reckoning when all is quiet again."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from random import Random, SystemRandom
from typing import Any

from tests.connection import Connection
from tests.process import BOUND_SECS, DaemonProcess

from .clocked import ClockHand
from .conductor import Conductor
from .cutting import CuttingProxy
from .ledger import Ledger, Sent
from .parties import END, WALK, WALKER, Client, Door, Reader, Site, Waiter, Writer, position

#: How long the faults of all rounds last together, in seconds.
SECS = float(os.environ.get("M4A_TORTURE_SECS", "60"))
#: A longer torture is many rounds, each of a home and a seed of its own, so that a failure is soon met again.
ROUND_SECS = 60.0 if SECS <= 60 else 240.0  # a minute is one round
WRITERS, READERS = 6, 3
#: A round writes no more than its disk holds: how many messages of a writer that is, and its size in MiB.
MESSAGES_MAX, DISK_MIB = round(25 * ROUND_SECS), round(0.8 * ROUND_SECS)
#: How long a round may take with its beginning and its reckoning, on a busy machine, in seconds.
WHOLE_SECS = 240 + 3 * ROUND_SECS
HALL = "hall"


def seeds() -> list[int]:
    """The rounds' seeds: from M4A_SEED on, or else from a drawn one on where the torture is long."""
    rounds = max(1, round(SECS / ROUND_SECS))
    set_ = os.environ.get("M4A_SEED")
    first = int(set_) if set_ else 90_210 if rounds == 1 else SystemRandom().randrange(1 << 31)
    return list(range(first, first + rounds))


@dataclass
class Crew:
    """Who takes part."""

    writers: list[Writer]
    readers: list[Reader]
    waiters: list[Waiter]

    @property
    def clients(self) -> list[Client]:
        """All connections."""
        return [each.client for each in (*self.writers, *self.readers, *self.waiters)]


def _crew(site: Site) -> Crew:
    names = [f"reader-{number}" for number in range(READERS)]
    targets = [*(f"direct:{name}" for name in names), f"room:{HALL}", f"room:{WALK}", f"direct:{WALKER}"]
    return Crew(
        [Writer(Client(site, f"writer-{number}"), targets, MESSAGES_MAX) for number in range(WRITERS)],
        [Reader(Client(site, name)) for name in names],
        [Waiter(Client(site, name)) for name in names],
    )


def _register(site: Site) -> list[str]:
    daemon = site.doors[0].daemon
    site.secrets["operator"] = daemon.operator
    readers = [f"reader-{number}" for number in range(READERS)]
    accounts = [*readers, WALKER, *(f"writer-{number}" for number in range(WRITERS))]
    for account in accounts:
        site.secrets[account] = daemon.register(account)
    for room, members in ((HALL, readers), (WALK, [WALKER])):
        daemon.do("admin.room", {"id": room})
        for member in members:
            daemon.do("admin.room.member.add", {"room": room, "participant": member})
    return accounts


def door_of(home: Path, seed: int, environment: dict[str, str] | None = None) -> Door:
    """A daemon on a clock that moves, and the proxy before it; not started."""
    hand = ClockHand(home.with_name(f"{home.name}.clock"))
    program = ("tests.torture.clocked", str(hand.path))
    daemon = DaemonProcess(home, environment=environment, program=program)
    proxy = CuttingProxy(
        lambda: asyncio.open_connection("127.0.0.1", daemon.port), Random(seed), spared=0.5, longest=20_000
    )
    return Door(daemon, proxy, hand)


async def play(site: Site, seed: int, conducted: Callable[[Site, Random, list[str]], Conductor]) -> None:
    """Play one round to its reckoning; whatever fails says the seed and what was done."""
    try:
        for door in site.doors:
            await door.proxy.start()
            door.up.set()
        accounts = await asyncio.to_thread(_register, site)
        crew = _crew(site)
        conductor = conducted(site, Random(seed + 1), accounts)
        try:
            async with asyncio.TaskGroup() as reading:
                for reader in crew.readers:
                    reading.create_task(reader.run())
                async with asyncio.TaskGroup() as rest:
                    for each in (*crew.writers, *crew.waiters):
                        rest.create_task(each.run())
                    await conductor.run(min(SECS, ROUND_SECS))
                    site.enough.set()
                end = Sent(END, f"room:{HALL}", keyed=True)
                site.ledger.sent[END] = end
                last = crew.writers[0]
                answer = await last.client.insist(
                    "/mail/send", {**last.letter(end), "idempotency_key": "end"}
                )
                end.message_id = answer["message_id"]
            wrong = [text for writer in crew.writers for text in await writer.repeats()]
            await _wakes(crew)
        finally:
            for client in crew.clients:
                await client.close()
        assert wrong == []
        for door in site.doors:
            await _reckon(site, door)
    except BaseException as fault:
        fault.add_note(f"M4A_SEED={seed}: {site.ledger.summary}; last acts {site.ledger.acts[-12:]}")
        raise
    finally:
        for door in site.doors:
            await door.proxy.close()


async def _wakes(crew: Crew) -> None:
    """In quiet, everybody who waits is woken by the next mail, and none of them was left behind."""
    for waiter in crew.waiters:
        await waiter.once(0)
    before = [waiter.newest for waiter in crew.waiters]
    ledger, writer = crew.waiters[0].client.site.ledger, crew.writers[0]
    # Less than the waits last: one that is only ended by its time was not woken.
    async with asyncio.timeout(BOUND_SECS / 2), asyncio.TaskGroup() as waiting:
        for waiter in crew.waiters:
            waiting.create_task(waiter.once(int(BOUND_SECS)))
        sent = Sent("wake", f"room:{HALL}", keyed=True)
        ledger.sent["wake"] = sent
        answer = await writer.client.insist("/mail/send", writer.letter(sent))
        sent.message_id = answer["message_id"]
    for waiter, was in zip(crew.waiters, before, strict=True):
        # The newest position is read before what ends a wait: an answer may be woken by mail that it does not
        # tell of yet, and then the next wait ends at once.
        async with asyncio.timeout(BOUND_SECS / 2):
            while waiter.newest is None or waiter.newest["message_id"] != sent.message_id:
                await waiter.once(int(BOUND_SECS))
        assert sent.message_id != (was or {}).get("message_id")
    assert ledger.waits_begun == ledger.waits_ended


async def _reckon(site: Site, door: Door) -> None:
    """The ledger and the store agree, as one door shows it."""
    wrong: list[str] = []
    names = [f"reader-{number}" for number in range(READERS)]
    for name in [*names, WALKER]:
        connection = Connection(door.daemon.port, site.secrets[name])
        try:
            held = await _walk(connection)
            unread = {message["message_id"] for message in await _walk(connection, unread_only=True)}
        finally:
            await connection.close()
        rooms = {f"room:{WALK}"} if name == WALKER else {f"room:{HALL}"}
        wrong += site.ledger.differences(name, {f"direct:{name}", *rooms}, held)
        if name in site.ledger.seen:
            ids = [message["message_id"] for message in held]
            seen = [message["message_id"] for message in site.ledger.seen[name]]
            if seen != ids[: ids.index(seen[-1]) + 1]:
                skipped = [i for i in ids if i not in set(seen)]
                wrong.append(f"{name} walked over {len(seen)} of {len(ids)}, and not over {skipped[:9]}")
            wrong += [
                f"{name} has {i} unread, which it acknowledged" for i in site.ledger.acked[name] & unread
            ]
            missing = set(ids) - site.ledger.acked[name] - unread
            wrong += [f"{name} has {i} read, which it never acknowledged" for i in missing]
    assert wrong == [], "\n".join(wrong[:30])


async def _walk(connection: Connection, **more: Any) -> list[dict[str, Any]]:
    messages: list[dict[str, Any]] = []
    while True:
        after = position(messages[-1]) if messages else None
        page = await connection.do("/mail/inbox", {"after": after, "limit": 256, **more})
        if not page["messages"]:
            return messages
        messages += page["messages"]


async def nobody_waits(door: Door) -> None:
    """No reader is left parked by a connection that was cut."""
    async with asyncio.timeout(BOUND_SECS):
        while await asyncio.to_thread(door.daemon.figure, "mail4agent_parked_readers"):
            pass


def examined(home: Path, environment: Mapping[str, str]) -> None:
    """``doctor`` finds nothing bad in a home, but for the disk that is small on purpose."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith("M4A_")}
    ended = subprocess.run(
        [sys.executable, "-m", "mail4agent_daemon", "doctor", "--json"],
        env={**clean, "M4A_HOME": str(home), **environment},
        capture_output=True,
        timeout=BOUND_SECS,
        check=False,
    )
    findings = json.loads(ended.stdout)["findings"]
    assert {each["check"] for each in findings} > {"home", "database", "key"}
    assert [each for each in findings if each["state"] == "bad" and each["check"] != "disk"] == []


def new_site(doors: list[Door], seed: int) -> Site:
    """A site with an empty ledger."""
    return Site(doors, Ledger(), Random(seed))
