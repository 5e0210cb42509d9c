"""Whether a text that a model made says a date or a time, in words that no stranger chose.

A date is told to a run as it was written. So it is made of numbers and of a closed set of English words: a
stranger's word in it, even a single one, makes it no date.
"""

import re
from typing import Final

_SIGNS = re.compile("[ ,./:-]+")
_COUNTED = re.compile(r"[0-9]+(?:st|nd|rd|th|am|pm|h|z|t[0-9]+z?)?")
_WORDS: Final = frozenset(
    ["january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november", "december", "jan", "feb", "mar", "apr", "jun", "jul", "aug", "sep", "sept", "oct", "nov", "dec", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday", "mon", "tue", "tues", "wed", "thu", "thur", "thurs", "fri", "sat", "sun", "today", "tonight", "tomorrow", "yesterday", "now", "soon", "noon", "midday", "midnight", "morning", "mornings", "afternoon", "afternoons", "evening", "evenings", "night", "nights", "day", "days", "week", "weeks", "weekend", "weekends", "month", "months", "quarter", "year", "years", "hour", "hours", "minute", "minutes", "spring", "summer", "autumn", "fall", "winter", "am", "pm", "utc", "gmt", "cet", "cest", "q1", "q2", "q3", "q4", "t", "z", "next", "this", "last", "coming", "following", "first", "second", "third", "fourth", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve", "half", "couple", "few", "several", "early", "mid", "late", "earlier", "later", "end", "beginning", "start", "middle", "a", "an", "the", "of", "in", "on", "at", "by", "to", "from", "until", "till", "before", "after", "between", "and", "or", "within", "around", "about", "any", "every", "each", "ago"]
)


def is_date(text: str) -> bool:
    """Whether each of its words is a number or a word of dates; the empty text is."""
    words = filter(None, _SIGNS.split(text.lower()))
    return all(word in _WORDS or _COUNTED.fullmatch(word) for word in words)
