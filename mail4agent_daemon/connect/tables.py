"""TOML, changed as text by whole tables: comments, order and spacing of all others stay.

The standard library reads it, so what is written is read back by another program than wrote it.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from .faults import DocumentError
from .splices import Path, Splice, line_end, ordered

_BARE = re.compile(r"[A-Za-z0-9_-]+")
#: A string of several lines, one of one line, or a comment: what could hold a bracket that is no header.
_OPAQUE = re.compile(
    r'"""(?:[^\\]|\\.)*?"{3,5}|\'\'\'.*?\'{3,5}|"(?:[^"\\\n]|\\.)*"|\'[^\'\n]*\'|#[^\n]*', re.DOTALL
)
_HEADER = re.compile(r"^[ \t]*\[", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class _Table:
    start: int
    path: Path


def parsed(text: str) -> dict[str, Any]:
    """The document's value. Raises DocumentError."""
    # What opens with a byte order mark is no TOML, and Codex does not read it either.
    try:
        return tomllib.loads(text)
    except ValueError as failure:  # also of a number with more digits than Python reads
        raise DocumentError(str(failure)) from None
    except RecursionError:
        raise DocumentError("it is nested too deeply") from None


def put(text: str, path: Path, value: Any) -> list[Splice]:
    """Set the table at a path: another one that stands there goes. Raises DocumentError."""
    gone = dropped(text, path) if _found(parsed(text), path) is not None else []
    end = line_end(text)
    rest = text
    for each in gone:
        rest = rest[: each.at] + each.new + rest[each.at + len(each.old) :]
    before = "" if not rest or rest.endswith("\n") else end
    if rest.strip():
        before += end
    new = before + end.join(_lines(path, value)) + end
    splices = [*gone, Splice(len(rest), "", new)]
    return _checked(rest + new, _with(parsed(text), path, value), path, splices)


def raw(text: str, path: Path) -> str:
    """The text of the table at a path and of those below it."""
    return "".join(each.old for each in reversed(dropped(text, path)))


def restored(text: str, path: Path, old: str) -> list[Splice]:
    """Put the text ``old`` in the place of the table at a path."""
    gone = dropped(text, path)
    return [*gone, Splice(len(text) - sum(len(each.old) for each in gone), "", old)]


def dropped(text: str, path: Path) -> list[Splice]:
    """Take out the table at a path and those below it. Raises DocumentError when it is written otherwise."""
    tables = list(_tables(text))
    spans: list[tuple[int, int]] = []
    for number, table in enumerate(tables):
        if table.path[: len(path)] != path:
            continue
        end = tables[number + 1].start if number + 1 < len(tables) else len(text)
        spans.append((table.start, _before_remarks(text, table.start, end)))
    splices = ordered(Splice(a, text[a:b], "") for a, b in _joined(text, spans))
    rest = text
    for each in splices:
        rest = rest[: each.at] + rest[each.at + len(each.old) :]
    return _checked(rest, _without(parsed(text), path), path, splices)


def _joined(text: str, spans: list[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Spans with nothing but blank lines between them as one, with the blank lines before it."""
    merged: list[tuple[int, int]] = []
    for start, end in spans:
        if merged and not text[merged[-1][1] : start].strip():
            merged[-1] = (merged[-1][0], end)
        else:
            merged.append((start, end))
    for start, end in merged:
        kept = len(text[:start].rstrip("\r\n"))
        # The line before keeps its end.
        kept = text.find("\n", kept) + 1 if kept else 0
        yield min(kept, start), end


def _before_remarks(text: str, start: int, end: int) -> int:
    """The end of a table without the blank lines and comments that lead to the next one."""
    if end == len(text):
        return end
    lines = text[start:end].splitlines(keepends=True)
    while lines and (not lines[-1].strip() or lines[-1].lstrip().startswith("#")):
        end -= len(lines.pop())
    return end


def _tables(text: str) -> Iterator[_Table]:
    blanked = _OPAQUE.sub(lambda found: re.sub(r"[^\n]", " ", found.group()), text)
    depth_at = _inside_brackets(blanked)
    for found in _HEADER.finditer(blanked):
        bracket = found.end() - 1
        if depth_at[bracket]:
            continue
        line_stop = text.find("\n", bracket)
        line = text[bracket : len(text) if line_stop < 0 else line_stop]
        # Read as a document of its own, which knows how keys are quoted.
        table: Any = parsed(line + "\n")
        path: list[str] = []
        while isinstance(table, dict | list) and table:
            if isinstance(table, list):
                table = table[0]
                continue
            key = next(iter(table))
            path.append(key)
            table = table[key]
        yield _Table(found.start(), tuple(path))


def _inside_brackets(text: str) -> list[bool]:
    """Of each character, whether it stands in a list or inline table that began on an earlier line."""
    depth, inside = 0, [False] * len(text)
    is_header = False
    for at, sign in enumerate(text):
        if sign == "[" and depth == 0 and not text[text.rfind("\n", 0, at) + 1 : at].strip():
            is_header = True
        inside[at] = depth > 0
        if is_header:
            is_header = sign != "\n"
        elif sign in "[{":
            depth += 1
        elif sign in "]}":
            depth -= 1
    return inside


def _lines(path: Path, value: dict[str, Any]) -> list[str]:
    lines = [f"[{'.'.join(_key(each) for each in path)}]"]
    lines += [f"{_key(key)} = {_value(each)}" for key, each in value.items() if not isinstance(each, dict)]
    for key, each in value.items():
        if isinstance(each, dict):
            lines += ["", *_lines((*path, key), each)]
    return lines


def _key(key: str) -> str:
    return key if _BARE.fullmatch(key) else _value(key)


def _value(value: Any) -> str:
    # JSON's literals of strings, numbers, booleans and lists of them are TOML's, but for one character.
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def _found(document: Any, path: Path) -> Any:
    for key in path:
        if not isinstance(document, dict) or key not in document:
            return None
        document = document[key]
    return document


def _with(document: dict[str, Any], path: Path, value: Any) -> dict[str, Any]:
    below = document.get(path[0])
    if len(path) == 1:
        return {**document, path[0]: value}
    return {**document, path[0]: _with(below if isinstance(below, dict) else {}, path[1:], value)}


def _without(document: dict[str, Any], path: Path) -> dict[str, Any]:
    if len(path) == 1:
        return {key: value for key, value in document.items() if key != path[0]}
    below = _without(document[path[0]], path[1:])
    # A table that has no header of its own is gone with the last table below it.
    return {key: value for key, value in {**document, path[0]: below}.items() if key != path[0] or value}


def _checked(after: str, wanted: dict[str, Any], path: Path, splices: list[Splice]) -> list[Splice]:
    """The changes, when they lead to what is wanted. Raises DocumentError."""
    name = ".".join(path)
    try:
        got = parsed(after)
    except DocumentError:
        got = None
    if got != wanted and (got is None or _pruned(got, path) != _pruned(wanted, path)):
        raise DocumentError(
            f"{path[0]} is not written as tables of its own, so {name} cannot be changed in it"
        )
    return splices


def _pruned(document: dict[str, Any], path: Path) -> dict[str, Any]:
    return {key: value for key, value in document.items() if key != path[0] or value}
