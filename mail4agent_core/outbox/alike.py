"""Letters that pass for Latin ones: in a word that mixes alphabets, and in a host or an address.

A word of one alphabet is left alone, whichever it is; so are words that mix Latin letters with those of
Chinese, Japanese or Korean, which is how these are written. After UTS 39 (moderately restrictive) and what
browsers do with names of hosts.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

#: Greek, Cyrillic, Armenian, Cherokee, Coptic and Lisu letters, and letters that are Roman numbers, which mix
#: with Latin ones in no word.
_FOREIGN: Final = re.compile(
    "[\u0370-\u03ff\u0400-\u052f\u0531-\u058f\u13a0-\u13ff\u1c80-\u1c8f\u1f00-\u1fff\u2160-\u2188"
    "\u2c80-\u2cff\ua4d0-\ua4f7\uab70-\uabbf]"
)
#: Greek letters that have no shape of a Latin one are units and names of things: kΩ, TGFβ, μm.
_GREEK: Final = re.compile("[\u0370-\u03ff\u1f00-\u1fff]")
_GREEK_ALIKE: Final = frozenset("ΑΒΕΖΗΙΚΜΝΟΡΤΥΧανικορτυχϲϳγ")
_COPTIC_ALIKE: Final = frozenset(
    "\u2c80\u2c82\u2c88\u2c8e\u2c92\u2c94\u2c98\u2c9a\u2c9e\u2c9f\u2ca2\u2ca3\u2ca4\u2ca5\u2ca6\u2ca8\u2cac\u2cad"
)
_LISU_ALIKE: Final = frozenset(
    "\ua4d0\ua4d1\ua4d3\ua4d4\ua4d6\ua4d7\ua4d9\ua4da\ua4dc\ua4dd\ua4df\ua4e0\ua4e1\ua4e2"
    "\ua4e3\ua4e6\ua4e7\ua4ea\ua4eb\ua4ec\ua4ee\ua4f0\ua4f2\ua4f3\ua4f4"
)
#: Letters of other alphabets that stand for Latin ones where a whole label is made of them.
_ALIKE: Final = (
    _GREEK_ALIKE
    | _COPTIC_ALIKE
    | _LISU_ALIKE
    | frozenset("асԁеһіјӏорԗԛѕԝхуъьҽпгѵѡАВСЕНІЈКМОРЅТХУԌաոսօհցզքյմ")
)
_LATIN = re.compile("[A-Za-z\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u024f]")
#: Words, joined as hosts and addresses join them.
_JOINED = re.compile("[^\\W_\u0300-\u036f][\\w\u0300-\u036f]*(?:[.@-]+[\\w\u0300-\u036f]+)*")
_WORD = re.compile("[^\\W_][^\\W_\u0300-\u036f]*(?:[\u0300-\u036f]+[^\\W_]*)*")
#: Signs that pass for the dot, the slash, the colon and the at of an address, between Latin letters.
_SIGN = re.compile(
    "(?<=[A-Za-z0-9])"
    "[\u2024\u2044\u2215\u29f8\u3002\ua4f8\ufe52\ufe55\ufe6b\uff0e\uff0f\uff1a\uff20\uff61\u0589\ua789\u2236]"
    "(?=[A-Za-z])"
)
#: Latin letters of another shape that pass for plain ones in a host: dotless, in script, small capitals.
_ODD_LATIN = re.compile("[\u0131\u0185\u0237\u0251\u0261\u026a\u0299\u029f\u0274\u0280\u1d00-\u1d22\ua731]")


def alike(text: str) -> list[int]:
    """Where in a text letters and signs stand that somebody would take for Latin ones, in order."""
    if text.isascii():
        return []
    found = {match.start() for match in _SIGN.finditer(text)}
    if _FOREIGN.search(text) or _ODD_LATIN.search(text):
        for joined in _JOINED.finditer(text):
            if not joined[0].isascii():
                found.update(joined.start() + at for at in _in_joined(joined[0]))
    return sorted(found)


def _in_joined(joined: str) -> Iterator[int]:
    # A dot makes a host or a file of it: there a whole label may pass for Latin ones.
    host = "." in joined and _LATIN.search(joined) is not None
    # A text may be made of many words: most are done with at their first letter.
    for word in _WORD.finditer(joined):
        text = word[0]
        if text.isascii():
            continue
        first = text[0]
        if len(text) == 1:
            # One letter mixes with none.
            if host and (first in _ALIKE or not first.isalpha()):
                yield word.start()
            continue
        yield from (word.start() + at for at in _mixed(text))
        if host and all(each in _ALIKE for each in text if each.isalpha()):
            yield from range(word.start(), word.end())
    if host:
        yield from (match.start() for match in _ODD_LATIN.finditer(joined))


def _mixed(word: str) -> Iterator[int]:
    if not _LATIN.search(word):
        return
    for match in _FOREIGN.finditer(word):
        if not _GREEK.match(match[0]) or match[0] in _GREEK_ALIKE:
            yield match.start()
