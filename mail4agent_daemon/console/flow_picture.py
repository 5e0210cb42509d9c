"""Where the parts of the picture of a flow stand: who wrote on the left, who was written to on the right.

A pure function of the numbers that the table beside it shows. Sizes are in units of the picture, which a page
scales; thickness is one of five steps, because a page has no style of its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

#: The picture shows so many pairs; the table has the rest.
PAIRS_MAX: Final = 24
WIDTH: Final = 360
_ROW: Final = 26
_TOP: Final = 20
_LEFT: Final = 118
_RIGHT: Final = WIDTH - 118
_NAME_MAX: Final = 15
_STEPS: Final = 5


@dataclass(frozen=True, slots=True)
class Pair:
    """Who wrote how much to whom, by their text addresses."""

    sender: str
    to: str
    messages: int


@dataclass(frozen=True, slots=True)
class Name:
    """An end of lines: where its text stands, its whole name and the part of it that has room."""

    x: int
    y: int
    whole: str
    text: str


@dataclass(frozen=True, slots=True)
class Stroke:
    """A line between two ends: its path, and its thickness from 1 to 5."""

    path: str
    step: int
    pair: Pair


@dataclass(frozen=True, slots=True)
class Picture:
    """Everything that is drawn."""

    width: int
    height: int
    senders: tuple[Name, ...]
    targets: tuple[Name, ...]
    strokes: tuple[Stroke, ...]
    left_out: int


def picture(pairs: Sequence[Pair]) -> Picture:
    """Lay out the first pairs, which are those with the most messages."""
    drawn = pairs[:PAIRS_MAX]
    most = max((pair.messages for pair in drawn), default=1)
    senders = _column((pair.sender for pair in drawn), _LEFT - 6)
    targets = _column((pair.to for pair in drawn), _RIGHT + 6)
    strokes = tuple(
        Stroke(_curve(senders[pair.sender].y - 4, targets[pair.to].y - 4), _step(pair.messages, most), pair)
        for pair in drawn
    )
    height = _TOP + _ROW * max(len(senders), len(targets), 1)
    return Picture(
        WIDTH, height, tuple(senders.values()), tuple(targets.values()), strokes, len(pairs) - len(drawn)
    )


def _column(names: Iterable[str], x: int) -> dict[str, Name]:
    found = list(dict.fromkeys(names))
    return {
        name: Name(x, _TOP + _ROW * at + 10, name, name if len(name) <= _NAME_MAX else f"{name[:14]}…")
        for at, name in enumerate(found)
    }


def _curve(start: int, end: int) -> str:
    middle = (_LEFT + _RIGHT) // 2
    return f"M{_LEFT} {start} C{middle} {start} {middle} {end} {_RIGHT} {end}"


def _step(messages: int, most: int) -> int:
    """The fifth of the greatest number that a number reaches."""
    return max(1, -(-messages * _STEPS // most))
