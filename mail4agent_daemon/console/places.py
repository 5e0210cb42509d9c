"""Where a page of mail goes on, as it stands in an address: ``1790000000000.m4a_...``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mail4agent_api.errors import MalformedError
from mail4agent_api.mail import Message


def place_of(message: Message) -> str:
    """A message's place."""
    return f"{message.created_at_unix_ms}.{message.message_id}"


def position(query: Mapping[str, str], name: str) -> dict[str, Any] | None:
    """The position that a query names, None for none. Raises MalformedError."""
    text = query.get(name, "")
    if not text:
        return None
    at, _, message_id = text.partition(".")
    if not (at.isascii() and at.isdigit() and len(at) <= 20):
        raise MalformedError(field=name, reason="must be a time, a full stop and a message id")
    return {"created_at_unix_ms": int(at), "message_id": message_id}
