"""A release is killed at every step of the operating system, and then at random, 500 times and more.

With M4A_TORTURE=1 it is 5,000 times, of a seed that M4A_SEED sets, or that is drawn and printed.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
TORTURE = os.environ.get("M4A_TORTURE") == "1"
KILLS = 5_000 if TORTURE else 520


@pytest.mark.promise("outbox.kills-never-send-twice", "outbox.it-leaves-once")
@pytest.mark.timeout(600)
def test_a_release_that_is_killed_anywhere_never_sends_twice_and_shows_every_doubt(tmp_path: Path) -> None:
    """What was acknowledged is there; what arrived is sent or in doubt; in the end each arrived once."""
    seed = int(os.environ.get("M4A_SEED", random.randrange(1 << 32))) if TORTURE else 62_026
    command = [
        sys.executable,
        "-m",
        "tests.durability.releasing",
        str(tmp_path / "party"),
        str(seed),
        str(KILLS),
    ]
    ran = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=500)
    assert ran.returncode == 0, (seed, ran.stderr[-2_000:])
    found = json.loads(ran.stdout)
    assert found["wrong"] == [], (seed, ran.stderr[-2_000:])
    assert found["points"] > 50
    assert found["kills"] >= KILLS
    # Otherwise no kill ever fell between the intent and its outcome.
    assert found["doubts"] > found["doubts_that_left"] > 0
    assert found["drafts"] > 0
