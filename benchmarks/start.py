"""From starting the process to its first answered request, on a new folder and an old one, and its memory."""

from collections.abc import Callable
from itertools import count
from pathlib import Path
from time import perf_counter

import load
import mailboxes
import subjects
from measure import Measurement, Report, arguments, in_turn, ratio

Command = tuple[list[str], dict[str, str]]


async def started(command: Callable[[Path, int], Command], home: Path) -> dict[str, float]:
    """Start a server, wait for its first answer, weigh it after one hundred, end it."""
    port = subjects.free_port()
    begun = perf_counter()
    process = subjects.start(*command(home, port), home)
    try:
        await subjects.answered(process, port, home)
        figures = {"start ms": (perf_counter() - begun) * 1000}
        server = subjects.Server(process.pid, port, home)
        cpu = server.cpu()
        if cpu is not None:
            figures["cpu s"] = cpu
        await load.drive(port, iter([subjects.HEALTH] * 100), 1)
        memory = server.memory()
        if memory is not None:
            figures["memory MiB"] = memory
        begun = perf_counter()
    finally:
        subjects.stop(process)
    figures["stop ms"] = (perf_counter() - begun) * 1000
    return figures


async def main() -> None:
    options = arguments(__doc__ or "", rounds=3)
    report = Report("start", "cold start to the first answered request (GET /health)")
    executable = subjects.peer_executable()
    old = await mailboxes.mailbox(mailboxes.SIZES[-1])
    numbers = count()
    with subjects.scratch() as folder:
        measured: dict[str, Measurement] = {
            "mail4agent, new folder": lambda: started(
                subjects.daemon_start, folder / f"daemon-{next(numbers)}"
            ),
            "mail4agent, 1,000,000 messages": lambda: started(subjects.daemon_start, old),
            "bare Hypercorn": lambda: started(subjects.bare_start, folder / "bare"),
        }
        if executable is None:
            report.note(subjects.NO_PEER)
        else:
            report.version_of("agent-inbox", subjects.peer_version(executable))
            measured["agent-inbox, new folder"] = lambda: started(
                lambda home, port: subjects.peer_start(executable, home, port),
                folder / f"peer-{next(numbers)}",
            )
        series = await in_turn(options.rounds, measured)
    report.table("start", series.values())
    ours = series["mail4agent, new folder"]
    million = series["mail4agent, 1,000,000 messages"]
    report.at_most("new folder, start ms", ours.median("start ms"), 1500)
    report.at_most("1,000,000 messages, start ms", million.median("start ms"), 1500)
    report.at_most("memory at start, MiB", ours.median("memory MiB"), 90)
    report.at_most("memory at start with 1,000,000 messages, MiB", million.median("memory MiB"), 90)
    if executable is not None:
        theirs = series["agent-inbox, new folder"].median("start ms")
        report.note(f"agent-inbox takes {ratio(theirs, ours.median('start ms')):.2g} times as long to start")
    report.finish()


if __name__ == "__main__":
    load.run(main())
