"""A page of 50 from mailboxes of a thousand to a million messages: in the store, and over HTTP."""

from collections.abc import Iterator
from contextlib import AsyncExitStack
from itertools import cycle, islice, repeat
from time import perf_counter

import load
import mailboxes
import subjects
from measure import Measurement, Report, Series, arguments, in_turn, latency, ratio

from mail4agent_api.codec import encode
from mail4agent_api.mail import InboxRequest, Position
from mail4agent_core.clock import SystemClock
from mail4agent_core.mail.engine import page_query
from mail4agent_core.mail.records import PageQuery
from mail4agent_core.mail.sqlite import SqliteStore

PAGE = 50
POSITIONS = 500
PEER_SIZE = 1_000
ANYWHERE = "after a position anywhere"


def name_of(size: int) -> str:
    """How a mailbox is called in the tables."""
    return f"{size:,} messages"


async def in_store(store: SqliteStore, queries: Iterator[PageQuery], count: int) -> dict[str, float]:
    """Pages straight from the store."""
    took: list[float] = []
    for query in islice(queries, count):
        begun = perf_counter()
        page = await store.page(mailboxes.READER, query)
        took.append(perf_counter() - begun)
        assert len(page.messages) == PAGE
    return latency(took)


def request_of(wanted: InboxRequest) -> bytes:
    """A page's request."""
    return load.request("POST", "/mail/inbox", encode(wanted), subjects.bearer(mailboxes.READER_SECRET))


async def grown(server: subjects.Server) -> None:
    """Fill the peer's mailbox."""
    raw = islice(repeat(subjects.peer_send_request()), PEER_SIZE)
    await load.drive(server.port, raw, 16)


def growth(series: dict[str, Series], figure: str) -> float | None:
    """How many times its value at the smallest mailbox a figure has at the largest."""
    least, most = (series[name_of(size)].median(figure) for size in (mailboxes.SIZES[0], mailboxes.SIZES[-1]))
    return ratio(most, least)


async def main() -> None:
    options = arguments(__doc__ or "", rounds=5)
    report = Report("inbox", f"a page of {PAGE}, bodies of {mailboxes.BODY_CHARS} characters")
    homes = {size: await mailboxes.mailbox(size) for size in mailboxes.SIZES}
    after = {size: mailboxes.some_positions(home, POSITIONS) for size, home in homes.items()}

    def pages(position: Position) -> InboxRequest:
        return InboxRequest(limit=PAGE, after=position)

    newest = page_query(InboxRequest(limit=PAGE, order="newest"))
    unread = page_query(InboxRequest(limit=PAGE, unread_only=True))
    asked = {
        ANYWHERE: {
            size: [page_query(pages(each)) for each in positions] for size, positions in after.items()
        },
        "the newest": {size: [newest] for size in homes},
        "unread, oldest first": {size: [unread] for size in homes},
    }
    inside: dict[str, dict[str, Series]] = {}
    async with AsyncExitStack() as stack:
        stores = {
            size: await SqliteStore.open(home / "mail.sqlite3", SystemClock()) for size, home in homes.items()
        }
        for store in stores.values():
            stack.push_async_callback(store.close)
        for title, queries in asked.items():
            inside[title] = await in_turn(
                options.rounds,
                {
                    name_of(size): lambda size=size, queries=queries: in_store(
                        stores[size], cycle(queries[size]), POSITIONS
                    )
                    for size in stores
                },
            )
            report.table(f"in the store, {title}", inside[title].values())

    async with AsyncExitStack() as stack:
        servers = {
            size: await stack.enter_async_context(subjects.daemon(home)) for size, home in homes.items()
        }
        requests = {size: [request_of(pages(p)) for p in after[size]] for size in servers}
        alone: dict[str, Measurement] = {
            name_of(size): lambda size=size: subjects.loaded(
                servers[size], cycle(requests[size]), 500, 1, 200
            )
            for size in servers
        }
        crowd: dict[str, Measurement] = {
            name_of(size): lambda size=size: subjects.loaded(
                servers[size], cycle(requests[size]), 1500, 16, 200
            )
            for size in servers
        }
        executable = subjects.peer_executable()
        if executable is None:
            report.note(subjects.NO_PEER)
        else:
            folder = stack.enter_context(subjects.scratch())
            peer = await stack.enter_async_context(subjects.peer(executable, folder / "peer"))
            await grown(peer)
            whole = load.request("GET", "/actors/reader/inbox?view=full", None, {"x-agent-name": "reader"})
            report.version_of("agent-inbox", subjects.peer_version(executable))
            report.note(f"agent-inbox answers with all of its {PEER_SIZE:,} messages: it has no pages")
            alone["agent-inbox"] = lambda: subjects.loaded(peer, repeat(whole), 20, 1, 200)
        one = await in_turn(options.rounds, alone)
        many = await in_turn(options.rounds, crowd)
    report.table("over HTTP, one reader", one.values())
    report.table("over HTTP, 16 in flight", many.values())
    largest = many[name_of(mailboxes.SIZES[-1])]
    report.at_most("over HTTP, p50, a million over a thousand", growth(one, "p50 ms"), 1.2)
    report.at_most("over HTTP, cpu s/1000 at a million", largest.median("cpu s/1000"), 0.5)
    for title, series in inside.items():
        if title != ANYWHERE:
            report.at_most(f"in the store, {title}, p50, the same", growth(series, "p50 ms"), 1.2)
    cold = growth(inside[ANYWHERE], "p50 ms")
    report.note(
        f"in the store, {ANYWHERE}, a page takes {cold:.2f} times as long at a million: it takes the same "
        "steps, but a gigabyte does not lie in the processor's cache"
    )
    report.finish()


if __name__ == "__main__":
    load.run(main())
