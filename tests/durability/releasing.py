"""Processes that stage and release drafts, and the warm parent that forks them and ends them anywhere.

Run as a module: some are killed before a step of the operating system that the parent chose, every one in
turn, and the others at random moments. After each the parent looks as a person would: what is pending goes
on, what is in doubt is settled by what the far side has. Tells what it found as one line of JSON.
"""

from __future__ import annotations

import fcntl
import json
import os
import random
import select
import signal
import sys
import traceback
from collections import Counter
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from mail4agent_api.errors import OutcomeUnknownError
from mail4agent_core.outbox import (
    Delivered,
    NotSent,
    OutboxKind,
    OutboxStore,
    Outgoing,
    Releases,
    digest_of,
)
from mail4agent_core.taint import CLEAN

PERSON = "user:reviewer"
#: What reaches the disk, or tells who holds what.
STEPS = (
    "open", "close", "read", "fsync", "rename", "unlink", "mkdir", "rmdir", "stat", "fstat", "listdir",
    "ftruncate", "pwrite", "fdopen", "write",
)  # fmt: skip


@dataclass
class Found:
    """What the parent saw."""

    points: int = 0
    kills: int = 0
    doubts: int = 0
    doubts_that_left: int = 0
    drafts: int = 0
    wrong: list[str] = field(default_factory=list[str])


@dataclass
class Party:
    """The outbox, the far side's record of what reached it, and what was acknowledged to who staged."""

    root: Path

    @property
    def far_side(self) -> Path:
        """A line for each draft that arrived."""
        return self.root / "arrived"

    @property
    def told(self) -> Path:
        """A line for each draft that was acknowledged."""
        return self.root / "told"

    def open(self) -> OutboxStore:
        """The outbox."""
        return OutboxStore.open(self.root / "outbox")

    def deliver(self, outgoing: Outgoing) -> None:
        """Reach the far side: a line by one call, that no kill tears."""
        _line(self.far_side, f"{outgoing.item_id} {outgoing.attempt}")

    def release(self, store: OutboxStore, id_: str, drawn: random.Random) -> None:
        """One attempt; one in four certainly does not leave."""
        releases = Releases(store)
        outgoing = releases.begin(id_, digest_of(store.existing(id_), None), PERSON, None)
        if drawn.random() < 0.25:
            releases.finish(outgoing, NotSent("server unreachable"))
            return
        self.deliver(outgoing)
        releases.finish(outgoing, Delivered())

    def work(self, waiting: list[str], name: str, seed: int, *, rounds: int | None) -> None:
        """Release what waits, then stage and release, so many times or until somebody ends it."""
        drawn, number = random.Random(seed), 0
        with self.open() as store:
            for id_ in waiting:
                self.release(store, id_, drawn)
            while rounds is None or number < rounds:
                number += 1
                item = store.stage(
                    "mail__send", OutboxKind.MESSAGE, {"to": "a@x.org", "files": "a.txt"}, CLEAN, name,
                    str(self.root / "work"), file_args=["files"], idempotency_key=f"{name}-{number}",
                )  # fmt: skip
                _line(self.told, item.id)
                self.release(store, item.id, drawn)


def _line(path: Path, text: str) -> None:
    opened = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    os.write(opened, f"{text}\n".encode())
    os.close(opened)


def _crash_before(point: int) -> None:
    """End this process before its so manieth step."""
    left = point

    def stepping(real: Any) -> Any:
        def step(*args: Any, **more: Any) -> Any:
            nonlocal left
            if left == 0:
                os.kill(os.getpid(), signal.SIGKILL)
            left -= 1
            return real(*args, **more)

        return step

    for name in STEPS:
        setattr(os, name, stepping(getattr(os, name)))
    fcntl.flock = stepping(fcntl.flock)


