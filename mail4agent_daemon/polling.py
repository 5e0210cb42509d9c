"""The two operations that wait for mail: an inbox page with ``wait_secs``, and ``mail.wait``.

A waiter takes its place before it looks, so that a message committed in between ends the wait. Each time it
is woken it is identified anew. When its rights have changed, its wait ends at once: with what it may see now,
or, when it may see nothing any more, with the empty answer that it had before; its next request is refused.

Filters that are combined can make the store walk a whole mailbox. Such a wait does that once, in its turn
among those of its account; when it is woken it looks only at what has come since.
"""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

from mail4agent_api.bounds import INBOX_WAIT_SECS_MAX
from mail4agent_api.errors import (
    AttestationFailedError,
    OverloadedError,
    PermissionDeniedError,
    SessionAccountMismatchError,
    UnauthenticatedError,
)
from mail4agent_api.mail import InboxRequest, Position, WaitRequest, WaitResult
from mail4agent_core.mail.engine import MailEngine, page_query
from mail4agent_core.mail.identity import Caller
from mail4agent_core.mail.wire import InboxWire, inbox_wire

from .dispatch import Call
from .identity import Identifier
from .turns import Turns
from .waiting import RETRY_AFTER_SECS, Outcome, Waiters, disconnection

T = TypeVar("T")

#: What says that a caller has no right to wait any more.
LOST_RIGHTS = (
    UnauthenticatedError,
    PermissionDeniedError,
    AttestationFailedError,
    SessionAccountMismatchError,
)

#: An answer for a caller as things are now, and whether it is worth ending a wait for. Where that costs less
#: it may leave out what an earlier look of the same wait saw, unless it is asked for all.
Look = Callable[[Caller, bool], Awaitable[tuple[T, bool]]]


class Polling:
    """Parks callers until there is something for them, their time is over, or the daemon stops."""

    def __init__(self, engine: MailEngine, identifier: Identifier, waiters: Waiters) -> None:
        self._engine = engine
        self._identifier = identifier
        self._waiters = waiters
        self._turns = Turns()

    async def inbox(self, call: Call, caller: Caller, request: InboxRequest) -> InboxWire:
        """A page, waited for while it is empty."""
        secs = min(request.wait_secs or 0, INBOX_WAIT_SECS_MAX)
        combines = page_query(request).combines
        seen: Position | None = None

        async def look(caller: Caller, whole: bool) -> tuple[InboxWire, bool]:
            nonlocal seen
            # The newest first: what is committed meanwhile is looked at again.
            newest = await self._engine.newest(caller) if combines and secs else None
            page = await self._engine.inbox(caller, request if whole else _past(request, seen))
            seen = newest
            return page, bool(page.count)

        empty = inbox_wire((), await self._engine.unread_count(caller)) if combines and secs else None
        page = await self._until(call, caller, secs, look, empty)
        await self._engine.shown(caller, page)
        return page

    async def wait(self, call: Call, caller: Caller, request: WaitRequest) -> WaitResult:
        """The unread count and the newest position, once somebody else's mail stands after a position.

        Without a position the newest one at the call is taken.
        """
        after = request.after if request.after is not None else await self._engine.newest(caller)

        async def look(caller: Caller, whole: bool) -> tuple[WaitResult, bool]:  # noqa: ARG001  all looks cost the same
            # The newest first: what is committed meanwhile stands after it, and ends the caller's next wait.
            newest = await self._engine.newest(caller)
            found = await self._engine.stands_after(caller, after)
            return WaitResult(unread=await self._engine.unread_count(caller), newest=newest), found

        return await self._until(call, caller, request.wait_secs, look)

    async def _until(self, call: Call, caller: Caller, secs: int, look: Look[T], empty: T | None = None) -> T:
        """Look until something is found. With an ``empty`` answer the first look is made in its turn."""
        if empty is None:
            answer, found = await look(caller, True)
            if found or not secs:
                return answer
        else:
            answer = empty
        queues = empty is not None
        loop = asyncio.get_running_loop()
        deadline = loop.time() + secs
        place = self._waiters.register(await self._keys(caller), str(caller.account))
        with disconnection(call.receive) as gone, place as ticket:
            try:
                while True:
                    try:
                        now = await self._identifier.again(call)
                    except LOST_RIGHTS:
                        return answer
                    if not queues or self._turns.take(ticket):
                        answer, found = await look(now, False)
                        queues = False
                        self._turns.leave(ticket)
                        if now != caller or await self._keys(now) != ticket.keys:
                            # What it reads is not what it waited on: an earlier look says nothing of it.
                            return (await look(now, True))[0]
                        if found:
                            return answer
                    match await ticket.wait(deadline - loop.time(), gone):
                        case Outcome.WOKEN:
                            continue
                        case Outcome.TIMED_OUT if queues:
                            raise OverloadedError(retry_after_secs=RETRY_AFTER_SECS)
                        case Outcome.TIMED_OUT:
                            # An acknowledgement wakes nobody, and may have changed the count.
                            return (await look(caller, False))[0]
                        case Outcome.RELEASED | Outcome.GONE:
                            return answer
            finally:
                self._turns.leave(ticket)

    async def _keys(self, caller: Caller) -> frozenset[str]:
        """What a caller waits on: its boxes, and for its rights its account."""
        return await self._engine.boxes(caller) | {str(caller.account)}


def _past(request: InboxRequest, seen: Position | None) -> InboxRequest:
    """The rest of a request of which nothing stands up to a position."""
    after = request.after
    # Within one millisecond, and of a request for what is yet to come, the request's own position says more.
    if seen is None or (after is not None and after.created_at_unix_ms >= seen.created_at_unix_ms):
        return request
    return request.model_copy(update={"after": seen})
