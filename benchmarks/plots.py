"""The plots of docs/performance.md, drawn from the figures in ``results`` as SVG.

    python benchmarks/plots.py

The same figures give the same bytes. Colours are chosen to be read on white and on black; text follows the
reader's setting. ``tools/generate.py`` writes them with the other generated files and says where one is out
of step.
"""

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
FOLDER = "docs/images/performance"
MARK = "<!-- Generated from benchmarks/results/{source}.json by tools/generate.py; do not edit. -->"
WIDTH, HEIGHT = 640, 300
LEFT, RIGHT, TOP, BOTTOM = 64, 16, 56, 44
#: Told apart by hue, by lightness and by the shape of their marks.
COLOURS = ("#2a78d6", "#d9720f", "#1f9d63", "#a057c9", "#c43f5a")
STYLE = (
    "text{font:12px system-ui,sans-serif;fill:#4a4a4a}.t{font-weight:600;font-size:13px;fill:#1b1b1b}"
    "line,path{fill:none}.g{stroke:#8888;stroke-width:.5}.a{stroke:#888}"
    "@media(prefers-color-scheme:dark){text{fill:#b8b8b8}.t{fill:#f0f0f0}}"
)


@dataclass(frozen=True, slots=True)
class Curve:
    """A named line through points; ``dashed`` for what is no subject of ours."""

    name: str
    points: Sequence[tuple[float, float]]
    dashed: bool = False


@dataclass(frozen=True, slots=True)
class Plot:
    """One picture: curves over an axis of named places, on a scale of powers of ten where it is ``log``."""

    name: str
    source: str
    title: str
    across: str
    up: str
    places: Sequence[str]
    curves: Sequence[Curve]
    log: bool = False


def figures(source: str) -> dict[str, dict[str, dict[str, float]]]:
    """The medians of a script: by table, subject and figure."""
    document: dict[str, Any] = json.loads((HERE / f"results/{source}.json").read_text("utf-8"))
    return {
        title: {each["subject"]: each["medians"] for each in series}
        for title, series in document["tables"].items()
    }


def steps(top: float, *, log: bool, bottom: float) -> list[float]:
    """Where lines cross the picture: whole powers of ten, or four to six round numbers from zero."""
    if log:
        first, last = math.floor(math.log10(bottom)), math.ceil(math.log10(top))
        return [10.0**power for power in range(first, max(last, first + 1) + 1)]
    rough = top / 5
    size = 10 ** math.floor(math.log10(rough))
    step = next(size * each for each in (1, 2, 2.5, 5, 10) if size * each >= rough)
    return [step * number for number in range(math.ceil(top / step - 1e-9) + 1)]


def number(value: float) -> str:
    """A number as it is written on an axis."""
    return f"{value:,.0f}" if value >= 10 or value == int(value) else f"{value:g}"


def svg(plot: Plot) -> str:
    """Draw it."""
    values = [value for curve in plot.curves for _, value in curve.points]
    ticks = steps(max(values), log=plot.log, bottom=min(values))
    low, high = ticks[0], ticks[-1]

    def x(at: float) -> float:
        return round(LEFT + (at + 0.5) * (WIDTH - LEFT - RIGHT) / len(plot.places), 1)

    def y(value: float) -> float:
        part = math.log(value / low) / math.log(high / low) if plot.log else (value - low) / (high - low)
        return round(HEIGHT - BOTTOM - part * (HEIGHT - TOP - BOTTOM), 1)

    out = [
        (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" '
            f'role="img" aria-label="{escape(plot.title)}">'
        ),
        MARK.format(source=plot.source),
        f"<style>{STYLE}</style>",
        f'<text class="t" x="{LEFT}" y="16">{escape(plot.title)}</text>',
    ]
    for tick in ticks:
        out += [
            f'<line class="g" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y(tick)}" y2="{y(tick)}"/>',
            f'<text x="{LEFT - 6}" y="{y(tick) + 4:g}" text-anchor="end">{number(tick)}</text>',
        ]
    floor = HEIGHT - BOTTOM
    out.append(f'<line class="a" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{floor}" y2="{floor}"/>')
    for at, place in enumerate(plot.places):
        out.append(f'<text x="{x(at)}" y="{floor + 16}" text-anchor="middle">{escape(place)}</text>')
    middle = (LEFT + WIDTH - RIGHT) / 2
    out.append(f'<text x="{middle:g}" y="{HEIGHT - 8}" text-anchor="middle">{escape(plot.across)}</text>')
    half = (TOP + floor) / 2
    out.append(
        f'<text transform="translate(14 {half:g}) rotate(-90)" text-anchor="middle">{escape(plot.up)}</text>'
    )
    at = float(LEFT)
    for index, curve in enumerate(plot.curves):
        colour = COLOURS[index % len(COLOURS)]
        dash = ' stroke-dasharray="5 4"' if curve.dashed else ""
        path = "M" + "L".join(f"{x(place)} {y(value)}" for place, value in curve.points)
        out.append(f'<path d="{path}" stroke="{colour}" stroke-width="2"{dash}/>')
        out += [_mark(index, x(place), y(value), colour) for place, value in curve.points]
        out.append(_mark(index, at + 5, 34, colour))
        out.append(f'<text x="{at + 14:g}" y="38">{escape(curve.name)}</text>')
        at += 34 + 6.6 * len(curve.name)
    return "\n".join([*out, "</svg>", ""])