class Parent:
    """Forks, kills, looks."""

    def __init__(self, party: Party, seed: int) -> None:
        self._party = party
        self._seed = seed
        self._drawn = random.Random(seed)
        self._seen: set[str] = set()
        self._waiting: list[str] = []
        self._children = 0
        self.found = Found()

    def every_point(self) -> None:
        """A child for every step of a whole release, ended before it."""
        while self._child(point=self.found.points):
            self.found.points += 1
            self.look()
        self.look()

    def at_random(self, kills: int) -> None:
        """Children that go on until they are killed."""
        while self.found.kills < kills:
            self._child(point=None)
            self.look()

    def _child(self, point: int | None) -> bool:
        """Fork one and see it end. Whether it was killed."""
        self._children += 1
        seed = self._seed * 100_003 + self._children
        started, tells = os.pipe()
        pid = os.fork()
        if pid == 0:
            status = 1
            try:
                os.write(tells, b".")
                if point is not None:
                    _crash_before(point)
                rounds = None if point is None else 1
                waiting = [] if point is not None else self._waiting
                self._party.work(waiting, f"w{self._children}", seed, rounds=rounds)
                status = 0
            except BaseException:  # noqa: BLE001  # a child must not go on as a second parent
                traceback.print_exc()
            finally:
                os._exit(status)
        os.close(tells)
        os.read(started, 1)
        os.close(started)
        if point is None:
            select.select([], [], [], self._drawn.uniform(0, 0.02))
            os.kill(pid, signal.SIGKILL)
        _, status = os.waitpid(pid, 0)
        killed = os.WIFSIGNALED(status)
        if not killed and os.WEXITSTATUS(status):
            self.found.wrong.append(f"child {self._children} failed")
        self.found.kills += killed
        return killed

    def arrived(self) -> Counter[str]:
        """How often each draft reached the far side."""
        path = self._party.far_side
        lines = path.read_text().splitlines() if path.exists() else []
        return Counter(line.split()[0] for line in lines)

    def look(self) -> None:
        """What a person finds: pending, sent, or in doubt, and nothing else; then the doubts are settled."""
        arrived = self.arrived()
        with self._party.open() as store:
            fresh = [id_ for id_ in store.listing.ids() if id_ not in self._seen]
            self._seen.update(fresh)
            releases, still = Releases(store), list[str]()
            for id_ in [*self._waiting, *fresh]:
                item = store.existing(id_)
                if arrived[id_] > 1:
                    self.found.wrong.append(f"{id_} arrived {arrived[id_]} times")
                if item.status == "pending":
                    still.append(id_)
                    if arrived[id_]:
                        self.found.wrong.append(f"{id_} arrived and is pending")
                elif item.status == "releasing":
                    self._settle(store, releases, id_, arrived[id_])
                    still += [] if arrived[id_] else [id_]
                elif item.status != "sent" or arrived[id_] != 1:
                    self.found.wrong.append(f"{id_} is {item.status} and arrived {arrived[id_]} times")
            self._waiting = still

    def _settle(self, store: OutboxStore, releases: Releases, id_: str, arrived: int) -> None:
        self.found.doubts += 1
        self.found.doubts_that_left += arrived
        if store.in_flight(id_):
            self.found.wrong.append(f"{id_} is held by nobody that lives")
        try:
            releases.begin(id_, digest_of(store.existing(id_), None), PERSON, None)
        except OutcomeUnknownError:
            pass
        else:
            self.found.wrong.append(f"{id_} was in doubt and was released again")
        releases.settle(id_, sent=arrived > 0, by=PERSON)

    def end(self) -> None:
        """Release what is left, and count."""
        with self._party.open() as store:
            while self._waiting:
                for id_ in self._waiting:
                    self._party.release(store, id_, self._drawn)
                self._waiting = [id_ for id_ in self._waiting if store.existing(id_).status == "pending"]
            arrived = self.arrived()
            items = store.items_strict()
            self.found.drafts = len(items)
            told = set(self._party.told.read_text().split())
            self.found.wrong += [f"{id_} was told and is lost" for id_ in told - {item.id for item in items}]
            self.found.wrong += [
                f"{item.id} ends as {item.status}, arrived {arrived[item.id]} times"
                for item in items
                if item.status != "sent" or arrived[item.id] != 1
            ]


def main(root: Path, seed: int, kills: int) -> None:
    """Run it all."""
    (root / "work").mkdir(parents=True)
    (root / "work" / "a.txt").write_text("alpha")
    parent = Parent(Party(root), seed)
    parent.every_point()
    parent.at_random(kills)
    parent.end()
    sys.stdout.write(f"{json.dumps(asdict(parent.found))}\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))
