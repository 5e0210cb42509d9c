"""Group commit over the one connection that writes.

Writes that arrive while a commit is on its way to disk share the next one, and each is answered after its
commit has returned. A commit that fails is undone and fails exactly the writes in it. A write that fails by
itself is found by undoing the batch and running each write of it in a transaction of its own.

The connection has two users that take turns: the event loop and the writer thread. What blocks, COMMIT above
all, runs on the thread. The statements of short writes (sends, acknowledgements) run on the loop, because on
the thread each would wait to get the interpreter lock back. While ``_busy`` is set, it is the thread's.
"""

import asyncio
import logging
import queue
import sqlite3
import threading
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from mail4agent_api.errors import OverloadedError, RefusalError, StoreUnavailableError
from mail4agent_core.mail.figures import Figures
from mail4agent_core.mail.store import Listener

from .files import OpenFiles
from .schema import LOCK_SECS, connect_writer
from .search import STEP, index_step

T = TypeVar("T")

#: How much shares a commit, counted in short writes of some 20 microseconds: the loop's longest stretch.
BATCH_MAX = 256
#: A message counts for one more short write for each so many bytes.
SHORT_BYTES = 4_096
#: How many writes may wait for a commit.
WAITING_MAX = 8_192
#: How long the writer waits for a write before it indexes for search, in seconds.
IDLE_SECS = 0.02
#: How many messages may be stored without an idle moment before it indexes, and how many at once then.
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
    #: How many short writes it is.
    weight: int
    #: Whether its statements may run on the loop.
    short: bool


#: A write with what it returned, or why it was refused.
_Answer = tuple[_Job, Any, RefusalError | None]


@dataclass(slots=True)
class _Batch:
    """Writes for one commit. With a transaction their statements have run and the commit is what is left."""

    jobs: list[_Job]
    transaction: Transaction | None = None
    answers: list[_Answer] = field(default_factory=list[_Answer])


