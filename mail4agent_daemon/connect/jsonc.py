"""JSON with comments and trailing commas, changed as text: what is not meant stays as it was written.

What is put in has no comment and no comma that plain JSON lacks, unless the file has such a comma there.
"""

from __future__ import annotations

import json
from typing import Any

from .faults import DocumentError
from .nodes import Node, member_of, root_of, walked
from .splices import Path, Splice, line_end, ordered, place

_WHITE = " \t\r\n"


def parsed(text: str) -> dict[str, Any]:
    """The document's value; an empty file is an empty object. Raises DocumentError."""
    root = root_of(text)
    return {} if root is None else root.value


def put(text: str, path: Path, value: Any) -> list[Splice]:
    """Set the member at a path, and make the objects above it that are missing. Raises DocumentError."""
    root = root_of(text)
    if root is None:
        return _first(text, _nest(path, value))
    node, steps = walked(text, root, path)
    if steps == len(path):
        new = _written(value, _unit(text, root), line_end(text), _indent_of(text, node.start))
        return [Splice(node.start, text[node.start : node.end], new)]
    if not isinstance(node.value, dict):
        raise DocumentError(f"{place(text, node.start)}: {'.'.join(path[:steps])} is no object")
    return _inserted(text, root, node, path[steps], _nest(path[steps + 1 :], value))


def append(text: str, path: Path, value: Any) -> list[Splice]:
    """Add an element to the list at a path, and make what is missing. Raises DocumentError."""
    root = root_of(text)
    if root is None:
        return _first(text, _nest(path, [value]))
    node, steps = walked(text, root, path)
    if steps < len(path):
        if not isinstance(node.value, dict):
            raise DocumentError(f"{place(text, node.start)}: {'.'.join(path[:steps])} is no object")
        return _inserted(text, root, node, path[steps], _nest(path[steps + 1 :], [value]))
    if not isinstance(node.value, list):
        raise DocumentError(f"{place(text, node.start)}: {'.'.join(path)} is no list")
    return _inserted(text, root, node, None, value)


def raw(text: str, path: Path) -> str:
    """The text of the value at a path, which is there."""
    root = root_of(text)
    assert root is not None
    node, _ = walked(text, root, path)
    return text[node.start : node.end]


def restored(text: str, path: Path, old: str) -> list[Splice]:
    """Put the text ``old`` in the place of the value at a path, which is there."""
    root = root_of(text)
    assert root is not None
    node, _ = walked(text, root, path)
    return [Splice(node.start, text[node.start : node.end], old)]


def dropped(
    text: str, path: Path, index: int | None, made: int, within: tuple[str, int] | None = None
) -> list[Splice]:
    """Take out the member at a path, or with ``index`` an element of the list there; ``within``: only an
    element of the list under a key of that element.

    As many as ``made`` containers that hold nothing else go with it, the innermost first.
    """
    root = root_of(text)
    assert root is not None
    chain: list[tuple[Node, int]] = []
    node = root
    for key in path:
        member = member_of(text, node, key)
        assert member is not None
        chain.append((node, node.members.index(member)))
        node = member.node
    if index is not None:
        chain.append((node, index))
        if within is not None:
            member = member_of(text, node.members[index].node, within[0])
            assert member is not None
            return _removed(text, member.node, within[1])
    while made > 0 and len(chain) > 1 and len(chain[-1][0].members) == 1:
        chain.pop()
        made -= 1
    return _removed(text, *chain[-1])


def _removed(text: str, container: Node, index: int) -> list[Splice]:
    member = container.members[index]
    start, end = _after_last(text, member.start), member.node.end
    spans: list[tuple[int, int]] = []
    if member.comma is not None:
        if text[end : member.comma].strip(_WHITE):
            spans.append((member.comma, member.comma + 1))
        else:
            end = member.comma + 1
    elif index > 0:
        before = container.members[index - 1].comma
        assert before is not None
        if before + 1 == start:
            start = before
        else:
            spans.append((before, before + 1))
    line = text[text.rfind("\n", 0, start) + 1 : start]
    if "//" in line and not text[end:].lstrip(" \t").startswith(("\r", "\n")):
        # What follows would become a part of the comment.
        start = member.start
    spans.append((start, end))
    return ordered(Splice(a, text[a:b], "") for a, b in spans)


def _first(text: str, value: Any) -> list[Splice]:
    return [Splice(len(text), "", _written(value, "  ", line_end(text), "") + line_end(text))]


def _nest(path: Path, value: Any) -> Any:
    for key in reversed(path):
        value = {key: value}
    return value


def _inserted(text: str, root: Node, container: Node, key: str | None, value: Any) -> list[Splice]:
    """Add a member behind the last one, in the manner of those that are there."""
    newline, unit = line_end(text), _unit(text, root)
    first = container.members[0] if container.members else None
    beginning = text[container.start : container.end - 1 if first is None else first.start]
    tail = _after_last(text, container.end - 1)
    if first is not None:
        # A line comment would swallow what stands behind it.
        is_broken = "\n" in beginning or "//" in text[container.members[-1].node.end : tail]
        indent = _indent_of(text, first.start) if "\n" in beginning else ""
    else:
        is_broken = "\n" in beginning or not root.members or "\n" in text[root.start : root.members[0].start]
        indent = _indent_of(text, container.start) + unit
    tight = not is_broken and '": ' not in text and bool(root.members)
    shown = "" if key is None else json.dumps(key, ensure_ascii=False) + (":" if tight else ": ")
    shown += _written(value, unit if is_broken else None, newline, indent, tight=tight)
    gap = f"{newline}{indent}" if is_broken else ("" if tight or first is None else " ")
    if first is None:
        close = "" if "\n" in text[tail : container.end - 1] or not is_broken else newline
        if close:
            close += _indent_of(text, container.start)
        return [Splice(tail, "", f"{gap}{shown}{close}")]
    last = container.members[-1]
    if last.comma is not None:
        return [Splice(tail, "", f"{gap}{shown},")]
    if tail == last.node.end:
        return [Splice(tail, "", f",{gap}{shown}")]
    return ordered([Splice(last.node.end, "", ","), Splice(tail, "", f"{gap}{shown}")])


def _after_last(text: str, at: int) -> int:
    """The end of whatever stands last before a place, be it a comment."""
    return len(text[:at].rstrip(_WHITE))


def _indent_of(text: str, at: int) -> str:
    line = text[text.rfind("\n", 0, at) + 1 : at].removeprefix("\ufeff")
    return line[: len(line) - len(line.lstrip(" \t"))]


def _unit(text: str, root: Node) -> str:
    """One level of indentation, as the first member of the document has it."""
    if not root.members or "\n" not in text[root.start : root.members[0].start]:
        return "  "
    return _indent_of(text, root.members[0].start) or "  "


def _written(value: Any, unit: str | None, newline: str, indent: str, *, tight: bool = False) -> str:
    separators = (",", ":") if tight else None
    shown = json.dumps(value, indent=unit, ensure_ascii=False, separators=separators)
    return shown.replace("\n", newline + indent)
