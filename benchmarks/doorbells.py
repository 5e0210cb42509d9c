"""What a send costs when listeners are there: nobody's, another account's, the recipient's own."""

import asyncio
from contextlib import AsyncExitStack
from itertools import repeat

import load
import subjects
from measure import Measurement, Report, arguments, in_turn, ratio

COUNT = 2000


async def heard(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """A listener that answers 204."""
    try:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 204 Heard\r\nContent-Length: 0\r\n\r\n")
        await writer.drain()
    finally:
        writer.close()


async def main() -> None:
    options = arguments(__doc__ or "", rounds=3)
    report = Report(
        "doorbells", "durable sends over HTTP, 1 KiB each, 32 in flight, with and without listeners"
    )
    async with AsyncExitStack() as stack:
        folder = stack.enter_context(subjects.scratch())
        server = await asyncio.start_server(heard, "127.0.0.1", 0)
        stack.push_async_callback(server.wait_closed)
        stack.callback(server.close)
        url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/doorbell"
        measured: dict[str, Measurement] = {}
        for name, listens in (
            ("no listener", None),
            ("another's listener", "other"),
            ("the recipient's", "reader"),
        ):
            daemon = await stack.enter_async_context(subjects.daemon(folder / name.replace(" ", "-")))
            secrets = await subjects.accounts(daemon, "writer", "reader", "other")
            if listens is not None:
                await subjects.listener(daemon, listens, url)
            send = subjects.send_request(secrets["writer"])
            measured[name] = lambda daemon=daemon, send=send: subjects.loaded(
                daemon, repeat(send), COUNT, 32, 200
            )
        found = await in_turn(options.rounds, measured)
    report.table("one message a request, 32 in flight", found.values())
    floor = found["no listener"]
    for name, most in (("another's listener", 1.1), ("the recipient's", 5.0)):
        times = ratio(found[name].median("cpu s/1000"), floor.median("cpu s/1000"))
        report.at_most(f"{name}, cpu, times no listener", times, most)
    report.finish()


if __name__ == "__main__":
    load.run(main())
