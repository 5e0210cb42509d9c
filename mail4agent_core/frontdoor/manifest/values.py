"""One submitted value held against its field: what it is, or one fixed sentence about what it must be.

A sentence never quotes what was submitted.
"""

from collections.abc import Callable, Mapping
from datetime import date
from functools import lru_cache
from typing import Any, cast

from mail4agent_api.frontdoor import (
    BoolField,
    DateField,
    EmailField,
    FileField,
    IntegerField,
    LongTextField,
    MultiSelectField,
    SelectField,
    TextField,
    UrlField,
)

from . import shapes
from .patterns import matches, whole

Declared = (
    TextField
    | LongTextField
    | EmailField
    | UrlField
    | DateField
    | IntegerField
    | SelectField
    | MultiSelectField
    | BoolField
    | FileField
)
#: A value as it is kept: what JSON has.
Value = str | int | bool | list[str] | dict[str, Any]

_YES, _NO = frozenset(("true", "on", "1", "yes")), frozenset(("false", "off", "0", "no"))
_FILE_REQUIRED = frozenset(("filename", "size", "sha256", "content_type"))
_FILE_KEYS = _FILE_REQUIRED | {"attachment_id"}


class InvalidValueError(ValueError):
    """A value is not one of its field; the message follows the field's name."""


def is_blank(value: object) -> bool:
    """Whether nothing was submitted: null, a text of white space alone, or no choice."""
    match value:
        case None:
            return True
        case str():
            return not value.strip(shapes.BLANKS)
        case list():
            return not value
        case _:
            return False


def coerced(field: Declared, value: object) -> Value:
    """The value in its field's own type. It is not blank. Raises InvalidValueError."""
    return _KINDS[type(field)](field, value)


def whole_number(text: str) -> int | None:
    """The whole number that a text writes, None for none within 2^53."""
    if not matches(shapes.INTEGER, text):
        return None
    number = int(text)
    return number if abs(number) <= shapes.INTEGER_MAX else None


def real_date(text: str) -> date | None:
    """The day that a text writes as YYYY-MM-DD, None where the calendar has none."""
    if not matches(shapes.DATE, text):
        return None
    try:
        return date.fromisoformat(text)
    except ValueError:
        return None


def _string(value: object, most: int) -> str:
    if not isinstance(value, str):
        raise InvalidValueError("must be text")
    text = value.strip(shapes.BLANKS)
    if len(text) > most:
        raise InvalidValueError(f"must be at most {most} characters")
    return text


@lru_cache(maxsize=512)
def _whole(pattern: str) -> str:
    return whole(pattern)


def _text(field: TextField, value: object) -> Value:
    text = _string(value, field.max_length)
    if not matches(shapes.LINE, text):
        raise InvalidValueError("must be one line without control characters")
    if field.pattern is not None and not matches(_whole(field.pattern), text):
        raise InvalidValueError("must have the form that is asked for")
    return text


def _long_text(field: LongTextField, value: object) -> Value:
    lines = value.replace("\r\n", "\n").replace("\r", "\n") if isinstance(value, str) else value
    text = _string(lines, field.max_length)
    if not matches(shapes.LINES, text):
        raise InvalidValueError("must be text without control characters")
    return text


def _email(field: EmailField, value: object) -> Value:
    text = _string(value, field.max_length)
    if not (matches(shapes.EMAIL, text) and matches(shapes.EMAIL_LOCAL, text)):
        raise InvalidValueError("must be one bare address of email")
    return text


def _url(field: UrlField, value: object) -> Value:
    text = _string(value, field.max_length)
    if not matches(shapes.URL, text):
        raise InvalidValueError("must be an address of a page that begins with http:// or https://")
    return text


