"""A driver of a run is killed at random moments; what it was told is on the record, and the record is whole.

CI runs a fixed number of lives of a fixed seed, some seconds. With M4A_TORTURE=1 there are thousands, of a
seed that M4A_SEED sets, or that is drawn and printed.
"""

from __future__ import annotations

import json
import os
import random
import select
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

import pytest

from mail4agent_core.clock import SystemClock
from mail4agent_core.note.journal import read
from mail4agent_core.note.owed import folded
from mail4agent_core.note.paths import RunPaths
from mail4agent_core.note.recorded import deliveries_of, is_commit
from mail4agent_core.note.run import NoteRun

from .noting import NODES, Deed, Job

ROOT = Path(__file__).resolve().parents[2]
TORTURE = os.environ.get("M4A_TORTURE") == "1"
#: Runs, and how often the driver of each is killed.
RUNS, LIVES = (400, 10) if TORTURE else (5, 10)
BOUND_SECS = 60


class Forker:
    """The warmed process that forks drivers."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.durability.noting"],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            bufsize=0,
        )
        self._buffer = b""

    def _line(self, secs: float) -> tuple[str, str] | None:
        assert self._process.stdout is not None
        while b"\n" not in self._buffer:
            if not select.select([self._process.stdout], [], [], max(secs, 0))[0]:
                return None
            more = os.read(self._process.stdout.fileno(), 1 << 16)
            assert more, "the forker is gone"
            self._buffer += more
        line, _, self._buffer = self._buffer.partition(b"\n")
        word, _, rest = line.decode().partition(" ")
        return word, rest

    def live(self, job: Job, secs: float) -> list[Deed]:
        """Let a driver live for a time after it is ready, then kill it; what it told."""
        assert self._process.stdin is not None
        self._process.stdin.write(f"{json.dumps(asdict(job))}\n".encode())
        told: list[Deed] = []
        pid, ready, end = 0, False, time.monotonic() + BOUND_SECS
        while True:
            match self._line(end - time.monotonic()):
                case ("forked", rest):
                    pid = int(rest)
                case ("ready", _):
                    ready, end = True, time.monotonic() + secs
                case ("deed", rest):
                    told.append(Deed(**json.loads(rest)))
                case ("ended", rest):
                    assert int(rest) == -signal.SIGKILL, "the driver ended by itself"
                    return told
                case _:
                    assert ready, "the driver did not start"
            if ready and pid and time.monotonic() >= end:
                os.kill(pid, signal.SIGKILL)
                ready, end = True, time.monotonic() + BOUND_SECS

    def close(self) -> None:
        """Let it end."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        self._process.wait(BOUND_SECS)
        self._process.stdout.close()


@pytest.fixture
def forker() -> Iterator[Forker]:
    """A forker for one test."""
    forker = Forker()
    yield forker
    forker.close()


def check(paths: RunPaths, told: list[Deed]) -> int:
    """What was answered is on the record once; every turn's presentations are, once; returns how many."""
    NoteRun(paths, SystemClock()).recover()
    found = read(paths.journal)
    assert found.torn is None
    numbers = Counter((record.stream, record.seq) for record in found.records)
    assert [name for name, count in numbers.items() if count > 1] == []
    delivered = Counter(
        delivery.idempotency_key
        for record in found.records
        if is_commit(record)
        for delivery in deliveries_of(record)
    )
    assert [key for key, count in delivered.items() if count > 1] == []
    tried = {deed.key for deed in told if deed.what == "deliver"}
    answered = {deed.key for deed in told if deed.what == "deliver" and deed.answered}
    assert answered <= delivered.keys() <= tried
    shown = 0
    for node in NODES:
        fold = folded(found.records, node)
        assert fold.unrecorded == []
        shown += len(fold.shown)
        records = [r for r in found.records if r.kind == "note-shown" and r.node == node]
        assert len(records) == len(fold.shown)
    return shown


@pytest.mark.promise("note.a-killed-driver-loses-nothing")
@pytest.mark.timeout(14_400 if TORTURE else 120)
def test_a_killed_driver_loses_no_note_and_no_presentation(tmp_path: Path, forker: Forker) -> None:
    """Notes, dispatches and turns of drivers that are killed again and again, one after the other."""
    seed = int(os.environ.get("M4A_SEED", random.randrange(1 << 32))) if TORTURE else 6_2026
    print(f"M4A_SEED={seed}")  # noqa: T201  # shown when the test fails
    draw = random.Random(seed)
    deeds: Counter[tuple[str, bool]] = Counter()
    shown = 0
    for number in range(RUNS):
        runs = tmp_path / str(number)
        told: list[Deed] = []
        for life in range(LIVES):
            told += forker.live(Job(str(runs), draw.randrange(1 << 32), life), draw.random() ** 2 * 0.4)
            if (runs / "demo" / "events.jsonl").exists():
                shown += check(RunPaths.of(runs, "demo"), told)
        deeds += Counter((deed.what, bool(deed.answered)) for deed in told)
    for what in ("deliver", "turn", "dispatch"):
        assert deeds[what, True] >= RUNS, what
    assert shown >= RUNS
