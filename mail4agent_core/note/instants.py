"""Times as journals and carry stores spell them: RFC 3339 in UTC to the millisecond."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

_SPELLED = re.compile(
    r"([0-9]{4}-[0-9]{2}-[0-9]{2})T([0-9]{2}:[0-9]{2}:[0-9]{2})(\.[0-9]{1,9})?(?:Z|([+-])([0-9]{2}):([0-9]{2}))",
    re.ASCII,
)
_EXACT = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{3}Z", re.ASCII)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def spelled(unix_ms: int) -> str:
    """``YYYY-MM-DDTHH:MM:SS.mmmZ``."""
    moment = _EPOCH + timedelta(milliseconds=unix_ms)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def millis_of(text: str) -> int | None:
    """Milliseconds since 1970 of an RFC 3339 time, None for what is none."""
    found = _SPELLED.fullmatch(text)
    if found is None:
        return None
    day, time, fraction, sign, hours, minutes = found.groups()
    try:
        moment = datetime.fromisoformat(f"{day}T{time}+00:00")
        shift = timedelta(hours=int(hours or 0), minutes=int(minutes or 0))
        moment = moment + shift if sign == "-" else moment - shift
    except (ValueError, OverflowError):
        return None
    return (moment - _EPOCH) // timedelta(milliseconds=1) + int(float(fraction or 0) * 1000)


def is_exact(text: str) -> bool:
    """Whether a text is a real time in the one form that a carry store has."""
    return _EXACT.fullmatch(text) is not None and millis_of(text) is not None
