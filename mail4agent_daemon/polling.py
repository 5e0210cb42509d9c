"""The two operations that wait for mail: an inbox page with ``wait_secs``, and ``mail.wait``.

A waiter takes its place before it looks, so that a message committed in between ends the wait. Each time it
is woken it is identified anew. When its rights have changed, its wait ends at once: with what it may see now,
or, when it may see nothing any more, with the empty answer that it had before; its next request is refused.
"""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

from mail4agent_api.bounds import INBOX_WAIT_SECS_MAX
from mail4agent_api.errors import AttestationFailedError, PermissionDeniedError, UnauthenticatedError
from mail4agent_api.mail import InboxRequest, WaitRequest, WaitResult
from mail4agent_core.mail.engine import MailEngine
from mail4agent_core.mail.identity import Caller
from mail4agent_core.mail.wire import InboxWire

from .dispatch import Call
from .identity import Identifier
from .waiting import Outcome, Waiters, disconnection

T = TypeVar("T")

#: What says that a caller has no right to wait any more.
LOST_RIGHTS = (UnauthenticatedError, PermissionDeniedError, AttestationFailedError)

#: An answer for a caller as things are now, and whether it is worth ending a wait for.
Look = Callable[[Caller], Awaitable[tuple[T, bool]]]


class Polling:
    """Parks callers until there is something for them, their time is over, or the daemon stops."""

    def __init__(self, engine: MailEngine, identifier: Identifier, waiters: Waiters) -> None:
        self._engine = engine
        self._identifier = identifier
        self._waiters = waiters

    async def inbox(self, call: Call, caller: Caller, request: InboxRequest) -> InboxWire:
        """A page, waited for while it is empty."""

        async def look(caller: Caller) -> tuple[InboxWire, bool]:
            page = await self._engine.inbox(caller, request)
            return page, bool(page.count)

        return await self._until(call, caller, min(request.wait_secs or 0, INBOX_WAIT_SECS_MAX), look)

    async def wait(self, call: Call, caller: Caller, request: WaitRequest) -> WaitResult:
        """The unread count and the newest position, once somebody else's mail stands after a position.

        Without a position the newest one at the call is taken.
        """
        after = request.after if request.after is not None else await self._engine.newest(caller)

        async def look(caller: Caller) -> tuple[WaitResult, bool]:
            # The newest first: what is committed meanwhile stands after it, and ends the caller's next wait.
            newest = await self._engine.newest(caller)
            found = await self._engine.stands_after(caller, after)
            return WaitResult(unread=await self._engine.unread_count(caller), newest=newest), found

        return await self._until(call, caller, request.wait_secs, look)

    async def _until(self, call: Call, caller: Caller, secs: int, look: Look[T]) -> T:
        answer, found = await look(caller)
        if found or not secs:
            return answer
        loop = asyncio.get_running_loop()
        deadline = loop.time() + secs
        boxes = await self._engine.boxes(caller)
        keys = boxes | {str(caller.account)}
        with disconnection(call.receive) as gone, self._waiters.register(keys, str(caller.account)) as ticket:
            while True:
                try:
                    now = await self._identifier.again(call)
                except LOST_RIGHTS:
                    return answer
                answer, found = await look(now)
                if found or now != caller or await self._engine.boxes(now) != boxes:
                    return answer
                match await ticket.wait(deadline - loop.time(), gone):
                    case Outcome.WOKEN:
                        continue
                    case Outcome.TIMED_OUT:
                        # An acknowledgement wakes nobody, and may have changed the count.
                        return (await look(caller))[0]
                    case Outcome.RELEASED | Outcome.GONE:
                        return answer
