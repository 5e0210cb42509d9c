"""The unread count of mailboxes of a thousand to a million messages: in the store, and over HTTP."""

from contextlib import AsyncExitStack
from itertools import repeat
from time import perf_counter

import load
import mailboxes
import subjects
from inbox import growth, name_of
from measure import Measurement, Report, arguments, in_turn, latency

from mail4agent_core.clock import SystemClock
from mail4agent_core.mail.sqlite import SqliteStore


async def in_store(store: SqliteStore, size: int, count: int) -> dict[str, float]:
    """Counts straight from the store."""
    took: list[float] = []
    for _ in range(count):
        begun = perf_counter()
        unread = await store.unread(mailboxes.READER)
        took.append(perf_counter() - begun)
        assert unread == size
    return latency(took)


async def main() -> None:
    options = arguments(__doc__ or "", rounds=5)
    report = Report("unread", "the unread count, and an empty page with it")
    homes = {size: await mailboxes.mailbox(size) for size in mailboxes.SIZES}
    async with AsyncExitStack() as stack:
        stores = {
            size: await SqliteStore.open(home / "mail.sqlite3", SystemClock()) for size, home in homes.items()
        }
        for store in stores.values():
            stack.push_async_callback(store.close)
        counts = {name_of(size): lambda size=size: in_store(stores[size], size, 1000) for size in stores}
        inside = await in_turn(options.rounds, counts)

    headers = subjects.bearer(mailboxes.READER_SECRET)
    count = load.request("POST", "/mail/unread", {"target": subjects.direct("reader")}, headers)
    async with AsyncExitStack() as stack:
        servers = {
            size: await stack.enter_async_context(subjects.daemon(home)) for size, home in homes.items()
        }
        for size, server in servers.items():
            answer = await load.ask(server.port, count)
            if answer.json().get("unread") != size:
                raise RuntimeError(f"{size} unread were counted as {answer.body!r}")
        empties = {size: empty_page(mailboxes.last_position(home), headers) for size, home in homes.items()}

        def asked(raw: dict[int, bytes], number: int, in_flight: int) -> dict[str, Measurement]:
            return {
                name_of(size): lambda size=size: subjects.loaded(
                    servers[size], repeat(raw[size]), number, in_flight, 200
                )
                for size in servers
            }

        one = await in_turn(options.rounds, asked(dict.fromkeys(servers, count), 500, 1))
        many = await in_turn(options.rounds, asked(dict.fromkeys(servers, count), 1500, 16))
        empty = await in_turn(options.rounds, asked(empties, 1500, 16))
    report.table("count in the store", inside.values())
    report.table("count over HTTP, one reader", one.values())
    report.table("count over HTTP, 16 in flight", many.values())
    report.table("empty page with the count over HTTP, 16 in flight", empty.values())
    report.at_most("in the store, p50, a million over a thousand", growth(inside, "p50 ms"), 1.2)
    report.at_most("over HTTP, p50, a million over a thousand", growth(one, "p50 ms"), 1.2)
    largest = empty[name_of(mailboxes.SIZES[-1])]
    report.at_most("empty page, cpu s/1000 at a million", largest.median("cpu s/1000"), 0.4)
    report.finish()


def empty_page(after: mailboxes.Position, headers: dict[str, str]) -> bytes:
    """What a reader asks who has seen all."""
    body = {"limit": 50, "after": after.model_dump(mode="json")}
    return load.request("POST", "/mail/inbox", body, headers)


if __name__ == "__main__":
    load.run(main())
