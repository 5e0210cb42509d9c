"""What is wanted in a client's file, put into its text and taken out again.

A file that was not touched since gets its former bytes back. In one that was, the members that are ours are
found by what they say, and all else stays.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from hashlib import sha256
from types import ModuleType
from typing import Any, Literal

from . import jsonc, tables
from .splices import Path, Splice, spliced, unspliced

Format = Literal["json", "toml"]
_FORMATS: dict[Format, ModuleType] = {"json": jsonc, "toml": tables}
#: Tells a value that connect wrote from one that somebody else did.
IsOurs = Callable[[Any], bool]


class TakenError(Exception):
    """Somebody else's value stands where ours is wanted; the message names the place."""


@dataclass(frozen=True, slots=True)
class Wish:
    """A member at a path, or with ``is_element`` an element of the list there."""

    path: Path
    value: Any
    is_element: bool = False


@dataclass(frozen=True, slots=True)
class Change:
    """What was done to a text, and what takes it back."""

    text: str
    splices: tuple[Splice, ...]
    made: tuple[int, ...]
    """How many containers each wish needed that were not there."""
    replaced: tuple[str | None, ...]
    """The text of somebody else's value that each wish took the place of."""


def digest(text: str) -> str:
    """Tells whether a file is as it was left."""
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def parsed(kind: Format, text: str) -> dict[str, Any]:
    """The document's value. Raises DocumentError."""
    return _FORMATS[kind].parsed(text)


def _found(document: Any, path: Path) -> tuple[Any, int]:
    """The value at a path, None where there is none, and how many of the steps are there."""
    for steps, key in enumerate(path):
        if not isinstance(document, dict) or key not in document:
            return None, steps
        document = document[key]
    return document, len(path)


def is_granted(document: dict[str, Any], wish: Wish) -> bool:
    """Whether the document holds what is wanted; what a person added to it does no harm."""
    found, _ = _found(document, wish.path)
    if wish.is_element:
        return isinstance(found, list) and any(_has_hooks(each, wish.value) for each in found)
    return _holds(found, wish.value)


def _has_hooks(group: Any, wanted: Any) -> bool:
    """Whether a group of hooks runs the wanted commands, however a person set it otherwise."""
    hooks = group.get("hooks") if isinstance(group, dict) else None
    run = [each.get("command") for each in hooks if isinstance(each, dict)] if isinstance(hooks, list) else []
    return all(each["command"] in run for each in wanted["hooks"])


def _shared(group: Any, is_ours: IsOurs) -> tuple[str, int] | None:
    """Where one of our hooks stands beside others in a group; None: the whole group is ours."""
    hooks = group.get("hooks") if isinstance(group, dict) else None
    ours = [n for n, each in enumerate(hooks) if is_ours(each)] if isinstance(hooks, list) else []
    return ("hooks", ours[-1]) if hooks and 0 < len(ours) < len(hooks) else None


def _holds(found: Any, wanted: Any) -> bool:
    if isinstance(wanted, dict):
        return isinstance(found, dict) and all(
            key in found and _holds(found[key], value) for key, value in wanted.items()
        )
    return found == wanted


def _merged(found: Any, wanted: Any) -> Any:
    if isinstance(found, dict) and isinstance(wanted, dict):
        return {**found, **{key: _merged(found.get(key), value) for key, value in wanted.items()}}
    return wanted


def granted(kind: Format, text: str, wishes: Sequence[Wish], is_ours: IsOurs, *, replace: bool) -> Change:
    """Put in what is wanted and not there. Raises DocumentError, TakenError."""
    form = _FORMATS[kind]
    splices: list[Splice] = []
    made: list[int] = []
    replaced: list[str | None] = []
    for wish in wishes:
        document = form.parsed(text)
        found, steps = _found(document, wish.path)
        old: str | None = None
        new: list[Splice] = []
        if not is_granted(document, wish):
            if wish.is_element:
                new = jsonc.append(text, wish.path, wish.value)
            elif found is None:
                new = form.put(text, wish.path, wish.value)
            elif is_ours(found):
                new = form.put(text, wish.path, _merged(found, wish.value))
            elif replace:
                old = form.raw(text, wish.path)
                new = form.put(text, wish.path, wish.value)
            else:
                raise TakenError(".".join(wish.path))
        missing = len(wish.path) - steps
        made.append(missing if wish.is_element else max(0, missing - 1))
        replaced.append(old)
        text = spliced(text, new)
        splices += new
        # What another program will read is what was meant.
        assert is_granted(form.parsed(text), wish)
    return Change(text, tuple(splices), tuple(made), tuple(replaced))


def withdrawn(
    kind: Format,
    text: str,
    wishes: Sequence[Wish],
    is_ours: IsOurs,
    *,
    made: Sequence[int] = (),
    replaced: Sequence[str | None] = (),
    exact: Sequence[Splice] | None = None,
) -> str:
    """The text without what is wanted no more. ``exact``: it is the very text that these changes led to.

    Raises DocumentError.
    """
    if exact is not None:
        return unspliced(text, exact)
    form = _FORMATS[kind]
    for number in reversed(range(len(wishes))):
        wish = wishes[number]
        depth = made[number] if number < len(made) else 0
        old = replaced[number] if number < len(replaced) else None
        found, _ = _found(form.parsed(text), wish.path)
        if wish.is_element:
            while isinstance(found, list) and (ours := [n for n, each in enumerate(found) if is_ours(each)]):
                within = _shared(found[ours[-1]], is_ours)
                text = spliced(text, jsonc.dropped(text, wish.path, ours[-1], depth, within))
                found, _ = _found(form.parsed(text), wish.path)
        elif found is not None and is_ours(found):
            if old is not None:
                back = form.restored(text, wish.path, old)
            elif kind == "json":
                back = jsonc.dropped(text, wish.path, None, depth)
            else:
                back = tables.dropped(text, wish.path)
            text = spliced(text, back)
    return text
