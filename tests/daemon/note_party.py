"""One party of a node's conversation, in a process of its own: reads its notes and takes its turns.

Its last argument is a list of steps: ``open`` takes a turn; an answer takes the next note so, and what the
party then knows of notes goes into its next turn.
"""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mail4agent_client import SyncMailClient
from mail4agent_core.clock import SystemClock
from mail4agent_core.note.conversation import Interrupted, JudgedWith, NoConversation, Queued
from mail4agent_core.note.instants import spelled
from mail4agent_core.note.over_mail import MailParty
from mail4agent_core.note.paths import RunPaths
from mail4agent_core.note.run import NoteRun
from mail4agent_core.note.turns import TurnOpened
from mail4agent_core.note.words import Party
from mail4agent_daemon.conversing import ClientMail

ANSWERS = {
    "queued": Queued(),
    "worker": Interrupted(Party.WORKER),
    "supervisor": Interrupted(Party.SUPERVISOR),
    "judged-with": JudgedWith("both suites are green"),
    "gone": NoConversation("the turn has ended"),
}
#: Seconds that a party waits for mail at a time, and how often.
WAIT_SECS, WAITS = 10, 3


@dataclass(frozen=True, slots=True)
class Task:
    """What a party is told on its command line."""

    party: str
    url: str
    key: str
    runs: str
    steps: list[list[Any]]
    node: str = "build"


def say(line: str) -> None:
    """One line on standard output."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def play(task: Task) -> None:
    """Take each step in order; say ``ready`` before the first and what was done after each."""
    paths = RunPaths.of(Path(task.runs), "demo")
    run, party = NoteRun(paths, SystemClock()), Party(task.party)
    with SyncMailClient(task.url, token_file=task.key) as client:
        side = MailParty(ClientMail(client), "demo", task.node, "driver")
        say("ready")
        taken: list[str] = []
        for step, *rest in task.steps:
            if step == "open":
                number, origin, named = rest
                opened = TurnOpened(
                    task.node,
                    party,
                    number,
                    "go on with what the manager said",
                    spelled(SystemClock().now_ms()),
                    origin,
                    [*taken, *named],
                )
                shown = [each.evidence.value for _, each in run.events([opened])]
                say(json.dumps(shown))
            else:
                offers = next(filter(None, (side.offers(wait_secs=WAIT_SECS) for _ in range(WAITS))), [])
                for offered in offers:
                    side.answer(offered, ANSWERS[step])
                    taken.append(offered.offer.note_id)
                say(json.dumps([offered.offer.note.text for offered in offers]))


if __name__ == "__main__":
    play(Task(**json.loads(sys.argv[1])))
