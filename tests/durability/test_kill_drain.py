"""A drain is killed at random moments between a real box and a real home.

With M4A_TORTURE=1 it is 500 times and more, of a seed that M4A_SEED sets, or that is drawn and printed.
"""

from __future__ import annotations

import hashlib
import os
import random
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.daemon.drain.home import Home, home_of
from tests.daemon.intake.house import House, house
from tests.daemon.intake.manifests import TALK, VISIT

ROOT = Path(__file__).resolve().parents[2]
TORTURE = os.environ.get("M4A_TORTURE") == "1"
KILLS = 500 if TORTURE else 40
#: What many kills left behind takes a while.
LONG_MICROS = 300_000_000


@dataclass
class Forker:
    """The process that forks drains."""

    process: subprocess.Popen[str]

    def drained(self, micros: int) -> tuple[bool, int]:
        """One drain, for so many microseconds at most: whether it was killed, and how long it ran."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        print(micros, file=self.process.stdin, flush=True)
        killed, ran = self.process.stdout.readline().split()
        return killed == "1", int(ran)


@contextmanager
def forker(environment: Mapping[str, str]) -> Iterator[Forker]:
    """One for the length of the block."""
    with subprocess.Popen(
        [sys.executable, "-m", "tests.durability.draining"],
        cwd=ROOT,
        env={**os.environ, **environment},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            yield Forker(process)
        finally:
            process.kill()


def submitted(box: House, number: int) -> tuple[str, bytes | None]:
    """A submission that waits in the queue, every third with a file: its address and the file."""
    address = box.fresh()
    if number % 3:
        answer = box.confirmed("visit", {"visitor_email": address})
        assert answer.json["step"] == "queued", answer.body
        return address, None
    pdf = f"%PDF-1.4\n1 0 obj\n<<>>\nendobj\n{number}\n%%EOF\n".encode()
    upload = box.confirmed("talk", {"email": address}).json["upload"]
    answer = box.upload(upload, [("slides", "talk.pdf", pdf)])
    assert answer.json["step"] == "queued", answer.body
    return address, pdf


def wrong(home: Home, sent: Mapping[str, bytes | None]) -> list[str]:
    """What differs between what was submitted and what is at home."""
    records = home.records()
    counted = Counter(str(record["reply_to"]) for record in records)
    found = [f"{address} is there {counted[address]} times" for address in sent if counted[address] != 1]
    found += [f"{address} was never sent" for address in counted if address not in sent]
    for record in records:
        pdf = sent.get(str(record["reply_to"]))
        if not record["valid"]:
            found.append(f"{record['seq']} is invalid: {record.get('invalid_reason')}")
        for each in record.get("attachments", []):
            path = home.daemon.home / "requests" / each["path"]
            if pdf is None or not path.exists() or path.read_bytes() != pdf:
                found.append(f"{record['seq']} has another file")
            elif each["sha256"] != f"sha256:{hashlib.sha256(pdf).hexdigest()}":
                found.append(f"{record['seq']} has another digest")
        if pdf is not None and not record.get("attachments"):
            found.append(f"{record['seq']} has no file")
    return found


@pytest.mark.promise("drain.brings-each-submission-home-once", "drain.files-record-acknowledgement")
@pytest.mark.timeout(900)
def test_a_drain_that_is_killed_anywhere_loses_nothing_and_brings_nothing_twice(tmp_path: Path) -> None:
    """Each submission is at home once in the end, with its file; the box holds none any more."""
    seed = int(os.environ.get("M4A_SEED", random.randrange(1 << 32))) if TORTURE else 72_026
    rnd = random.Random(seed)
    sent = dict[str, bytes | None]()
    with (
        house(tmp_path / "box", VISIT, TALK) as box,
        home_of(tmp_path, VISIT, TALK) as home,
        forker(home.environment(box.url, box.drain)) as drains,
    ):
        for number in range(3):
            sent.update([submitted(box, number)])
        assert not drains.drained(LONG_MICROS)[0]
        killed, number, longest = 0, 3, 0
        while killed < KILLS:
            for _ in range(rnd.randrange(1, 4)):
                sent.update([submitted(box, number)])
                number += 1
            if not longest:
                longest = drains.drained(LONG_MICROS)[1]
                continue
            was_killed, _ = drains.drained(rnd.randrange(longest))
            killed += was_killed
        assert not drains.drained(LONG_MICROS)[0]
        assert wrong(home, sent) == [], seed
        assert box.queued("look") == []
