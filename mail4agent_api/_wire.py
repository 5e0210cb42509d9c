"""What the generated types are made of: the parts of the contract that pydantic does not have by itself.

Nothing here names a field or a bound; those stand in ``schemas/`` and reach these classes through the
generated module.
"""

import re
from dataclasses import dataclass
from typing import Any, ClassVar, Generic, Self, TypeVar

from pydantic import BaseModel, ConfigDict, GetCoreSchemaHandler
from pydantic_core import CoreSchema, PydanticCustomError, PydanticKnownError, SchemaValidator
from pydantic_core import core_schema as cs

from ._check import MAKES

T = TypeVar("T")

#: What pydantic's location calls the two branches of a ``ByType`` union.
TEXT, MEMBERS = "text", "object"

#: A pattern that says of each character alone whether it may stand in the text.
_EXCLUDING = re.compile(r"\^\[\^((?:\\u[0-9a-f]{4}(?:-\\u[0-9a-f]{4})?)+)\]\*\$\Z")
_RANGE = re.compile(r"\\u([0-9a-f]{4})(?:-\\u([0-9a-f]{4}))?")


class _Excluded:
    """Whether a text holds one of some excluded characters, found at the speed of a byte table.

    Most texts hold none, so the question is put to their bytes: every byte that no excluded character begins
    with is deleted, and what is left, if anything, is looked at closely.
    """

    __slots__ = ("_harmless", "_search", "printable_upto")

    def __init__(self, ranges: list[tuple[int, int]]) -> None:
        self._search = re.compile(
            "[" + "".join(f"\\u{low:04x}-\\u{high:04x}" for low, high in ranges) + "]"
        ).search
        leads = {chr(code).encode()[0] for low, high in ranges for code in range(low, high + 1)}
        self._harmless = bytes(byte for byte in range(256) if byte not in leads)
        #: Up to this length a text of printable ASCII needs no other look; longer ones are faster by the
        #: table.
        self.printable_upto = 128 if self._search("".join(map(chr, range(0x20, 0x7F)))) is None else -1

    @classmethod
    def of(cls, pattern: str) -> Self | None:
        """The check that a pattern stands for, None for a pattern of another form."""
        found = _EXCLUDING.match(pattern)
        if found is None:
            return None
        return cls([(int(low, 16), int(high or low, 16)) for low, high in _RANGE.findall(found[1])])

    def among(self, text: str, raw: bytes) -> bool:
        """Whether ``text``, whose UTF-8 is ``raw``, holds an excluded character."""
        return bool(raw.translate(None, self._harmless)) and self._search(text) is not None


@dataclass(frozen=True, slots=True)
class MaxUtf8Bytes:
    """``x-maxUtf8Bytes``: an upper bound on a text's length in bytes of UTF-8.

    A pattern that excludes characters is checked in the same pass, which is several times as fast as
    pydantic's own.
    """

    limit: int

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        text: Any = handler(source)
        limit = self.limit
        excluded = _Excluded.of(text.get("pattern", ""))
        if excluded is None:
            raise TypeError("a text with a bound in bytes excludes its control characters by a pattern")
        pattern, among = text.pop("pattern"), excluded.among
        short = excluded.printable_upto

        def check(value: str) -> str:
            if len(value) <= short and value.isascii() and value.isprintable():  # what most short texts are
                return value
            raw = value.encode()
            if len(raw) > limit:
                raise PydanticCustomError(
                    "too_many_bytes", "at most {limit} bytes of UTF-8", {"limit": limit}
                )
            if among(value, raw):
                raise PydanticKnownError("string_pattern_mismatch", {"pattern": pattern})
            return value

        return cs.no_info_after_validator_function(check, text)


class ByType:
    """``x-byType``: a union of a text and an object, told apart by what JSON calls them.

    Only the one that was meant is validated, so that what is wrong with it is said of it.
    """

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        union: Any = handler(source)
        text, members = union["choices"]

        def which(value: Any) -> str | None:
            if isinstance(value, str):
                return TEXT
            return MEMBERS if isinstance(value, dict | BaseModel) else None

        return cs.tagged_union_schema({TEXT: text, MEMBERS: members}, which)


class JsonInteger:
    """JSON Schema's integer: 1.0 is one. It is never emitted."""

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        def whole(value: Any) -> Any:
            return int(value) if type(value) is float and value.is_integer() else value

        return cs.no_info_before_validator_function(whole, handler(source), metadata=MAKES)


