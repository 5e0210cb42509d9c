"""Processes that send to one mailbox and claim from it, and the warm parent that forks and kills them.

Run as a module it keeps so many alive for so many seconds, kills one at random moments and forks another in
its place. Each tells what it is about to do and what came of it, a line by one call, so that a kill tears
none.
"""

from __future__ import annotations

import json
import os
import random
import select
import signal
import sys
import time
from dataclasses import asdict, dataclass
from pathlib import Path

from mail4agent_api.errors import MailboxFullError
from mail4agent_core.mailbox import MailboxStore, Sent
from mail4agent_core.taint import CLEAN

RECIPIENT = "chat"
LEASE_SECS = 1


@dataclass(frozen=True)
class Note:
    """What a process does (try, sent, got, confirm, confirmed, killed) to which message."""

    deed: str
    worker: str
    text: str = ""
    id: str = ""
    #: When the lease began, and when it ends.
    since_ms: int = 0
    until_ms: int = 0


def tell(note: Note) -> None:
    """Write a line at once."""
    os.write(1, f"{json.dumps(asdict(note))}\n".encode())


def live(root: Path, worker: str, seed: int) -> None:
    """Send and claim until somebody ends it."""
    drawn, number = random.Random(seed), 0
    with MailboxStore.open(root) as store:
        while True:
            if drawn.random() < 0.6:
                number += 1
                text = f"{worker} {number}"
                tell(Note("try", worker, text))
                try:
                    outcome = store.send(RECIPIENT, worker.partition("-")[0], worker, text, None, CLEAN)
                except MailboxFullError:
                    continue
                assert isinstance(outcome, Sent)
                tell(Note("sent", worker, text, outcome.id))
            else:
                claim(store, worker)


def claim(store: MailboxStore, worker: str) -> None:
    """Take what is pending, and confirm it message by message."""
    for message in store.claim(RECIPIENT, worker, LEASE_SECS):
        assert message.lease is not None
        until_ms = message.lease.until_ms
        since_ms = until_ms - LEASE_SECS * 1000
        tell(Note("got", worker, message.body, message.id, since_ms, until_ms))
        tell(Note("confirm", worker, message.body, message.id, since_ms, until_ms))
        if store.confirm(RECIPIENT, worker, [message.id]).confirmed:
            tell(Note("confirmed", worker, message.body, message.id, since_ms, until_ms))


def forked(root: Path, worker: str, seed: int) -> int:
    """A new process that lives; its number."""
    pid = os.fork()
    if pid:
        return pid
    try:
        live(root, worker, seed)
    finally:
        os._exit(1)


def main() -> None:
    """Fork, kill and fork again for the given time."""
    root, seed, secs, workers = Path(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3]), int(sys.argv[4])
    drawn, lives = random.Random(seed), [0] * workers
    pids = [forked(root, f"w{n}-0", drawn.randrange(1 << 32)) for n in range(workers)]
    end = time.monotonic() + secs
    while time.monotonic() < end:
        select.select([], [], [], drawn.random() * 0.4)
        victim = drawn.randrange(workers)
        os.kill(pids[victim], signal.SIGKILL)
        _, status = os.waitpid(pids[victim], 0)
        assert os.WIFSIGNALED(status), f"w{victim}-{lives[victim]} ended by itself"
        tell(Note("killed", f"w{victim}-{lives[victim]}"))
        lives[victim] += 1
        pids[victim] = forked(root, f"w{victim}-{lives[victim]}", drawn.randrange(1 << 32))
    for pid in pids:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)


if __name__ == "__main__":
    main()
