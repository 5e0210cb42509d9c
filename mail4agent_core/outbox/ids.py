"""Ids whose order is that of staging, whatever the clock says."""

import re
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta

from .times import moment_of

#: The ids that have an order: the original's (a second and 8 digits), and ours (a number within the second).
_ORDERED = re.compile(r"(?P<second>[0-9]{8}T[0-9]{6})-(?P<number>[0-9a-f]{8})(?:-[0-9a-f]{8})?\Z")
_SECOND = "%Y%m%dT%H%M%S"


def next_id(ids: Iterable[str], now_ms: int, random: str) -> str:
    """An id that stands after all others of the outbox. ``random`` is 8 hexadecimal digits."""
    second, number = moment_of(now_ms).strftime(_SECOND), 0
    # Of one width, so that their order is that of their texts.
    last = _ORDERED.match(max(filter(_ORDERED.match, ids), default=""))
    if last is not None:
        second, number = max((second, number), _after(last["second"], int(last["number"], 16)))
    return f"{second}-{number:08x}-{random}"


def _after(second: str, number: int) -> tuple[str, int]:
    """The place behind another; the first of all behind the last one that can be written."""
    if number < 0xFFFFFFFF:
        return second, number + 1
    try:
        moment = datetime.strptime(second, _SECOND).replace(tzinfo=UTC) + timedelta(seconds=1)
    except (ValueError, OverflowError):
        return "", 0
    return moment.strftime(_SECOND), 0
