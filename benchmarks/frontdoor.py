"""The front door with many requests: the bare files, the first list, a later one, and one request read.

Every file opened and read, a store that was just opened, the same one again, a request by its number, and one
in a folder that changes before each look.
"""

import json
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from measure import Report, Series, flags

from mail4agent_core.frontdoor.store import Frontdoor

Cost = tuple[float, float]
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


def timed(work: Callable[[], object]) -> Cost:
    started, used = time.perf_counter(), time.process_time()
    work()
    return (time.perf_counter() - started) * 1000, (time.process_time() - used) * 1000


def bare(root: Path) -> None:
    for path in root.glob("*.json"):
        path.read_bytes()


def changed(root: Path, requests: Frontdoor, seq: int) -> Cost:
    (root / "of-another").touch()
    (root / "of-another").unlink()
    return timed(lambda: requests.record(seq))


def first(root: Path) -> Cost:
    with Frontdoor.open(root) as requests:
        return timed(requests.listing)


def main() -> None:
    options = flags(
        __doc__ or "", rounds=5, more=lambda each: each.add_argument("--requests", type=int, default=10_000)
    )
    count = options.requests
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "requests"
        root.mkdir(mode=0o700)
        for seq in range(1, count + 1):
            (root / f"{seq:010}-visit.json").write_text(json.dumps(request(seq), indent=2))
        read, cold = list[Cost](), list[Cost]()
        for _ in range(options.rounds):
            read.append(timed(lambda: bare(root)))
            cold.append(first(root))
        with Frontdoor.open(root) as requests:
            requests.listing()
            again = [timed(requests.listing) for _ in range(options.rounds)]
            one = [timed(lambda: requests.record(count // 2)) for _ in range(options.rounds)]
            moving = [changed(root, requests, count // 2) for _ in range(options.rounds)]
    report = Report("frontdoor", f"a front door with {count:,} requests")
    rows = {
        "open and read every file": read, "list, nothing known": cold, "list again": again,
        "read one request": one, "read one, the folder changing": moving,
    }  # fmt: skip
    report.table(
        f"{count:,} requests",
        [
            Series(name, [{"ms": took, "cpu ms": used} for took, used in costs])
            for name, costs in rows.items()
        ],
    )
    report.finish()


if __name__ == "__main__":
    main()
