"""JSON with comments and trailing commas, read so that every value knows where it stands.

A file without comments is read the same, so one reader serves the clients that read plain JSON, too.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import Any

from .faults import DocumentError
from .splices import Path, place

#: Deeper files are refused; no client's configuration comes near.
DEPTH_MAX = 64
_BLANK = re.compile(r"(?:[ \t\r\n]+|//[^\r\n]*|/\*.*?\*/)*", re.DOTALL)
_STRING = re.compile(r'"(?:[^"\\\x00-\x1f]|\\.)*"')
_SCALAR = re.compile(r"-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?(?![\w.])|(?:true|false|null)(?!\w)")


@dataclass(slots=True)
class Node:
    """A value and where it stands: ``start`` to ``end``, without what is around it."""

    start: int
    end: int
    value: Any
    members: list[Member] = field(default_factory=list)


@dataclass(slots=True)
class Member:
    """A member of an object, or with the key None an element of a list."""

    start: int
    key: str | None
    node: Node
    comma: int | None = None
    """Where the comma behind it stands."""


class _Reader:
    def __init__(self, text: str) -> None:
        self.text = text
        # A byte order mark is no part of the document, and stays.
        self.at = 1 if text.startswith("\ufeff") else 0

    def document(self) -> Node | None:
        self.blank()
        if self.at == len(self.text):
            return None
        node = self.value(0)
        self.blank()
        if self.at != len(self.text):
            raise self.wrong("something stands behind the document")
        return node

    def blank(self) -> None:
        found = _BLANK.match(self.text, self.at)
        assert found is not None
        self.at = found.end()

    def wrong(self, reason: str) -> DocumentError:
        return DocumentError(f"{place(self.text, self.at)}: {reason}")

    def takes(self, sign: str) -> bool:
        if self.text.startswith(sign, self.at):
            self.at += 1
            return True
        return False

    def string(self) -> str:
        found = _STRING.match(self.text, self.at)
        if found is None:
            raise self.wrong("a string is expected, or does not end")
        try:
            value = json.loads(found.group())
        except ValueError:
            raise self.wrong("the string is not a valid one") from None
        self.at = found.end()
        return value

    def value(self, depth: int) -> Node:
        if depth > DEPTH_MAX:
            raise self.wrong(f"it is nested deeper than {DEPTH_MAX} levels")
        start = self.at
        if self.text.startswith(("{", "["), start):
            return self.container(depth, start)
        if self.text.startswith('"', start):
            value: Any = self.string()
            return Node(start, self.at, value)
        found = _SCALAR.match(self.text, start)
        if found is None:
            raise self.wrong("a value is expected")
        self.at = found.end()
        try:
            return Node(start, self.at, json.loads(found.group()))
        except ValueError:
            raise self.wrong("the number is too long") from None

    def container(self, depth: int, start: int) -> Node:
        is_object = self.takes("{")
        if not is_object:
            self.at += 1
        end = "}" if is_object else "]"
        members: list[Member] = []
        self.blank()
        while not self.takes(end):
            if members and members[-1].comma is None:
                raise self.wrong(f"a comma or {end} is expected")
            member_start, key = self.at, None
            if is_object:
                key = self.string()
                self.blank()
                if not self.takes(":"):
                    raise self.wrong("a colon is expected")
                self.blank()
            member = Member(member_start, key, self.value(depth + 1))
            self.blank()
            if self.takes(","):
                member.comma = self.at - 1
                self.blank()
            members.append(member)
        value: Any = (
            {each.key: each.node.value for each in members}
            if is_object
            else [each.node.value for each in members]
        )
        return Node(start, self.at, value, members)


def root_of(text: str) -> Node | None:
    """The document, an object; None for an empty file. Raises DocumentError."""
    root = _Reader(text).document()
    if root is not None and not isinstance(root.value, dict):
        raise DocumentError(f"{place(text, root.start)}: it is no object")
    return root


def member_of(text: str, node: Node, key: str) -> Member | None:
    """The member of an object. Raises DocumentError where there are two: clients take one or the other."""
    found = [each for each in node.members if each.key == key]
    if len(found) > 1:
        raise DocumentError(f"{place(text, found[1].start)}: {key} stands there twice")
    return found[0] if found else None


def walked(text: str, root: Node, path: Path) -> tuple[Node, int]:
    """The deepest container of a path that is there, and how many steps led to it."""
    node = root
    for steps, key in enumerate(path):
        if not isinstance(node.value, dict):
            raise DocumentError(f"{place(text, node.start)}: {'.'.join(path[:steps])} is no object")
        member = member_of(text, node, key)
        if member is None:
            return node, steps
        node = member.node
    return node, len(path)
