"""The connections that read: one on the event loop for bounded queries, others on threads for the rest."""

import asyncio
import sqlite3
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TypeVar

from mail4agent_api.errors import OverloadedError, StoreUnavailableError
from mail4agent_api.mail import ParticipantId

from .schema import connect_reader
from .shares import Shares

T = TypeVar("T")
Query = Callable[[sqlite3.Connection], T]

#: How many queries that are not bounded by their page run at a time; more wait.
THREADS = 2
#: How long such a query may run, in seconds, and how many steps of SQLite's machine lie between two looks at
#: the clock: a fraction of a millisecond.
DEADLINE_SECS = 2.0
DEADLINE_STEPS = 1_000


class Readers:
    """Owns the reading connections.

    Every query runs in one read transaction: what it sees is of one moment.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._inline = connect_reader(path)
        self._threads = ThreadPoolExecutor(THREADS, thread_name_prefix="mail-reader")
        self._shares = Shares(THREADS)
        self._own = threading.local()
        self._opened: list[sqlite3.Connection] = []
        self._closed = False

    def now(self, operation: str, query: Query[T]) -> T:
        """Run a query that is bounded by its page, here. Raises StoreUnavailableError."""
        if self._closed:
            raise StoreUnavailableError(operation=operation)
        try:
            return _within_transaction(self._inline, query)
        except sqlite3.Error as fault:
            raise StoreUnavailableError(operation=operation) from fault

    async def aside(self, operation: str, account: ParticipantId, query: Query[T]) -> T:
        """Run any other query on a thread, one of an account at a time.

        Raises OverloadedError when it takes too long or too many of the account wait, StoreUnavailableError.
        """
        if self._closed:
            raise StoreUnavailableError(operation=operation)
        await self._shares.take(account)
        if self._closed:
            self._shares.give_back(account)
            raise StoreUnavailableError(operation=operation)
        work = asyncio.get_running_loop().run_in_executor(self._threads, self._run, query)
        # The turn lasts as long as the thread works, also for a caller that goes away.
        work.add_done_callback(lambda _: self._shares.give_back(account))
        try:
            return await asyncio.shield(work)
        except sqlite3.Error as fault:
            if getattr(fault, "sqlite_errorcode", None) == sqlite3.SQLITE_INTERRUPT:
                raise OverloadedError(retry_after_secs=1) from fault
            raise StoreUnavailableError(operation=operation) from fault

    def _run(self, query: Query[T]) -> T:
        connection: sqlite3.Connection | None = getattr(self._own, "connection", None)
        if connection is None:
            connection = self._own.connection = connect_reader(self._path)
            self._opened.append(connection)
        until = time.monotonic() + DEADLINE_SECS

        def timed(connection: sqlite3.Connection) -> T:
            # SQLite asks within the full text index too, whose search for a phrase is one step from outside.
            connection.set_progress_handler(lambda: time.monotonic() > until, DEADLINE_STEPS)
            try:
                return query(connection)
            finally:
                connection.set_progress_handler(None, 0)

        return _within_transaction(connection, timed)

    async def close(self) -> None:
        """Finish what runs, then let go of the connections."""
        self._closed = True
        await asyncio.to_thread(self._threads.shutdown)
        for connection in (*self._opened, self._inline):
            connection.close()


def _within_transaction(connection: sqlite3.Connection, query: Query[T]) -> T:
    connection.execute("BEGIN")
    try:
        return query(connection)
    finally:
        connection.execute("COMMIT")
