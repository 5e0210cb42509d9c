"""The file mailboxes of this machine, looked at and not touched: ``mailbox.list`` and ``mailbox.show``.

The library is synchronous, because harnesses embed it; here it runs in worker threads. Nothing is mended,
made or claimed: what a lease no longer holds is shown as pending.
"""

import asyncio
from collections.abc import Generator, Sequence
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path

from mail4agent_api.errors import StoreUnavailableError, UnknownItemError
from mail4agent_api.mailbox import MailboxList, MailboxListRequest, MailboxShowRequest, MailboxText
from mail4agent_core.clock import Clock
from mail4agent_core.files import FolderError
from mail4agent_core.mail.identity import Caller
from mail4agent_core.mailbox import MailboxStore, StoredMessage
from mail4agent_core.mailbox.box import Others
from mail4agent_core.mailbox.message import RESOLVED, Status
from mail4agent_core.mailbox.wire import entry_of, text_with


class Mailboxes:
    """Answers the operations of the seam from the folders under a root."""

    def __init__(self, root: Path, clock: Clock) -> None:
        self._root = root
        self._clock = clock
        self._others: dict[str, Others] = {}

    async def list(self, caller: Caller, request: MailboxListRequest) -> MailboxList:  # noqa: ARG002
        """What waits, with ``all`` everything, or what has one status. Raises StoreUnavailableError."""
        if request.status == Status.DEAD:
            found = await asyncio.to_thread(self._dead, request.to)
        else:
            found = await asyncio.to_thread(_found, self._root, self._clock, request.to)
        status = request.status
        wanted = [
            message
            for message in found
            if (request.all or status is not None or message.status not in RESOLVED)
            and status in {None, message.status}
        ]
        return MailboxList(
            messages=[entry_of(message) for message in wanted[: request.limit]], total=len(wanted)
        )

    async def show(self, caller: Caller, request: MailboxShowRequest) -> MailboxText:  # noqa: ARG002
        """One message. Raises UnknownItemError, StoreUnavailableError."""
        for message in await asyncio.to_thread(_found, self._root, self._clock, None):
            if message.id == request.id:
                return text_with(message)
        raise UnknownItemError(id=request.id)

    def _dead(self, recipient: str | None) -> Sequence[StoredMessage]:
        """What waits for a person. It is asked for often: of a file that did not change nothing is read."""
        with _opened(self._root, self._clock) as store:
            if store is None:
                return ()
            recipients = store.recipients() if recipient is None else [recipient]
            found: tuple[StoredMessage, ...] = ()
            others: dict[str, Others] = {}
            for each in recipients:
                with suppress(FileNotFoundError):
                    held, others[each] = store.held(each, self._others.get(each, {}))
                    found += tuple(message for message in held if message.status == Status.DEAD)
        if recipient is None:
            # Replaced whole: threads share it.
            self._others = others
        return found


@contextmanager
def _opened(root: Path, clock: Clock) -> Generator[MailboxStore | None]:
    """The store, None where there is none. Raises StoreUnavailableError."""
    try:
        store = MailboxStore.open(root, clock=clock, make=False)
    except FileNotFoundError:
        store = None
    except FolderError:
        raise StoreUnavailableError(operation="mailbox.list") from None
    with nullcontext() if store is None else store:
        try:
            yield store
        except FolderError:
            raise StoreUnavailableError(operation="mailbox.list") from None


def _found(root: Path, clock: Clock, recipient: str | None) -> list[StoredMessage]:
    """The messages of one recipient, or of all, as they are now. Raises StoreUnavailableError."""
    with _opened(root, clock) as store:
        if store is None:
            return []
        recipients = store.recipients() if recipient is None else [recipient]
        return [message for each in recipients for message in store.snapshot(each)]
