"""What the generated types are made of: the parts of the contract that pydantic does not have by itself.

Nothing here names a field or a bound; those stand in ``schemas/`` and reach these classes through the generated module.
"""

from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, Generic, Self, TypeVar

from pydantic import BaseModel, ConfigDict, GetCoreSchemaHandler
from pydantic_core import CoreSchema, PydanticCustomError, SchemaValidator
from pydantic_core import core_schema as cs

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class MaxUtf8Bytes:
    """``x-maxUtf8Bytes``: an upper bound on a text's length in bytes of UTF-8."""

    limit: int

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        limit = self.limit
        quick = limit // 4  # a code point has at most four bytes

        def check(value: str) -> str:
            if len(value) > quick and not value.isascii():
                actual = len(value.encode())
                if actual > limit:
                    raise PydanticCustomError(
                        "too_many_bytes", "at most {limit} bytes of UTF-8", {"limit": limit, "actual": actual}
                    )
            return value

        return cs.no_info_after_validator_function(check, handler(source))


class JsonInteger:
    """JSON Schema's integer: 1.0 is one. It is never emitted."""

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        def whole(value: Any) -> Any:
            return int(value) if type(value) is float and value.is_integer() else value

        return cs.no_info_before_validator_function(whole, handler(source))


class WireStr(str):
    """A text type of its own (``x-distinct``), checked when it is made: a room id is not accepted where a participant id is meant."""

    __slots__ = ()
    LABEL: ClassVar[str]
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
        cls.LABEL = label
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
        json = cs.no_info_after_validator_function(partial(str.__new__, cls), cls._text)

        def guard(value: Any) -> Any:
            if isinstance(value, WireStr) and type(value) is not cls:
                raise PydanticCustomError("another_id", "is an id of another type")
            return value

        return cs.json_or_python_schema(
            json_schema=json,
            python_schema=cs.no_info_before_validator_function(guard, json),
        )


class Declared(Generic[T]):
    """A value that is real but no proof (``x-declared``). Only ``inner_ref`` and ``into_inner`` give it, so that it is never taken for an attested one."""

    __slots__ = ("_value",)
    _value: T

    def __init__(self, value: T) -> None:
        object.__setattr__(self, "_value", value)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError("a declared value does not change")

    def inner_ref(self) -> T:
        """The declared value, the wrapper staying in use."""
        return self._value

    def into_inner(self) -> T:
        """The declared value, the wrapper being done with."""
        return self._value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Declared) and self._value == other._value  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]

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
            return value._value if isinstance(value, Declared) else value  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]

        return cs.no_info_before_validator_function(
            unwrap,
            cs.no_info_after_validator_function(cls, inside),
            serialization=cs.plain_serializer_function_ser_schema(unwrap, return_schema=cs.str_schema()),
        )


class WireModel(BaseModel):
    """The base of every generated object: strict, frozen, and with the cross-field rules of its schema."""

    model_config = ConfigDict(
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
        extra = cls.model_config.get("json_schema_extra")
        if not isinstance(extra, dict):
            return schema
        unequal: Any = extra.get("x-notEqual", ())
        exclusive: Any = extra.get("x-exclusive", ())
        if not (unequal or exclusive):
            return schema

        def check(value: Any) -> Any:
            for left, right in unequal:
                if getattr(value, left) is not None and getattr(value, left) == getattr(value, right):
                    raise PydanticCustomError(
                        "not_equal", "must differ from {other}", {"field": left, "other": right}
                    )
            for left, right in exclusive:
                if getattr(value, left) is not None and getattr(value, right) is not None:
                    raise PydanticCustomError(
                        "exclusive",
                        "must not be given together with {other}",
                        {"field": right, "other": left},
                    )
            return value

        return cs.no_info_after_validator_function(check, schema)
