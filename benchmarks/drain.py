"""Draining the box: a home fetches submissions from an intake, keeps a durable record of each, and says so.

Both are real processes over real sockets. Beside it is the floor of the same run: as many files of a record's
size, each written and synced with its folder.
"""

import os
import sys
import tempfile
from pathlib import Path
from time import perf_counter

import load
import subjects
from measure import Report, Series, arguments

sys.path.insert(0, str(subjects.ROOT))

from tests.daemon.drain.home import home_of
from tests.daemon.intake.house import house
from tests.daemon.intake.manifests import VISIT

ROWS = 100
RECORD_BYTES = 1_024


def synced(folder: Path) -> float:
    """Seconds to write so many files, each synced, as is its folder."""
    folder.mkdir()
    descriptor = os.open(folder, os.O_RDONLY)
    begun = perf_counter()
    for number in range(ROWS):
        with (folder / str(number)).open("wb") as file:
            file.write(b"x" * RECORD_BYTES)
            file.flush()
            os.fsync(file.fileno())
        os.fsync(descriptor)
    took = perf_counter() - begun
    os.close(descriptor)
    return took


async def main() -> None:
    options = arguments(__doc__ or "", rounds=2)
    report = Report("drain", f"draining {ROWS} submissions, once through")
    drained, floor = Series("drain"), Series("bare files, written and synced")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "home").mkdir()
        with house(folder / "box", VISIT) as box, home_of(folder / "home", VISIT) as home:
            for number in range(options.rounds + 1):
                for _ in range(ROWS):
                    values = {"purpose": "other", "story": "A tour, please. " * 20}
                    box.confirmed("visit", {"visitor_email": box.fresh(), **values})
                begun = perf_counter()
                tally = home.drained(box.url, box.drain)
                took = perf_counter() - begun
                if tally["written"] != ROWS:
                    raise RuntimeError(f"wanted {ROWS} rows, got {tally}")
                bare = synced(folder / f"bare-{number}")
                if number:
                    drained.rounds.append({"rows/s": ROWS / took, "ms a row": took / ROWS * 1000})
                    floor.rounds.append({"rows/s": ROWS / bare, "ms a row": bare / ROWS * 1000})
    report.table(f"{ROWS} rows", [drained, floor])
    report.finish()


if __name__ == "__main__":
    load.run(main())
