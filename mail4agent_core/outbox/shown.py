"""Texts as a terminal or a console shows them: what is shown is what is there.

A character that has no width, that turns the direction of writing or that moves a cursor is shown as its
number, ``\\u{202e}``, and counted. Line feed and tab stay. So is a letter that passes for a Latin one,
in a word, a host or an address with others.
"""

import re

from .alike import alike

#: Control and format characters (Cc, Cf), line and paragraph separators, surrogates, and what Unicode
#: lets a renderer leave out (Default_Ignorable_Code_Point), in one class.
_HIDDEN = re.compile(
    "["
    "\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u034f\u0600-\u0605\u061c\u06dd\u070f\u0890\u0891\u08e2"
    "\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164"
    "\ud800-\udfff\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb"
    "\U000110bd\U000110cd\U00013430-\U0001343f\U0001bca0-\U0001bca3\U0001d173-\U0001d17a"
    "\U000e0000-\U000e0fff"
    "]"
)


def shown(text: str) -> str:
    """The text with every hidden character, and every letter that passes for another, as its number."""
    if text.isascii() and text.isprintable():
        return text
    parts, done = list[str](), 0
    for at in alike(text):
        parts += [text[done:at], _numbered(text[at])]
        done = at + 1
    return _HIDDEN.sub(_number, "".join([*parts, text[done:]]))


def unhidden(text: str) -> str:
    """The text with every hidden character as its number, for who still has to parse it: letters stay."""
    return _HIDDEN.sub(_number, text)


def shown_line(text: str) -> str:
    """As ``shown``, for one line: line feed and tab are numbers too."""
    return shown(text).replace("\n", "\\u{a}").replace("\t", "\\u{9}")


def hidden(text: str) -> int:
    """How many characters of a text are shown as numbers."""
    if text.isascii() and text.isprintable():
        return 0
    return len(_HIDDEN.findall(text)) + len(alike(text))


def _number(found: re.Match[str]) -> str:
    return _numbered(found[0])


def _numbered(character: str) -> str:
    return f"\\u{{{ord(character):x}}}"
