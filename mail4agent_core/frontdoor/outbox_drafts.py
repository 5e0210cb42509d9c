"""The front door's look at the outbox. It reads, makes nothing, and the outbox never hears of a request."""

from __future__ import annotations

from pathlib import Path

from mail4agent_api.errors import MalformedError, StoreUnavailableError
from mail4agent_core.clock import Clock
from mail4agent_core.files import FolderError
from mail4agent_core.outbox.item import OutboxItem
from mail4agent_core.outbox.store import OutboxStore, UnreadableItemError

from .drafts import REJECTED, UNKNOWN, DraftFate


class OutboxDrafts:
    """Drafts in the outbox under a root; none while there is no outbox. Close it when done."""

    def __init__(self, root: Path, clock: Clock) -> None:
        self._root = root
        self._clock = clock
        self._store: OutboxStore | None = None

    def look(self, draft_id: str) -> DraftFate | None:
        """What became of a draft. One whose file cannot be read is in doubt: somebody has to look.

        Raises StoreUnavailableError for an outbox that cannot be used.
        """
        try:
            if self._store is None:
                self._store = OutboxStore.open_existing(self._root, clock=self._clock)
            item = None if self._store is None else self._store.item_exact(draft_id)
        except MalformedError:
            # A file of requests may name anything; what is no id is no draft.
            return None
        except UnreadableItemError:
            return DraftFate(UNKNOWN)
        except FolderError:
            pass
        else:
            return None if item is None else _fate(item)
        raise StoreUnavailableError(operation="outbox.get")

    def close(self) -> None:
        """Let the outbox go."""
        if self._store is not None:
            self._store.close()
            self._store = None


def _fate(item: OutboxItem) -> DraftFate:
    return DraftFate(
        item.status,
        superseded_by=item.superseded_by,
        reason=item.reason,
        # Only who holds the capability rejects here; of the original's items nobody knows who did.
        reason_by_person=item.status == REJECTED and item.decided_by is not None,
        session=item.session_id or item.staged_by,
        staged_by=item.staged_by,
    )
