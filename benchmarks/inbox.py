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
from mail4agent_core.mail.sqlite import SqliteStore
from mail4agent_core.mail.store import PageQuery

PAGE = 50
POSITIONS = 500
PEER_SIZE = 1_000


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
    options = arguments(__doc__ or "", rounds=3)
    report = Report("inbox", f"a page of {PAGE}, bodies of {mailboxes.BODY_CHARS} characters")
    homes = {size: await mailboxes.mailbox(size) for size in mailboxes.SIZES}
    after = {size: mailboxes.some_positions(home, POSITIONS) for size, home in homes.items()}

    def pages(position: Position) -> InboxRequest:
        return InboxRequest(limit=PAGE, after=position)

    newest = InboxRequest(limit=PAGE, order="newest")
    unread = InboxRequest(limit=PAGE, unread_only=True)
    async with AsyncExitStack() as stack:
        stores = {
            size: await SqliteStore.open(home / "mail.sqlite3", SystemClock()) for size, home in homes.items()
        }
        for store in stores.values():
            stack.push_async_callback(store.close)
        anywhere = {
            name_of(size): lambda size=size: in_store(
                stores[size], cycle([page_query(pages(p)) for p in after[size]]), POSITIONS
            )
            for size in stores
        }
        inside = await in_turn(options.rounds, anywhere)
        report.table("in the store, after a position anywhere", inside.values())
        for title, wanted in (("the newest", newest), ("unread, oldest first", unread)):
            query = page_query(wanted)
            series = await in_turn(
                options.rounds,
                {
                    name_of(size): lambda size=size, query=query: in_store(
                        stores[size], repeat(query), POSITIONS
                    )
                    for size in stores
                },
            )
            report.table(f"in the store, {title}", series.values())

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
    report.at_most("in the store, p50, a million over a thousand", growth(inside, "p50 ms"), 1.2)
    report.at_most("over HTTP, p50, a million over a thousand", growth(one, "p50 ms"), 1.2)
    report.at_most(
        "over HTTP, cpu s/1000 at a million", many[name_of(mailboxes.SIZES[-1])].median("cpu s/1000"), 0.5
    )
    report.finish()


if __name__ == "__main__":
    load.run(main())
