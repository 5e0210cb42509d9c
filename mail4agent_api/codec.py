"""The only way in and out: ``decode``, ``decode_value`` and ``encode``, which enforce every bound.

JSON is read strictly: UTF-8 without a byte order mark, no duplicate keys, no NaN or infinity, no lone
surrogates, bounded depth. Every failure is one refusal, ``malformed`` or ``too_large``. What is encoded is
validated again first, so that a value made or changed past validation does not leave.
"""

from functools import cache
from typing import Any, TypeVar

import jiter
from pydantic import BaseModel, TypeAdapter, ValidationError
from pydantic_core import PydanticSerializationError, SchemaSerializer, SchemaValidator
from typing_extensions import TypeForm

from ._check import checker
from ._wire import WireModel
from .errors import MalformedError, RefusalError
from .published import definitions
from .refusal import REQUEST, refusal_of, refusals_of

T = TypeVar("T")

#: JSON with more colons than this is looked over for objects with too many keys before it is validated; with
#: fewer, naming each key that is unknown takes some tens of milliseconds at most.
_COLONS_MAX = 8_192
#: More keys than any object of the contract has: the values of a request are the most.
_KEYS_MAX = 256


class _Entry:
    """What the codec keeps for one type."""

    __slots__ = ("checker", "name", "serializer", "tags", "validator")

    def __init__(self, kind: Any) -> None:
        _build(kind)
        adapter: TypeAdapter[Any] = TypeAdapter(kind)
        adapter.rebuild()
        self.validator: SchemaValidator = adapter.validator  # pyright: ignore[reportAttributeAccessIssue]
        self.serializer: SchemaSerializer = adapter.serializer  # pyright: ignore[reportAttributeAccessIssue]
        self.checker = checker(adapter.core_schema)
        self.name: str = getattr(kind, "__name__", "")
        # A generated tag has a default for those who build values in Python; on the wire it is required.
        definition = definitions().get(self.name, {})
        self.tags = tuple(
            name for name in definition.get("required", ()) if "const" in definition["properties"][name]
        )


def _build(kind: Any) -> None:
    """Build a class that is not built yet, so that its adapter shares what it has and nothing of the codec
    goes through pydantic's stand-in for what is to be built.
    """
    if isinstance(kind, type) and issubclass(kind, BaseModel):
        kind.model_rebuild()


@cache
def _entry(kind: Any) -> _Entry:
    return _Entry(kind)


@cache
def _contract_type(kind: type[Any]) -> type[WireModel]:
    """The generated type that a value is of: its class, or the one that its class was derived from."""
    for base in kind.__mro__:
        if WireModel in base.__bases__:
            return base
    raise TypeError(f"{kind.__name__} is no object of the contract")


def parse(raw: bytes) -> Any:
    """Parse JSON strictly into plain values. Raises MalformedError for field ``request``."""
    try:
        return jiter.from_json(raw, allow_inf_nan=False, catch_duplicate_keys=True, cache_mode="keys")
    except ValueError as failure:
        reason = _unreadable(raw, str(failure))
    raise MalformedError(field=REQUEST, reason=reason)


def _unreadable(raw: bytes, said: str) -> str:
    """Why bytes are no JSON. The parser's own words may quote a key, so they are only told apart."""
    if "Detected duplicate key" in said:
        return "has a key twice in one object"
    if said.startswith("recursion limit"):
        return "is nested too deeply"
    if "hex escape" in said or "surrogate" in said:
        return "has a lone surrogate or a broken escape in a string"
    if raw.startswith(b"\xef\xbb\xbf"):
        return "must be one JSON value in UTF-8, without a byte order mark"
    return "must be one JSON value in UTF-8; NaN and Infinity are none"


def decode(kind: TypeForm[T], raw: bytes) -> T:
    """Return the value of the given contract type that ``raw`` holds.

    Raises MalformedError or TooLargeError.
    """
    return decode_value(kind, read(raw))


def read(raw: bytes) -> Any:
    """As ``parse``, for what strangers send: a value that no type of the contract can be is refused early."""
    value = parse(raw)
    if raw.count(b":") > _COLONS_MAX:
        _refuse_crowded(value)
    return value


def _refuse_crowded(value: Any) -> None:
    """Refuse an object with more keys than the contract knows: validation would name each of a million."""
    waiting = [value]
    while waiting:
        node = waiting.pop()
        if isinstance(node, dict):
            if len(node) > _KEYS_MAX:  # pyright: ignore[reportUnknownArgumentType]
                raise MalformedError(field=REQUEST, reason="has an object with more keys than any may have")
            waiting += [part for part in node.values() if isinstance(part, dict | list)]  # pyright: ignore[reportUnknownVariableType]
        elif isinstance(node, list):
            waiting += [part for part in node if isinstance(part, dict | list)]  # pyright: ignore[reportUnknownVariableType]


def decode_value(kind: TypeForm[T], value: Any) -> T:
    """As ``decode``, for what the strict reader, a form or TOML has already parsed."""
    entry = _entry(kind)
    for tag in entry.tags:
        if isinstance(value, dict) and tag not in value:
            raise MalformedError(field=tag, reason=f"is missing (at /{tag})")
    try:
        return entry.validator.validate_python(value, strict=True, by_alias=True, by_name=False)
    except ValidationError as failure:
        refusal = refusal_of(failure, entry.name)
    raise refusal


def problems_of(kind: TypeForm[Any], value: Any, *, most: int = 100) -> tuple[RefusalError, ...]:
    """Everything, of at most so much, that ``decode_value`` could refuse a value for; nothing for a good one.

    For who wrote the value and mends it; a door names one problem.
    """
    entry = _entry(kind)
    missing = tuple(
        MalformedError(field=tag, reason=f"is missing (at /{tag})")
        for tag in entry.tags
        if isinstance(value, dict) and tag not in value
    )
    try:
        entry.validator.validate_python(value, strict=True, by_alias=True, by_name=False)
    except ValidationError as failure:
        return (*missing, *refusals_of(failure, entry.name, most))[:most]
    return missing


def encode(value: WireModel) -> bytes:
    """Return the JSON of a contract object in UTF-8, absent options as null.

    The bytes are judged before they leave, so a value that was made or changed past validation is refused,
    and what the contract does not have does not come out. Raises MalformedError or TooLargeError for a value
    that would not decode, TypeError for no contract object.
    """
    entry = _entry(_contract_type(type(value)))
    try:
        raw = entry.serializer.to_json(value, by_alias=True, warnings="error")
        entry.checker.validate_json(raw, strict=True, by_alias=True, by_name=False)
    except (AttributeError, PydanticSerializationError, ValidationError):
        return _encode_closely(value, entry)
    return raw


def _encode_closely(value: WireModel, entry: _Entry) -> bytes:
    """Ask the value itself what is wrong with it, because its bytes may not say or may not be had."""
    refusal: RefusalError
    try:
        checked = entry.validator.validate_python(value, strict=True, by_alias=False, by_name=True)
        return entry.serializer.to_json(checked, by_alias=True, warnings="error")
    except ValidationError as failure:
        refusal = refusal_of(failure, entry.name)
    except (AttributeError, PydanticSerializationError):  # never initialised, so it has no fields to read
        refusal = MalformedError(field=REQUEST, reason="is not a valid value of its type")
    raise refusal
