"""One SQLite file against one PostgreSQL database with 1, 2 and 4 daemons: sends, pages, and where time goes.

PostgreSQL runs on the same machine with its defaults, so every commit is on disk before it is answered. The
processor time of the daemons, of the server's processes and of the client are counted apart: together they
are what the cores have.
"""

import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import AsyncExitStack, ExitStack
from itertools import islice, repeat
from pathlib import Path
from time import process_time

import load
import pytest
import subjects
from measure import Measurement, Report, Series, flags, in_turn, latency, ratio

sys.path.insert(0, str(subjects.ROOT))

from tests.postgres import PostgresServer, postgres

DAEMONS = (1, 2, 4)
IN_FLIGHT = 64
PAGE = 50
#: How many messages the reader has.
STANDING = 2_000
#: The server's own defaults, but that it listens on its UNIX socket alone.
OPTIONS = ("listen_addresses=", "max_connections=100")


def cpu_of(pid: int) -> float:
    """Seconds of processor time of a process, and of its children that ended."""
    fields = Path(f"/proc/{pid}/stat").read_text("ascii").rpartition(")")[2].split()
    return sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")


def cpu_of_all(parent: int) -> float:
    """Seconds of processor time of a process and of all its children, also those that ended."""
    children = Path(f"/proc/{parent}/task/{parent}/children").read_text("ascii").split()
    total = 0.0
    for pid in (parent, *map(int, children)):
        try:
            total += cpu_of(pid)
        except OSError:
            continue
    return total


async def measured(
    servers: Sequence[subjects.Server],
    database: PostgresServer | None,
    raw: Iterator[bytes],
    count: int,
    in_flight: int = IN_FLIGHT,
) -> dict[str, float]:
    """Send requests to daemons in turn: their rate, their latency, and who used which part of the cores."""

    def used() -> tuple[float, float, float]:
        daemons = sum(cpu_of(server.pid) for server in servers)
        return daemons, cpu_of_all(database.pid) if database else 0.0, process_time()

    connections = await load.warmed([server.port for server in servers], next(raw), in_flight)
    before = used()
    run = await load.driven(connections, islice(raw, count))
    spent = [after - before for after, before in zip(used(), before, strict=True)]
    if set(run.statuses) != {200}:
        raise RuntimeError(f"wanted the status 200 alone, got {dict(run.statuses)}")
    daemons, server, client = (each / count * 1000 for each in spent)
    return {
        "requests/s": run.rate,
        **latency(run.latencies),
        "daemons cpu s/1000": daemons,
        "database cpu s/1000": server,
        "client cpu s/1000": client,
        "cores busy": sum(spent) / run.elapsed,
    }


async def filled(server: subjects.Server) -> dict[str, str]:
    """The accounts of a daemon's store, and mail for one of them; their secrets."""
    secrets = await subjects.accounts(server, "writer", "reader")
    body = {"messages": [subjects.message()] * 20}
    many = load.request("POST", "/mail/send_many", body, subjects.bearer(secrets["writer"]))
    await load.drive(server.port, islice(repeat(many), STANDING // 20), 16)
    return secrets


def page_request(secret: str) -> bytes:
    """The newest page."""
    return load.request("POST", "/mail/inbox", {"limit": PAGE, "order": "newest"}, subjects.bearer(secret))


def named(count: int) -> str:
    """How a number of daemons is called in the tables."""
    return f"PostgreSQL, {count} daemon{'s' if count > 1 else ''}"


def times(series: dict[str, Series], count: int, base: str = "PostgreSQL, 1 daemon") -> float | None:
    """How many times as many requests a second as one daemon."""
    return ratio(series[named(count)].median("requests/s"), series[base].median("requests/s"))


async def compared(report: Report, rounds: int, scale: int, database: PostgresServer) -> None:
    """Measure all of it."""
    async with AsyncExitStack() as stack:
        folder = stack.enter_context(subjects.scratch())
        file = await stack.enter_async_context(subjects.daemon(folder / "file"))
        bare = await stack.enter_async_context(subjects.bare(folder / "bare"))
        url = database.create()
        daemons = [
            await stack.enter_async_context(subjects.daemon(folder / f"shared-{number}", M4A_STORE__URL=url))
            for number in range(DAEMONS[-1])
        ]
        ours, shared = await filled(file), await filled(daemons[0])

        def subjects_of(what: str) -> dict[str, Measurement]:
            def request(secrets: dict[str, str]) -> bytes:
                if what == "send":
                    return subjects.send_request(secrets["writer"])
                return page_request(secrets["reader"])

            count = (1500 if what == "send" else 1200) * scale
            return {
                "bare Hypercorn": lambda: measured([bare], None, repeat(request(ours)), count),
                "SQLite": lambda: measured([file], None, repeat(request(ours)), count),
                **{
                    named(some): lambda some=some: measured(
                        daemons[:some], database, repeat(request(shared)), count
                    )
                    for some in DAEMONS
                },
            }

        sends = await in_turn(rounds, subjects_of("send"))
        reads = await in_turn(rounds, subjects_of("read"))
    report.table(f"sends of 1 KiB, {IN_FLIGHT} in flight", sends.values())
    report.table(f"the newest page of {PAGE}, {IN_FLIGHT} in flight", reads.values())
    report.at_least("pages, 4 daemons, times one", times(reads, 4), 2.5)
    report.at_least("pages, 2 daemons, times one", times(reads, 2), 1.5)


async def main() -> None:
    options = flags(
        __doc__ or "", rounds=3, more=lambda parser: parser.add_argument("--scale", type=int, default=1)
    )
    report = Report("databases", "one file, and one database with 1, 2 and 4 daemons", ("psycopg",))
    with ExitStack() as stack:
        try:
            database = stack.enter_context(postgres(OPTIONS))
        except pytest.skip.Exception:
            report.note("PostgreSQL is not on this machine")
        else:
            await compared(report, options.rounds, options.scale, database)
    report.finish()


if __name__ == "__main__":
    load.run(main())