class Writer:
    """Owns the writing connection."""

    def __init__(self, path: Path, loop: asyncio.AbstractEventLoop, listener: Listener) -> None:
        self._path = path
        self._files = OpenFiles(path)
        self._loop = loop
        self._listener = listener
        self._waiting: deque[_Job] = deque()
        #: For the thread: writes to commit, the number of messages to index, or None to end.
        self._orders: queue.SimpleQueue[_Batch | int | None] = queue.SimpleQueue()
        self._busy = False
        self._idle: asyncio.TimerHandle | None = None
        self._drained: asyncio.Future[None] | None = None
        self._opened: asyncio.Future[None] = loop.create_future()
        self._thread = threading.Thread(target=self._main, name="mail-writer", daemon=True)
        self._closing = False
        self._db: sqlite3.Connection | None = None
        self._last_pos = 0
        self._behind = True
        self._lag = 0
        self._owed = 0
        self._failing = False
        self.figures = Figures()

    async def open(self) -> None:
        """Start the thread; raises StoreOpenError when the database cannot be used."""
        self._thread.start()
        try:
            await asyncio.shield(self._opened)
        except asyncio.CancelledError:
            self._opened.add_done_callback(lambda opened: opened.cancelled() or opened.exception())
            self._orders.put(None)
            raise
        # What was not indexed when the last process ended.
        self._idle = self._loop.call_later(IDLE_SECS, self._index_when_idle)

    async def write(
        self,
        operation: str,
        run: Callable[[Transaction], T],
        *,
        undoable: bool = False,
        short: int | None = None,
    ) -> T:
        """Run a write in the next transaction and return what it returned, once that is durable.

        A refusal that it raises is its answer; ``undoable`` undoes what it wrote before. Any fault is
        StoreUnavailableError, too many that wait OverloadedError. Who is cancelled does not learn what became
        of the write. ``short`` counts the messages of a write that touches a few rows for each; without it,
        or with more than BATCH_MAX, it runs on the thread.
        """
        if self._closing:
            raise StoreUnavailableError(operation=operation)
        if len(self._waiting) >= WAITING_MAX:
            raise OverloadedError(retry_after_secs=1)
        answer: asyncio.Future[T] = self._loop.create_future()
        weight = 1 if short is None else short
        self._waiting.append(
            _Job(operation, run, answer, undoable, weight, short is not None and weight <= BATCH_MAX)
        )
        if not self._busy:
            # In the next turn of the loop, so that all that arrived in this one share the commit.
            self._busy = True
            self._loop.call_soon(self._next)
        return await answer

    async def close(self) -> None:
        """Finish what was accepted, then stop."""
        if not self._closing:
            self._closing = True
            if self._idle is not None:
                self._idle.cancel()
            if self._busy:
                self._drained = self._loop.create_future()
                await self._drained
            self._orders.put(None)
        await asyncio.to_thread(self._thread.join)

    def _next(self) -> None:
        """On the loop, when the thread has nothing to do: give it what is next."""
        if self._idle is not None:
            self._idle.cancel()
            self._idle = None
        if self._lag > LAG_MAX and self._owed:
            self._orders.put(min(self._owed, STEP_MAX))
            self._owed = 0
        elif self._waiting:
            batch = self._gathered()
            if all(job.short for job in batch.jobs):
                self._run_here(batch)
            self._orders.put(batch)
        else:
            self._busy = False
            if self._drained is not None:
                self._drained.set_result(None)
            elif self._behind:
                self._idle = self._loop.call_later(IDLE_SECS, self._index_when_idle)

    def _gathered(self) -> _Batch:
        jobs: list[_Job] = []
        weight = 0
        while self._waiting and (not jobs or weight + self._waiting[0].weight <= BATCH_MAX):
            jobs.append(self._waiting.popleft())
            weight += jobs[-1].weight
        return _Batch(jobs)

    def _run_here(self, batch: _Batch) -> None:
        """Run a batch's statements on the loop. One that fails is undone and left to the thread."""
        if self._db is None:
            return  # opening it anew may block
        try:
            # Should somebody else write, it is the thread that waits for the lock.
            db = self._begun(lock_ms=0)
            transaction = Transaction(db, self._last_pos, set())
            batch.answers = [_run(transaction, job) for job in batch.jobs]
        except Exception as fault:  # noqa: BLE001  # the thread tries each again and tells its sender
            self._fault(batch.jobs[0].operation, fault)
            self._roll_back()
        else:
            batch.transaction = transaction

    def _index_when_idle(self) -> None:
        self._idle = None
        if not self._busy:
            self._busy = True
            self._orders.put(STEP)

    def _main(self) -> None:
        try:
            self._last_pos = highest_pos(self._connected())
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
        """Carry out the next order; False when that is to end."""
        order = self._orders.get()
        if order is None:
            return False
        if isinstance(order, int):
            self._index(order)
            self._loop.call_soon_threadsafe(self._next)
        else:
            answers, changed = self._committed(order)
            self._loop.call_soon_threadsafe(self._answer, answers, frozenset(changed))
        return True

    def _index(self, step: int) -> None:
        try:
            db = self._begun(lock_ms=LOCK_SECS * 1000)
            self._behind = index_step(db, step)
            self._commit(db)
            self._lag = max(self._lag - step, 0) if self._behind else 0
        except Exception as fault:  # noqa: BLE001  # mail goes on without the index
            self._fault("index", fault)
            self._behind = False  # the next write, or a search, tries again
            self._lag = 0
            self._roll_back()

    def _committed(self, batch: _Batch) -> tuple[list[_Answer], set[str]]:
        if batch.transaction is not None:
            try:
                self._commit(batch.transaction.db)
            except Exception as fault:  # noqa: BLE001  # whatever it is, the senders are told and the thread goes on
                return self._failed(batch.jobs, fault)
            self._note(batch.transaction, len(batch.jobs))
            return batch.answers, batch.transaction.changed
        answers, changed = self._attempt(batch.jobs, shared=len(batch.jobs) > 1)
        if answers is None:
            answers = list[_Answer]()
            for job in batch.jobs:
                alone, told = self._attempt([job], shared=False)
                answers += alone or ()
                changed |= told
        return answers, changed

    def _failed(self, jobs: list[_Job], fault: Exception) -> tuple[list[_Answer], set[str]]:
        self._fault(jobs[0].operation, fault)
        self._roll_back()
        return [(job, None, StoreUnavailableError(operation=job.operation)) for job in jobs], set()

    def _note(self, transaction: Transaction, writes: int) -> None:
        """Take note of what is durable."""
        if self._failing:
            self._failing = False
            _log.warning("the store works again")
        self._last_pos = transaction.last_pos
        self._lag += transaction.posted
        self._owed = 2 * transaction.posted + STEP
        self._behind = self._behind or transaction.posted > 0
        self.figures.commits += 1
        self.figures.writes += writes

    def _attempt(self, batch: list[_Job], *, shared: bool) -> tuple[list[_Answer] | None, set[str]]:
        """Run a batch in one transaction. None: one of several failed by itself, and nothing was done."""
        answers: list[_Answer] = []
        try:
            db = self._begun(lock_ms=LOCK_SECS * 1000)
            transaction = Transaction(db, self._last_pos, set())
            for job in batch:
                try:
                    answers.append(_run(transaction, job))
                except Exception as fault:
                    if not shared:
                        raise
                    self._fault(job.operation, fault)
                    self._roll_back()
                    return None, set()
            self._commit(db)
        except Exception as fault:  # noqa: BLE001  # whatever it is, the senders are told and the thread goes on
            return self._failed(batch, fault)
        self._note(transaction, len(batch))
        return answers, transaction.changed

    def _connected(self) -> sqlite3.Connection:
        if self._db is None:
            self._files.check_database()
            self._db = connect_writer(self._path)
            self._files.note()
        return self._db

    def _begun(self, *, lock_ms: int) -> sqlite3.Connection:
        """Begin a transaction, waiting so long for a lock that nobody should hold."""
        db = self._connected()
        db.execute(f"PRAGMA busy_timeout = {lock_ms}")
        db.execute("BEGIN IMMEDIATE")
        return db

    def _commit(self, db: sqlite3.Connection) -> None:
        """Make the transaction durable, in files that the next start will find."""
        self._files.check()
        try:
            db.execute("COMMIT")
        except sqlite3.Error:
            self._write_over(db)
            raise

    def _write_over(self, db: sqlite3.Connection) -> None:
        """Take the place in the journal of a commit that failed.

        What the disk took and could not make durable stands there whole: a process that starts after a crash
        would find it committed, when its senders were told that nothing was changed. Where even this cannot
        be written, the next commit does it.
        """
        with suppress(sqlite3.Error):
            if db.in_transaction:
                db.execute("ROLLBACK")
            db.execute("BEGIN IMMEDIATE")
            db.execute("UPDATE number SET value = value + 1 WHERE name = 'opened'")
            db.execute("COMMIT")

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
        # A disk that is full fails every write: the first says why, until one succeeds again.
        if self._failing:
            _log.debug("the store failed in %s again", operation)
        else:
            self._failing = True
            _log.error("the store failed in %s", operation, exc_info=fault)

    def _answer(self, answers: list[_Answer], changed: frozenset[str]) -> None:
        for job, result, refusal in answers:
            if job.answer.done():  # its caller was cancelled
                continue
            if refusal is None:
                job.answer.set_result(result)
            else:
                job.answer.set_exception(refusal)
        # After those who were answered, so that their answers leave before the next writes are worked on.
        self._loop.call_soon(self._next)
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
