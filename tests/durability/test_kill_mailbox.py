"""Eight processes send to one mailbox and claim from it while they are killed at random.

CI runs ten seconds of a fixed seed. With M4A_TORTURE=1 it is a minute, of a seed that M4A_SEED sets, or that
is drawn and printed.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from collections import defaultdict
from itertools import pairwise
from pathlib import Path

import pytest

from mail4agent_core.clock import HandClock, SystemClock
from mail4agent_core.mailbox import MailboxStore

from .mailing import LEASE_SECS, RECIPIENT, Note

ROOT = Path(__file__).resolve().parents[2]
TORTURE = os.environ.get("M4A_TORTURE") == "1"
SECS = 60 if TORTURE else 10
WORKERS = 8


def drained(root: Path) -> tuple[set[str], set[str]]:
    """What is handed out once every lease is over, and what waits for a person."""
    clock = HandClock(SystemClock().now_ms())
    found: set[str] = set()
    with MailboxStore.open(root, clock=clock) as store:
        clock.step(LEASE_SECS * 1000 + 1)
        claimed = store.claim(RECIPIENT, "last", 60)
        found |= {message.id for message in claimed}
        store.confirm(RECIPIENT, "last", found)
        left = store.messages_for(RECIPIENT)
    assert {message.status for message in left} <= {"delivered", "dead"}
    return found, {message.id for message in left if message.status == "dead"}


@pytest.mark.promise(
    "mailbox.acknowledged-is-durable", "mailbox.a-claim-is-a-lease", "mailbox.order-is-sending-order"
)
@pytest.mark.timeout(SECS + 120)
def test_eight_killed_processes_lose_nothing_and_deliver_nothing_twice_within_a_lease(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """What was acknowledged is handed out, by one holder at a time, and again when its holder died."""
    seed = int(os.environ.get("M4A_SEED", random.randrange(1 << 32))) if TORTURE else 62_026
    root = tmp_path / "messages"
    command = [
        sys.executable,
        "-m",
        "tests.durability.mailing",
        str(root),
        str(seed),
        str(SECS),
        str(WORKERS),
    ]
    ran = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=SECS + 90)
    assert ran.returncode == 0, ran.stderr[-2_000:]
    notes = [Note(**json.loads(line)) for line in ran.stdout.splitlines()]
    last, dead = drained(root)
    killed = {note.worker for note in notes if note.deed == "killed"}
    sent = {note.id: note for note in notes if note.deed == "sent"}
    tried = {note.text for note in notes if note.deed == "try"}
    got: defaultdict[str, list[Note]] = defaultdict(list)
    for note in notes:
        if note.deed == "got":
            got[note.id].append(note)
    confirming = {note.id for note in notes if note.deed == "confirm"}
    confirmed = {note.id: note for note in notes if note.deed == "confirmed"}
    again = [
        id_
        for id_, each in got.items()
        if len({note.worker for note in each}) > 1 and each[0].worker in killed
    ]
    with capsys.disabled():
        sys.stdout.write(
            f"\nseed {seed}, {SECS} s: {len(killed)} killed, {len(sent)} acknowledged, "
            f"{len(confirmed)} confirmed, {len(again)} handed out again after their holder died, "
            f"{len(dead)} set aside as dead\n"
        )
    assert len(killed) >= SECS
    # Nothing that was acknowledged is lost, and nothing is there that nobody sent.
    assert sent.keys() - confirmed.keys() - confirming - last - dead == set()
    assert {note.text for each in got.values() for note in each} <= tried
    # What a holder got and never confirmed came to somebody else, or waits for a person.
    assert got.keys() - confirming - last - dead - set(again) == set()
    assert again
    for id_, each in got.items():
        leases = sorted((note.since_ms, note.until_ms) for note in each)
        # One holder at a time, and none after it was confirmed.
        assert all(before[1] <= after[0] for before, after in pairwise(leases)), id_
        assert id_ not in confirmed or confirmed[id_].since_ms == leases[-1][0]
    assert confirmed.keys() & last == set()
    assert len({note.text for note in sent.values()}) == len(sent)
    # Each process's messages are in the order in which they were sent.
    by_worker: defaultdict[str, list[str]] = defaultdict(list)
    for note in sent.values():
        by_worker[note.worker].append(note.id)
    assert all(ids == sorted(ids) for ids in by_worker.values())
    assert list((root / RECIPIENT).glob("*.bad")) == []
