"""Names that may have been meant."""

from collections.abc import Iterable
from difflib import get_close_matches

_NEAR_MAX = 3


def near(name: str, names: Iterable[str]) -> tuple[str, ...]:
    """At most three of the names that are spelled much like this one, the nearest first."""
    return tuple(get_close_matches(name, sorted(set(names) - {name}), n=_NEAR_MAX, cutoff=0.6))
