"""Soak: a mixed load for a set time, and whether descriptors, threads, memory and latency stay flat under it.

Writers, readers that acknowledge, waiters, and clients that hang up in the middle of a wait share one daemon.
Every interval is one row. The store keeps up to 16 MiB of pages for each of its connections, so it is given
more mail than that before the first row; the first quarter is for everything else that fills once. Over the
rest a line is fitted to each figure, and what it rises from beginning to end is held against a bound. A bare
Hypercorn is asked beside the daemon, and latency is judged as a multiple of its own, because the machine may
be busier at one time than at another; for the same reason the processor time of a request is judged too. Exit
status 1: not flat.
"""

import argparse
import asyncio
import json
import os
import random
import statistics
import sys
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter

import load
import subjects
from measure import RESULTS, latency, machine, versions

ACCOUNTS = 8
SEED = 20_261_202
#: Fewer rows than this say nothing about a slope.
ROWS_MIN = 8
WAIT_SECS = 5
#: What is stored before the first row, in messages of 1 KiB: twice the pages that a connection keeps.
FILLED = 24_000
FILLED_AT_ONCE = 100
#: How often a second the bare server is asked.
BARE_RATE = 10
#: Of how many parts of a soak the figures are quoted: one for each ten minutes of an hour.
PARTS = 6
#: What each figure may rise over the measured part: an amount, and a part of what it was at its beginning.
BOUNDS = {
    "descriptors": (4.0, 0.0),
    "threads": (2.0, 0.0),
    "memory MiB": (4.0, 0.05),
    "times bare": (0.5, 0.25),
    "cpu ms": (0.1, 0.25),
}

HEAD = (
    f"{'secs':>7} {'requests':>9} {'waits':>6} {'hung up':>7} {'fds':>5} {'threads':>7} {'MiB':>7} "
    f"{'p50 ms':>7} {'p99 ms':>8} {'cpu ms':>6} {'bare ms':>8} {'times':>6}"
)
ROW = "{:7.0f} {:9.0f} {:6.0f} {:7.0f} {:5.0f} {:7.0f} {:7.1f} {:7.2f} {:8.2f} {:6.2f} {:8.2f} {:6.2f}"
#: Of a part these are its sums; of the rest it has the medians.
SUMS = ("requests", "waits", "hung up")


@dataclass(slots=True)
class Interval:
    """What happened since the last row."""

    latencies: list[float] = field(default_factory=list)
    bare: list[float] = field(default_factory=list)
    hung_up: int = 0
    waits: int = 0


class Load:
    """The clients; each works at its own pace until it is over."""

    def __init__(self, server: subjects.Server, secrets: dict[str, str], rate: float) -> None:
        self._port = server.port
        self._secrets = secrets
        self._names = list(secrets)
        self._pace = ACCOUNTS / rate
        self._random = random.Random(SEED)
        self.interval = Interval()

    def _raw(self, name: str, path: str, body: object) -> bytes:
        return load.request("POST", path, body, subjects.bearer(self._secrets[name]))

    async def _timed(self, connection: load.Connection, raw: bytes) -> load.Answer:
        begun = perf_counter()
        answer = await connection.ask(raw)
        self.interval.latencies.append(perf_counter() - begun)
        if answer.status != 200:
            raise RuntimeError(f"answered {answer.status}: {answer.body[:200]!r}")
        return answer

    async def fill(self, name: str, to: str) -> None:
        """Store more mail than the store keeps pages of."""
        messages = [subjects.message(to)] * FILLED_AT_ONCE
        raw = self._raw(name, "/mail/send_many", {"messages": messages})
        (connection,) = await load.connect(self._port)
        try:
            for _ in range(FILLED // FILLED_AT_ONCE):
                answer = await connection.ask(raw)
                if answer.status != 200:
                    raise RuntimeError(f"answered {answer.status}: {answer.body[:200]!r}")
        finally:
            connection.close()

    async def ask_bare(self, server: subjects.Server) -> None:
        """Ask the bare server, at a pace, over one connection."""
        (connection,) = await load.connect(server.port)
        while True:
            await asyncio.sleep(self._random.uniform(0.5, 1.5) / BARE_RATE)
            begun = perf_counter()
            await connection.ask(subjects.HEALTH)
            self.interval.bare.append(perf_counter() - begun)

    async def work(self, name: str) -> None:
        """Send, read, acknowledge and count, at a pace, over a connection that is made anew now and then."""
        while True:
            (connection,) = await load.connect(self._port)
            try:
                for _ in range(self._random.randrange(20, 200)):
                    await asyncio.sleep(self._pace * self._random.uniform(0.5, 1.5))
                    await self._one(connection, name)
            finally:
                connection.close()

    async def _one(self, connection: load.Connection, name: str) -> None:
        drawn = self._random.random()
        if drawn < 0.5:
            message = {**subjects.message(self._random.choice(self._names))}
            await self._timed(connection, self._raw(name, "/mail/send", message))
        elif drawn < 0.8:
            page = await self._timed(
                connection, self._raw(name, "/mail/inbox", {"unread_only": True, "limit": 20})
            )
            ids = [each["message_id"] for each in json.loads(page.body)["messages"]]
            if ids:
                await self._timed(connection, self._raw(name, "/mail/ack_many", {"message_ids": ids}))
        else:
            path, body = self._random.choice(
                (
                    ("/mail/whoami", {}),
                    ("/mail/unread", {"target": subjects.direct(name)}),
                    ("/mail/sent", {"limit": 10}),
                )
            )
            await self._timed(connection, self._raw(name, path, body))

    async def wait(self, name: str) -> None:
        """Wait for mail again and again; one time in three hang up instead of staying."""
        newest = None
        while True:
            (connection,) = await load.connect(self._port)
            try:
                asked = connection.ask(
                    self._raw(name, "/mail/wait", {"after": newest, "wait_secs": WAIT_SECS})
                )
                if self._random.random() < 0.34:
                    await asyncio.wait((asked,), timeout=self._random.random() * 0.3)
                    self.interval.hung_up += 1
                else:
                    newest = json.loads((await asked).body)["newest"]
                    self.interval.waits += 1
            finally:
                connection.close()


def descriptors(pid: int) -> int:
    """How many descriptors a process has open."""
    return len(os.listdir(f"/proc/{pid}/fd"))  # noqa: PTH208  # names alone, not one object each


def threads(pid: int) -> int:
    """How many threads a process has."""
    lines = Path(f"/proc/{pid}/status").read_text("ascii").splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("Threads:"))


