"""Sending with little said, and files as the original and other programs write them."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mail4agent_api.mail import Taint
from mail4agent_core.mailbox import Duplicate, MailboxStore, Sent
from mail4agent_core.taint import CLEAN

#: The keys of the original's file, in its order.
ORIGINAL = (
    "id", "status", "from", "from_session", "to", "body", "reply_to", "taint", "taint_recorded", "created_at",
    "delivered_at", "delivered_to", "dismissed_at",
)  # fmt: skip


@dataclass
class Post:
    """Sends to one store."""

    store: MailboxStore

    def outcome(
        self,
        body: str,
        *,
        to: str = "chat",
        from_: str = "morning",
        session: str | None = None,
        reply_to: str | None = None,
        taint: Taint = CLEAN,
        **more: Any,
    ) -> Sent | Duplicate:
        """What comes of one send."""
        return self.store.send(to, from_, session, body, reply_to, taint, **more)

    def sent(self, body: str, **more: Any) -> str:
        """The id of a message that is sent."""
        outcome = self.outcome(body, **more)
        assert isinstance(outcome, Sent)
        return outcome.id


def original(**changes: Any) -> dict[str, Any]:
    """A pending message as the original writes it; a key that is changed to ``...`` is left out."""
    value: dict[str, Any] = dict.fromkeys(ORIGINAL)
    value |= {
        "id": "20260808T194158-1a2b3c4d", "status": "pending", "from": "morning", "to": "chat",
        "body": "hello",
        "taint": {"private": False, "untrusted": False}, "taint_recorded": True,
        "created_at": "2026-08-08T19:41:58.123456789+00:00",
    }  # fmt: skip
    return {key: each for key, each in (value | changes).items() if each is not ...}


def placed(store: MailboxStore, value: Any, *, recipient: str = "chat", name: str | None = None) -> Path:
    """Put a value, or bytes, into a mailbox as a file."""
    raw = value if isinstance(value, bytes) else json.dumps(value, indent=2).encode()
    path = store.folder_of(recipient) / (name or f"{value['id']}.json")
    path.write_bytes(raw)
    return path


def on_disk(store: MailboxStore, id_: str, *, recipient: str = "chat") -> dict[str, Any]:
    """What the file of a message holds."""
    return json.loads((store.root / recipient / f"{id_}.json").read_text("utf-8"))
