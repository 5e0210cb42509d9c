"""Name what is wrong with an input: validation failures become one refusal, ``malformed`` or ``too_large``.

``field`` is the label of the definition that failed (``x-label``, else the property's name), as the original's clients match on it. ``reason`` is a
fixed sentence that ends with the JSON Pointer of the place. Nothing that a stranger wrote enters either, except a key that looks like one.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from ._wire import WireStr
from .errors import MalformedError, RefusalError, TooLargeError
from .published import definitions

S = TypeVar("S", bound=WireStr)

U64_MAX = 2**64 - 1
#: The field named by a refusal of bytes that are no valid object, and of unknown keys.
REQUEST = "request"
_QUOTABLE = re.compile(r"[A-Za-z0-9_.-]{1,64}\Z")
_TOO_LARGE = {"string_too_long": "max_length", "too_many_bytes": "limit", "too_long": "max_length", "less_than_equal": "le"}
#: What the sentence says for each of pydantic's error codes; any other is "is not valid".
_SENTENCES = {
    "missing": "is missing",
    "string_type": "must be a string",
    "int_type": "must be a whole number",
    "int_from_float": "must be a whole number",
    "bool_type": "must be true or false",
    "list_type": "must be an array",
    "dict_type": "must be an object",
    "model_type": "must be an object",
    "model_attributes_type": "must be an object",
    "union_tag_invalid": "has a kind that is not known",
    "union_tag_not_found": "has no kind",
    "string_unicode": "must be valid Unicode",
    "not_equal": "must differ from {other}",
    "exclusive": "must not be given together with {other}",
    "another_id": "must be text, not an id of another type",
    "too_short": "must have at least {min_length} entries",
    "too_long": "must have at most {max_length} entries",
}  # fmt: skip
#: Codes for which the definition's own description says it best.
_DESCRIBED = {"string_pattern_mismatch", "string_too_short", "literal_error", "enum", "greater_than_equal", "less_than_equal", "string_too_long", "too_many_bytes"}  # fmt: skip

Node = Mapping[str, Any]


def _target(node: Node, every: Mapping[str, Node]) -> Node:
    """Follow references, nullable wrappers and single ``allOf`` to the node that says something."""
    while True:
        if "$ref" in node:
            node = every[node["$ref"].rpartition("/")[2]]
        elif "anyOf" in node:
            node = next(branch for branch in node["anyOf"] if branch.get("type") != "null")
        elif "allOf" in node:
            node = node["allOf"][0]
        else:
            return node


def _label(node: Node, every: Mapping[str, Node], name: str) -> str:
    """The nearest ``x-label`` from a property inwards, else the given name."""
    while True:
        if "x-label" in node:
            return node["x-label"]
        if "$ref" in node:
            node = every[node["$ref"].rpartition("/")[2]]
        elif "anyOf" in node:
            node = next(branch for branch in node["anyOf"] if branch.get("type") != "null")
        elif "allOf" in node:
            node = node["allOf"][0]
        else:
            return name


def _walk(root: str, seam: str, loc: Sequence[str | int]) -> tuple[str, str, Node]:
    """Return label, JSON Pointer and node of the place that pydantic's location names; the tag of a union is no step."""
    every = definitions(seam)
    node: Node = every.get(root, {})
    label = node.get("x-label", REQUEST)
    pointer = ""
    for step in loc:
        node = _target(node, every)
        if isinstance(step, int):
            node = node.get("items", {})
            label = _label(node, every, label)
            pointer += f"/{step}"
        elif "discriminator" in node and step in node["discriminator"]["mapping"]:
            node = {"$ref": node["discriminator"]["mapping"][step]}
        elif step in node.get("properties", {}):
            node = node["properties"][step]
            label = _label(node, every, step)
            pointer += f"/{step}"
        else:  # an unknown key: its text is the sender's
            return REQUEST, f"{pointer}/{step}" if _QUOTABLE.match(step) else pointer, {}
    return label, pointer, _target(node, every)


def _placed(sentence: str, pointer: str) -> str:
    sentence = f"{sentence} (at {pointer})" if pointer else sentence
    return sentence if len(sentence) <= 512 else sentence[:500]


def _size(value: Any) -> int | None:
    if isinstance(value, str):
        return len(value.encode("utf-8", "surrogatepass"))
    if isinstance(value, Sequence):
        return len(value)  # pyright: ignore[reportUnknownArgumentType]
    if isinstance(value, int | float) and not isinstance(value, bool) and value == int(value):
        return int(value)
    return None


def refusal_of(failure: ValidationError, root: str, seam: str = "mail") -> RefusalError:
    """Return the refusal for the first error of a failed validation of the definition ``root``."""
    error: ErrorDetails = failure.errors(include_url=False, include_input=True)[0]
    code, context = error["type"], error.get("ctx", {})
    label, pointer, node = _walk(root, seam, error["loc"])
    if code in ("not_equal", "exclusive"):
        label = str(context["field"])
        pointer += f"/{label}"
    if code == "extra_forbidden":
        known = pointer.rpartition("/")[2]
        return MalformedError(field=REQUEST, reason=_placed(f"has the unknown key {known}" if known else "has an unknown key", pointer))
    if code in _TOO_LARGE:
        actual = _size(error["input"])
        if actual is not None and actual <= U64_MAX:
            return TooLargeError(field=label, limit=int(context[_TOO_LARGE[code]]), actual=actual)
    if code in _DESCRIBED and "description" in node:
        sentence = f"must be {node['description']}"
    elif code == "literal_error":
        sentence = "has a kind that is not known"
    else:
        sentence = _SENTENCES.get(code, "is not valid").format(**context)
    return MalformedError(field=label, reason=_placed(sentence, pointer))


def construct(kind: type[S], value: Any) -> S:
    """Make an id from text, or raise the refusal that decoding the same text gets."""
    try:
        return kind.checked(value)
    except ValidationError as failure:
        refusal = refusal_of(failure, kind.__name__)
    raise refusal
