"""Regular expressions that take linear time, whoever wrote them and whatever they are held against.

A manifest's pattern is run by pydantic's engine, Rust's ``regex``, which does not backtrack and refuses
what would compile to more than 10 MiB. A pattern may use only what JSON Schema's consumers, browsers and
that engine read alike: literals, classes without nesting, groups that keep nothing, alternatives and
counted repeats. ``\\d`` and ``\\w`` mean ASCII, as in a browser. It must match a whole value.
"""

import re
from functools import lru_cache

from pydantic_core import SchemaError, SchemaValidator, ValidationError
from pydantic_core import core_schema as cs

#: The most a repeat may count.
REPEATS_MAX = 1_000
_REPEAT = re.compile(r"\{([0-9]{1,4})(?:,([0-9]{0,4}))?\}")
_CLASSES = {"d": "0-9", "w": "A-Za-z0-9_"}


class PatternError(ValueError):
    """A pattern cannot be used; the message follows "the pattern"."""


@lru_cache(maxsize=512)
def _validator(pattern: str) -> SchemaValidator:
    # Forbidden to change it by the words of a pattern: the engine is the linear one.
    return SchemaValidator(
        cs.str_schema(pattern=pattern, strict=True), config=cs.CoreConfig(regex_engine="rust-regex")
    )


def matches(pattern: str, text: str) -> bool:
    """Whether a pattern, which the program or ``whole`` made, is found in a text. Takes linear time."""
    try:
        _validator(pattern).validate_python(text)
    except ValidationError:
        return False
    return True


def whole(pattern: str) -> str:
    """A manifest's pattern in the common language, to match whole values. Raises PatternError."""
    inner = pattern.removeprefix("^")
    if inner.endswith("$") and not re.search(r"(?<!\\)(?:\\\\)*\\\$\Z", inner):
        inner = inner[:-1]
    portable = f"^(?:{_Reading(inner).portable()})$"
    try:
        _validator(portable)
    except SchemaError:
        raise PatternError("is no regular expression, or is too large") from None
    return portable


class _Reading:
    """One pattern, read from left to right."""

    def __init__(self, pattern: str) -> None:
        self._text = pattern
        self._at = 0

    def portable(self) -> str:
        """The pattern respelled. Raises PatternError."""
        out: list[str] = []
        # Whether what precedes may be repeated.
        atom = False
        depth = 0
        while self._at < len(self._text):
            character = self._text[self._at]
            if character in "*+?{":
                if not atom:
                    raise PatternError("repeats a repeat, or nothing")
                out.append(self._repeat())
                atom = False
                continue
            self._at += 1
            match character:
                case "\\":
                    part = self._escape()
                    out.append(f"[{part}]" if len(part) > 2 else part)
                    atom = True
                case "[":
                    out.append(self._class())
                    atom = True
                case "(":
                    if not self._text.startswith("?:", self._at):
                        raise PatternError("has a group that is not written (?:...)")
                    self._at += 2
                    depth += 1
                    out.append("(?:")
                    atom = False
                case ")":
                    depth -= 1
                    out.append(")")
                    atom = True
                case "|":
                    out.append("|")
                    atom = False
                case "^" | "$":
                    raise PatternError("has ^ or $ within; it always matches the whole value")
                case "}" | "]":
                    raise PatternError("has a brace or bracket that closes nothing; write \\} or \\]")
                case _:
                    out.append(character)
                    atom = True
            if depth < 0:
                raise PatternError("closes a group that is not open")
        if depth:
            raise PatternError("leaves a group open")
        return "".join(out)

    def _repeat(self) -> str:
        found = _REPEAT.match(self._text, self._at)
        if self._text[self._at] == "{" and found is None:
            raise PatternError("has a brace that counts nothing; write \\{")
        mark = found[0] if found is not None else self._text[self._at]
        if found is not None:
            least, most = int(found[1]), int(found[2] or found[1])
            if most > REPEATS_MAX or least > most:
                raise PatternError(f"repeats more than {REPEATS_MAX} times, or counts downwards")
        self._at += len(mark)
        if self._text.startswith("?", self._at):
            self._at += 1
            return f"{mark}?"
        return mark

    def _escape(self) -> str:
        """What follows a backslash: ASCII punctuation, or a class of ours without its brackets."""
        if self._at >= len(self._text):
            raise PatternError("ends with a backslash")
        character = self._text[self._at]
        self._at += 1
        if character in _CLASSES:
            return _CLASSES[character]
        if character.isascii() and character.isprintable() and not character.isalnum() and character != " ":
            # Engines quarrel about escapes that are not needed.
            return f"\\{character}" if character in "\\^$.|?*+()[]{}/" else character
        raise PatternError("has an escape other than \\d, \\w and those of signs")

    def _class(self) -> str:
        negated = self._text.startswith("^", self._at)
        self._at += negated
        out: list[str] = []
        while self._at < len(self._text):
            character = self._text[self._at]
            if character == "]":
                if not out:
                    raise PatternError("has an empty class")
                self._at += 1
                return f"[{'^' if negated else ''}{''.join(out)}]"
            pair = self._text[self._at : self._at + 2]
            if character == "[" or pair in {"&&", "--", "~~"}:
                raise PatternError("has a class within a class; write \\[, \\&, \\- or \\~")
            self._at += 1
            part = self._escape() if character == "\\" else {"^": "\\^"}.get(character, character)
            if part == "-" and character == "\\":
                part = "\\-"
            # Two of these would be an operator where the author wrote signs; once says the same.
            if not (part in {"&", "~"} and out[-1:] == [part]):
                out.append(part)
        raise PatternError("leaves a class open")
