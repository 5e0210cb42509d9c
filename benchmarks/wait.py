"""Waiting at scale: how soon a woken reader is answered, what a parked one weighs, how soon all can go.

Every reader is an account and a connection of its own, parked on ``mail.inbox`` or ``mail.wait`` in turn. The
daemon is one process; the readers and the sender are in this one, so that their memory is not counted.
"""

import asyncio
import os
import random
import signal
from time import perf_counter

import crowd
import load
import subjects
from measure import Report, Series, arguments, latency, percentile

PARKED = 5_000
#: How many of them are in one room.
MEMBERS = 2_000
#: How many wait when a daemon is stopped.
STOPPED = 1_000
SENDS = 250
POSTS = 3
#: What a reader is given to be parked again before the next send, in seconds.
SETTLE_SECS = 0.005
ROOM = "hall"
SEED = 20_261_201
#: All readers are of this one process, whose thousands of descriptors would be looked through for each proof.
SETTINGS = {"M4A_IDENTITY__ATTESTATION": "off"}


async def sends(readers: list[crowd.Reader], sender: load.Connection, secret: str) -> dict[str, float]:
    """Each send wakes one reader; the readers are drawn at random."""
    rnd = random.Random(SEED)
    took: list[float] = []
    wakes: list[float] = []
    for _ in range(SENDS):
        reader = rnd.choice(readers)
        begun = perf_counter()
        answered_at = await sent(sender, subjects.send_request(secret, reader.name))
        await reader.woken()
        took.append(answered_at - begun)
        wakes.append(reader.answered_at - answered_at)
        reader.park()
        await asyncio.sleep(SETTLE_SECS)
    return {
        "send p50 ms": latency(took)["p50 ms"],
        **{f"wake {name}": value for name, value in latency(wakes).items()},
    }


async def posts(
    members: list[crowd.Reader], sender: load.Connection, bystander: load.Connection, secret: str
) -> dict[str, float]:
    """Each post wakes all members at once; meanwhile somebody else asks one thing after the other."""
    wakes: list[float] = []
    beside: list[float] = []
    last: list[float] = []
    body = {**subjects.message(), "to": {"kind": "room", "room": ROOM}}
    post = load.request("POST", "/mail/send", body, subjects.bearer(secret))
    ask = load.request("POST", "/mail/whoami", {}, subjects.bearer(secret))
    for _ in range(POSTS):
        answered_at = await sent(sender, post)
        waking = asyncio.gather(*(reader.woken() for reader in members))
        while not waking.done():
            begun = perf_counter()
            await bystander.ask(ask)
            beside.append(perf_counter() - begun)
        await waking
        after = [reader.answered_at - answered_at for reader in members]
        wakes += after
        last.append(max(after))
        for some in crowd.in_batches(members, crowd.PREPARING):
            for reader in some:
                reader.park()
            await bystander.ask(ask)
    return {
        "median member ms": percentile(wakes, 0.5) * 1000,
        "last member ms": max(last) * 1000,
        "another's request p50 ms": percentile(beside, 0.5) * 1000,
        "its longest ms": max(beside) * 1000,
    }


async def sent(sender: load.Connection, raw: bytes) -> float:
    """Send, and say when that was answered."""
    answer = await sender.ask(raw)
    answered_at = perf_counter()
    if answer.status != 200:
        raise RuntimeError(f"a send was answered {answer.status} {answer.body!r}")
    return answered_at


async def stopped(here: crowd.Crowd) -> dict[str, float]:
    """Seconds from the signal until every reader has its empty page, and until the process is gone."""
    used = here.server.cpu()
    begun = perf_counter()
    os.kill(here.server.pid, signal.SIGTERM)
    for reader in here.readers:
        await reader.emptied()
    answered = max(reader.answered_at for reader in here.readers) - begun
    await asyncio.to_thread(os.waitid, os.P_PID, here.server.pid, os.WEXITED | os.WNOWAIT)
    figures = {"all answered s": answered, "ended s": perf_counter() - begun}
    # What the process used can be read until its parent has waited for it.
    used_in_all = here.server.cpu()
    if used is not None and used_in_all is not None:
        figures["cpu s"] = used_in_all - used
    return figures


