"""The ids of notes."""

from __future__ import annotations

import hashlib
import json
import re
import secrets
from typing import Final

_FORM: Final = re.compile(r"note_[0-9a-f]{24}", re.ASCII)


def new_note_id() -> str:
    """``note_`` and 96 random bits in hexadecimal."""
    return f"note_{secrets.token_hex(12)}"


def keyed_note_id(run: str, node: str, key: str) -> str:
    """The id of a note that was sent under an idempotency key: the same for the same key, so that a
    conversation that was offered it before a crash knows it again.
    """
    text = json.dumps([run, node, key]).encode()
    return f"note_{hashlib.sha256(text).hexdigest()[:24]}"


def is_note_id(text: str) -> bool:
    """Whether a text is a note's id."""
    return _FORM.fullmatch(text) is not None
