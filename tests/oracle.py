"""An independent reading of the contract.

It is jsonschema with the custom keywords over the published bundles, and a strict JSON reader.

It shares no code with the wire package, so that the two can only agree by both being right.
"""

import json
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator, ValidationError
from jsonschema.validators import extend

BUNDLES = Path(__file__).resolve().parent.parent / "schemas" / "bundle"
#: What the codec's reader allows; no type of the contract comes near it.
MAX_DEPTH = 200


class NotStrictJsonError(ValueError):
    """The bytes are not what the contract calls JSON."""


def _pattern(validator: Any, pattern: str, instance: Any, schema: Any) -> Iterator[ValidationError]:
    # Python's $ also stands before a last line feed; JSON Schema's does not.
    if isinstance(instance, str) and not re.search(re.sub(r"\$\Z", r"\\Z", pattern), instance):
        yield ValidationError("does not match its pattern")


def _max_utf8_bytes(validator: Any, limit: int, instance: Any, schema: Any) -> Iterator[ValidationError]:
    if isinstance(instance, str) and len(instance.encode()) > limit:
        yield ValidationError("has too many bytes")


def _not_equal(
    validator: Any, pairs: list[list[str]], instance: Any, schema: Any
) -> Iterator[ValidationError]:
    for left, right in pairs:
        if (
            isinstance(instance, dict)
            and instance.get(left) is not None
            and instance[left] == instance.get(right)
        ):
            yield ValidationError("must differ", path=[left])


def _one_of(validator: Any, branches: Any, instance: Any, schema: Any) -> Iterator[ValidationError]:
    tag = schema["discriminator"]["propertyName"]
    kind = instance.get(tag) if isinstance(instance, dict) else None
    reference = schema["discriminator"]["mapping"].get(kind) if isinstance(kind, str) else None
    if reference is None:
        yield ValidationError(
            "has a kind that is not known", path=[tag] if isinstance(instance, dict) else []
        )
    else:
        yield from validator.descend(instance, {"$ref": reference})


def _any_of(validator: Any, branches: Any, instance: Any, schema: Any) -> Iterator[ValidationError]:
    """What may be null is judged by its type, so that a fault deep within is blamed on its place."""
    if schema.get("x-byType"):
        if isinstance(instance, str | dict):
            yield from validator.descend(instance, branches[isinstance(instance, dict)])
        else:
            yield ValidationError("is neither a text nor an object")
        return
    assert branches[1:] == [{"type": "null"}], "the contract's one other use of anyOf"
    if instance is not None:
        yield from validator.descend(instance, branches[0])


Oracle = extend(
    Draft202012Validator,
    {
        "pattern": _pattern,
        "x-maxUtf8Bytes": _max_utf8_bytes,
        "x-notEqual": _not_equal,
        "oneOf": _one_of,
        "anyOf": _any_of,
    },
)


@cache
def bundle() -> dict[str, Any]:
    """The published bundles in one: what two of them have is the same in both."""
    first, *others = (json.loads(path.read_text("utf-8")) for path in sorted(BUNDLES.glob("*.bundle.json")))
    for other in others:
        shared = first["$defs"].keys() & other["$defs"].keys()
        assert {name: first["$defs"][name] for name in shared} == {
            name: other["$defs"][name] for name in shared
        }
        first["$defs"] |= other["$defs"]
    return first


@cache
def _oracle(name: str) -> Any:
    return Oracle({**bundle(), "$ref": f"#/$defs/{name}"})


def _refuse_constant(text: str) -> Any:
    raise NotStrictJsonError(text)


def _members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    out = dict(pairs)
    if len(out) != len(pairs):
        raise NotStrictJsonError("a key twice")
    return out


def _check_text(value: Any, depth: int = 0) -> None:
    if depth > MAX_DEPTH:
        raise NotStrictJsonError("too deep")
    if isinstance(value, str):
        value.encode()
    elif isinstance(value, dict):
        for key, member in value.items():
            key.encode()
            _check_text(member, depth + 1)
    elif isinstance(value, list):
        for item in value:
            _check_text(item, depth + 1)


def parse(raw: bytes) -> Any:
    """Return the value of strict JSON. Raises NotStrictJsonError."""
    try:
        value = json.loads(
            raw.decode("utf-8"), object_pairs_hook=_members, parse_constant=_refuse_constant
        )  # a str with a byte order mark is refused by json itself
        _check_text(value)
    except (ValueError, RecursionError) as failure:
        raise NotStrictJsonError(str(failure)) from failure
    return value


def is_valid(name: str, value: Any) -> bool:
    """Whether a parsed value is of the named definition."""
    return _oracle(name).is_valid(value)


def decodes(name: str, raw: bytes) -> bool:
    """Whether bytes are strict JSON of the named definition."""
    try:
        return is_valid(name, parse(raw))
    except NotStrictJsonError:
        return False


def places(name: str, value: Any) -> set[str]:
    """The JSON Pointers at which a value breaks the named definition."""
    out: set[str] = set()
    for error in _oracle(name).iter_errors(value):
        pointer = "".join(f"/{step}" for step in error.absolute_path)
        if error.validator == "required":
            missing = re.match(r"'(.*)' is a required property", error.message)
            pointer += f"/{missing[1]}" if missing else ""
        out.add(pointer)
    return out
