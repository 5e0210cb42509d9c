"""What ``doctor`` says of the outbox: drafts in doubt, files that are none, and what has waited for long.

It decides nothing and makes nothing, and no word of a draft is in what it says.
"""

import time
from collections.abc import Iterator
from pathlib import Path

from mail4agent_api.errors import RefusalError
from mail4agent_core.files import FolderError
from mail4agent_core.frontdoor.findings import WAITING_MAX_MS
from mail4agent_core.frontdoor.quarantine import instant
from mail4agent_core.outbox import OutboxStore
from mail4agent_core.outbox.item import Status
from mail4agent_core.outbox.listing import Row

from .frontdoor_checkup import NAMED_MAX, Said


def examined(root: Path) -> Iterator[Said]:
    """Everything about the outbox at a root; nothing where there is none."""
    try:
        store = OutboxStore.open_existing(root)
        if store is None:
            return
        with store:
            found = store.rows()
            doubts = [
                row.id for row in found.rows if row.status == Status.RELEASING and not store.in_flight(row.id)
            ]
    except FolderError as failure:
        yield "outbox", "bad", str(failure)
        return
    except (RefusalError, OSError):
        yield "outbox", "bad", f"{root} cannot be read"
        return
    for id_ in doubts[:NAMED_MAX]:
        yield "outbox", "bad", f"nobody knows whether draft {id_} left; find out, then settle it"
    if len(doubts) > NAMED_MAX:
        yield "outbox", "bad", f"{len(doubts) - NAMED_MAX} more are in doubt; see mail4agent outbox list"
    if found.unreadable:
        yield "outbox", "bad", f"{len(found.unreadable)} files in {root} are no drafts that can be read"
    waiting = [row for row in found.rows if _has_waited(row, int(time.time() * 1000))]
    if waiting:
        yield "outbox", "note", f"{len(waiting)} drafts have waited for a person for more than 72 hours"
    if not doubts and not found.unreadable and not waiting:
        yield "outbox", "good", f"none of {len(found.rows)} drafts is in doubt or stuck"


def _has_waited(row: Row, now_ms: int) -> bool:
    """Whether a draft is undecided for so long, or since nobody knows when."""
    if row.status != Status.PENDING:
        return False
    since = instant(row.created_at)
    return since is None or now_ms - since > WAITING_MAX_MS
