"""Other people's text on a person's terminal.

A message may hold characters that move the cursor, change colours, reorder what is read (bidirectional
overrides) or are not seen at all. They are shown by their code point instead. In JSON they are written as
escapes, which says the same to a program.
"""

from __future__ import annotations

import re
import sys
import unicodedata
from datetime import UTC, datetime

from rich.console import Console
from rich.text import Text

#: Joiners that emoji and several scripts need to be readable; alone they reorder and hide nothing.
_HARMLESS = frozenset("\u200c\u200d")
_HIDDEN = frozenset({"Cc", "Cf", "Cs", "Co", "Zl", "Zp"})
#: What is neither printable ASCII nor a line feed; most text is neither looked at twice.
_SUSPECT = re.compile(r"[^\n -~]")
LATEST_MS = 253_402_300_799_999


def _is_hidden(character: str) -> bool:
    return unicodedata.category(character) in _HIDDEN and character not in _HARMLESS


def visible(text: str, *, lines: bool = False) -> str:
    """The text with every hidden or controlling character shown as ``<U+XXXX>``; with ``lines``, line feeds
    and tabs stay.
    """
    kept = "\n\t" if lines else ""

    def shown(match: re.Match[str]) -> str:
        character = match.group()
        return f"<U+{ord(character):04X}>" if _is_hidden(character) and character not in kept else character

    text = _SUSPECT.sub(shown, text)
    return text if lines else text.replace("\n", "<U+000A>")


def json_text(raw: bytes) -> str:
    """JSON with every hidden or controlling character escaped: the same value, safe to print."""

    def escaped(match: re.Match[str]) -> str:
        character = match.group()
        if not _is_hidden(character):
            return character
        units = character.encode("utf-16-be")
        return "".join(f"\\u{units[i]:02x}{units[i + 1]:02x}" for i in range(0, len(units), 2))

    return _SUSPECT.sub(escaped, raw.decode())


def styled(text: str, style: str = "", *, lines: bool = False) -> Text:
    """Safe text for rich; markup in it stays text."""
    return Text(visible(text, lines=lines), style)


def console() -> Console:
    """A console on standard output that interprets nothing in what it prints."""
    return Console(file=sys.stdout, markup=False, highlight=False, emoji=False, soft_wrap=False)


def exact_time(unix_ms: int) -> str:
    """A time in UTC to the millisecond, or the number itself past the year 9999."""
    if unix_ms > LATEST_MS:
        return f"{unix_ms} ms"
    moment = datetime.fromtimestamp(unix_ms // 1000, UTC).replace(microsecond=unix_ms % 1000 * 1000)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def short_time(unix_ms: int) -> str:
    """A time of this year in eleven characters of local time, an older one as its date."""
    if unix_ms > LATEST_MS:
        return "far future"
    moment = datetime.fromtimestamp(unix_ms // 1000, UTC).astimezone()
    this_year = moment.year == datetime.now(UTC).astimezone().year
    return moment.strftime("%d %b %H:%M" if this_year else "%Y-%m-%d")
