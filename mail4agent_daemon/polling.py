"""The two operations that wait for mail: an inbox page with ``wait_secs``, and ``mail.wait``.

A waiter takes its place before it looks, so that a message committed in between ends the wait. Each time it is woken it is identified anew: who was removed, or
whose secret was replaced, is refused then; who left a room gets what it may still see.
"""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

from mail4agent_api.bounds import INBOX_WAIT_SECS_MAX
from mail4agent_api.mail import InboxRequest, WaitRequest, WaitResult
from mail4agent_core.mail.engine import MailEngine
from mail4agent_core.mail.identity import Caller
from mail4agent_core.mail.wire import InboxWire

from .auth import Accounts
from .dispatch import Call
from .waiting import Outcome, Waiters, disconnection

T = TypeVar("T")


class Polling:
    """Parks callers until there is something for them, their time is over, or the daemon stops."""

    def __init__(self, engine: MailEngine, accounts: Accounts, waiters: Waiters) -> None:
        self._engine = engine
        self._accounts = accounts
        self._waiters = waiters

    async def inbox(self, call: Call, caller: Caller, request: InboxRequest) -> InboxWire:
        """A page, waited for while it is empty."""
        page = await self._engine.inbox(caller, request)
        if page.count or not request.wait_secs:
            return page

        async def look(caller: Caller) -> tuple[InboxWire, bool]:
            page = await self._engine.inbox(caller, request)
            return page, bool(page.count)

        return await self._until(call, caller, min(request.wait_secs, INBOX_WAIT_SECS_MAX), look)

    async def wait(self, call: Call, caller: Caller, request: WaitRequest) -> WaitResult:
        """The unread count and the newest position, once mail stands after a position; by default the newest at the call."""
        after = request.after if request.after is not None else await self._engine.newest(caller)

        async def look(caller: Caller) -> tuple[WaitResult, bool]:
            found = await self._engine.stands_after(caller, after)
            return WaitResult(unread=await self._engine.unread_count(caller), newest=await self._engine.newest(caller)), found

        return await self._until(call, caller, request.wait_secs, look)

    async def _until(self, call: Call, caller: Caller, secs: int, look: Callable[[Caller], Awaitable[tuple[T, bool]]]) -> T:
        loop = asyncio.get_running_loop()
        deadline = loop.time() + secs
        with disconnection(call.receive) as gone:
            while True:
                # Its boxes may be others after each wake-up; the account's own tells of that.
                with self._waiters.register(await self._engine.boxes(caller), str(caller.account)) as ticket:
                    answer, found = await look(caller)
                    outcome = Outcome.TIMED_OUT if found else await ticket.wait(deadline - loop.time(), gone)
                if outcome is not Outcome.WOKEN:
                    return answer
                caller = await self._accounts.caller(call.digest)
                caller.needs(call.operation.capability)
