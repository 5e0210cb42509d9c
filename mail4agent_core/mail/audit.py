"""The record of what operators did: each deed stands in the transaction of what it changed."""

from collections.abc import Iterable
from dataclasses import dataclass

#: The most entries that are kept; the oldest goes when one more comes.
ENTRIES_MAX = 100_000
#: How many entries one step of upkeep deletes.
EXPIRE_STEP = 1_000
#: The contract's bound of a detail, in bytes of UTF-8.
DETAIL_MAX_BYTES = 512


@dataclass(frozen=True, slots=True)
class Deed:
    """One operation as it is recorded.

    ``actor`` is a text address. ``target`` is an account's id, a text address, ``#room``, a message's id, or
    None for the whole store. ``detail`` is one line and never holds a secret or a message's text.
    """

    at_unix_ms: int
    actor: str
    operation: str
    target: str | None
    detail: str


def detail_of(*parts: tuple[str, Iterable[str]] | str) -> str:
    """One line of parts, cut to ``DETAIL_MAX_BYTES``; a named list without members is left out."""
    said = [
        part if isinstance(part, str) else f"{part[0]} {', '.join(sorted(part[1]))}"
        for part in parts
        if isinstance(part, str) or part[1]
    ]
    return "; ".join(said).encode()[:DETAIL_MAX_BYTES].decode(errors="ignore")
