"""Whose turn it is: a few queries at a time, one for each account, and the accounts in rotation."""

import asyncio
from collections import deque

from mail4agent_api.errors import OverloadedError
from mail4agent_api.mail import ParticipantId

#: How many queries of one account may wait for its turn.
QUEUE_MAX = 16


class Shares:
    """Gives out turns, on the event loop.

    Invariant: while a place is free, nobody waits whose account is not at work.
    """

    def __init__(self, places: int) -> None:
        self._free = places
        self._working: set[ParticipantId] = set()
        #: In the order in which the accounts are next; none is empty.
        self._waiting: dict[ParticipantId, deque[asyncio.Future[None]]] = {}

    async def take(self, account: ParticipantId) -> None:
        """Wait for a turn, to be given back. Raises OverloadedError when too many of the account wait."""
        if self._free and account not in self._working:
            self._begin(account)
            return
        queue = self._waiting.get(account, ())
        if len(queue) >= QUEUE_MAX:
            raise OverloadedError(retry_after_secs=1)
        turn = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(account, deque()).append(turn)
        try:
            await turn
        except asyncio.CancelledError:
            if turn.cancelled():
                self._withdraw(account, turn)
            else:  # it was given in the same moment
                self.give_back(account)
            raise

    def give_back(self, account: ParticipantId) -> None:
        """End a turn; the next one goes to another account when one waits."""
        self._working.discard(account)
        self._free += 1
        if account in self._waiting:
            self._waiting[account] = self._waiting.pop(account)
        following = next((each for each in self._waiting if each not in self._working), None)
        if following is not None:
            turn = self._waiting[following].popleft()
            if not self._waiting[following]:
                del self._waiting[following]
            self._begin(following)
            turn.set_result(None)

    def _begin(self, account: ParticipantId) -> None:
        self._free -= 1
        self._working.add(account)

    def _withdraw(self, account: ParticipantId, turn: asyncio.Future[None]) -> None:
        queue = self._waiting[account]
        queue.remove(turn)
        if not queue:
            del self._waiting[account]
