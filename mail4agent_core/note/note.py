"""A note and the criterion it may bind: what is refused, and why, in the contract's own refusals.

The eight rules of a criterion are those of the original, in its order; the first that is broken refuses.
They are substrings and patterns of English, so they refuse some innocent sentences too.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Final, Self

from mail4agent_api.errors import MalformedError, TooLargeError

from .words import Addressee

TEXT_MAX_BYTES: Final = 16_384
CRITERION_MAX_BYTES: Final = 2_048
#: Unicode's White_Space, which the original trims by; Python's ``strip`` takes U+001C to U+001F besides.
_SPACE: Final = "\t\n\v\f\r \u0085\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000"  # noqa: E501  one set, one line

_AFTERWARDS = (
    "branch publishes", "is published", "pr is merged", "pull request is merged", "lands on master",
    "lands on main", "deploy",
)  # fmt: skip
_LEADS = ("of the shape", "as", "exactly as", "in the form", "matching the wording", "per the")
_TAILS = ("described", "specified", "stated", "set out", "given", "above", "below")
_DEFERRALS = (*(f"{lead} {tail}" for lead in _LEADS for tail in _TAILS), "the wording above")
_LITERALS = ("verbatim", "word for word", "the exact phrase", "the exact wording", "the exact words")
_VERSION = re.compile(
    r"(?<!\w)v?[0-9]+\.[0-9]+\.[0-9]+|(?<!\w)v[0-9]+\.[0-9]+(?![0-9.])|[><=~^!]=?\s*[0-9]+\.[0-9]+"
)
_WORD = re.compile(r"[^\W_]+")
_JUST = re.compile(r"(?<!\w)just\s")
_COMMAND = re.compile(r"(?<!\w)(?:npm|pnpm|nx|cargo|pytest|git)\s")


@dataclass(frozen=True, slots=True)
class Note:
    """A correction: whose task it updates, what it says, and what it binds. Made by ``of`` alone."""

    addressee: Addressee
    text: str
    criterion: str | None = None

    @classmethod
    def of(cls, addressee: str, text: str, criterion: str | None = None) -> Self:
        """Check and trim. Raises MalformedError or TooLargeError naming ``addressee``, ``text`` or
        ``criterion``.
        """
        if addressee not in tuple(Addressee):
            raise MalformedError(field="addressee", reason="must be worker, supervisor or both")
        bound = None if criterion is None else criterion_of(criterion)
        return cls(Addressee(addressee), text_of(text), bound)

    def json(self) -> dict[str, Any]:
        """The note as envelopes and carry stores hold it, the criterion left out when there is none."""
        written: dict[str, Any] = {"addressee": self.addressee.value, "text": self.text}
        return written if self.criterion is None else {**written, "criterion": self.criterion}


def trimmed(text: str) -> str:
    """The text without the white space at both ends."""
    return text.strip(_SPACE)


def text_of(text: str) -> str:
    """The trimmed text of a note. Raises MalformedError, TooLargeError."""
    return _bounded("text", text, TEXT_MAX_BYTES)


def criterion_of(text: str) -> str:
    """The trimmed criterion. Raises MalformedError saying which of the rules it breaks, TooLargeError."""
    criterion = _bounded("criterion", text, CRITERION_MAX_BYTES)
    why = _broken_rule(criterion)
    if why is not None:
        raise MalformedError(field="criterion", reason=why)
    return criterion


def _bounded(field: str, text: str, limit: int) -> str:
    found = trimmed(text)
    try:
        size = len(found.encode())
    except UnicodeEncodeError:
        raise MalformedError(field=field, reason="must be valid Unicode") from None
    if size > limit:
        raise TooLargeError(field=field, limit=limit, actual=size)
    if not found:
        raise MalformedError(field=field, reason="must hold more than white space")
    if "\0" in found:
        raise MalformedError(field=field, reason="must hold no null character")
    return found


def _broken_rule(criterion: str) -> str | None:
    lowered = criterion.lower()
    for piece in _AFTERWARDS:
        if piece in lowered:
            return f'must be decided when the worker settles: "{piece}" happens after that'
    words = f" {' '.join(_WORD.findall(lowered))} "
    for piece in _DEFERRALS:
        if f" {piece} " in words:
            return f'must say what it demands instead of deferring to other prose by "{piece}"'
    for piece in _LITERALS:
        if f" {piece} " in words:
            return f'must say what has to hold instead of demanding a literal text by "{piece}"'
    if _VERSION.search(criterion):
        return "must not name a version, which the next release makes false; say what it must hold or do"
    spans = criterion.split("`")[1:]
    if any(_JUST.search(span) for span in spans):
        return "must not name a just recipe in backticks; say what has to hold when it has run"
    if "&&" in criterion:
        return "must not be a chain of commands; say what has to hold when they have run"
    if any(_COMMAND.search(span) for span in spans):
        return "must not be a command in backticks; say what has to hold when it has run"
    return None
