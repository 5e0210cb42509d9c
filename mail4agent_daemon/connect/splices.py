"""Changes of a text that can be taken back."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

#: Keys, from the root of a document down.
Path = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Splice:
    """At character ``at`` of the text as it was then, ``old`` gave way to ``new``."""

    at: int
    old: str
    new: str


def spliced(text: str, splices: Iterable[Splice]) -> str:
    """Make changes, one after another."""
    for each in splices:
        assert text.startswith(each.old, each.at)
        text = f"{text[: each.at]}{each.new}{text[each.at + len(each.old) :]}"
    return text


def unspliced(text: str, splices: Sequence[Splice]) -> str:
    """Take changes back from the very text that they led to."""
    return spliced(text, (Splice(each.at, each.new, each.old) for each in reversed(splices)))


def ordered(splices: Iterable[Splice]) -> list[Splice]:
    """Changes at places of one text, so ordered that none moves the place of a later one."""
    return sorted(splices, key=lambda each: each.at, reverse=True)


def line_end(text: str) -> str:
    """How the first line ends; a text of one line is continued with a line feed."""
    at = text.find("\n")
    return "\r\n" if at > 0 and text[at - 1] == "\r" else "\n"


def place(text: str, at: int) -> str:
    """Line and column of a character, counted from one."""
    line = text.count("\n", 0, at) + 1
    column = at - (text.rfind("\n", 0, at) + 1) + 1
    return f"line {line}, column {column}"
