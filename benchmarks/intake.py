"""The intake under submissions: how many a second are taken or refused correctly, over real sockets.

A process of its own serves; eight connections send a form each time, every fourth with a mistake. What is
taken is in the database, synced, before it is answered.
"""

import asyncio
import sys
import tempfile
import time
from pathlib import Path
from urllib.parse import urlencode

import load
from measure import Measurement, Report, flags, in_turn, latency

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from tests.daemon.intake.house import house
from tests.daemon.intake.manifests import VISIT

CONNECTIONS = 8


async def sent(port: int, numbers: "asyncio.Queue[int]", taken: list[float]) -> None:
    """Send what is left to send on one connection; every answer must be the right one."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    while not numbers.empty():
        number = numbers.get_nowait()
        wrong = number % 4 == 0
        address = "nobody" if wrong else f"visitor-{number}@example.net"
        body = urlencode(
            {"visitor_email": address, "purpose": "other", "story": "A tour, please. " * 20}
        ).encode()
        head = (
            "POST /f/visit HTTP/1.1\r\nHost: localhost\r\nAccept: text/html\r\n"
            f"Content-Type: application/x-www-form-urlencoded\r\nContent-Length: {len(body)}\r\n\r\n"
        )
        began = time.perf_counter()
        writer.write(head.encode() + body)
        answer = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").lower()
        length = int(answer.partition("content-length: ")[2].partition("\r\n")[0])
        await reader.readexactly(length)
        taken.append(time.perf_counter() - began)
        status = int(answer.split(" ", 2)[1])
        if status != (400 if wrong else 200):
            raise SystemExit(f"submission {number} was answered with {status}")
    writer.close()


async def measured(port: int, count: int) -> dict[str, float]:
    """Submissions a second, and what each took."""
    numbers: asyncio.Queue[int] = asyncio.Queue()
    for number in range(count):
        numbers.put_nowait(number)
    taken: list[float] = []
    began = time.perf_counter()
    await asyncio.gather(*(sent(port, numbers, taken) for _ in range(CONNECTIONS)))
    return {"submissions/s": count / (time.perf_counter() - began), **latency(taken)}


async def main() -> None:
    options = flags(
        __doc__ or "", rounds=2, more=lambda each: each.add_argument("--submissions", type=int, default=800)
    )
    report = Report("intake", f"submissions over {CONNECTIONS} connections, every fourth with a mistake")
    with (
        tempfile.TemporaryDirectory() as folder,
        house(Path(folder) / "box", VISIT, mails_per_recipient_per_day=0, waiting_max=1_000_000) as made,
    ):
        taking: dict[str, Measurement] = {"intake": lambda: measured(made.port, options.submissions)}
        found = await in_turn(options.rounds, taking)
    report.table("submissions", found.values())
    report.finish()


if __name__ == "__main__":
    load.run(main())
