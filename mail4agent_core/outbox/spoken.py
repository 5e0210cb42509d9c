"""A draft as it is read aloud: every argument, nothing summarised.

A listener cannot skim back, so that the only safe form says everything, in reading order. A moment is said as
a date and a time, in the offset that it carries itself and never in another; what is no moment is said as it
is.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Final

from .view import DraftView

_DAYS: Final = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_MONTHS: Final = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October",
    "November", "December",
)  # fmt: skip
_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}\Z")
#: A fraction of a second is not said, so that a moment with one is no moment here.
_MOMENT = re.compile(
    r"(?P<date>[0-9]{4}-[0-9]{2}-[0-9]{2})(?:[Tt](?P<time>[0-9]{2}:[0-9]{2}(?::[0-9]{2})?)|"
    r" (?P<long>[0-9]{2}:[0-9]{2}:[0-9]{2}))(?:\.0+)?(?P<offset>[Zz]|[+-][0-9]{2}:[0-9]{2})?\Z"
)


@dataclass(frozen=True, slots=True)
class SpokenDraft:
    """A draft in lines to be spoken, with a pause after each."""

    lines: tuple[str, ...] = ()

    def chars(self) -> int:
        """How much speech it is, in characters with a pause counted as one."""
        return sum(len(line) + 1 for line in self.lines)

    def text(self) -> str:
        """All of it."""
        return " ".join(self.lines)


def spoken(view: DraftView, this_year: int | None = None) -> SpokenDraft:
    """The draft, spoken. The year of a moment is said unless it is ``this_year``.

    The prose has no label: a listener would have to get past the name of a field.
    """
    lines = [_line(name, text, this_year) for name, text in view.headers]
    if view.body is not None:
        lines.append(view.body.strip() or "(empty)")
    lines += [_line(name, text, this_year) for name, text in view.other]
    return SpokenDraft(tuple(lines))


def _line(name: str, text: str, this_year: int | None) -> str:
    words = name.replace("_", " ")
    return f"{words[:1].upper()}{words[1:]}: {spoken_value(text, this_year)}."


def spoken_value(text: str, this_year: int | None = None) -> str:
    """A value as it is heard."""
    try:
        if _DATE.match(text):
            day = date.fromisoformat(text)
            return f"{_day(day)}{_year(day, this_year)}"
        found = _MOMENT.match(text)
        if found is None:
            return text
        offset = (found["offset"] or "").upper()
        moment = datetime.fromisoformat(
            f"{found['date']}T{found['time'] or found['long']}{'+00:00' if offset == 'Z' else offset}"
        )
    except ValueError:
        return text
    return f"{_day(moment)} at {_hour(moment)}{_year(moment, this_year)}{_offset(moment.utcoffset())}"


def _day(day: date) -> str:
    return f"{_DAYS[day.weekday()]} {_MONTHS[day.month - 1]} {day.day}"


def _year(day: date, this_year: int | None) -> str:
    return "" if day.year == this_year else f", {day.year}"


def _hour(moment: datetime) -> str:
    minutes = f":{moment.minute:02}" if moment.minute or moment.second else ""
    seconds = f":{moment.second:02}" if moment.second else ""
    return f"{moment.hour % 12 or 12}{minutes}{seconds} {'AM' if moment.hour < 12 else 'PM'}"


def _offset(offset: timedelta | None) -> str:
    if offset is None:
        return ""
    minutes = round(offset.total_seconds() / 60)
    if not minutes:
        return ", UTC"
    hours, rest = divmod(abs(minutes), 60)
    return f", UTC {'minus' if minutes < 0 else 'plus'} {hours}{f':{rest:02}' if rest else ''}"
