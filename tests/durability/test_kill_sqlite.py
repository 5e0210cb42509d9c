"""A writer is killed at random moments; what it was told is what is there.

CI runs a fixed number of lives of a fixed seed, under a minute. With M4A_TORTURE=1 there are thousands, of a
seed that M4A_SEED sets, or that is drawn and printed.
"""

import asyncio
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

from mail4agent_api.mail import Message, Position
from mail4agent_core.clock import HandClock
from mail4agent_core.mail.sqlite import SqliteStore
from mail4agent_core.mail.sqlite.verify import verify
from tests.core.mail.office import Office, position

from .writing import ROOM, Entry, Job, caller

ROOT = Path(__file__).resolve().parents[2]
TORTURE = os.environ.get("M4A_TORTURE") == "1"
#: Stores, and how often the writer of each is killed.
STORES, LIVES = (400, 10) if TORTURE else (12, 10)
BOUND_SECS = 60
START_MS = 1_700_000_000_000


class Forker:
    """The warmed process that forks writers."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.durability.writing"],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            bufsize=0,
        )
        self._buffer = b""

    def _line(self, secs: float) -> tuple[str, str] | None:
        """The next line's first word and the rest, None when none comes in time."""
        assert self._process.stdout is not None
        while b"\n" not in self._buffer:
            if not select.select([self._process.stdout], [], [], max(secs, 0))[0]:
                return None
            read = os.read(self._process.stdout.fileno(), 1 << 16)
            assert read, "the forker is gone"
            self._buffer += read
        line, _, self._buffer = self._buffer.partition(b"\n")
        word, _, rest = line.decode().partition(" ")
        return word, rest

    def live(self, job: Job, secs: float) -> list[Entry]:
        """Let a writer live for a time after it is ready, then kill it; what it told."""
        assert self._process.stdin is not None
        self._process.stdin.write(f"{json.dumps(asdict(job))}\n".encode())
        told: list[Entry] = []
        pid, ready, end = 0, False, time.monotonic() + BOUND_SECS
        while True:
            line = self._line(end - time.monotonic())
            match line:
                case ("forked", rest):
                    pid = int(rest)
                case ("ready", _):
                    ready, end = True, time.monotonic() + secs
                case ("note", rest):
                    told.append(Entry(**json.loads(rest)))
                case ("ended", rest):
                    assert int(rest) == -signal.SIGKILL, "the writer ended by itself"
                    return told
                case _:
                    assert ready, "the writer did not start"
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


async def check(path: Path, ledger: list[Entry], clock_ms: int) -> None:
    """Everything that was answered is there once, everything else at most once, and the file is sound."""
    assert verify(path) == []
    clock = HandClock(clock_ms)
    store = await SqliteStore.open(path, clock)
    office = Office(store, clock)
    tried = Counter(entry.what for entry in ledger if entry.deed == "send")
    sent = {entry.what: entry for entry in ledger if (entry.deed, entry.state) == ("send", "ok")}
    refused = {
        entry.what
        for entry in ledger
        if (entry.deed, entry.state) == ("send", "no") and not entry.keyed and entry.what not in sent
    }
    purging = {entry.what for entry in ledger if entry.deed == "purge"}
    purged = {entry.what for entry in ledger if (entry.deed, entry.state) == ("purge", "ok")}
    acking = {entry.what for entry in ledger if entry.deed == "ack"}
    acked = {entry.what for entry in ledger if (entry.deed, entry.state) == ("ack", "ok")}

    for name in ("bob", "cid"):
        messages: list[Message] = []
        after: Position | None = None
        while page := (await office.inbox(caller(name), limit=256, after=after)).messages:
            messages += page
            after = position(page[-1])
        held = Counter(message.subject for message in messages)
        # Once at most, whatever was tried.
        assert [subject for subject, count in held.items() if count > 1] == []
        assert set(held) <= set(tried)
        assert set(held) & refused == set()
        gone = purging if name == "bob" else acking
        expected = {what for what, entry in sent.items() if entry.to == name} - gone
        assert expected <= set(held), "what was answered is there"
        ids = {message.subject: str(message.message_id) for message in messages}
        assert {what: ids[what] for what in expected} == {what: sent[what].message_id for what in expected}
        assert set(held) & (purged if name == "bob" else set()) == set()
        # One writer's messages are in the order in which they were answered, and times never decrease.
        times = [message.created_at_unix_ms for message in messages]
        assert times == sorted(times)
        turns: dict[str, int] = {}
        for message in messages:
            life, number, turn = message.subject.split(".")
            if message.subject in sent and sent[message.subject].life == int(life):
                assert turns.get(f"{life}.{number}", -1) < int(turn)
                turns[f"{life}.{number}"] = int(turn)
    unread = await office.walk(caller("cid"), limit=256, unread_only=True)
    assert set(unread) & acked == set()
    assert await office.unread(caller("cid")) == len(unread)

    moves = [entry for entry in ledger if entry.deed in ("join", "leave") and entry.state != "no"]
    member = f"#{ROOM}" in await office.engine.boxes(caller("bob"))
    if moves and moves[-1].state == "ok":
        assert member == (moves[-1].deed == "join")
    await store.close()
    assert verify(path) == []


@pytest.mark.promise("mail.acknowledged-send-is-durable")
@pytest.mark.timeout(14_400 if TORTURE else 180)
def test_what_a_killed_writer_was_told_is_there_exactly_once(tmp_path: Path, forker: Forker):
    """Sends with and without keys, acks, joins, purges, accounts and retention, killed again and again."""
    # In some lives files may not grow past a size: to the store that is a full disk.
    seed = int(os.environ.get("M4A_SEED", random.randrange(1 << 32))) if TORTURE else 4_2026
    print(f"M4A_SEED={seed}")  # noqa: T201  # shown when the test fails
    drawn = random.Random(seed)
    states: Counter[tuple[str, str]] = Counter()
    for number in range(STORES):
        path = tmp_path / f"{number}.sqlite3"
        ledger: list[Entry] = []
        clock_ms = START_MS
        for life in range(LIVES):
            clock_ms += drawn.choice((0, 1_000, -1_000, 3_600_000, -3_600_000))
            size_limit = None
            if life % 4 == 3:
                size_limit = path.stat().st_size + drawn.randrange(200_000)
            answered = {entry.what for entry in ledger if (entry.deed, entry.state) == ("send", "ok")}
            pending = {entry.what: entry.to for entry in ledger if entry.deed == "send" and entry.keyed}
            job = Job(
                path=str(path),
                seed=drawn.randrange(1 << 32),
                life=life,
                clock_ms=clock_ms,
                pending=[(what, to) for what, to in pending.items() if what not in answered],
                size_limit=size_limit,
            )
            ledger += forker.live(job, drawn.random() ** 2 * 0.5)
            asyncio.run(check(path, ledger, clock_ms))
        states += Counter((entry.deed, entry.state) for entry in ledger)
        for leftover in tmp_path.glob(f"{number}.*"):
            leftover.unlink()
    for deed in ("send", "ack", "purge", "join", "leave", "visit", "retain"):
        assert states[deed, "ok"] >= STORES, deed
    assert states["send", "no"] >= STORES
