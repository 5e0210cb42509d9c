"""Arguments as JSON: what may be staged, and the one text that a digest is taken of."""

import json
from typing import Any, cast

from mail4agent_api.errors import MalformedError, TooLargeError

ARGS_MAX_BYTES = 262_144
ARGS_MAX_DEPTH = 32
#: Top-level arguments of one draft, and the bytes of an argument's name.
ARGS_MAX = 64
ARG_NAME_MAX_BYTES = 256


def canonical(value: Any) -> bytes:
    """UTF-8 JSON with sorted keys and no spaces, nothing escaped that need not be.

    Raises MalformedError (field ``args``) for what has no such text: another type, NaN, a lone surrogate.
    """
    try:
        text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
        return text.encode()
    # A set, NaN and a whole number of too many digits, a surrogate, a nesting without end, keys of two types.
    except (TypeError, ValueError, RecursionError):
        raise MalformedError(field="args", reason="must be JSON values in UTF-8") from None


def same(one: Any, other: Any) -> bool:
    """Whether two JSON values have one canonical text. 1, 1.0 and true are three."""
    return bool(one == other) and _exact(one, other)


def _exact(one: Any, other: Any) -> bool:
    """Whether two values that compare equal are of the same types throughout."""
    kind = cast("type[object]", type(one))
    if kind is str or one is None:
        return True
    if kind is not type(other):
        return False
    if kind is dict:
        for key, left in cast(dict[str, Any], one).items():
            # What equals a text is one.
            if type(left) is not str and not _exact(left, other[key]):
                return False
        return True
    if kind is list:
        return all(map(_exact, one, other))
    # 0.0 and -0.0 are written differently.
    return one != 0 or repr(one) == repr(other)


def sorted_keys(value: Any) -> Any:
    """The same value with the keys of every object in order."""
    if isinstance(value, dict):
        found = cast(dict[str, Any], value)
        return {key: sorted_keys(found[key]) for key in sorted(found)}
    if isinstance(value, list):
        return [sorted_keys(part) for part in cast(list[Any], value)]
    return value


def checked_args(args: Any) -> dict[str, Any]:
    """Arguments that may be staged, as plain JSON values with sorted keys.

    Raises MalformedError and TooLargeError for field ``args``.
    """
    if not isinstance(args, dict):
        raise MalformedError(field="args", reason="must be an object")
    found = cast(dict[Any, Any], args)
    if len(found) > ARGS_MAX:
        raise TooLargeError(field="args", limit=ARGS_MAX, actual=len(found))
    _refuse_deep(found)
    size = len(canonical(found))
    if size > ARGS_MAX_BYTES:
        raise TooLargeError(field="args", limit=ARGS_MAX_BYTES, actual=size)
    if not all(0 < len(name.encode()) <= ARG_NAME_MAX_BYTES for name in found):
        raise MalformedError(
            field="args", reason=f"must have names of 1 to {ARG_NAME_MAX_BYTES} bytes for its arguments"
        )
    # Through its own text: what is kept is what was hashed, and nobody holds a part of it to change.
    return cast(dict[str, Any], json.loads(canonical(found)))


def _refuse_deep(value: Any) -> None:
    """Level by level, so that no nesting is too deep to be looked at. Keys are texts and nothing else."""
    level: list[Any] = [value]
    for _ in range(ARGS_MAX_DEPTH):
        below: list[Any] = []
        for part in level:
            if isinstance(part, dict):
                found = cast("dict[Any, Any]", part)
                if not all(type(key) is str for key in found):
                    raise MalformedError(field="args", reason="must have texts for names")
                below += found.values()
            elif isinstance(part, list):
                below += cast(list[Any], part)
        level = [part for part in below if isinstance(part, dict | list)]
        if not level:
            return
    raise MalformedError(field="args", reason=f"must be nested at most {ARGS_MAX_DEPTH} deep")
