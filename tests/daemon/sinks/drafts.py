"""Drafts on their way out, as the core hands them to a sink."""

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from mail4agent_core.outbox.item import OutboxKind
from mail4agent_core.outbox.sink import Outgoing, StagedFile

KEY = "5a" * 32


def outgoing(
    args: Mapping[str, Any],
    *,
    files: tuple[StagedFile, ...] = (),
    staged_by: str | None = "ada",
    key: str = KEY,
    tool: str = "notify",
) -> Outgoing:
    """One attempt."""
    return Outgoing(
        item_id="20261202T091500-1a2b3c4d",
        tool=tool,
        kind=OutboxKind.MESSAGE,
        args=args,
        staged_by=staged_by,
        workspace=None,
        files=files,
        attempt=1,
        idempotency_key=key,
    )


def staged(folder: Path, path: str, content: bytes) -> StagedFile:
    """A file that was staged, its copy lying in ``folder``."""
    digest = hashlib.sha256(content).hexdigest()
    copy = folder / digest
    copy.write_bytes(content)
    return StagedFile(path=path, size=len(content), sha256=digest, copy=copy)
