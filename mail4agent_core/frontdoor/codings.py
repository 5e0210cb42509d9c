"""Texts that stand for other texts: what a model made may hold a stranger's words in a common coding.

The codings are those that a model writes by heart: base64, base32, hexadecimal, percent, quoted-printable and
character references; letters moved along the alphabet, mirrored in it, or written backwards; words in the
other order. Who invents a
coding of his own is held by the bounds alone: no look at a text finds that.
"""

from __future__ import annotations

import base64
import binascii
import html
import quopri
import re
from collections.abc import Callable, Iterable, Iterator
from itertools import pairwise
from typing import Final
from urllib.parse import unquote

#: A word past it is a coding, not a word, unless it is letters in one case: German has long ones.
WORD_MAX_CHARS: Final = 40
#: As many digits or signs spell a text (character codes, bits, Morse), and no topic needs them.
DIGITS_MAX: Final = 24
SIGNS_MAX: Final = 24
#: A shorter run of signs decodes to less than a quotation.
_CODED = re.compile(r"[A-Za-z0-9+/_-]{8,}")
_HEX = re.compile(r"(?:0x|\\x|%|\\u00)?([0-9A-Fa-f]{2})[\s:,;-]*")
_HEX_MIN: Final = 8
#: Letters from which streams are compared by their steps: fewer meet by chance.
_STEPS_MIN: Final = 10
#: One letter again and again is the same moved anywhere.
_LETTERS_MIN: Final = 4


def coded(text: str) -> list[str]:
    """Fixed words for each way in which a text looks like a coding; quotes nothing."""
    found: list[str] = []
    if any(len(word) > WORD_MAX_CHARS and not _one_word(word) for word in text.split()):
        found.append(f"has a word of more than {WORD_MAX_CHARS} characters")
    if sum(character.isdigit() for character in text) > DIGITS_MAX:
        found.append(f"has more than {DIGITS_MAX} digits")
    if sum(not character.isalnum() and not character.isspace() for character in text) > SIGNS_MAX:
        found.append(f"has more than {SIGNS_MAX} signs")
    return found


def decodings(text: str) -> list[str]:
    """The texts that a text stands for in codings of bytes and by the order of its words, without itself."""
    words = text.split()
    found = {html.unescape(text), unquote(text), _quoted_printable(text)}
    found |= {" ".join(words[::-1]), " ".join(word[::-1] for word in words)}
    joined = re.sub(r"\s+", "", text)
    for run in {*_CODED.findall(text), *_CODED.findall(joined)}:
        found.update(_decoded(run))
    pairs = _HEX.findall(text)
    if len(pairs) >= _HEX_MIN:
        found.add(bytes.fromhex("".join(pairs)).decode("utf-8", "replace"))
    return sorted(found - {text, ""})


def steps(stream: str) -> str:
    """From each letter to the next, modulo the alphabet: the same however far all letters were moved."""
    return _steps(stream, 1)


def moved(stream: str) -> Iterator[str]:
    """The steps of a stream as it is, mirrored in the alphabet, backwards, and both."""
    if len(stream) >= _STEPS_MIN and len(set(stream)) > _LETTERS_MIN:
        for each in (stream, stream[::-1]):
            yield _steps(each, 1)
            yield _steps(each, -1)


def _steps(stream: str, sign: int) -> str:
    return "".join(chr(sign * (ord(after) - ord(before)) % 26) for before, after in pairwise(stream))


def _one_word(word: str) -> bool:
    letters = re.sub(r"[-'\u2019.,;:()]", "", word)
    return letters.isalpha() and letters in {letters.lower(), letters.upper(), letters.capitalize()}


def _decoded(run: str) -> Iterator[str]:
    plain = run.replace("-", "+").replace("_", "/")
    # What stands before the first letter of the coding moves all that follow.
    for start in range(4):
        yield from _tried(base64.b64decode, plain[start:], 4)
    for start in range(8):
        yield from _tried(base64.b32decode, run[start:].upper(), 8)


def _tried(decode: Callable[[str], bytes], run: str, block: int) -> Iterable[str]:
    """What a run decodes to where it is bytes of a text; without its end, where that is no whole block."""
    whole = run[: len(run) // block * block]
    padded = run + "=" * (-len(run) % block)
    for each in (padded, whole):
        try:
            return [decode(each).decode("utf-8", "replace")]
        except (binascii.Error, ValueError):
            continue
    return []


def _quoted_printable(text: str) -> str:
    return quopri.decodestring(text.encode()).decode("utf-8", "replace")
