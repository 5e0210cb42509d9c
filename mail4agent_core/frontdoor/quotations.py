"""Whether words that a model made are a quotation: five successive words that the stranger wrote.

The comparison is between streams of letters, so that neither side hides a quotation by case, by signs, digits
or accents, by characters that are not seen, by letters of another script that look alike, or by writing words
together or letters apart.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

#: As many successive words of the prose are a quotation, not a topic.
QUOTED_WORDS: Final = 5
#: Five written words are looked for within longer ones that were made only from so many letters on: fewer
#: stand in many words by chance.
_JOINED_MIN_CHARS: Final = 8
_WORD = re.compile(r"[^\W_]+")
_DIGITS = re.compile(r"\d+")
#: Cyrillic and Greek letters that pass for Latin ones.
_ALIKE = str.maketrans(
    "\u0430\u0432\u0435\u043a\u043c\u043d\u043e\u0440\u0441\u0442\u0443\u0445\u0455\u0456\u0458\u0501"
    "\u051b\u051d\u04bb\u03b1\u03b2\u03b5\u03b7\u03b9\u03ba\u03bd\u03bf\u03c1\u03c4\u03c5\u03c7\u0131\u0261",
    "abekmhopctyxsijdqwhabenikvoptyxig",
)
#: Digits and signs that stand for letters.
_LEET = str.maketrans("013457@$", "oieastas")
#: Letters by their category, and not seen.
_FILLERS = frozenset("\u115f\u1160\u3164\uffa0")


def quoted(made: str, written: Iterable[str]) -> bool:
    """Whether ``made`` shares five successive words with one of the texts that were written."""
    readings = list(_readings(made))
    streams = {"".join(words) for words in readings}
    runs = {run for words in readings for run in _joined_runs(words)}
    if not runs and all(len(stream) < _JOINED_MIN_CHARS for stream in streams):
        return False
    return any(_meet(runs, streams, words) for text in written for words in _readings(text))


def _meet(runs: set[str], streams: set[str], words: Sequence[str]) -> bool:
    joined = "".join(words)
    if any(run in joined for run in runs):
        return True
    theirs = (run for run in _joined_runs(words) if len(run) >= _JOINED_MIN_CHARS)
    return any(run in stream for run in theirs for stream in streams)


def _joined_runs(words: Sequence[str]) -> set[str]:
    return {"".join(words[at : at + QUOTED_WORDS]) for at in range(len(words) - QUOTED_WORDS + 1)}


def _readings(text: str) -> Iterator[list[str]]:
    """The words of a text, bare: digits as the letters they stand for, digits as signs, and what is not
    seen as a space.
    """
    bare = text.casefold() if text.isascii() else _bare(text, "")
    yield _WORD.findall(bare.translate(_LEET))
    yield _WORD.findall(_DIGITS.sub(" ", bare))
    if not text.isascii():
        yield _WORD.findall(_bare(text, " ").translate(_LEET))


def _bare(text: str, unseen: str) -> str:
    apart = unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", text).casefold())
    seen = (unseen if _is_unseen(c) else c for c in apart if unicodedata.category(c) not in {"Mn", "Me"})
    return "".join(seen).translate(_ALIKE)


def _is_unseen(character: str) -> bool:
    return character in _FILLERS or unicodedata.category(character) == "Cf"
