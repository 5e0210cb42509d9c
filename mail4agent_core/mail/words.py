"""What search takes for a word: the same for a text and for a query, and for every store.

Letter case, diacritics and compatibility forms do not count. In scripts that are written without spaces
each character is a word, so that any run of them is found as a phrase.
"""

import unicodedata

#: Canonical combining classes from here on are marks above or below a letter that stays the same letter.
_POSITIONED = 200
#: Thai to Lao, Myanmar, Khmer, the CJK blocks with kana, and the supplementary ideographs.
_UNSPACED = ((0x0E00, 0x0EFF), (0x1000, 0x109F), (0x1780, 0x17FF), (0x2E80, 0x9FFF), (0x20000, 0x3FFFF))


class _Folding(dict[int, str]):
    """What a decomposed, case-folded character becomes; filled as characters turn up."""

    def __missing__(self, code: int) -> str:
        character = chr(code)
        if unicodedata.combining(character) >= _POSITIONED:
            folded = ""
        elif not character.isalnum() and not unicodedata.category(character).startswith("M"):
            folded = " "
        elif any(low <= code <= high for low, high in _UNSPACED):
            folded = f" {character} "
        else:
            folded = character
        self[code] = folded
        return folded


_FOLDING = _Folding()

#: Normalising sorts a run of combining marks in a time that grows with its square: a message of nothing but
#: marks would hold the whole process for seconds. So it is done in pieces of about this many characters.
_PIECE = 128
#: How far a cut is moved so as not to part a letter from its marks; no word has as many.
_MARKS = 32


def _decomposed(text: str) -> str:
    if text.isascii():
        return text
    pieces: list[str] = []
    start = 0
    while start < len(text):
        end = start + _PIECE
        last = end + _MARKS
        while end < last and end < len(text) and unicodedata.combining(text[end]):
            end += 1
        pieces.append(unicodedata.normalize("NFKD", text[start:end]))
        start = end
    return "".join(pieces)


def words_of(text: str) -> tuple[str, ...]:
    """The words of a text in order, each of letters, digits and their marks alone."""
    return tuple(_decomposed(text).casefold().translate(_FOLDING).split())


def phrases_of(query: str) -> tuple[tuple[str, ...], ...]:
    """The phrases that must all occur: quoted text is one phrase, any other word is one of its own.

    A part without letter or digit is dropped.
    """
    phrases: list[tuple[str, ...]] = []
    for index, part in enumerate(query.split('"')):
        phrases += [words_of(part)] if index % 2 else map(words_of, part.split())
    return tuple(phrase for phrase in phrases if phrase)
