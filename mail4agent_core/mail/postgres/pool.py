"""Threads that read, each with a connection of its own.

A thread is given several of the queries that wait, and hands their answers over together: what it takes to
give one query to a thread and to wake the loop with its answer is about as much as the query itself.
"""

import asyncio
import queue
import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

import psycopg

from .connection import Database, connect

T = TypeVar("T")
Query = Callable[[Database], T]

#: How long the server is left alone after a connection failed, in seconds.
PAUSE_SECS = 0.2


@dataclass(slots=True)
class _Job:
    query: Query[Any]
    deadline_ms: int | None
    #: Whether it is one statement, which is of one moment by itself.
    single: bool
    answer: asyncio.Future[Any]


#: A query with what it returned, or what it raised.
_Answer = tuple[_Job, Any, Exception | None]


class Pool:
    """Gives queries to threads; each makes its connection when it needs one, and again when it is lost."""

    def __init__(self, url: str, origin: str, size: int, share_max: int) -> None:
        """``share_max`` is how many queries a thread takes at a time at most."""
        self._url = url
        self._origin = origin
        self._size = size
        self._share_max = share_max
        self._loop = asyncio.get_running_loop()
        self._waiting: deque[_Job] = deque()
        self._threads: list[_Reader] = []
        self._idle: list[_Reader] = []
        self._giving = False
        self._drained: asyncio.Future[None] | None = None
        self.again_at = 0.0

    def submit(self, query: Query[T], *, deadline_ms: int | None, single: bool) -> "asyncio.Future[T]":
        """Have a query run; a ``single`` one is one statement."""
        answer: asyncio.Future[T] = self._loop.create_future()
        self._waiting.append(_Job(query, deadline_ms, single, answer))
        if not self._giving and (self._idle or len(self._threads) < self._size):
            # In the next turn of the loop, so that what arrived in this one is shared out.
            self._giving = True
            self._loop.call_soon(self._give)
        return answer

    def _give(self) -> None:
        """On the loop: share out what waits among the threads that have nothing to do."""
        self._giving = False
        while self._waiting:
            if not self._idle:
                if len(self._threads) == self._size:
                    return
                reader = _Reader(self, self._loop)
                self._threads.append(reader)
                self._idle.append(reader)
            free = len(self._idle) + self._size - len(self._threads)
            share = min(-(-len(self._waiting) // free), self._share_max)
            self._idle.pop().orders.put([self._waiting.popleft() for _ in range(share)])

    def answered(self, reader: "_Reader", answers: list[_Answer]) -> None:
        """On the loop: hand over what a thread has found, and give it more."""
        for job, result, fault in answers:
            if job.answer.done():  # its caller was cancelled
                continue
            if fault is None:
                job.answer.set_result(result)
            else:
                job.answer.set_exception(fault)
        self._idle.append(reader)
        if self._waiting and not self._giving:
            self._giving = True
            self._loop.call_soon(self._give)
        elif self._drained is not None and not self._waiting and len(self._idle) == len(self._threads):
            self._drained.set_result(None)

    def connected(self) -> Database:
        """A new connection. Raises psycopg.Error."""
        if time.monotonic() < self.again_at:
            raise psycopg.InterfaceError("the server was away a moment ago")
        try:
            return connect(self._url, self._origin)
        except psycopg.Error:
            self.again_at = time.monotonic() + PAUSE_SECS
            raise

    async def close(self) -> None:
        """Finish what was asked for, then let go of the connections."""
        if self._waiting or len(self._idle) < len(self._threads):
            self._drained = self._loop.create_future()
            await self._drained
        for reader in self._threads:
            reader.orders.put(None)
        for reader in self._threads:
            await asyncio.to_thread(reader.join)


class _Reader(threading.Thread):
    """One thread and its connection."""

    def __init__(self, pool: Pool, loop: asyncio.AbstractEventLoop) -> None:
        super().__init__(name="mail-reader", daemon=True)
        #: Queries to run, or None to end.
        self.orders: queue.SimpleQueue[list[_Job] | None] = queue.SimpleQueue()
        self._pool = pool
        self._loop = loop
        self._db: Database | None = None
        self.start()

    def run(self) -> None:
        """Answer queries until told to end."""
        while (jobs := self.orders.get()) is not None:
            answers = [self._answer(job) for job in jobs]
            self._loop.call_soon_threadsafe(self._pool.answered, self, answers)
        if self._db is not None:
            self._db.close()

    def _answer(self, job: _Job) -> _Answer:
        try:
            try:
                return job, self._look(job), None
            except psycopg.OperationalError as fault:
                # A connection that was lost while nobody used it: once more, on one that is new. Nothing was
                # written. An answer that took too long is not asked for again.
                lost = self._db is not None and self._db.broken
                if isinstance(fault, psycopg.errors.QueryCanceled) or not lost:
                    raise
            return job, self._look(job), None
        except Exception as fault:  # noqa: BLE001  # whatever it is, its caller is told and the thread goes on
            return job, None, fault

    def _connected(self) -> Database:
        if self._db is not None and self._db.broken:
            self._db = None
        if self._db is None:
            self._db = self._pool.connected()
        return self._db

    def _look(self, job: _Job) -> Any:
        db = self._connected()
        if job.single:
            return job.query(db)
        # What it sees is of one moment.
        db.execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
        try:
            if job.deadline_ms is not None:
                db.command(f"SET LOCAL statement_timeout = {job.deadline_ms}")
            answer = job.query(db)
            db.execute("COMMIT")
        except BaseException:
            if not db.broken:
                db.command("ROLLBACK")
            raise
        return answer
