"""The arguments of a draft, as a sink takes them. Whatever it does not carry is refused, never dropped."""

import re
from collections.abc import Collection, Mapping
from typing import Any

from mail4agent_api.errors import MalformedError, TooLargeError

FIELD = "args"
_QUOTABLE = re.compile(r"[A-Za-z0-9_.-]{1,64}")
_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")


def refused(name: str, what: str) -> MalformedError:
    """The refusal of one argument."""
    return MalformedError(field=FIELD, reason=f"{_quoted(name)} {what}")


def _quoted(name: str) -> str:
    return f"the argument {name}" if _QUOTABLE.fullmatch(name) else "an argument"


def only(args: Mapping[str, Any], carried: Collection[str]) -> None:
    """Raise MalformedError for an argument that is not one of ``carried``."""
    for name in args:
        if name not in carried:
            known = ", ".join(sorted(carried))
            # The names are a configuration's; as many as a reason has room for.
            raise refused(name, f"is not carried by the sink, which takes {known}"[:400])


def text(args: Mapping[str, Any], name: str, most: int, *, lines: bool = False) -> str | None:
    """An argument of one line of at most ``most`` bytes, or with ``lines`` of several; None when absent.

    Raises MalformedError and TooLargeError.
    """
    value = args.get(name)
    return None if value is None else checked(value, name, most, lines=lines)


def checked(value: object, name: str, most: int, *, lines: bool = False) -> str:
    """A value that must be such a text. Raises MalformedError and TooLargeError."""
    if not isinstance(value, str):
        raise refused(name, "must be a text")
    plain = value.replace("\r\n", "\n").replace("\t", " ") if lines else value
    if _CONTROLS.search(plain) or (not lines and ("\n" in plain or "\t" in plain)):
        raise refused(name, "must not hold control characters" if lines else "must be one line of text")
    size = len(value.encode())
    if size > most:
        raise TooLargeError(field=FIELD, limit=most, actual=size)
    return value


def texts(args: Mapping[str, Any], name: str, most: int, count: int) -> tuple[str, ...]:
    """An argument that is one line, or a list of at most ``count`` lines; empty when absent.

    Raises MalformedError and TooLargeError.
    """
    value = args.get(name)
    if value is None:
        return ()
    values: list[object] = list(value) if isinstance(value, list | tuple) else [value]
    if len(values) > count:
        raise TooLargeError(field=FIELD, limit=count, actual=len(values))
    return tuple(checked(each, name, most) for each in values)
