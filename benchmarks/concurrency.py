"""Sends and pages with 1 to 256 requests in flight: throughput, the tail and processor time; the floor."""

from contextlib import AsyncExitStack
from itertools import islice, repeat

import load
import subjects
from measure import Measurement, Report, Series, arguments, in_turn, latency, ratio

IN_FLIGHT = (1, 4, 16, 64, 256)
PAGE = 50
STANDING = 2_000
#: Requests of one measurement: enough for a tail, and no longer than needed with one at a time.
FEW, MANY, PEER = 300, 1_200, 400


def count_of(in_flight: int) -> int:
    """How many requests are measured."""
    return FEW if in_flight < min(IN_FLIGHT[2:]) else MANY


async def commits(stack: AsyncExitStack, count: int) -> dict[str, float]:
    """Bare commits, one after the other, in a new file."""
    folder = stack.enter_context(subjects.scratch())
    took = subjects.committed(folder / "bare.sqlite3", count)
    return {"requests/s": count / sum(took), **latency(took)}


async def main() -> None:
    options = arguments(__doc__ or "", rounds=3)
    report = Report("concurrency", "sends of 1 KiB and newest pages by the number of requests in flight")
    executable = subjects.peer_executable()
    sends: dict[int, dict[str, Series]] = {}
    reads: dict[int, dict[str, Series]] = {}
    async with AsyncExitStack() as stack:
        folder = stack.enter_context(subjects.scratch())
        daemon = await stack.enter_async_context(subjects.daemon(folder / "daemon"))
        bare = await stack.enter_async_context(subjects.bare(folder / "bare"))
        secrets = await subjects.accounts(daemon, "writer", "reader")
        send = subjects.send_request(secrets["writer"])
        await load.drive(daemon.port, islice(repeat(send), STANDING), 32)
        page = load.request(
            "POST", "/mail/inbox", {"limit": PAGE, "order": "newest"}, subjects.bearer(secrets["reader"])
        )
        peer = None
        if executable is None:
            report.note(subjects.NO_PEER)
        else:
            peer = await stack.enter_async_context(subjects.peer(executable, folder / "peer"))
            report.version_of("agent-inbox", subjects.peer_version(executable))

        def on(
            server: subjects.Server, raw: bytes, count: int, in_flight: int, status: int = 200
        ) -> Measurement:
            return lambda: subjects.loaded(server, repeat(raw), count, in_flight, status)

        for in_flight in IN_FLIGHT:
            count = count_of(in_flight)
            both = {
                "mail4agent": on(daemon, send, count, in_flight),
                "bare Hypercorn": on(bare, send, count, in_flight),
            }
            if peer is not None:
                few = min(count, PEER)
                both["agent-inbox"] = on(peer, subjects.peer_send_request(), few, in_flight, 201)
            if in_flight == 1:
                both["bare INSERT+COMMIT"] = lambda: commits(stack, FEW)
            sends[in_flight] = await in_turn(options.rounds, both)
            reads[in_flight] = await in_turn(
                options.rounds,
                {
                    "mail4agent": on(daemon, page, count, in_flight),
                    "bare Hypercorn": on(bare, page, count, in_flight),
                },
            )
    for what, found in (("sends", sends), ("pages", reads)):
        for in_flight, series in found.items():
            report.table(f"{what}, {in_flight} in flight", series.values())
    for what, found in (("sends", sends), ("pages", reads)):
        ours, floor = (found[64][name].median("cpu s/1000") for name in ("mail4agent", "bare Hypercorn"))
        report.at_most(f"{what}, 64 in flight, cpu, times bare Hypercorn", ratio(ours, floor), 1.5)
    report.at_most("sends, 64 in flight, p99 ms", sends[64]["mail4agent"].median("p99 ms"), 25)
    report.finish()


if __name__ == "__main__":
    load.run(main())
