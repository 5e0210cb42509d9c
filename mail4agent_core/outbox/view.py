"""A draft in the order in which a person reads it. Nothing is dropped.

It goes by well-known names of arguments and never by the tool, so that a tool nobody thought of is still
reviewable: what has another name stands under ``other``. Every argument is in exactly one of the three.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, cast

from .canonical import canonical
from .shown import hidden

#: Whom and what it is about, in reading order: an event read end before start is nonsense.
HEADER_FIELDS: Final = (
    "to", "cc", "bcc", "channel", "subject", "title", "when", "start", "start_time", "end", "end_time",
    "account",
)  # fmt: skip
#: What carries the prose, most specific first. One wins; the others are arguments like any other.
BODY_FIELDS: Final = (
    "body_markdown", "body_text", "body_html", "body", "text", "markdown", "message", "content",
)  # fmt: skip
#: What a draft whose arguments are no object has instead of names.
ARGUMENTS: Final = "arguments"

Row = tuple[str, str]


@dataclass(frozen=True, slots=True)
class DraftView:
    """The arguments of a draft as texts, each with its name."""

    headers: tuple[Row, ...] = ()
    #: The prose, with its real line feeds.
    body: str | None = None
    #: The argument that the prose came from, and that an edit writes back to.
    body_field: str | None = None
    #: Everything else, by name.
    other: tuple[Row, ...] = ()

    @classmethod
    def of(cls, args: Any) -> DraftView:
        """The view of any arguments, those that are no object included."""
        if not isinstance(args, dict):
            return cls(other=((ARGUMENTS, canonical(args).decode()),))
        found = cast(dict[str, Any], args)
        field = _body_field(found)
        return cls(
            headers=tuple((key, _text(found[key])) for key in HEADER_FIELDS if key in found),
            body=None if field is None else found[field],
            body_field=field,
            other=tuple(
                (key, _text(found[key])) for key in sorted(found) if key not in HEADER_FIELDS and key != field
            ),
        )

    def hidden(self) -> int:
        """How many characters of the draft would not be seen, or would change how others are."""
        rows = (*self.headers, *self.other, (self.body_field or "", self.body or ""))
        return sum(hidden(name) + hidden(text) for name, text in rows)


def provider_ids(args: Any) -> list[Row]:
    """The arguments that name the provider's objects, such as a thread: the key that joins a draft to what it
    answers.

    Headers are no such key: an ``account`` is that of every call of a session.
    """
    if not isinstance(args, dict):
        return []
    found = cast(dict[str, Any], args)
    field = _body_field(found)
    return [
        (key, found[key])
        for key in sorted(found)
        if key not in HEADER_FIELDS and key != field and isinstance(found[key], str) and found[key].strip()
    ]


def with_body(args: Any, body: str) -> dict[str, Any] | None:
    """The arguments with other prose, in the argument that it came from; None where there is no prose."""
    if not isinstance(args, dict):
        return None
    found = cast(dict[str, Any], args)
    field = _body_field(found)
    return None if field is None else {**found, field: body}


def _body_field(args: dict[str, Any]) -> str | None:
    return next((key for key in BODY_FIELDS if isinstance(args.get(key), str)), None)


def _text(value: Any) -> str:
    """A text as itself, a list of texts joined, anything else as its JSON. What is blank says so."""
    if isinstance(value, str):
        text = value
    elif isinstance(value, list) and all(isinstance(part, str) for part in cast(list[Any], value)):
        text = ", ".join(cast(list[str], value))
    else:
        text = canonical(value).decode()
    return text if text.strip() else "(empty)"
