"""The connections that read: some for bounded queries, others for the rest, each on a thread of its own."""

import asyncio
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import TypeVar

import psycopg

from mail4agent_api.errors import OverloadedError, StoreUnavailableError
from mail4agent_api.mail import ParticipantId
from mail4agent_core.mail.sqlite.shares import Shares

from .connection import Database, connect

T = TypeVar("T")
Query = Callable[[Database], T]

#: How many connections answer queries that are bounded by their page, and how many the others.
BOUNDED = 4
ASIDE = 2
#: How many bounded queries may wait for a connection; and how long any other query may take, in seconds.
WAITING_MAX = 4_096
DEADLINE_SECS = 2.0
#: How long the server is left alone after a connection failed, in seconds.
PAUSE_SECS = 0.2


class _Pool:
    """Threads, each with a connection that it makes when it needs one and replaces when it is lost."""

    def __init__(self, url: str, origin: str, size: int) -> None:
        self._url = url
        self._origin = origin
        self._threads = ThreadPoolExecutor(size, thread_name_prefix="mail-reader")
        self._own = threading.local()
        self._opened: set[Database] = set()
        self._again_at = 0.0

    def submit(self, query: Query[T], *, deadline_ms: int | None, single: bool) -> "asyncio.Future[T]":
        """Have a query run; a ``single`` one is one statement, which is of one moment by itself."""
        run = self._alone if single else partial(self._within_transaction, deadline_ms=deadline_ms)
        return asyncio.get_running_loop().run_in_executor(self._threads, self._run, run, query)

    def _run(self, run: Callable[[Query[T]], T], query: Query[T]) -> T:
        try:
            return run(query)
        except psycopg.OperationalError as fault:
            # A connection that was lost while nobody used it: once more, on one that is new. Nothing was
            # written. An answer that took too long is not asked for again.
            if isinstance(fault, psycopg.errors.QueryCanceled) or not self._connected_again():
                raise
        return run(query)

    def _connected_again(self) -> bool:
        """Whether the connection was lost and there is another."""
        db: Database | None = getattr(self._own, "db", None)
        return db is not None and db.broken and not self._connected().broken

    def _connected(self) -> Database:
        db: Database | None = getattr(self._own, "db", None)
        if db is not None and db.broken:
            self._opened.discard(db)
            db = None
        if db is None:
            if time.monotonic() < self._again_at:
                raise psycopg.InterfaceError("the server was away a moment ago")
            try:
                db = self._own.db = connect(self._url, self._origin)
            except psycopg.Error:
                self._again_at = time.monotonic() + PAUSE_SECS
                raise
            self._opened.add(db)
        return db

    def _alone(self, query: Query[T]) -> T:
        return query(self._connected())

    def _within_transaction(self, query: Query[T], deadline_ms: int | None) -> T:
        db = self._connected()
        # What it sees is of one moment.
        db.execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
        try:
            if deadline_ms is not None:
                db.command(f"SET LOCAL statement_timeout = {deadline_ms}")
            answer = query(db)
            db.execute("COMMIT")
        except BaseException:
            if not db.broken:
                db.command("ROLLBACK")
            raise
        return answer

    async def close(self) -> None:
        await asyncio.to_thread(self._threads.shutdown)
        for db in self._opened:
            db.close()


class Readers:
    """Owns the reading connections."""

    def __init__(self, url: str, origin: str) -> None:
        self._bounded = _Pool(url, origin, BOUNDED)
        self._aside = _Pool(url, origin, ASIDE)
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