def rise(values: list[float]) -> tuple[float, float]:
    """Where the line through the values begins, and how much it rises to its end."""
    slope, start = statistics.linear_regression(range(len(values)), values)
    return start, slope * (len(values) - 1)


def parts(rows: list[dict[str, float]]) -> list[dict[str, float]]:
    """The rows in so many parts, each as one row."""
    size = -(-len(rows) // PARTS)
    groups = [rows[first : first + size] for first in range(0, len(rows), size)]
    return [
        {
            name: group[-1][name]
            if name == "secs"
            else (sum if name in SUMS else statistics.median)(row[name] for row in group)
            for name in group[0]
        }
        for group in groups
    ]


def judged(rows: list[dict[str, float]]) -> list[dict[str, object]]:
    """Each bounded figure: what it rose, what it may, and whether that holds."""
    measured = rows[len(rows) // 4 :]
    verdicts: list[dict[str, object]] = []
    for figure, (amount, part) in BOUNDS.items():
        start, rose = rise([row[figure] for row in measured])
        most = max(amount, part * start)
        verdicts.append(
            {"figure": figure, "from": start, "rose": rose, "at most": most, "flat": rose <= most}
        )
    return verdicts


async def soak(secs: float, every: float, rate: float) -> list[dict[str, float]]:
    """The rows of one soak. Raises what a client met that should not be."""
    rows: list[dict[str, float]] = []
    with subjects.scratch() as folder:
        async with (
            subjects.daemon(folder / "home") as server,
            subjects.bare(folder / "bare") as bare,
            asyncio.TaskGroup() as clients,
        ):
            names = [f"account-{number}" for number in range(ACCOUNTS)]
            secrets = await subjects.accounts(server, *names, "archive")
            mixed = Load(server, {name: secrets[name] for name in names}, rate)
            await mixed.fill(names[0], "archive")
            tasks = [
                clients.create_task(client(name)) for name in names for client in (mixed.work, mixed.wait)
            ]
            tasks.append(clients.create_task(mixed.ask_bare(bare)))
            begun, cpu = perf_counter(), server.cpu() or 0.0
            print(HEAD, flush=True)
            while perf_counter() - begun < secs:
                await asyncio.sleep(every)
                done, mixed.interval = mixed.interval, Interval()
                now = server.cpu() or 0.0
                row: dict[str, float] = {
                    "secs": perf_counter() - begun,
                    "requests": len(done.latencies),
                    "waits": done.waits,
                    "hung up": done.hung_up,
                    "descriptors": descriptors(server.pid),
                    "threads": threads(server.pid),
                    "memory MiB": server.memory() or 0.0,
                    **latency(done.latencies),
                    "cpu ms": (now - cpu) * 1000 / (len(done.latencies) + done.waits),
                    "bare ms": latency(done.bare)["p50 ms"],
                }
                row["times bare"] = row["p50 ms"] / row["bare ms"]
                cpu = now
                rows.append(row)
                print(ROW.format(*row.values()), flush=True)
            for task in tasks:
                task.cancel()
    return rows


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--secs", type=float, default=3600, help="how long (default: %(default)s)")
    parser.add_argument("--every", type=float, default=None, help="seconds of a row (default: a sixtieth)")
    parser.add_argument("--rate", type=float, default=100, help="requests a second (default: %(default)s)")
    asked = parser.parse_args()
    every = asked.every or max(asked.secs / 60, 1)
    if asked.secs / every < ROWS_MIN:
        parser.error(f"--secs over --every must be {ROWS_MIN} at least")
    rows: list[dict[str, float]] = []

    async def all_of_it() -> None:
        rows.extend(await soak(asked.secs, every, asked.rate))

    load.run(all_of_it())
    verdicts = judged(rows)
    print(f"\nin {PARTS} parts, sums and medians\n{HEAD}")
    for part in parts(rows):
        print(ROW.format(*part.values()))
    for each in verdicts:
        print(
            "{figure}: from {from:.1f}, rose {rose:+.2f}, at most {at most:.2f}".format(**each)
            + ("" if each["flat"] else "  NOT FLAT")
        )
    RESULTS.mkdir(exist_ok=True)
    document = {
        "machine": machine(),
        "versions": versions(),
        "rate": asked.rate,
        "rows": rows,
        "parts": parts(rows),
        "verdicts": verdicts,
    }
    (RESULTS / "soak.json").write_text(json.dumps(document, indent=2) + "\n", "utf-8")
    return 0 if all(each["flat"] for each in verdicts) else 1


if __name__ == "__main__":
    sys.exit(main())
