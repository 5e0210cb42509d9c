"""Moments as the files have them: RFC 3339 in UTC."""

from datetime import UTC, datetime, timedelta

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
#: The last moment that has a text: the year 9999.
LATEST_MS = 253_402_300_799_999


def text_of(unix_ms: int) -> str:
    """A moment with six digits after the second, so that the order of texts is that of moments."""
    moment = _EPOCH + timedelta(milliseconds=min(max(unix_ms, 0), LATEST_MS))
    return moment.isoformat(timespec="microseconds")


def ms_of(text: str) -> int | None:
    """The milliseconds since 1970 of a text, None for what is no moment in a known time zone."""
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    if moment.tzinfo is None:
        return None
    try:
        return (moment - _EPOCH) // timedelta(milliseconds=1)
    except OverflowError:
        return None
