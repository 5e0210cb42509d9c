"""A driver of a run that is killed: forked from a warmed process, it tells what it was answered.

Each line on standard input is a job; on standard output stand the process id, each deed before and after it
is done, and how the driver ended.
"""

from __future__ import annotations

import json
import os
import random
import sys
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from mail4agent_core.clock import SystemClock
from mail4agent_core.note.conversation import (
    Accepted,
    Interrupted,
    JudgedWith,
    NoConversation,
    Offer,
    Queued,
    Undelivered,
)
from mail4agent_core.note.driving import driving
from mail4agent_core.note.instants import spelled
from mail4agent_core.note.note import Note
from mail4agent_core.note.paths import RunPaths
from mail4agent_core.note.requests import Request
from mail4agent_core.note.run import NoteRun
from mail4agent_core.note.turns import TurnOpened
from mail4agent_core.note.words import Party

NODES = ("build", "docs")


@dataclass(frozen=True, slots=True)
class Job:
    """One life of a driver."""

    runs: str
    seed: int
    life: int


@dataclass(frozen=True, slots=True)
class Deed:
    """What was done: ``deliver``, ``turn`` or ``dispatch``; ``answered`` is empty before it is."""

    what: str
    node: str
    key: str
    answered: str = ""


class Chance:
    """A conversation that answers at random."""

    def __init__(self, draw: random.Random) -> None:
        self._draw = draw

    def offer(self, offer: Offer) -> Accepted | Undelivered:
        """Any answer."""
        answers: list[Accepted | Undelivered] = [
            Queued(), Interrupted(Party.WORKER), Interrupted(Party.SUPERVISOR), JudgedWith("green"),
            NoConversation("gone"),
        ]  # fmt: skip
        return self._draw.choice(answers)


def tell(word: str, rest: object) -> None:
    """One line, whole."""
    os.write(1, f"{word} {rest}\n".encode())


def live(job: Job) -> None:
    """Deliver, announce and take in turns until killed."""
    draw = random.Random(job.seed)
    clock = SystemClock()
    paths = RunPaths.create(Path(job.runs), "demo")
    conversation = Chance(draw)
    with driving(paths, clock, conversations=lambda _: conversation) as driver:
        run = driver.run
        if not run.refresh().nodes:
            run.begin(NODES)
        tell("ready", "")
        count = 0
        while True:
            count += 1
            node, key = draw.choice(NODES), f"{job.life}-{count}"
            what = draw.choice(("deliver", "turn", "turn", "dispatch"))
            deed = Deed(what, node, key)
            tell("deed", json.dumps(asdict(deed)))
            answered = _done(run, draw, deed)
            tell("deed", json.dumps(asdict(replace(deed, answered=answered))))


def _done(run: NoteRun, draw: random.Random, deed: Deed) -> str:
    node, key = deed.node, deed.key
    match deed.what:
        case "deliver":
            request = Request.of(node, Note.of("both", f"note {key}"), idempotency_key=key)
            return run.deliver(request).reached.word
        case "dispatch":
            return str(len(run.dispatch(node, continuation=draw.random() < 0.5).carried))
        case _:
            watched = [note.note_id for note, _ in run.refresh().fold(node).watch.watched()]
            ids = [each for each in watched if each is not None and draw.random() < 0.7]
            party = draw.choice(tuple(Party))
            opened = TurnOpened(
                node,
                party,
                draw.randrange(1, 9),
                "go on",
                spelled(SystemClock().now_ms()),
                "delivered",
                ids[:64],
            )
            return str(len(run.events([opened])))


def main() -> None:
    """Fork a driver for each job."""
    for line in sys.stdin:
        pid = os.fork()
        if pid == 0:
            live(Job(**json.loads(line)))
            os._exit(0)
        tell("forked", pid)
        _, status = os.waitpid(pid, 0)
        tell("ended", os.waitstatus_to_exitcode(status))


if __name__ == "__main__":
    main()