def _mark(index: int, x: float, y: float, colour: str) -> str:
    if index % 3 == 0:
        return f'<circle cx="{x:g}" cy="{y:g}" r="3.5" fill="{colour}"/>'
    if index % 3 == 1:
        return f'<rect x="{x - 3:g}" y="{y - 3:g}" width="6" height="6" fill="{colour}"/>'
    return f'<path d="M{x:g} {y - 4:g}l4 7h-8z" style="fill:{colour}"/>'


def by_concurrency(what: str, figure: str) -> list[Curve]:
    """A figure of each subject by the requests in flight."""
    tables = figures("concurrency")
    found: dict[str, list[tuple[float, float]]] = {}
    places = [each for each in tables if each.startswith(f"{what}, ")]
    for at, title in enumerate(places):
        for subject, medians in tables[title].items():
            if figure in medians and subject != "bare INSERT+COMMIT":
                found.setdefault(subject, []).append((at, medians[figure]))
    return [Curve(name, points, dashed=name != "mail4agent") for name, points in found.items()]


def curves(source: str, titles: dict[str, str], figure: str) -> tuple[list[str], list[Curve]]:
    """A figure over the subjects of some tables, one curve a table. The bare Hypercorn is left out."""
    tables = figures(source)
    places = [name for name in tables[next(iter(titles))] if not name.startswith("bare ")]
    return places, [
        Curve(shown, [(at, tables[title][place][figure]) for at, place in enumerate(places)])
        for title, shown in titles.items()
    ]


def plots() -> list[Plot]:
    """All plots of the page, of whose scripts there are results."""
    in_flight = ("1", "4", "16", "64", "256")
    found: list[Plot] = []

    def draw(name: str, source: str, title: str, across: str, up: str, *, log: bool, drawn: Any) -> None:
        places, lines = drawn
        found.append(Plot(name, source, title, across, up, places, lines, log))

    there = {path.stem for path in (HERE / "results").glob("*.json")}
    if "concurrency" in there:
        for what, shown in (("sends", "Sends of 1 KiB"), ("pages", "Newest pages of 50")):
            for figure, unit, log in (
                ("requests/s", "requests a second", False),
                ("p99 ms", "p99, ms", True),
            ):
                name = f"{what}-{'rate' if figure == 'requests/s' else 'tail'}"
                text = f"{shown}, mail4agent and the floor: {unit}"
                drawn = (in_flight, by_concurrency(what, figure))
                draw(name, "concurrency", text, "requests in flight", unit, log=log, drawn=drawn)
    for source, way, figure, unit in (
        ("sizes", "one at a time", "p50 ms", "p50, ms"),
        ("sizes-ten-million", "16 in flight", "cpu s/1000", "cpu s for 1,000"),
    ):
        if source in there:
            names = ("a send of 1 KiB", "the newest 50", "50 after a position anywhere", "the unread count")
            places, lines = curves(source, {f"{each}, {way}": each for each in names}, figure)
            shown = [place.removesuffix(" messages") for place in places]
            title = f"Requests to mail4agent by the size of its mailbox, {way}: {unit}"
            draw(source, source, title, "messages in the mailbox", unit, log=False, drawn=(shown, lines))
    if "rooms" in there:
        titles = {"nobody waits, one sender": "one sender", "nobody waits, 32 in flight": "32 in flight"}
        places, lines = curves("rooms", titles, "cpu s/1000")
        shown = [place.removeprefix("a room of ").replace("a direct message", "direct") for place in places]
        title = "A send to a room of mail4agent: processor seconds for 1,000"
        draw("rooms", "rooms", title, "members", "cpu s for 1,000", log=False, drawn=(shown, lines))
    if "databases" in there and figures("databases"):
        places, lines = curves(
            "databases",
            {"sends of 1 KiB, 64 in flight": "sends", "the newest page of 50, 64 in flight": "pages of 50"},
            "requests/s",
        )
        title = "mail4agent on one file, and on PostgreSQL: requests a second, 64 in flight"
        shown = [place.removeprefix("PostgreSQL, ") for place in places]
        across = "one file, and daemons on one PostgreSQL"
        draw("databases", "databases", title, across, "requests a second", log=False, drawn=(shown, lines))
    return found


def drawings() -> dict[str, str]:
    """Each plot's path from the root, and its text."""
    return {f"{FOLDER}/{plot.name}.svg": svg(plot) for plot in plots()}


if __name__ == "__main__":
    for name, text in drawings().items():
        target = HERE.parent / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, "utf-8")
        print(f"wrote {name}")