def _date(field: DateField, value: object) -> Value:
    text = value.strip(shapes.BLANKS) if isinstance(value, str) else ""
    if real_date(text) is None:
        raise InvalidValueError("must be a day of the calendar, written YYYY-MM-DD")
    if field.min is not None and text < field.min:
        raise InvalidValueError(f"must be {field.min} or later")
    if field.max is not None and text > field.max:
        raise InvalidValueError(f"must be {field.max} or earlier")
    return text


def _integer(field: IntegerField, value: object) -> Value:
    number: int | None = None
    if isinstance(value, str):
        number = whole_number(value.strip(shapes.BLANKS))
    elif isinstance(value, float) and value.is_integer():
        number = int(value)
    elif isinstance(value, int) and not isinstance(value, bool):
        number = value
    if number is None or abs(number) > shapes.INTEGER_MAX:
        raise InvalidValueError("must be a whole number")
    if field.min is not None and number < field.min:
        raise InvalidValueError(f"must be at least {field.min}")
    if field.max is not None and number > field.max:
        raise InvalidValueError(f"must be at most {field.max}")
    return number


def _select(field: SelectField, value: object) -> Value:
    if not isinstance(value, str) or value not in {option.value for option in field.options}:
        raise InvalidValueError("must be one of the choices")
    return value


def _multi_select(field: MultiSelectField, value: object) -> Value:
    chosen = cast(list[object], value) if isinstance(value, list) else [value]
    offered = {option.value for option in field.options}
    most = field.max_choices or len(offered)
    if len(chosen) > most:
        raise InvalidValueError(f"must be at most {most} choices")
    choices = [choice for choice in chosen if isinstance(choice, str) and choice in offered]
    if len(choices) != len(chosen):
        raise InvalidValueError("must be some of the choices")
    if len(set(choices)) != len(choices):
        raise InvalidValueError("must name each choice once")
    return choices


def _bool(_field: BoolField, value: object) -> Value:
    if isinstance(value, bool):
        return value
    word = value.strip(shapes.BLANKS).lower() if isinstance(value, str) else ""
    if word not in _YES | _NO:
        raise InvalidValueError("must be yes or no")
    return word in _YES


def _file(field: FileField, value: object) -> Value:
    if not isinstance(value, Mapping):
        raise InvalidValueError("must be what was measured of a file")
    given = cast(Mapping[str, Any], value)
    if not given.keys() >= _FILE_REQUIRED or not given.keys() <= _FILE_KEYS:
        raise InvalidValueError("must be filename, size, sha256 and content_type of a file")
    name, size, digest = given["filename"], given["size"], given["sha256"]
    if not isinstance(name, str) or not matches(shapes.FILE_NAME, name) or name in {".", ".."}:
        raise InvalidValueError("must have a file name of at most 255 characters without separators")
    if isinstance(size, float) and size.is_integer():
        size = int(size)
    if not isinstance(size, int) or isinstance(size, bool) or not 1 <= size <= field.max_bytes:
        raise InvalidValueError(f"must be a file of 1 to {field.max_bytes} bytes")
    if not isinstance(digest, str) or not matches(shapes.SHA256, digest):
        raise InvalidValueError("must have its digest, sha256: and 64 lower-case hexadecimal digits")
    if given["content_type"] not in content_types(field):
        raise InvalidValueError("must be a file of a kind that is accepted")
    if "attachment_id" in given:
        known = given["attachment_id"]
        if not isinstance(known, str) or not matches(shapes.ATTACHMENT_ID, known):
            raise InvalidValueError("must have an attachment id of 1 to 128 characters")
    return {**given, "size": size}


def content_types(field: FileField) -> list[str]:
    """The types of content that a field accepts, each once."""
    return sorted({shapes.CONTENT_TYPES[kind] for kind in field.accept})


_KINDS: dict[type[Any], Callable[[Any, object], Value]] = {
    TextField: _text,
    LongTextField: _long_text,
    EmailField: _email,
    UrlField: _url,
    DateField: _date,
    IntegerField: _integer,
    SelectField: _select,
    MultiSelectField: _multi_select,
    BoolField: _bool,
    FileField: _file,
}
