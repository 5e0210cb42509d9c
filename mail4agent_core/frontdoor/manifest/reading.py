"""A manifest from bytes, TOML or JSON, under the bounds of ``schemas/frontdoor/request_type.schema.json``.

The original writes the operand of a condition as whatever it is: a number, a truth value, a list. The
contract has texts, and lists under ``values``. Manifests of the original are therefore respelled before
they are decoded.
"""

import tomllib
from typing import Any, Literal, cast

from mail4agent_api.codec import decode_value, parse, problems_of
from mail4agent_api.errors import MalformedError, RefusalError, TooLargeError
from mail4agent_api.frontdoor import RequestTypeManifest

MANIFEST_MAX_BYTES = 262_144
#: Deeper than any manifest; the reader of TOML recurses.
_DEPTH_MAX = 8

Language = Literal["toml", "json"]


def read_manifest(raw: bytes, language: Language) -> RequestTypeManifest:
    """The manifest that ``raw`` holds; whether its parts fit together is asked by ``faults``.

    Raises MalformedError, TooLargeError.
    """
    return decode_value(RequestTypeManifest, _value(raw, language))


def misshapen(raw: bytes, language: Language) -> tuple[RefusalError, ...]:
    """Everything that ``read_manifest`` could refuse ``raw`` for, 100 at most, for the manifest's author."""
    try:
        value = _value(raw, language)
    except RefusalError as refusal:
        return (refusal,)
    return problems_of(RequestTypeManifest, value)


def _value(raw: bytes, language: Language) -> Any:
    if len(raw) > MANIFEST_MAX_BYTES:
        raise TooLargeError(field="request", limit=MANIFEST_MAX_BYTES, actual=len(raw))
    return _respelled(parse(raw) if language == "json" else _toml(raw))


def _toml(raw: bytes) -> dict[str, Any]:
    reason = "must be TOML in UTF-8, each key once in its table"
    try:
        value = tomllib.loads(raw.decode("utf-8"))
    except RecursionError:
        reason = "is nested too deeply"
    except ValueError:  # no TOML, or no UTF-8; the parser's words would quote the file
        pass
    else:
        if _depth(value) <= _DEPTH_MAX:
            return value
        reason = "is nested too deeply"
    raise MalformedError(field="request", reason=reason)


def _depth(value: Any) -> int:
    """How many levels of tables and arrays a value has, at most one more than is allowed."""
    depth, level = 0, [value]
    while level and depth <= _DEPTH_MAX:
        level = [part for node in level for part in _parts(node)]
        depth += 1
    return depth


def _parts(node: Any) -> list[Any]:
    if isinstance(node, dict):
        return list(cast(dict[str, Any], node).values())
    return list(cast(list[Any], node)) if isinstance(node, list) else []


def _respelled(value: Any) -> Any:
    """The manifest with the operands of its conditions as texts; what is no manifest stays as it is."""
    if not isinstance(value, dict):
        return value
    manifest = cast(dict[str, Any], value)
    changed = {
        key: [_with_condition(each) for each in cast(list[Any], manifest[key])]
        for key in ("fields", "steps")
        if isinstance(manifest.get(key), list)
    }
    return {**manifest, **changed}


def _with_condition(shown: Any) -> Any:
    if not isinstance(shown, dict):
        return shown
    each = cast(dict[str, Any], shown)
    condition = each.get("show_when")
    if not isinstance(condition, dict):
        return each
    own = cast(dict[str, Any], condition)
    operand = own.get("value")
    if isinstance(operand, list):
        if "values" in own:
            return each
        rest = {key: part for key, part in own.items() if key != "value"}
        own = {**rest, "values": [_text(part) for part in cast(list[Any], operand)]}
    elif operand is not None:
        own = {**own, "value": _text(operand)}
    return {**each, "show_when": own}


def _text(operand: Any) -> Any:
    if isinstance(operand, bool):
        return "true" if operand else "false"
    return str(operand) if isinstance(operand, int) and abs(operand) < 2**53 else operand
