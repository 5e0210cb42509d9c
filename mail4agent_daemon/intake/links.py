"""Links: random tokens that stand in a mail or an address; the box keeps their SHA-256 alone."""

import hashlib
import re
import secrets
import sqlite3
from typing import Literal

Purpose = Literal["confirm", "upload"]
_TOKEN = re.compile(r"[A-Za-z0-9_-]{43}")


def new_token() -> str:
    """A token of 256 random bits."""
    return secrets.token_urlsafe(32)


def digest_of(token: str) -> bytes | None:
    """What is kept of a token, None for what is no token."""
    return hashlib.sha256(token.encode()).digest() if _TOKEN.fullmatch(token) else None


def add_link(db: sqlite3.Connection, pending: int, purpose: Purpose, token: str) -> None:
    """Let a token lead to what waits."""
    db.execute("INSERT INTO token VALUES (?, ?, ?)", (digest_of(token), pending, purpose))
