"""A post to a room of 2 to 1,000 members beside a direct message: what it costs, and what waking does.

A message to a room is stored once, so nobody pays for the members but those who wait when it comes: they are
answered after its sender. Both are measured: with nobody waiting, and with every member waiting.
"""

from contextlib import AsyncExitStack
from itertools import repeat
from time import perf_counter

import crowd
import load
import subjects
from measure import Measurement, Report, Series, arguments, in_turn, percentile, ratio

SIZES = (2, 10, 100, 1_000)
DIRECT = "a direct message"
#: Posts that wake members, in a round; so many members in all are to be woken by them at least.
POSTS, WOKEN = 4, 200
#: All readers are of this one process, whose descriptors would be looked through for each proof.
SETTINGS = {"M4A_IDENTITY__ATTESTATION": "off"}


def room_of(size: int) -> str:
    """The room with so many members."""
    return f"room-{size}"


def named(size: int) -> str:
    """How a room is called in the tables."""
    return f"a room of {size:,}"


def post_request(secret: str, size: int) -> bytes:
    """The send of a direct message, but to a room."""
    body = {**subjects.message(), "to": {"kind": "room", "room": room_of(size)}}
    return load.request("POST", "/mail/send", body, subjects.bearer(secret))


async def furnished(server: subjects.Server) -> tuple[str, list[tuple[str, str]]]:
    """Rooms of all sizes, each with the writer in it; the writer's secret, and who else reads."""
    secrets = await subjects.accounts(server, "writer", "reader")
    readers = await crowd.registered(server, SIZES[-1] - 1)
    await crowd.prepared(server, "/admin/room", [{"id": room_of(size)} for size in SIZES])
    members = [
        {"room": room_of(size), "participant": name}
        for size in SIZES
        for name in ("writer", *(name for name, _ in readers[: size - 1]))
    ]
    await crowd.prepared(server, "/admin/room/member/add", members)
    return secrets["writer"], readers


async def woken(here: crowd.Crowd, sender: load.Connection, raw: bytes, posts: int) -> dict[str, float]:
    """Post to a room whose members all wait."""
    answered: list[float] = []
    wakes: list[float] = []
    last: list[float] = []
    used = 0.0
    for _ in range(posts):
        await here.park()
        before = here.server.cpu()
        begun = perf_counter()
        answer = await sender.ask(raw)
        answered_at = perf_counter()
        if answer.status != 200:
            raise RuntimeError(f"a post was answered {answer.status} {answer.body!r}")
        for reader in here.readers:
            await reader.woken()
        after = here.server.cpu()
        answered.append(answered_at - begun)
        each = [reader.answered_at - answered_at for reader in here.readers]
        wakes += each
        last.append(max(each))
        if before is not None and after is not None:
            used += after - before
    return {
        "its sender ms": percentile(answered, 0.5) * 1000,
        "median member ms": percentile(wakes, 0.5) * 1000,
        "last member ms": percentile(last, 0.5) * 1000,
        "cpu ms a member": used / posts / len(here.readers) * 1000,
    }


async def main() -> None:
    options = arguments(__doc__ or "", rounds=3)
    crowd.allow_files(SIZES[-1])
    report = Report("rooms", "a post of 1 KiB to a room")
    async with AsyncExitStack() as stack:
        folder = stack.enter_context(subjects.scratch())
        daemon = await stack.enter_async_context(subjects.daemon(folder / "daemon", **SETTINGS))
        bare = await stack.enter_async_context(subjects.bare(folder / "bare"))
        secret, readers = await furnished(daemon)
        direct = subjects.send_request(secret)
        posts = {size: post_request(secret, size) for size in SIZES}

        def sending(count: int, in_flight: int) -> dict[str, Measurement]:
            return {
                "bare Hypercorn": lambda: subjects.loaded(bare, repeat(direct), count, in_flight, 200),
                DIRECT: lambda: subjects.loaded(daemon, repeat(direct), count, in_flight, 200),
                **{
                    named(size): lambda size=size: subjects.loaded(
                        daemon, repeat(posts[size]), count, in_flight, 200
                    )
                    for size in SIZES
                },
            }

        one = await in_turn(options.rounds, sending(300, 1))
        many = await in_turn(options.rounds, sending(1200, 32))
        waking = await fanned_out(daemon, readers, posts, options.rounds)
    report.table("nobody waits, one sender", one.values())
    report.table("nobody waits, 32 in flight", many.values())
    report.table("every other member waits", waking)
    for title, series in (("one sender, p50 ms", one), ("32 in flight, cpu s/1000", many)):
        figure = title.partition(", ")[2]
        over = ratio(series[named(SIZES[-1])].median(figure), series[DIRECT].median(figure))
        report.at_most(f"a room of {SIZES[-1]:,}, {title}, times a direct message", over, 3)
    report.finish()


async def fanned_out(
    daemon: subjects.Server, readers: list[tuple[str, str]], posts: dict[int, bytes], rounds: int
) -> list[Series]:
    """Each room with all of its readers waiting, in turn."""
    series = {size: Series(named(size)) for size in SIZES}
    (sender,) = await load.connect(daemon.port)
    for number in range(rounds + 1):
        for size, raw in posts.items():
            here = await crowd.gathered(daemon, readers[: size - 1])
            figures = await woken(here, sender, raw, max(POSTS, min(WOKEN // size, 40)))
            for reader in here.readers:
                reader.connection.close()
            if number:
                series[size].rounds.append(figures)
    sender.close()
    return list(series.values())


if __name__ == "__main__":
    load.run(main())
