"""What every figure comes with: machine, versions, medians of rounds, ratios, and a JSON file of it all."""

import argparse
import json
import os
import platform
import sqlite3
import statistics
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

RESULTS = Path(__file__).parent / "results"
PACKAGES = ("mail4agent", "pydantic", "jiter", "orjson", "starlette", "hypercorn", "h11", "uvloop")


def machine() -> dict[str, str]:
    """The machine, as far as it matters for a figure."""
    return {
        "processor": _processor(),
        "cores": str(os.cpu_count()),
        "memory": f"{os.sysconf('SC_PAGE_SIZE') * os.sysconf('SC_PHYS_PAGES') / 2**30:.0f} GiB",
        "system": f"{platform.system()} {platform.release().split('-')[0]}",
    }


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text("utf-8").splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()


def versions(packages: Iterable[str] = PACKAGES) -> dict[str, str]:
    """The interpreter, SQLite and the packages that are installed here."""
    found = {"Python": platform.python_version(), "SQLite": sqlite3.sqlite_version}
    for name in packages:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


def percentile(values: Sequence[float], part: float) -> float:
    """The value that ``part`` (0 to 1) of the values do not exceed."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(part * len(ordered)))]


@dataclass(slots=True)
class Series:
    """The rounds of one subject: each round is a mapping of figure names to numbers."""

    subject: str
    rounds: list[dict[str, float]] = field(default_factory=list)

    def median(self, figure: str) -> float | None:
        """The median of a figure over the rounds that have it."""
        values = [each[figure] for each in self.rounds if figure in each]
        return statistics.median(values) if values else None

    def medians(self) -> dict[str, float]:
        """The medians of all figures."""
        names = dict.fromkeys(name for each in self.rounds for name in each)
        return {name: value for name in names if (value := self.median(name)) is not None}


Measurement = Callable[[], Awaitable[dict[str, float]]]


async def in_turn(rounds: int, measurements: Mapping[str, Measurement]) -> dict[str, Series]:
    """A warm-up, then each subject in turn, ``rounds`` times: a disturbance disturbs all alike."""
    series = {name: Series(name) for name in measurements}
    for number in range(rounds + 1):
        for name, measure in measurements.items():
            figures = await measure()
            if number:
                series[name].rounds.append(figures)
    return series


@dataclass(slots=True)
class Target:
    """A figure against what was wanted of it. Reported, never asserted."""

    figure: str
    value: float
    wanted: str
    met: bool


class Report:
    """What one script measured."""

    def __init__(self, name: str, summary: str, packages: Iterable[str] = ()) -> None:
        self.name = name
        self._summary = summary
        self._versions = versions((*PACKAGES, *packages))
        self._tables: dict[str, list[Series]] = {}
        self._targets: list[Target] = []
        self._notes: list[str] = []

    def table(self, title: str, series: Iterable[Series]) -> None:
        """Add subjects that were measured in turn."""
        self._tables[title] = list(series)

    def at_most(self, figure: str, value: float | None, bound: float) -> None:
        """Say how a figure stands to its greatest wanted value."""
        if value is not None:
            self._targets.append(Target(figure, value, f"at most {bound:g}", value <= bound))

    def at_least(self, figure: str, value: float | None, bound: float) -> None:
        """Say how a figure stands to its least wanted value."""
        if value is not None:
            self._targets.append(Target(figure, value, f"at least {bound:g}", value >= bound))

    def note(self, text: str) -> None:
        """Say what a reader of the figures must know."""
        self._notes.append(text)

    def version_of(self, subject: str, found: str) -> None:
        """Name the version of something that is not installed here but was measured."""
        self._versions[subject] = found

    def finish(self) -> None:
        """Print it, and write it beside the script."""
        print(self.text())
        RESULTS.mkdir(exist_ok=True)
        path = RESULTS / f"{self.name}.json"
        path.write_text(json.dumps(self.document(), indent=2) + "\n", "utf-8")

    def document(self) -> dict[str, object]:
        """All of it as JSON."""
        return {
            "name": self.name,
            "summary": self._summary,
            "machine": machine(),
            "versions": self._versions,
            "tables": {
                title: [{"subject": s.subject, "medians": s.medians(), "rounds": s.rounds} for s in series]
                for title, series in self._tables.items()
            },
            "targets": [asdict(target) for target in self._targets],
            "notes": self._notes,
        }

    def text(self) -> str:
        """All of it for a person."""
        lines = [f"{self.name}: {self._summary}"]
        lines.append("  machine   " + ", ".join(f"{name} {value}" for name, value in machine().items()))
        lines.append("  versions  " + ", ".join(f"{name} {value}" for name, value in self._versions.items()))
        for title, series in self._tables.items():
            rounds = max(len(each.rounds) for each in series)
            lines += ["", f"  {title}: medians of {rounds} rounds in turn", *_columns(series)]
        if self._targets:
            lines += ["", "  wanted"]
            width = max(len(t.figure) for t in self._targets)
            for t in self._targets:
                missed = "" if t.met else "  MISSED"
                lines.append(f"    {t.figure:<{width}}  {_number(t.value):>9}  {t.wanted}{missed}")
        lines += [f"  note: {note}" for note in self._notes]
        return "\n".join(lines) + "\n"


def _columns(series: Sequence[Series]) -> list[str]:
    figures = list(dict.fromkeys(name for each in series for name in each.medians()))
    rows = [["", *figures]]
    for each in series:
        medians = each.medians()
        rows.append([each.subject, *(_number(medians[name]) if name in medians else "-" for name in figures)])
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    lines: list[str] = []
    for name, *cells in rows:
        aligned = [
            name.ljust(widths[0]),
            *(cell.rjust(width) for cell, width in zip(cells, widths[1:], strict=True)),
        ]
        lines.append("    " + "  ".join(aligned))
    return lines


def _number(value: float) -> str:
    if value >= 1000:
        return f"{value:,.0f}"
    return f"{value:.3g}" if value < 100 else f"{value:.0f}"


def latency(seconds: Sequence[float]) -> dict[str, float]:
    """The two figures of a latency."""
    return {"p50 ms": percentile(seconds, 0.50) * 1000, "p99 ms": percentile(seconds, 0.99) * 1000}


def ratio(over: float | None, under: float | None) -> float | None:
    """A quotient, None when a side was not measured."""
    return None if over is None or not under else over / under


def flags(
    summary: str, rounds: int, more: Callable[[argparse.ArgumentParser], object] = lambda _: None
) -> argparse.Namespace:
    """The flags of a script, with ``more`` of its own."""
    parser = argparse.ArgumentParser(description=summary)
    parser.add_argument(
        "--rounds", type=int, default=rounds, help="turns of each subject (default: %(default)s)"
    )
    more(parser)
    return parser.parse_args()


def arguments(summary: str, rounds: int) -> argparse.Namespace:
    """The flags of every script."""
    return flags(summary, rounds)
