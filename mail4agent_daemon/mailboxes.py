"""The file mailboxes of this machine, looked at and not touched: ``mailbox.list`` and ``mailbox.show``.

The library is synchronous, because harnesses embed it; here it runs in worker threads. Nothing is mended,
made or claimed: what a lease no longer holds is shown as pending.
"""

import asyncio
from pathlib import Path

from mail4agent_api.errors import StoreUnavailableError, UnknownItemError
from mail4agent_api.mailbox import MailboxList, MailboxListRequest, MailboxShowRequest, MailboxText
from mail4agent_core.clock import Clock
from mail4agent_core.files import FolderError
from mail4agent_core.mail.identity import Caller
from mail4agent_core.mailbox import MailboxStore, StoredMessage
from mail4agent_core.mailbox.message import RESOLVED
from mail4agent_core.mailbox.wire import entry_of, text_with


class Mailboxes:
    """Answers the operations of the seam from the folders under a root."""

    def __init__(self, root: Path, clock: Clock) -> None:
        self._root = root
        self._clock = clock

    async def list(self, caller: Caller, request: MailboxListRequest) -> MailboxList:  # noqa: ARG002
        """What waits, or with ``all`` everything. Raises StoreUnavailableError."""
        found = await asyncio.to_thread(_found, self._root, self._clock, request.to)
        wanted = [message for message in found if request.all or message.status not in RESOLVED]
        return MailboxList(
            messages=[entry_of(message) for message in wanted[: request.limit]], total=len(wanted)
        )

    async def show(self, caller: Caller, request: MailboxShowRequest) -> MailboxText:  # noqa: ARG002
        """One message. Raises UnknownItemError, StoreUnavailableError."""
        for message in await asyncio.to_thread(_found, self._root, self._clock, None):
            if message.id == request.id:
                return text_with(message)
        raise UnknownItemError(id=request.id)


def _found(root: Path, clock: Clock, recipient: str | None) -> list[StoredMessage]:
    """The messages of one recipient, or of all, as they are now. Raises StoreUnavailableError."""
    try:
        store = MailboxStore.open(root, clock=clock, make=False)
    except FileNotFoundError:
        return []
    except FolderError:
        raise StoreUnavailableError(operation="mailbox.list") from None
    with store:
        recipients = store.recipients() if recipient is None else [recipient]
        try:
            return [message for each in recipients for message in store.snapshot(each)]
        except FolderError:
            raise StoreUnavailableError(operation="mailbox.list") from None