async def alone(
    daemon: subjects.Server, secrets: list[tuple[str, str]], sender: load.Connection, secret: str
) -> dict[str, float]:
    """The same with one reader in all."""
    one = await crowd.gathered(daemon, secrets[-1:])
    await one.park()
    figures = await sends(one.readers, sender, secret)
    await one.leave()
    return figures


class Waiting:
    """What is measured on one daemon."""

    def __init__(self) -> None:
        self.few = Series("1 parked")
        self.many = Series(f"{PARKED:,} parked")
        self.room = Series(f"{MEMBERS:,} members")
        self.weight = Series("KiB a reader")

    async def measure(self, daemon: subjects.Server, rounds: int) -> None:
        """All but the stop."""
        (secret,) = (await subjects.accounts(daemon, "writer")).values()
        secrets = await crowd.registered(daemon, PARKED)
        await crowd.prepared(daemon, "/admin/room", [{"id": ROOM}])
        members = [{"room": ROOM, "participant": name} for name, _ in secrets[:MEMBERS]]
        await crowd.prepared(daemon, "/admin/room/member/add", members)
        sender, bystander = await load.connect(daemon.port, 2)
        await alone(daemon, secrets, sender, secret)
        for _ in range(rounds):
            self.few.rounds.append(await alone(daemon, secrets, sender, secret))
            here = await self._parked(daemon, secrets)
            self.many.rounds.append(await sends(here.readers, sender, secret))
            self.room.rounds.append(await posts(here.readers[:MEMBERS], sender, bystander, secret))
            await here.leave()
        sender.close()
        bystander.close()

    async def _parked(self, daemon: subjects.Server, secrets: list[tuple[str, str]]) -> crowd.Crowd:
        before = daemon.memory()
        here = await crowd.gathered(daemon, secrets)
        idle = daemon.memory()
        await here.park()
        after = daemon.memory()
        if before and idle and after and not self.weight.rounds:
            # Only the first time: what was freed is kept by the process and used again.
            mibs = {"idle connection": idle - before, "its wait": after - idle, "both": after - before}
            self.weight.rounds.append({name: mib * 1024 / PARKED for name, mib in mibs.items()})
        return here


async def main() -> None:
    options = arguments(__doc__ or "", rounds=3)
    crowd.allow_files(PARKED)
    report = Report("wait", f"{PARKED:,} accounts, each parked on a connection of its own")
    waiting, ends = Waiting(), {count: Series(f"{count:,} parked") for count in (STOPPED, PARKED)}
    with subjects.scratch() as folder:
        async with subjects.daemon(folder / "daemon", **SETTINGS) as daemon:
            await waiting.measure(daemon, options.rounds)
        async with subjects.daemon(folder / "stopped", **SETTINGS) as daemon:
            secrets = await crowd.registered(daemon, PARKED)
        for _ in range(options.rounds):
            for count, series in ends.items():
                async with subjects.daemon(folder / "stopped", **SETTINGS) as daemon:
                    here = await crowd.gathered(daemon, secrets[-count:])
                    await here.park()
                    series.rounds.append(await stopped(here))
    report.table("wake, after the send's own answer", [waiting.few, waiting.many])
    report.table("one post to a room, after its own answer", [waiting.room])
    report.table("memory", [waiting.weight])
    report.table("stop", ends.values())
    report.at_most("wake after the send's answer, p50 ms", waiting.many.median("wake p50 ms"), 2)
    report.at_most("wake after the send's answer, p99 ms", waiting.many.median("wake p99 ms"), 25)
    report.at_most("memory of a parked reader, KiB", waiting.weight.median("both"), 30)
    report.at_most(f"stop with {STOPPED:,} parked, s", ends[STOPPED].median("ended s"), 2)
    report.finish()


if __name__ == "__main__":
    load.run(main())
