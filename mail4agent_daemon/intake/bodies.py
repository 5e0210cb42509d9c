"""What was submitted, read strictly: a form of a browser, or a JSON object.

A key that is given twice is no submission, except that a field of many choices keeps each of them. Nothing is
guessed: broken percent-encoding and broken UTF-8 are refused.
"""

import re
from collections.abc import Iterable
from typing import Any, cast

from mail4agent_api.codec import parse
from mail4agent_api.errors import MalformedError
from mail4agent_api.frontdoor import MultiSelectField
from mail4agent_core.frontdoor.manifest import Form, Problem

#: Pairs of one form: each choice of a field of many is one.
PAIRS_MAX = 1_000
_ESCAPES = re.compile(rb"%(?![0-9A-Fa-f]{2})")
_TWICE = "is given more than once"


def pairs_of(raw: bytes) -> list[tuple[str, str]]:
    """The pairs of an ``application/x-www-form-urlencoded`` body, in order. Raises MalformedError."""
    if not raw:
        return []
    if raw.count(b"&") >= PAIRS_MAX:
        raise MalformedError(field="request", reason=f"must have at most {PAIRS_MAX} fields")
    found: list[tuple[str, str]] = []
    for part in raw.split(b"&"):
        if part:
            name, _, value = part.partition(b"=")
            found.append((_decoded(name), _decoded(value)))
    return found


def _decoded(part: bytes) -> str:
    if _ESCAPES.search(part):
        raise MalformedError(field="request", reason="must be percent-encoded UTF-8")
    plain = part.replace(b"+", b" ")
    head, *rest = plain.split(b"%")
    try:
        joined = head + b"".join(bytes.fromhex(each[:2].decode("ascii")) + each[2:] for each in rest)
        return joined.decode("utf-8")
    except ValueError:
        raise MalformedError(field="request", reason="must be percent-encoded UTF-8") from None


def filled(form: Form, pairs: Iterable[tuple[str, str]]) -> tuple[dict[str, Any], list[Problem]]:
    """The values that pairs give a form, and what is wrong with how often they are given."""
    many = {field.name for field in form.fields if isinstance(field.declared, MultiSelectField)}
    known = {field.name for field in form.fields} | set(form.acknowledgments)
    values: dict[str, Any] = {}
    problems: set[Problem] = set()
    for name, value in pairs:
        if name in many:
            # A script may send a first, empty one for "none of these".
            chosen: list[str] = values.setdefault(name, [])
            if value:
                chosen.append(value)
        elif name in values:
            problems.add(Problem(name if name in known else "", _TWICE))
        else:
            values[name] = value
    return values, sorted(problems)


def json_values(raw: bytes) -> dict[str, Any]:
    """The object that a JSON body is. Raises MalformedError."""
    value = parse(raw)
    if not isinstance(value, dict):
        raise MalformedError(field="values", reason="must be an object of fields")
    return cast("dict[str, Any]", value)
