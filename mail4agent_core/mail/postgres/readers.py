"""The connections that read: some for bounded queries, others for the rest, each on a thread of its own."""

import asyncio
from typing import TypeVar

import psycopg

from mail4agent_api.errors import OverloadedError, StoreUnavailableError
from mail4agent_api.mail import ParticipantId
from mail4agent_core.mail.sqlite.shares import Shares

from .pool import Pool, Query

T = TypeVar("T")

#: How many connections answer queries that are bounded by their page, and how many the others.
BOUNDED = 4
ASIDE = 2
#: How many bounded queries a thread takes at a time at most.
SHARE_MAX = 8
#: How many bounded queries may wait for a connection; and how long any other query may take, in seconds.
WAITING_MAX = 4_096
DEADLINE_SECS = 2.0


class Readers:
    """Owns the reading connections."""

    def __init__(self, url: str, origin: str) -> None:
        self._bounded = Pool(url, origin, BOUNDED, SHARE_MAX)
        self._aside = Pool(url, origin, ASIDE, 1)
        self._shares = Shares(ASIDE)
        self._waiting = 0
        self._closed = False

    async def now(self, operation: str, query: Query[T], *, single: bool = False) -> T:
        """Run a query that is bounded by its page; ``single``: it is one statement.

        Raises StoreUnavailableError, OverloadedError.
        """
        if self._closed:
            raise StoreUnavailableError(operation=operation)
        if self._waiting >= WAITING_MAX:
            raise OverloadedError(retry_after_secs=1)
        self._waiting += 1
        work = self._bounded.submit(query, deadline_ms=None, single=single)
        work.add_done_callback(self._done)
        try:
            return await asyncio.shield(work)
        except psycopg.Error as fault:
            raise StoreUnavailableError(operation=operation) from fault

    def _done(self, work: "asyncio.Future[T]") -> None:
        self._waiting -= 1
        # Its caller may have gone away: nobody else looks at the fault.
        if not work.cancelled():
            work.exception()

    async def aside(self, operation: str, account: ParticipantId, query: Query[T]) -> T:
        """Run any other query, one of an account at a time.

        Raises OverloadedError when it takes too long or too many of the account wait, StoreUnavailableError.
        """
        if self._closed:
            raise StoreUnavailableError(operation=operation)
        await self._shares.take(account)
        if self._closed:
            self._shares.give_back(account)
            raise StoreUnavailableError(operation=operation)
        work = self._aside.submit(query, deadline_ms=int(DEADLINE_SECS * 1000), single=False)
        # The turn lasts as long as the query, also for a caller that goes away.
        work.add_done_callback(lambda _: self._shares.give_back(account))
        try:
            return await asyncio.shield(work)
        except psycopg.errors.QueryCanceled as fault:
            raise OverloadedError(retry_after_secs=1) from fault
        except psycopg.Error as fault:
            raise StoreUnavailableError(operation=operation) from fault

    async def close(self) -> None:
        """Finish what runs, then let go of the connections."""
        self._closed = True
        await self._bounded.close()
        await self._aside.close()
