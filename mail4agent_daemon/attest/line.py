"""What strangers named their files and arguments, made fit for a card: one line, bounded, valid."""

import re

LINE_MAX_BYTES = 512

_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f]")
_REPLACEMENT = "\N{REPLACEMENT CHARACTER}"


def line_of(raw: bytes) -> str:
    """The text of ``raw``, cut to 512 bytes of UTF-8.

    Control characters and bytes that are no UTF-8 become U+FFFD, so that two odd names stay odd.
    """
    # Nothing takes fewer bytes than it had, U+FFFD being three: what is cut here would be cut below.
    text = raw[: LINE_MAX_BYTES + 4].decode("utf-8", "replace")
    return _cut(_CONTROL.sub(_REPLACEMENT, text))


def _cut(text: str) -> str:
    encoded = text.encode("utf-8")
    if len(encoded) <= LINE_MAX_BYTES:
        return text
    return encoded[:LINE_MAX_BYTES].decode("utf-8", "ignore")
