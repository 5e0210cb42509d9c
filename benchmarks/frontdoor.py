"""The front door with many requests: the first list, a later one, and one request read.

    python benchmarks/frontdoor.py [requests]

Prints milliseconds of the processor: every file read alone, the list of a store that was just opened, the
list of the same one again, and one request by its number.
"""

import json
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from mail4agent_core.frontdoor.store import Frontdoor

COUNT = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
ROUNDS = 9
STATES = ("drained", "extracted", "awaiting_me", "answered", "closed")


def request(seq: int) -> dict[str, object]:
    return {
        "seq": seq,
        "type_id": "visit",
        "state": STATES[seq % len(STATES)],
        "created_at": "2026-09-02T09:15:03Z",
        "drained_at": "2026-09-02T09:20:11.402118904+00:00",
        "valid": True,
        "values": {"guests": 3, "purpose": "tour", "story": "We would like to see the greenhouse. " * 20},
        "free_text": ["story"],
        "extraction": {"reading": "They ask for a tour.", "topic": "a visit", "urgency_claimed": "none"},
    }


def timed(work: Callable[[], object]) -> float:
    started = time.process_time()
    work()
    return (time.process_time() - started) * 1000


def bare(root: Path) -> None:
    for path in root.glob("*.json"):
        path.read_bytes()


def first(root: Path) -> float:
    with Frontdoor.open(root) as requests:
        return timed(requests.listing)


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "requests"
        root.mkdir(mode=0o700)
        for seq in range(1, COUNT + 1):
            (root / f"{seq:010}-visit.json").write_text(json.dumps(request(seq), indent=2))
        found: dict[str, list[float]] = {}
        with Frontdoor.open(root) as requests:
            requests.listing()
            # In turn, so that a disturbance disturbs all alike.
            for _ in range(ROUNDS):
                found.setdefault("read alone", []).append(timed(lambda: bare(root)))
                found.setdefault("first list", []).append(first(root))
                found.setdefault("list again", []).append(timed(requests.listing))
                found.setdefault("one request", []).append(timed(lambda: requests.record(COUNT // 2)))
    for name, times in found.items():
        print(f"{name:12} of {COUNT}: median {statistics.median(times):7.2f} ms, best {min(times):7.2f} ms")


if __name__ == "__main__":
    main()
