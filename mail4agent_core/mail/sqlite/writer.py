"""The one thread that writes, and group commit.

Writes that arrive while a commit is on its way to disk share the next one, and each is answered after its
commit has returned. A commit that fails is undone and fails exactly the writes in it. A write that fails by
itself is found by undoing the batch and running each write of it in a transaction of its own.
"""

import asyncio
import logging
import queue
import sqlite3
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from mail4agent_api.errors import RefusalError, StoreUnavailableError
from mail4agent_core.mail.store import Listener

from .schema import connect_writer
from .search import STEP, index_step

T = TypeVar("T")

BATCH_MAX = 512
#: How long the writer waits for a write before it indexes for search, in seconds.
IDLE_SECS = 0.02
#: How many messages may be stored without an idle moment before it indexes all the same, and how many at once
#: then.
LAG_MAX = 10_000
STEP_MAX = 2_000
#: The highest position of boxes that are gone: a position is never given again.
HIGHEST = "highest"

_log = logging.getLogger(__name__)


@dataclass(slots=True)
class Transaction:
    """What a write works with. It becomes durable as a whole or not at all."""

    db: sqlite3.Connection
    last_pos: int
    #: Text addresses to tell once the commit is durable.
    changed: set[str]
    #: How many messages were stored.
    posted: int = 0


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


#: A write with what it returned, or why it was refused.
_Answer = tuple[_Job, Any, RefusalError | None]


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
        self._db: sqlite3.Connection | None = None
        self._last_pos = 0
        self._behind = True
        self._lag = 0
        self.figures = Figures()

    async def open(self) -> None:
        """Start the thread; raises StoreOpenError when the database cannot be used."""
        self._thread.start()
        try:
            await asyncio.shield(self._opened)
        except asyncio.CancelledError:
            self._opened.add_done_callback(lambda opened: opened.cancelled() or opened.exception())
            self._jobs.put(None)
            raise

    async def write(self, operation: str, run: Callable[[Transaction], T], *, undoable: bool = False) -> T:
        """Run a write in the next transaction and return what it returned, once that is durable.

        A refusal that it raises is its answer; ``undoable`` undoes what it wrote before. Any fault is
        StoreUnavailableError. A caller that is cancelled meanwhile does not learn what became of the write.
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
        await asyncio.to_thread(self._thread.join)

    def _main(self) -> None:
        try:
            self._db = connect_writer(self._path)
            self._last_pos = highest_pos(self._db)
        except Exception as fault:  # noqa: BLE001  # whoever opens is told, whatever it is
            self._disconnect()
            self._loop.call_soon_threadsafe(self._opened.set_exception, fault)
            return
        self._loop.call_soon_threadsafe(self._opened.set_result, None)
        try:
            while self._work():
                pass
        finally:
            self._disconnect()

    def _work(self) -> bool:
        """Commit what has arrived, or index when nothing has; False when there is nothing more to come."""
        try:
            job = self._jobs.get(timeout=IDLE_SECS) if self._behind else self._jobs.get()
        except queue.Empty:
            self._index(STEP)
            return True
        batch: list[_Job] = []
        while job is not None:
            batch.append(job)
            if len(batch) == BATCH_MAX:
                break
            try:
                job = self._jobs.get_nowait()
            except queue.Empty:
                break
        if batch:
            self._commit(batch)
        return job is not None

    def _index(self, step: int) -> None:
        try:
            db = self._connected()
            db.execute("BEGIN IMMEDIATE")
            self._behind = index_step(db, step)
            db.execute("COMMIT")
            self._lag = max(self._lag - step, 0) if self._behind else 0
        except Exception as fault:  # noqa: BLE001  # mail goes on without the index
            self._fault("index", fault)
            self._behind = False  # the next write, or a search, tries again
            self._lag = 0
            self._roll_back()

    def _commit(self, batch: list[_Job]) -> None:
        before = self._lag
        answers, changed = self._attempt(batch, shared=len(batch) > 1)
        if answers is None:
            answers = list[_Answer]()
            for job in batch:
                alone, told = self._attempt([job], shared=False)
                answers += alone or ()
                changed |= told
        self._loop.call_soon_threadsafe(self._answer, answers, frozenset(changed))
        if self._lag > LAG_MAX:
            self._index(min(2 * (self._lag - before) + STEP, STEP_MAX))

    def _attempt(self, batch: list[_Job], *, shared: bool) -> tuple[list[_Answer] | None, set[str]]:
        """Run a batch in one transaction. None: one of several failed by itself, and nothing was done."""
        answers: list[_Answer] = []
        try:
            db = self._connected()
            transaction = Transaction(db, self._last_pos, set())
            db.execute("BEGIN IMMEDIATE")
            for job in batch:
                try:
                    answers.append(_run(transaction, job))
                except Exception as fault:
                    if not shared:
                        raise
                    self._fault(job.operation, fault)
                    self._roll_back()
                    return None, set()
            db.execute("COMMIT")
        except Exception as fault:  # noqa: BLE001  # whatever it is, the senders are told and the thread goes on
            self._fault(batch[0].operation, fault)
            self._roll_back()
            return [(job, None, StoreUnavailableError(operation=job.operation)) for job in batch], set()
        self._last_pos = transaction.last_pos
        self._lag += transaction.posted
        self._behind = self._behind or transaction.posted > 0
        self.figures.commits += 1
        self.figures.writes += len(batch)
        return answers, transaction.changed

    def _connected(self) -> sqlite3.Connection:
        if self._db is None:
            self._db = connect_writer(self._path)
        return self._db

    def _roll_back(self) -> None:
        """Undo the transaction; a connection that cannot even do that is replaced."""
        try:
            if self._db is not None and self._db.in_transaction:
                self._db.execute("ROLLBACK")
        except sqlite3.Error as fault:
            self._fault("rollback", fault)
            self._disconnect()

    def _disconnect(self) -> None:
        if self._db is not None:
            self._db.close()
            self._db = None

    def _fault(self, operation: str, fault: Exception) -> None:
        self.figures.faults += 1
        _log.error("the store failed in %s", operation, exc_info=fault)

    def _answer(self, answers: list[_Answer], changed: frozenset[str]) -> None:
        for job, result, refusal in answers:
            if job.answer.done():  # its caller was cancelled
                continue
            if refusal is None:
                job.answer.set_result(result)
            else:
                job.answer.set_exception(refusal)
        if changed:
            self._listener(changed)


def highest_pos(db: sqlite3.Connection) -> int:
    """The highest position that was ever given."""
    sql = (
        "SELECT max(coalesce((SELECT max(pos) FROM message), 0), "
        "coalesce((SELECT max(last_pos) FROM box), 0), "
        "coalesce((SELECT value FROM number WHERE name = ?), 0))"
    )
    return db.execute(sql, (HIGHEST,)).fetchone()[0]


def _run(transaction: Transaction, job: _Job) -> _Answer:
    if not job.undoable:
        try:
            return job, job.run(transaction), None
        except RefusalError as refusal:
            return job, None, refusal.with_traceback(None)
    db, changed = transaction.db, set(transaction.changed)
    db.execute("SAVEPOINT job")
    try:
        result = job.run(transaction)
    except RefusalError as refusal:
        db.execute("ROLLBACK TO job")
        db.execute("RELEASE job")
        transaction.changed = changed
        return job, None, refusal.with_traceback(None)
    db.execute("RELEASE job")
    return job, result, None
