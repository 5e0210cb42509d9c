"""Staging and deciding with little said, and files as the original writes them."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from mail4agent_api.mail import Taint
from mail4agent_core.outbox import (
    Decisions,
    Delivered,
    OutboxItem,
    OutboxKind,
    OutboxStore,
    Outcome,
    Outgoing,
    Releases,
    digest_of,
)
from mail4agent_core.taint import CLEAN

PERSON = "user:reviewer"
#: The keys of the original's file, in its order.
ORIGINAL = (
    "id", "status", "tool", "kind", "args_before", "args", "summary", "session_id", "workspace", "taint",
    "created_at", "resolved_at", "reason", "error",
)  # fmt: skip


@dataclass
class Office:
    """One outbox and the person who decides."""

    store: OutboxStore
    releases: Releases = field(init=False)
    decisions: Decisions = field(init=False)

    def __post_init__(self) -> None:
        self.releases = Releases(self.store)
        self.decisions = Decisions(self.store)

    def stage(
        self,
        args: Any = None,
        *,
        tool: str = "mail__send",
        kind: OutboxKind = OutboxKind.MESSAGE,
        taint: Taint | None = CLEAN,
        session: str | None = None,
        workspace: str | None = None,
        **more: Any,
    ) -> OutboxItem:
        """A draft that waits."""
        return self.store.stage(
            tool, kind, {"to": "a@x.org"} if args is None else args, taint, session, workspace, **more
        )

    def digest(self, item: OutboxItem, sink: str | None = None) -> str:
        """The digest of a draft as it is on disk."""
        return digest_of(self.store.existing(item.id), sink)

    def begin(self, item: OutboxItem, digest: str | None = None) -> Outgoing:
        """An intent to release it."""
        return self.releases.begin(item.id, digest or self.digest(item), PERSON, None)

    def release(self, item: OutboxItem, outcome: Outcome | None = None) -> OutboxItem:
        """The item after a release that came out so."""
        return self.releases.finish(self.begin(item), outcome or Delivered())

    def edit(self, item: OutboxItem, args: Any) -> OutboxItem:
        """The item with other arguments."""
        return self.decisions.edit(item.id, self.digest(item), args, PERSON, None)

    def reject(self, item: OutboxItem, reason: str = "Wrong person.") -> OutboxItem:
        """The item, rejected."""
        return self.decisions.reject(item.id, self.digest(item), reason, PERSON, None)

    def path(self, item: OutboxItem | str) -> Path:
        """An item's file."""
        return self.store.root / f"{item if isinstance(item, str) else item.id}.json"


def original(**changes: Any) -> dict[str, Any]:
    """A pending draft as the original writes it; a key that is changed to ``...`` is left out."""
    value: dict[str, Any] = dict.fromkeys(ORIGINAL)
    value |= {
        "id": "20260101T000000-0a1b2c3d",
        "status": "pending",
        "tool": "mail__send",
        "kind": "message",
        "args_before": {"body": "a", "to": "x@y.org"},
        "args": {"body": "a", "to": "x@y.org"},
        "summary": "mail__send to x@y.org",
        "taint": {"private": False, "untrusted": False},
        "created_at": "2026-01-01T00:00:00.123456789+00:00",
    }
    return {key: part for key, part in (value | changes).items() if part is not ...}


def put(root: Path, value: dict[str, Any]) -> Path:
    """Write a file as the original does."""
    path = root / f"{value['id']}.json"
    path.write_text(json.dumps(value, indent=2, ensure_ascii=False), "utf-8")
    return path
