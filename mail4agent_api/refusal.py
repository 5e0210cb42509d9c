"""Name what is wrong with an input: validation failures become one refusal, ``malformed`` or ``too_large``.

``field`` is the label of the definition that failed (``x-label``, else the property's name), as the
original's clients match on it. ``reason`` is a fixed sentence that ends with the JSON Pointer of the place.
Nothing that a stranger wrote enters either, except a key that looks like one, and no key at all of the front
door's types: there the keys may be a stranger's. A text that breaks several
rules is refused for its length first, as the original does.
"""

import re
from collections.abc import Mapping, Sequence
from functools import cache
from math import isfinite
from typing import Any, TypeVar

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from ._wire import TEXT, WireStr
from .errors import MalformedError, RefusalError, TooLargeError
from .published import definitions, seams

S = TypeVar("S", bound=WireStr)

U64_MAX = 2**64 - 1
#: The field named by a refusal of bytes that are no valid object, and of unknown keys.
REQUEST = "request"
#: A name that may be said again: no secret is as short, wherever somebody put one.
_QUOTABLE = re.compile(r"[A-Za-z0-9_.-]{1,48}\Z")
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
    "literal_error": "has a kind that is not known",
    "string_unicode": "must be valid Unicode",
    "not_equal": "must differ from {other}",
    "exclusive": "must not be given together with {other}",
    "another_id": "must be text, not an id of another type",
    "too_short": "must have at least {min_length} entries",
    "too_long": "must have at most {max_length} entries",
}
#: Codes for which the definition's own description says it best.
_DESCRIBED = {
    "string_pattern_mismatch", "string_too_short", "string_too_long", "too_many_bytes", "literal_error",
    "enum",
    "greater_than_equal", "less_than_equal", "union_tag_invalid", "union_tag_not_found",
}  # fmt: skip

Node = Mapping[str, Any]

#: The seam whose unknown keys are never quoted.
_SILENT_SEAM = "frontdoor"


@cache
def _silent() -> frozenset[str]:
    """The definitions of that seam's own."""
    others = (definitions(seam) for seam in seams() if seam != _SILENT_SEAM)
    return frozenset(definitions(_SILENT_SEAM)).difference(*others)


def _inward(node: Node, every: Mapping[str, Node]) -> Node | None:
    """The node that a reference, a nullable wrapper or a single ``allOf`` stands for.

    None for any other node.
    """
    if "$ref" in node:
        return every[node["$ref"].rpartition("/")[2]]
    if "anyOf" in node and "x-byType" not in node:
        return next(branch for branch in node["anyOf"] if branch.get("type") != "null")
    if "allOf" in node:
        return node["allOf"][0]
    return None


def _target(node: Node, every: Mapping[str, Node]) -> Node:
    """The node that says something."""
    while (inner := _inward(node, every)) is not None:
        node = inner
    return node


def _label(node: Node, every: Mapping[str, Node], name: str) -> str:
    """The nearest ``x-label`` from a property inwards, else the given name."""
    while "x-label" not in node:
        inner = _inward(node, every)
        if inner is None:
            return name
        node = inner
    return node["x-label"]


class _Place:
    """Where pydantic's location leads in the schema: label, JSON Pointer and node.

    The tag of a union is no step.
    """

    def __init__(self, root: str, loc: Sequence[str | int], *, extra: bool) -> None:
        every = definitions()
        node: Node = every.get(root, {})
        self.label: str = node.get("x-label", REQUEST)
        self.pointer = ""
        #: The last step when it is a key that the contract does not have: the sender's own text.
        self.unknown: str | None = None
        for depth, step in enumerate(loc, 1):
            node = _target(node, every)
            known = node.get("properties", {})
            name = (
                str(step) if step in known else str(step).removesuffix("_")
            )  # a member's Python name, when a value is encoded
            if extra and depth == len(loc):
                self.label, self.unknown, node = REQUEST, str(step), {}
                break
            if isinstance(step, int) and "items" in node:
                node = node["items"]
                self.label = _label(node, every, self.label)
                self.pointer += f"/{step}"
            elif "x-byType" in node:
                node = node["anyOf"][0 if step == TEXT else 1]
            elif "discriminator" in node:
                node = {"$ref": node["discriminator"]["mapping"][step]}
            elif name in known:
                node = known[name]
                self.label = _label(node, every, name)
                self.pointer += f"/{name}"
            else:
                self.label, self.unknown, node = REQUEST, str(step), {}
                break
        self.node = _target(node, every)


def _limit(node: Node) -> int | None:
    """The upper bound of a node, where it has one.

    Bytes of a text, entries of an array, or a number's value.
    """
    for keyword in ("x-maxUtf8Bytes", "maxLength", "maxItems", "maximum"):
        if keyword in node:
            return node[keyword]
    return None


def _size(value: Any) -> int | None:
    """What counts against the bound: bytes of UTF-8, entries, or the number itself."""
    match value:
        case str():
            return len(value.encode("utf-8", "surrogatepass"))
        case list() | tuple():
            return len(value)  # pyright: ignore[reportUnknownArgumentType]
        case bool():
            return None
        case int():
            return value
        case float() if isfinite(value) and value.is_integer():
            return int(value)
        case _:
            return None


def _placed(sentence: str, pointer: str) -> str:
    placed = f"{sentence} (at {pointer})" if pointer else sentence
    return placed if len(placed) <= 512 else sentence


def refusal_of(failure: ValidationError, root: str) -> RefusalError:
    """Return the refusal for the first error of a failed validation of the definition ``root``."""
    return _refusal(failure.errors(include_url=False, include_input=True)[0], root)


def refusals_of(failure: ValidationError, root: str, most: int) -> tuple[RefusalError, ...]:
    """As ``refusal_of``, for each error of at most so many, in the order of the definition."""
    errors = failure.errors(include_url=False, include_input=True)[:most]
    return tuple(_refusal(error, root) for error in errors)


def _refusal(error: ErrorDetails, root: str) -> RefusalError:
    code, context = error["type"], error.get("ctx", {})
    place = _Place(root, error["loc"], extra=code == "extra_forbidden")
    if place.unknown is not None:
        if code != "extra_forbidden" or root in _silent() or not _QUOTABLE.match(place.unknown):
            return MalformedError(field=REQUEST, reason=_placed("has an unknown key", place.pointer))
        return MalformedError(
            field=REQUEST,
            reason=_placed(f"has the unknown key {place.unknown}", f"{place.pointer}/{place.unknown}"),
        )
    label, pointer = place.label, place.pointer
    if code in ("not_equal", "exclusive"):
        label = str(context["field"])
        pointer += f"/{label}"
    elif code.startswith("union_tag") and "discriminator" in place.node:
        pointer += f"/{place.node['discriminator']['propertyName']}"
    limit, actual = _limit(place.node), _size(error["input"])
    if (
        code not in ("not_equal", "exclusive", "missing")
        and limit is not None
        and actual is not None
        and limit < actual <= U64_MAX
    ):
        of_type = {"string": str, "array": list | tuple, "integer": int | float}[place.node["type"]]
        if isinstance(error["input"], of_type):
            return TooLargeError(field=label, limit=limit, actual=actual)
    if code in _DESCRIBED and "description" in place.node:
        sentence = f"must be {place.node['description']}"
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
