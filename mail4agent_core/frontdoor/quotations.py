"""Whether words that a model made are a quotation: five successive words that the stranger wrote.

The comparison is between streams of letters, so that neither side hides a quotation by case, by signs, digits
or accents, by characters that are not seen, by letters of another script that look alike, or by writing words
together or letters apart. What was made is held against it in the common codings, too.
"""

import re
import string
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from .codings import decodings, moved, steps

#: As many successive words of the prose are a quotation, not a topic.
QUOTED_WORDS: Final = 5
#: Five written words are looked for within longer ones that were made only from so many letters on: fewer
#: stand in many words by chance.
_JOINED_MIN_CHARS: Final = 8
#: Scripts that put no space between words: two letters of the first count as a word, four of the second.
_IDEOGRAMS = "\u3005\u3041-\u3096\u30a1-\u30fc\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_UNSPACED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u1950-\u19df\u1a20-\u1aaf"
_WORD = re.compile(rf"[{_IDEOGRAMS}{_UNSPACED}]|[^\W_{_IDEOGRAMS}{_UNSPACED}]+")
_IDEOGRAM = re.compile(f"[{_IDEOGRAMS}]")
_UNSPACED_LETTER = re.compile(f"[{_UNSPACED}]")
#: Letters of a stretch that was moved along the alphabet: about as many as five words have.
_MOVED_CHARS: Final = 20
#: Quarters that make a word, and letters from which one word is words written together: so many a piece.
_WHOLE: Final = 4
_LONG_CHARS, _PIECE_CHARS = 24, 6
_DIGITS = re.compile(r"\d+")
#: What a date is made of: it is no word of a quotation, on either side.
_COUNTED = re.compile(r"\d+(?:st|nd|rd|th|am|pm|h|z|t\d+)?")
_CALENDAR: Final = frozenset(
    (
        *("january", "february", "march", "april", "may", "june", "july", "august", "september"),
        *("october", "november", "december", "jan", "feb", "mar", "apr", "jun", "jul", "aug", "sep", "sept"),
        *("oct", "nov", "dec", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"),
        *("mon", "tue", "wed", "thu", "fri", "sat", "sun", "am", "pm", "utc"),
    )
)
#: Cyrillic and Greek letters that pass for Latin ones, Latin letters of another shape, and letters in a
#: black or dashed frame.
_ALIKE = {
    **str.maketrans(
        "\u0430\u0432\u0435\u043a\u043c\u043d\u043e\u0440\u0441\u0442\u0443\u0445\u0455\u0456\u0458\u0501"
        "\u051b\u051d\u04bb\u03b1\u03b2\u03b5\u03b7\u03b9\u03ba\u03bd\u03bf\u03c1\u03c4\u03c5\u03c7\u0131\u0261"
        "\u1d00\u0299\u1d04\u1d05\u1d07\ua730\u0262\u029c\u026a\u1d0a\u1d0b\u029f\u1d0d\u0274\u1d0f\u1d18"
        "\u0280\ua731\u1d1b\u1d1c\u1d20\u1d21\u028f\u1d22\u0251",
        "abekmhopctyxsijdqwhabenikvoptyxigabcdefghijklmnoprstuvwyza",
    ),
    **{
        first + at: letter
        for first in (0x1F150, 0x1F170, 0x1F1E6)
        for at, letter in enumerate(string.ascii_lowercase)
    },
}
#: Digits and signs that stand for letters.
_LEET = str.maketrans("013457@$", "oieastas")
#: Letters by their category, and not seen.
_FILLERS = frozenset("\u115f\u1160\u3164\uffa0")
#: Marks by their category that are not seen either: each can stand for a byte of a hidden text.
_HIDDEN_MARKS = re.compile("[\u034f\u17b4\u17b5\u180b-\u180f\ufe00-\ufe0f\U000e0100-\U000e01ef]")


class Written:
    """What a stranger wrote, all of his texts in their order, to hold against what was made of it."""

    def __init__(self, texts: Iterable[str]) -> None:
        # One text: a quotation may run from the end of a field into the next.
        text = " ".join(texts)
        self._readings = [_Reading(words) for words in _readings(text)]
        self._uncounted = [_Reading(words) for words in _uncounted(text)]
        self._steps = {steps(reading.stream) for reading in self._readings}

    def quoted_in(self, made: str) -> bool:
        """Whether ``made`` shares five successive words with it."""
        return _meet(list(_readings(made)), self._readings)

    def coded_in(self, made: str) -> bool:
        """Whether ``made`` shares five successive words with it in a common coding."""
        texts = decodings(made)
        decoded = [words for text in texts for words in _readings(text)]
        if _meet(decoded, self._readings):
            return True
        # As it stands four long words may be in it, which are no quotation.
        runs = {
            moved_run
            for words in (*decoded, *_readings(made))
            for run in _stretches(words)
            if not any(run in theirs.stream for theirs in self._readings)
            for moved_run in moved(run)
        }
        return any(run in theirs for run in runs for theirs in self._steps)

    def quoted_in_dates(self, made: str) -> bool:
        """The same, for what has dates among its words: numbers, days and months count on neither side."""
        return _meet(list(_uncounted(made)), self._uncounted)


def quoted(made: str, written: Iterable[str]) -> bool:
    """Whether ``made`` shares five successive words with the texts that were written."""
    return Written(written).quoted_in(made)


def is_unseen(character: str) -> bool:
    """Whether a character is one that nobody would see, although a model reads it."""
    return (
        character in _FILLERS
        or _HIDDEN_MARKS.match(character) is not None
        or unicodedata.category(character) == "Cf"
    )


class _Reading:
    """The words of a text in one reading, as a stream and as runs."""

    def __init__(self, words: Sequence[str]) -> None:
        self.stream = "".join(words)
        self.runs = _joined_runs(words)


def _meet(made: list[list[str]], written: list[_Reading]) -> bool:
    ours = [_Reading(words) for words in made]
    streams = {reading.stream for reading in ours}
    runs = {run for reading in ours for run in reading.runs}
    if not runs and all(len(stream) < _JOINED_MIN_CHARS for stream in streams):
        return False
    return any(
        any(run in theirs.stream for run in runs)
        or any(run in stream for run in theirs.runs if len(run) >= _JOINED_MIN_CHARS for stream in streams)
        for theirs in written
    )


def _joined_runs(words: Sequence[str]) -> set[str]:
    """Each shortest stretch of words, joined, that comes to five."""
    weights = [_weight(word) for word in words]
    if all(weight == _WHOLE for weight in weights):
        return {"".join(words[at : at + QUOTED_WORDS]) for at in range(len(words) - QUOTED_WORDS + 1)}
    out: set[str] = set()
    total = end = 0
    for start, weight in enumerate(weights):
        while total < QUOTED_WORDS * _WHOLE:
            if end == len(words):
                return out
            total += weights[end]
            end += 1
        out.add("".join(words[start:end]))
        total -= weight
    return out


def _stretches(words: Sequence[str]) -> set[str]:
    """Each five words, joined, and each stretch as long as five words are."""
    stream = "".join(words)
    return _joined_runs(words) | {
        stream[at : at + _MOVED_CHARS] for at in range(len(stream) - _MOVED_CHARS + 1)
    }


def _weight(word: str) -> int:
    """What a word counts, in quarters."""
    if len(word) > _LONG_CHARS:
        return _WHOLE * (len(word) // _PIECE_CHARS)
    if len(word) == 1 and not word.isascii():
        if _IDEOGRAM.match(word):
            return _WHOLE // 2
        if _UNSPACED_LETTER.match(word):
            return _WHOLE // 4
    return _WHOLE


def _readings(text: str) -> Iterator[list[str]]:
    """The words of a text, bare: digits as the letters they stand for, digits as signs, and what is not
    seen as a space.
    """
    bare = text.casefold() if text.isascii() else _bare(text, "")
    yield _WORD.findall(bare.translate(_LEET))
    yield _WORD.findall(_DIGITS.sub(" ", bare))
    if not text.isascii():
        yield _WORD.findall(_bare(text, " ").translate(_LEET))


def _uncounted(text: str) -> Iterator[list[str]]:
    """The same without what a date is made of."""
    for unseen in ("",) if text.isascii() else ("", " "):
        words = _WORD.findall(text.casefold() if text.isascii() else _bare(text, unseen))
        left = [word for word in words if word not in _CALENDAR and _COUNTED.fullmatch(word) is None]
        yield _WORD.findall(" ".join(left).translate(_LEET))


def _bare(text: str, unseen: str) -> str:
    apart = unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", text).casefold())
    # Each character is looked up once, whatever the length of a text.
    table: dict[int, str] = {}
    for character in set(apart):
        if is_unseen(character):
            table[ord(character)] = unseen
        elif unicodedata.category(character) in {"Mn", "Me"}:
            table[ord(character)] = ""
    return apart.translate(table).translate(_ALIKE)