class WireStr(str):
    """A text type of its own (``x-distinct``), checked when it is made.

    A room id is not accepted where a participant id is meant.
    """

    __slots__ = ()
    #: The field that a refusal names.
    LABEL: ClassVar[str] = ""
    _text: ClassVar[CoreSchema]
    _checker: ClassVar[SchemaValidator]

    def __init_subclass__(
        cls,
        *,
        pattern: str,
        min_length: int | None = None,
        max_length: int | None = None,
        label: str,
        **kwargs: Any,
    ) -> None:
        super().__init_subclass__(**kwargs)
        setattr(cls, "LABEL", label)  # noqa: B010 -- a constant to everybody else
        cls._text = cs.str_schema(pattern=pattern, min_length=min_length, max_length=max_length, strict=True)
        cls._checker = SchemaValidator(cls._text)

    def __new__(cls, value: str) -> Self:
        """Raise MalformedError or TooLargeError for a text that is not one."""
        from .refusal import construct

        return construct(cls, value)

    @classmethod
    def checked(cls, value: Any) -> Self:
        """Raise pydantic's ValidationError; ``refusal`` names it."""
        if isinstance(value, WireStr) and type(value) is not cls:
            value = None  # another id type is no text here
        return str.__new__(cls, cls._checker.validate_python(value))

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        new = str.__new__

        def make(value: str) -> Self:
            return new(cls, value)

        def guard(value: Any) -> Any:
            if type(value) is not str and isinstance(value, WireStr) and type(value) is not cls:
                raise PydanticCustomError("another_id", "is an id of another type")
            return value

        text = cs.no_info_after_validator_function(make, cls._text, metadata=MAKES)
        return cs.json_or_python_schema(
            json_schema=text, python_schema=cs.no_info_before_validator_function(guard, text)
        )


class Declared(Generic[T]):
    """A value that is real but no proof (``x-declared``).

    Only ``inner_ref`` and ``into_inner`` give it, so that it is never taken for an attested one.
    """

    __slots__ = ("_value",)
    _value: T

    def __init__(self, value: T) -> None:
        object.__setattr__(self, "_value", value)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError("a declared value does not change")

    def __reduce__(self) -> tuple[type[Self], tuple[T]]:
        return type(self), (self._value,)

    def inner_ref(self) -> T:
        """The declared value, the wrapper staying in use."""
        return self._value

    def into_inner(self) -> T:
        """The declared value, the wrapper being done with."""
        return self._value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Declared) and bool(self._value == other._value)  # pyright: ignore[reportUnknownMemberType, reportUnknownArgumentType]

    def __hash__(self) -> int:
        return hash((Declared, self._value))

    def __repr__(self) -> str:
        return f"Declared({self._value!r})"

    def __str__(self) -> str:
        return str(self._value)

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        (inner,) = source.__args__
        inside = handler.generate_schema(inner)

        def unwrap(value: Any) -> Any:
            return value.inner_ref() if isinstance(value, Declared) else value  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]

        return cs.no_info_before_validator_function(
            unwrap,
            cs.no_info_after_validator_function(cls, inside, metadata=MAKES),
            metadata=MAKES,
            serialization=cs.plain_serializer_function_ser_schema(unwrap, return_schema=cs.str_schema()),
        )


class WireModel(BaseModel):
    """The base of every generated object: strict, frozen, and with the cross-field rules of its schema.

    What judges a type is built when the type is first used: a command uses a few of hundreds.
    """

    model_config = ConfigDict(
        defer_build=True,
        strict=True,
        frozen=True,
        validate_by_name=True,
        validate_by_alias=True,
        serialize_by_alias=True,
        revalidate_instances="always",
        hide_input_in_errors=True,
    )

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        schema = handler(source)
        extra: Any = cls.model_config.get("json_schema_extra") or {}
        unequal: list[tuple[str, str]] = extra.get("x-notEqual", [])
        exclusive: list[tuple[str, str]] = extra.get("x-exclusive", [])
        if not (unequal or exclusive):
            return schema

        def check(value: Any) -> Any:
            # Where a value is only judged no object is made of it, and its members come first in a tuple.
            members: Any = value.__dict__ if isinstance(value, WireModel) else value[0]
            for left, right in unequal:
                if members[left] is not None and members[left] == members[right]:
                    raise PydanticCustomError(
                        "not_equal", "must differ from {other}", {"field": left, "other": right}
                    )
            for left, right in exclusive:
                if members[left] is not None and members[right] is not None:
                    raise PydanticCustomError(
                        "exclusive",
                        "must not be given together with {other}",
                        {"field": right, "other": left},
                    )
            return value

        return cs.no_info_after_validator_function(check, schema)
