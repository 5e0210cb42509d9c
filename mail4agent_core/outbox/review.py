"""The one line that a list shows of a draft: who and what, where the arguments say so."""

import re
from typing import Any, cast

from .canonical import canonical

#: Bytes of a summary after the tool's name.
SUMMARY_BYTES = 80


def summarize(tool: str, args: Any) -> str:
    """``<tool> to a@x.org — "Subject"``, or what there is of it, else the arguments as compact JSON."""
    return f"{tool} {_clipped(_headline(args) or canonical(args).decode())}"


def _headline(args: Any) -> str | None:
    if not isinstance(args, dict):
        return None
    found = cast(dict[str, Any], args)
    to, subject = _named(found, "to"), _named(found, "subject") or _named(found, "title")
    match to, subject:
        case None, None:
            return None
        case None, _:
            return f'"{subject}"'
        case _, None:
            return f"to {to}"
        case _:
            return f'to {to} \N{EM DASH} "{subject}"'


def _named(args: dict[str, Any], key: str) -> str | None:
    """A text, or a list joined; what is no text in it is shown as JSON, so that no recipient is missing."""
    value = args.get(key)
    if isinstance(value, list):
        parts = cast(list[Any], value)
        value = ", ".join(part if isinstance(part, str) else canonical(part).decode() for part in parts)
    return value if isinstance(value, str) and value.strip() else None


def _clipped(text: str) -> str:
    raw = text.encode()
    if len(raw) <= SUMMARY_BYTES:
        return text
    return f"{raw[:SUMMARY_BYTES].decode('utf-8', 'ignore')}\N{HORIZONTAL ELLIPSIS}"


def one_line(text: str, max_bytes: int) -> str:
    """A text as a line of so many bytes at most: white space joined, what cannot be printed left out."""
    plain = re.sub(r"\s+", " ", text).strip()
    plain = "".join(character for character in plain if character.isprintable())
    return plain.encode("utf-8", "replace")[:max_bytes].decode("utf-8", "ignore")
