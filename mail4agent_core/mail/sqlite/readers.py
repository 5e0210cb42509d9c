"""The connections that read: one on the event loop for bounded queries, others on threads for the rest."""

import asyncio
import sqlite3
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TypeVar

from mail4agent_api.errors import StoreUnavailableError

from .schema import connect_reader

T = TypeVar("T")
Query = Callable[[sqlite3.Connection], T]

#: How many queries that are not bounded by their page run at a time; more wait.
THREADS = 2


class Readers:
    """Owns the reading connections.

    Every query runs in one read transaction: what it sees is of one moment.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._inline = connect_reader(path)
        self._threads = ThreadPoolExecutor(THREADS, thread_name_prefix="mail-reader")
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

    async def aside(self, operation: str, query: Query[T]) -> T:
        """Run any other query on a thread. Raises StoreUnavailableError."""
        if self._closed:
            raise StoreUnavailableError(operation=operation)
        loop = asyncio.get_running_loop()
        try:
            return await loop.run_in_executor(self._threads, self._run, query)
        except sqlite3.Error as fault:
            raise StoreUnavailableError(operation=operation) from fault

    def _run(self, query: Query[T]) -> T:
        connection: sqlite3.Connection | None = getattr(self._own, "connection", None)
        if connection is None:
            connection = self._own.connection = connect_reader(self._path)
            self._opened.append(connection)
        return _within_transaction(connection, query)

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
