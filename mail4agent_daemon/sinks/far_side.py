"""What a far side says, as one bounded line that steers no terminal."""

import unicodedata

from mail4agent_core.outbox.sink import NotSentError

#: Bytes of a reason, the sentence and the quoted text together.
REASON_MAX_BYTES = 512
#: Bytes of a far side's name for what it took.
NAME_MAX_BYTES = 256
#: Characters that are looked at; a longer text is cut before it is cleaned.
_LOOK_MAX_CHARS = 4_096
_HIDDEN = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})


class UnknownOutcomeError(Exception):
    """The far side may have acted. The text says what is known, without a word of the far side's."""


def line(text: str | bytes, most: int = REASON_MAX_BYTES) -> str:
    """The text as one line of at most ``most`` bytes: what is hidden or steers becomes a space."""
    found = text.decode("utf-8", "replace") if isinstance(text, bytes) else text
    shown = "".join(
        " " if unicodedata.category(each) in _HIDDEN else each for each in found[:_LOOK_MAX_CHARS]
    )
    one = " ".join(shown.split())
    raw = one.encode()
    return one if len(raw) <= most else raw[: most - 3].decode("utf-8", "ignore") + "…"


def not_sent(sentence: str, said: str | bytes = "") -> NotSentError:
    """The error for what certainly did not leave: our sentence, and what the far side said of it."""
    quoted = line(said)
    return NotSentError(line(f"{sentence}: {quoted}" if quoted else sentence))


def name_of(value: object) -> str | None:
    """The far side's name for what it took, when it is a short readable text or a number."""
    if isinstance(value, bool) or not isinstance(value, str | int):
        return None
    text = str(value)[:_LOOK_MAX_CHARS]
    return line(text, NAME_MAX_BYTES) or None
