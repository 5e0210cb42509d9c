"""The journal of a run: reading and folding 100,000 records, and appending one durably."""

import json
import os
import random
import shutil
from collections.abc import Iterator
from time import perf_counter, process_time

import load
import subjects
from measure import Measurement, Report, arguments, in_turn, percentile

from mail4agent_core.clock import SystemClock
from mail4agent_core.note.instants import spelled
from mail4agent_core.note.journal import read
from mail4agent_core.note.note import Note
from mail4agent_core.note.owed import folded
from mail4agent_core.note.paths import RunPaths
from mail4agent_core.note.requests import Request
from mail4agent_core.note.run import NoteRun
from mail4agent_core.note.standing import standing

RECORDS = 100_000
NODES = [f"node-{number}" for number in range(20)]
APPENDS = 100
START_MS = 1_786_000_000_000


def lines(draw: random.Random) -> Iterator[bytes]:
    """A journal as a long run leaves it: turns, dispatches, notes, and the graph's own events."""
    tasks = [{"id": node, "title": node, "task": node, "persona": "worker"} for node in NODES]
    yield _line(0, "pipeline", "run-started", None, {"plan": {"schema_version": 3, "tasks": tasks}})
    for number in range(1, RECORDS):
        node = draw.choice(NODES)
        match draw.choices(("turn", "other", "note", "dispatch"), (50, 40, 8, 2))[0]:
            case "turn":
                turn = {
                    "turn": number,
                    "role": draw.choice(("assistant", "user")),
                    "instruction": "go on with what is left to do " * 10,
                    "started_at": spelled(START_MS + number),
                }
                yield _line(number, "agentgraph", "turn-started", node, turn)
            case "note":
                operation = {
                    "kind": "note-delivered",
                    "node": node,
                    "addressee": "both",
                    "text": f"note {number}",
                    "reached": draw.choice(("worker", "supervisor", "carried")),
                }
                yield _line(number, "pipeline", "edit-committed", None, {"operations": [operation]})
            case "dispatch":
                yield _line(number, "pipeline", "node-dispatched", node, {"attempt": 1})
            case _:
                yield _line(number, "agentgraph", "turn-activity", node, {"tool": "read", "bytes": number})


def _line(number: int, source: str, kind: str, node: str | None, payload: object) -> bytes:
    record = {
        "v": 2,
        "ts": spelled(START_MS + number),
        "stream": source,
        "seq": number,
        "source": source,
        "kind": kind,
        "labels": {"run_id": "demo"} if node is None else {"run_id": "demo", "node": node},
        "payload": payload,
        "artifacts": [],
    }
    return json.dumps(record, separators=(",", ":")).encode() + b"\n"


async def main() -> None:
    options = arguments(__doc__ or "", rounds=3)
    report = Report("note", "the journal of a run with 100,000 records, 20 nodes")
    with subjects.scratch() as folder:
        paths = RunPaths.create(folder / "runs", "demo")
        paths.journal.write_bytes(b"".join(lines(random.Random(6))))
        small = RunPaths.create(folder / "runs", "small")
        NoteRun(small, SystemClock()).begin(NODES)
        bare = folder / "bare.jsonl"
        bare.touch()

        async def fold() -> dict[str, float]:
            begun, used = perf_counter(), process_time()
            records = read(paths.journal).records
            parsed = perf_counter()
            standing(records, NODES[0])
            folded(records, NODES[0])
            done = perf_counter()
            assert len(records) == RECORDS
            return {
                "read s": parsed - begun,
                "fold s": done - parsed,
                "both s": done - begun,
                "cpu s": process_time() - used,
            }

        async def every() -> dict[str, float]:
            begun, used = perf_counter(), process_time()
            ledger = NoteRun(paths, SystemClock()).refresh()
            for node in NODES:
                ledger.standing(node)
            return {"both s": perf_counter() - begun, "cpu s": process_time() - used}

        async def deliver() -> dict[str, float]:
            copy = RunPaths.create(folder / "runs", "long")
            shutil.copyfile(paths.journal, copy.journal)
            run = NoteRun(copy, SystemClock())
            run.settle(NODES[0], "waiting")
            return _timed(lambda: run.settle(NODES[0], "waiting"))

        async def note() -> dict[str, float]:
            run = NoteRun(small, SystemClock())
            request = Request.of(NODES[0], Note.of("both", "keep the old flag"), deliver="next")
            return _timed(lambda: run.deliver(request))

        async def write() -> dict[str, float]:
            handle = os.open(bare, os.O_WRONLY | os.O_APPEND)
            line = b"x" * 400 + b"\n"

            def one() -> None:
                os.write(handle, line)
                os.fdatasync(handle)

            try:
                return _timed(one)
            finally:
                os.close(handle)

        folds: dict[str, Measurement] = {"one node": fold, "all 20 nodes": every}
        appends: dict[str, Measurement] = {
            "append to 100,000 records": deliver,
            "deliver a note, carried": note,
            "bare write and fdatasync": write,
        }
        folding = await in_turn(options.rounds, folds)
        appending = await in_turn(options.rounds, appends)
    report.table("read and fold 100,000 records", folding.values())
    report.table("append", appending.values())
    report.at_most("read and fold 100,000 records, s", folding["one node"].median("both s"), 2)
    report.at_most("append a record, p50 ms", appending["append to 100,000 records"].median("p50 ms"), 5)
    report.note("a carried note is two appends and a file: the commit, then the node's carry store")
    report.finish()


def _timed(act: object) -> dict[str, float]:
    assert callable(act)
    seconds: list[float] = []
    for _ in range(APPENDS):
        begun = perf_counter()
        act()
        seconds.append(perf_counter() - begun)
    return {"p50 ms": percentile(seconds, 0.5) * 1000, "p99 ms": percentile(seconds, 0.99) * 1000}


if __name__ == "__main__":
    load.run(main())
