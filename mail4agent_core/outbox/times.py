"""Moments as the files have them: RFC 3339 in UTC."""

from datetime import UTC, datetime, timedelta

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
#: The last moment that has a text: the year 9999.
_LATEST_MS = 253_402_300_799_999


def moment_of(unix_ms: int) -> datetime:
    """A moment in UTC; one that has no text is the nearest that has one."""
    return _EPOCH + timedelta(milliseconds=min(max(unix_ms, 0), _LATEST_MS))


def text_of(unix_ms: int) -> str:
    """A moment with six digits after the second, so that the order of texts is that of moments."""
    return moment_of(unix_ms).isoformat(timespec="microseconds")
