"""Durable sends over HTTP: 1 KiB with 32 in flight and with one sender, and many in one request."""

from contextlib import AsyncExitStack
from itertools import repeat
from pathlib import Path

import load
import subjects
from measure import Measurement, Report, Series, arguments, in_turn, latency, ratio

MANY = 20


async def commits(path: Path, count: int) -> dict[str, float]:
    """Bare commits, one after the other."""
    took = subjects.committed(path, count)
    return {"requests/s": count / sum(took), **latency(took)}


def rate_over(ours: Series, theirs: Series) -> float | None:
    """How many times as many requests a second."""
    return ratio(ours.median("requests/s"), theirs.median("requests/s"))


async def main() -> None:
    options = arguments(__doc__ or "", rounds=3)
    report = Report("send", "durable sends over HTTP, 1 KiB each, SQLite with synchronous=FULL")
    executable = subjects.peer_executable()
    async with AsyncExitStack() as stack:
        folder = stack.enter_context(subjects.scratch())
        daemon = await stack.enter_async_context(subjects.daemon(folder / "daemon"))
        bare = await stack.enter_async_context(subjects.bare(folder / "bare"))
        secrets = await subjects.accounts(daemon, "writer", "reader")
        send = subjects.send_request(secrets["writer"])
        body = {"messages": [subjects.message()] * MANY}
        many = load.request("POST", "/mail/send_many", body, subjects.bearer(secrets["writer"]))

        crowd: dict[str, Measurement] = {
            "mail4agent": lambda: subjects.loaded(daemon, repeat(send), 4000, 32, 200),
            "bare Hypercorn": lambda: subjects.loaded(bare, repeat(send), 4000, 32, 200),
            "bare INSERT+COMMIT": lambda: commits(folder / "bare.sqlite3", 2000),
        }
        alone: dict[str, Measurement] = {
            "mail4agent": lambda: subjects.loaded(daemon, repeat(send), 1000, 1, 200),
            "bare Hypercorn": lambda: subjects.loaded(bare, repeat(send), 1000, 1, 200),
            "bare INSERT+COMMIT": lambda: commits(folder / "bare.sqlite3", 1000),
        }
        if executable is None:
            report.note(subjects.NO_PEER)
        else:
            peer = await stack.enter_async_context(subjects.peer(executable, folder / "peer"))
            note = subjects.peer_send_request()
            report.version_of("agent-inbox", subjects.peer_version(executable))
            crowd["agent-inbox"] = lambda: subjects.loaded(peer, repeat(note), 1500, 32, 201)
            alone["agent-inbox"] = lambda: subjects.loaded(peer, repeat(note), 500, 1, 201)
        together: dict[str, Measurement] = {
            "mail4agent": lambda: subjects.loaded(daemon, repeat(many), 400, 16, 200),
        }

        at_once = await in_turn(options.rounds, crowd)
        one = await in_turn(options.rounds, alone)
        (lots,) = (await in_turn(options.rounds, together)).values()

    for figures in lots.rounds:
        figures["messages/s"] = figures["requests/s"] * MANY
    report.table("one message a request, 32 in flight", at_once.values())
    report.table("one message a request, one sender", one.values())
    report.table(f"mail.send_many, {MANY} a request, 16 in flight", [lots])

    ours, floor = at_once["mail4agent"], at_once["bare Hypercorn"]
    if executable is not None:
        report.at_least("32 in flight, times agent-inbox", rate_over(ours, at_once["agent-inbox"]), 3)
        report.at_least(
            "one sender, times agent-inbox", rate_over(one["mail4agent"], one["agent-inbox"]), 1.7
        )
    report.at_most("32 in flight, p99 ms", ours.median("p99 ms"), 25)
    report.at_most("32 in flight, cpu s/1000", ours.median("cpu s/1000"), 0.40)
    cpu_ratio = ratio(ours.median("cpu s/1000"), floor.median("cpu s/1000"))
    report.at_most("32 in flight, cpu, times bare Hypercorn", cpu_ratio, 1.5)
    report.at_most("one sender, p50 ms", one["mail4agent"].median("p50 ms"), 1.2)
    report.at_least("send_many, messages/s", lots.median("messages/s"), 15_000)
    report.finish()


if __name__ == "__main__":
    load.run(main())
