"""The same requests to mailboxes of a thousand to a million messages, over HTTP, one by one and 16 in flight.

``--ten-million`` measures instead mailboxes with short bodies up to ten million messages, which takes 6 GB
and some minutes to make, and deletes the largest afterwards.
"""

import shutil
from collections.abc import Iterator
from contextlib import AsyncExitStack
from itertools import cycle, islice, repeat
from pathlib import Path

import load
import mailboxes
import subjects
from measure import Measurement, Report, Series, flags, in_turn, ratio

from mail4agent_api.codec import encode
from mail4agent_api.mail import InboxRequest

PAGE = 50
SIZES = (1_000, 10_000, 100_000, 1_000_000)
MORE = (1_000, 100_000, 1_000_000, 10_000_000)
#: A larger one is measured where it was made, not in a copy: what is sent to it is no matter there.
COPIED_MAX = 1_000_000
POSITIONS = 500
SEND, NEWEST, ANYWHERE, UNREAD, GET = (
    "a send of 1 KiB",
    f"the newest {PAGE}",
    f"{PAGE} after a position anywhere",
    "the unread count",
    "one message by its id",
)


def named(size: int) -> str:
    """How a mailbox is called in the tables."""
    return f"{size:,} messages"


def requests_of(home: Path) -> dict[str, list[bytes]]:
    """What is asked of a mailbox. Sends stand last: they make the mailbox larger."""
    reader = subjects.bearer(mailboxes.READER_SECRET)
    places = mailboxes.some_positions(home, POSITIONS)
    target = {"kind": "direct", "participant": "reader"}
    return {
        NEWEST: [load.request("POST", "/mail/inbox", {"limit": PAGE, "order": "newest"}, reader)],
        ANYWHERE: [
            load.request("POST", "/mail/inbox", encode(InboxRequest(limit=PAGE, after=place)), reader)
            for place in places
        ],
        UNREAD: [load.request("POST", "/mail/unread", {"target": target}, reader)],
        GET: [
            load.request("POST", "/mail/get", {"message_id": place.message_id}, reader) for place in places
        ],
        SEND: [subjects.send_request(mailboxes.WRITER_SECRET)],
    }


async def asked(
    homes: dict[int, Path], servers: dict[int, subjects.Server], bare: subjects.Server, rounds: int
) -> dict[str, dict[str, Series]]:
    """Every request, to every mailbox in turn."""
    requests = {size: requests_of(home) for size, home in homes.items()}
    found: dict[str, dict[str, Series]] = {}

    def measurements(what: str, count: int, in_flight: int) -> dict[str, Measurement]:
        def to(server: subjects.Server, raw: Iterator[bytes]) -> Measurement:
            return lambda: subjects.loaded(server, raw, count, in_flight, 200)

        floor = to(bare, repeat(requests[min(homes)][what][0]))
        return {
            "bare Hypercorn": floor,
            **{named(size): to(servers[size], cycle(requests[size][what])) for size in homes},
        }

    for what in requests[min(homes)]:
        found[f"{what}, one at a time"] = await in_turn(rounds, measurements(what, 200, 1))
        found[f"{what}, 16 in flight"] = await in_turn(rounds, measurements(what, 600, 16))
    return found


async def measured(report: Report, sizes: tuple[int, ...], chars: int, rounds: int) -> None:
    """Measure mailboxes of some sizes, all of them in turn."""
    kept = {size: await mailboxes.mailbox(size, chars) for size in sizes}
    async with AsyncExitStack() as stack:
        folder = stack.enter_context(subjects.scratch())
        homes: dict[int, Path] = {}
        for size, home in kept.items():
            homes[size] = home if size > COPIED_MAX else folder / str(size)
            if homes[size] != home:
                shutil.copytree(home, homes[size])
        bare = await stack.enter_async_context(subjects.bare(folder / "bare"))
        servers = {
            size: await stack.enter_async_context(subjects.daemon(home)) for size, home in homes.items()
        }
        found = await asked(homes, servers, bare, rounds)
    for title, series in found.items():
        report.table(title, series.values())
        over = ratio(*(series[named(size)].median("p50 ms") for size in (sizes[-1], sizes[0])))
        if title.endswith("one at a time"):
            report.at_most(f"{title}, p50, {sizes[-1]:,} over {sizes[0]:,}", over, 1.2)


async def main() -> None:
    options = flags(
        __doc__ or "", rounds=3, more=lambda each: each.add_argument("--ten-million", action="store_true")
    )
    if options.ten_million:
        chars, sizes = mailboxes.SHORT_CHARS, MORE
    else:
        chars, sizes = mailboxes.BODY_CHARS, SIZES
    name = "sizes-ten-million" if options.ten_million else "sizes"
    report = Report(name, f"one mailbox of many messages, bodies of {chars} characters")
    await measured(report, sizes, chars, options.rounds)
    for size in islice(sizes, 1, None):
        if size > COPIED_MAX:
            shutil.rmtree(await mailboxes.mailbox(size, chars))
    report.finish()


if __name__ == "__main__":
    load.run(main())
