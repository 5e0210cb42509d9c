"""The one thread that writes, and group commit.

Writes that arrive while a commit is on its way to disk share the next one. A write is answered after its commit has returned. When a commit, or any write of
a batch, fails unexpectedly, the batch is undone and each write is tried in a transaction of its own: a fault fails exactly its own senders.
"""

import asyncio
import queue
import sqlite3
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from mail4agent_api.errors import RefusalError, StoreUnavailableError

from ..store import Listener
from .schema import connect_writer
from .search import index_step

T = TypeVar("T")

BATCH_MAX = 512
#: How long the writer waits for a write before it indexes for search, in seconds.
IDLE_SECS = 0.02


@dataclass(slots=True)
class Transaction:
    """What a write works with. It becomes durable as a whole or not at all."""

    db: sqlite3.Connection
    last_pos: int
    #: Text addresses to tell once the commit is durable.
    changed: set[str]


@dataclass(slots=True)
class _Job:
    operation: str
    run: Callable[[Transaction], Any]
    answer: asyncio.Future[Any]
    #: Whether it may refuse after it has written.
    undoable: bool


@dataclass(slots=True)
class Figures:
    """What the writer has done, for metrics."""

    commits: int = 0
    writes: int = 0
    faults: int = 0


class Writer:
    """Owns the writing connection."""

    def __init__(self, path: Path, loop: asyncio.AbstractEventLoop, listener: Listener) -> None:
        self._path = path
        self._loop = loop
        self._listener = listener
        self._jobs: queue.SimpleQueue[_Job | None] = queue.SimpleQueue()
        self._opened: asyncio.Future[None] = loop.create_future()
        self._thread = threading.Thread(target=self._main, name="mail-writer", daemon=True)
        self._closing = False
        self._last_pos = 0
        self._behind = True
        self.figures = Figures()

    async def open(self) -> None:
        """Start the thread; raises StoreOpenError when the database cannot be used."""
        self._thread.start()
        await self._opened

    async def write(self, operation: str, run: Callable[[Transaction], T], *, undoable: bool = False) -> T:
        """Run a write in the next transaction and return what it returned, once that is durable.

        A refusal that it raises is its answer; ``undoable`` undoes what it wrote before. Any fault is StoreUnavailableError.
        """
        if self._closing:
            raise StoreUnavailableError(operation=operation)
        answer: asyncio.Future[T] = self._loop.create_future()
        self._jobs.put(_Job(operation, run, answer, undoable))
        return await answer

    async def close(self) -> None:
        """Finish what was accepted, then stop."""
        if not self._closing:
            self._closing = True
            self._jobs.put(None)
        if self._thread.is_alive():
            await asyncio.to_thread(self._thread.join)

    def _main(self) -> None:
        try:
            db = connect_writer(self._path)
            self._last_pos = db.execute("SELECT max(coalesce((SELECT max(pos) FROM message), 0), coalesce((SELECT max(last_pos) FROM box), 0))").fetchone()[0]
        except BaseException as fault:
            self._loop.call_soon_threadsafe(_fail, self._opened, fault)
            return
        self._loop.call_soon_threadsafe(self._opened.set_result, None)
        try:
            self._work(db)
        finally:
            db.close()

    def _work(self, db: sqlite3.Connection) -> None:
        while True:
            try:
                job = self._jobs.get(timeout=IDLE_SECS) if self._behind else self._jobs.get()
            except queue.Empty:
                self._index(db)
                continue
            batch: list[_Job] = []
            last = job is None
            while job is not None:
                batch.append(job)
                if len(batch) == BATCH_MAX:
                    break
                try:
                    job = self._jobs.get_nowait()
                except queue.Empty:
                    break
                last = job is None
            if batch:
                self._commit(db, batch)
            if last:
                return

    def _index(self, db: sqlite3.Connection) -> None:
        try:
            db.execute("BEGIN IMMEDIATE")
            self._behind = index_step(db)
            db.execute("COMMIT")
        except sqlite3.Error:
            self.figures.faults += 1
            self._behind = False  # the next write, or a search, tries again
            _roll_back(db)

    def _commit(self, db: sqlite3.Connection, batch: list[_Job]) -> None:
        answers, changed = self._attempt(db, batch)
        if answers is None:
            answers = []
            for job in batch:
                alone, told = self._attempt(db, [job])
                answers += alone or [(job, None, StoreUnavailableError(operation=job.operation))]
                changed |= told
        self._behind = True
        self._loop.call_soon_threadsafe(self._answer, answers, frozenset(changed))

    def _attempt(self, db: sqlite3.Connection, batch: list[_Job]) -> tuple[list[tuple[_Job, Any, RefusalError | None]] | None, set[str]]:
        """Run a batch in one transaction. None: it was undone."""
        transaction = Transaction(db, self._last_pos, set())
        answers: list[tuple[_Job, Any, RefusalError | None]] = []
        try:
            db.execute("BEGIN IMMEDIATE")
            for job in batch:
                answers.append(_run(transaction, job))
            db.execute("COMMIT")
        except Exception:
            self.figures.faults += 1
            _roll_back(db)
            return None, set()
        self._last_pos = transaction.last_pos
        self.figures.commits += 1
        self.figures.writes += len(batch)
        return answers, transaction.changed

    def _answer(self, answers: list[tuple[_Job, Any, RefusalError | None]], changed: frozenset[str]) -> None:
        for job, result, refusal in answers:
            if job.answer.cancelled():
                continue
            if refusal is None:
                job.answer.set_result(result)
            else:
                job.answer.set_exception(refusal)
        if changed:
            self._listener(changed)


def _run(transaction: Transaction, job: _Job) -> tuple[_Job, Any, RefusalError | None]:
    if not job.undoable:
        try:
            return job, job.run(transaction), None
        except RefusalError as refusal:
            return job, None, refusal
    db, changed = transaction.db, set(transaction.changed)
    db.execute("SAVEPOINT job")
    try:
        return job, job.run(transaction), None
    except RefusalError as refusal:
        db.execute("ROLLBACK TO job")
        transaction.changed = changed
        return job, None, refusal
    finally:
        db.execute("RELEASE job")


def _roll_back(db: sqlite3.Connection) -> None:
    if db.in_transaction:
        db.execute("ROLLBACK")


def _fail(future: asyncio.Future[None], fault: BaseException) -> None:
    if not future.done():
        future.set_exception(fault)
