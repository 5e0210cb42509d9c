"""Group commit over the one connection of this daemon that writes.

Writes that arrive while a commit is on its way share the next one, and each is answered after its commit has
returned. A commit that fails is undone and fails exactly the writes in it. A write that fails by itself is
found by undoing the batch and running each write of it in a transaction of its own.

The daemons of one database take turns: a transaction begins by locking the one row of ``clock``, so that
what it judges by holds until its commit, positions are given in the order of commits, and no two of them
wait for each other's rows.

All writes of a batch have been asked for and none has been answered: those of a kind are carried out
together, in a few statements for all of them.
"""

import asyncio
import logging
import queue
import random
import threading
import time
from collections import deque
from collections.abc import Callable
from typing import Any, TypeVar

import psycopg

from mail4agent_api.errors import OverloadedError, StoreUnavailableError
from mail4agent_core.clock import Clock
from mail4agent_core.mail.figures import Figures
from mail4agent_core.mail.store import Listener

from .batch import TELL, Answer, Job, Kind, Transaction, carried_out
from .connection import Database, connect
from .faults import OutcomeUnknownError
from .schema import connect_migrated
from .search import STEP, index_step

T = TypeVar("T")

#: How much shares a commit, counted in sends of one short message.
BATCH_MAX = 512
#: How many writes may wait for a commit.
WAITING_MAX = 8_192
#: How long the writer waits for a write before it indexes for search, in seconds.
IDLE_SECS = 0.02
#: How many messages may be stored without an idle moment before it indexes.
LAG_MAX = 10_000
#: How often a transaction is tried that another one's stopped.
TRIES = 5
#: The pause before the server is asked again after it was away, and the longest, in seconds.
PAUSE_SECS = 0.1
PAUSE_MAX_SECS = 5.0
#: How long it is asked whether a commit was done whose answer was lost, in seconds.
OUTCOME_SECS = 10.0
#: What is told to those who listen. What changed stands in the table ``change``.
CHANNEL = "mail4agent_change"

_log = logging.getLogger(__name__)


class Writer:
    """Owns the writing connection."""

    def __init__(
        self, url: str, origin: str, loop: asyncio.AbstractEventLoop, listener: Listener, clock: Clock
    ) -> None:
        self._url = url
        self._origin = origin
        self._loop = loop
        self._listener = listener
        self._clock = clock
        self._waiting: deque[Job] = deque()
        #: For the thread: writes to commit, or None to end.
        self._orders: queue.SimpleQueue[list[Job] | None] = queue.SimpleQueue()
        self._busy = False
        self._idle: asyncio.TimerHandle | None = None
        self._drained: asyncio.Future[None] | None = None
        self._opened: asyncio.Future[None] = loop.create_future()
        self._thread = threading.Thread(target=self._main, name="mail-writer", daemon=True)
        self._closing = False
        self._db: Database | None = None
        self._pause = 0.0
        self._again_at = 0.0
        self._behind = True
        self._lag = 0
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
        # What was not indexed when the last daemon ended.
        self._idle = self._loop.call_later(IDLE_SECS, self._index_when_idle)

    async def write(
        self, operation: str, run: Callable[[Transaction], T], *, undoable: bool = False, weight: int = 1
    ) -> T:
        """Run a write in the next transaction and return what it returned, once that is durable.

        It may be run more than once; only the last run counts. A refusal that it raises is its answer;
        ``undoable`` undoes what it wrote before. Any fault is StoreUnavailableError, too many that wait
        OverloadedError; where the server does not say whether it was done, OutcomeUnknownError. Who is
        cancelled does not learn what became of the write.
        """
        return await self._asked(operation, None, run, undoable=undoable, weight=weight)

    async def together(self, operation: str, kind: Kind, asked: Any, *, weight: int) -> Any:
        """Have something carried out together with all else of its kind that waits. As ``write``."""
        return await self._asked(operation, kind, asked, undoable=False, weight=weight)

    async def _asked(
        self, operation: str, kind: Kind | None, asked: Any, *, undoable: bool, weight: int
    ) -> Any:
        if self._closing:
            raise StoreUnavailableError(operation=operation)
        if len(self._waiting) >= WAITING_MAX:
            raise OverloadedError(retry_after_secs=1)
        answer: asyncio.Future[Any] = self._loop.create_future()
        self._waiting.append(Job(operation, kind, asked, answer, undoable, weight))
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
        if self._lag > LAG_MAX:
            self._lag = 0
            self._orders.put([self._index_job()])
        elif self._waiting:
            self._orders.put(self._gathered())
        else:
            self._busy = False
            if self._drained is not None:
                self._drained.set_result(None)
            elif self._behind:
                self._idle = self._loop.call_later(IDLE_SECS, self._index_when_idle)

    def _gathered(self) -> list[Job]:
        jobs: list[Job] = []
        weight = 0
        while self._waiting and (not jobs or weight + self._waiting[0].weight <= BATCH_MAX):
            jobs.append(self._waiting.popleft())
            weight += jobs[-1].weight
        return jobs

    def _index_when_idle(self) -> None:
        self._idle = None
        if not self._busy:
            self._busy = True
            self._orders.put([self._index_job()])

    def _index_job(self) -> Job:
        def run(transaction: Transaction) -> None:
            self._behind = index_step(transaction.db)
            self._lag = max(self._lag - STEP, 0) if self._behind else 0

        # Whether it fails is nobody's concern: the next write, or a search, tries again.
        self._behind = False
        answer: asyncio.Future[Any] = self._loop.create_future()
        answer.add_done_callback(lambda done: done.cancelled() or done.exception())
        return Job("index", None, run, answer, undoable=False, weight=1)

    def _main(self) -> None:
        try:
            self._db = connect_migrated(self._url, self._origin)
        except Exception as fault:  # noqa: BLE001  # whoever opens is told, whatever it is
            self._loop.call_soon_threadsafe(self._opened.set_exception, fault)
            return
        self._loop.call_soon_threadsafe(self._opened.set_result, None)
        try:
            while (batch := self._orders.get()) is not None:
                answers, changed = self._committed(batch)
                self._loop.call_soon_threadsafe(self._answer, answers, frozenset(changed))
        finally:
            self._disconnect()

    def _committed(self, batch: list[Job]) -> tuple[list[Answer], set[str]]:
        answers, changed = self._attempt(batch, shared=len(batch) > 1)
        if answers is None:
            answers = list[Answer]()
            for job in batch:
                alone, told = self._attempt([job], shared=False)
                answers += alone or ()
                changed |= told
        return answers, changed

    def _attempt(self, batch: list[Job], *, shared: bool) -> tuple[list[Answer] | None, set[str]]:
        """Run a batch in one transaction. None: one of several failed by itself, and nothing was done."""
        for left in reversed(range(TRIES)):
            transaction, answers = None, list[Answer]()
            try:
                db = self._connected()
                transaction = self._begun(db)
                # What posts tells somebody in any case.
                transaction.marked = any(job.undoable or job.operation == TELL for job in batch)
                answers = carried_out(transaction, batch)
                self._commit(transaction)
            except Exception as fault:  # noqa: BLE001  # whatever it is, the senders are told and the thread goes on
                self._roll_back()
                if transaction is not None and transaction.committing and self._db is None:
                    self._fault(batch[0].operation, fault)
                    return self._after_lost_answer(transaction, answers)
                if transaction is None and self._db is None and left == TRIES - 1 and not self._pause:
                    # The connection was lost while nobody used it, and nothing was asked of it yet.
                    continue
                again = isinstance(
                    fault, (psycopg.errors.SerializationFailure, psycopg.errors.DeadlockDetected)
                )
                if again and left:
                    time.sleep(random.uniform(0, 0.01))  # noqa: S311  # spreads those that met
                    continue
                self._fault(batch[0].operation, fault)
                if shared and self._db is not None and not isinstance(fault, psycopg.OperationalError):
                    return None, set()
                return [(job, None, StoreUnavailableError(operation=job.operation)) for job in batch], set()
            self._note(transaction, len(batch))
            return answers, transaction.changed
        raise AssertionError("the last try returns")

    def _after_lost_answer(
        self, transaction: Transaction, answers: list[Answer]
    ) -> tuple[list[Answer], set[str]]:
        """What is answered where the connection was lost during a commit: what the server made of it.

        To say that nothing was changed of what was done would have its sender do it again.
        """
        done = self._was_done(transaction)
        if done:
            self._note(transaction, len(answers))
            return answers, transaction.changed
        refused = list[Answer]()
        for job, _, _ in answers:
            unknown = done is None and not job.repeatable
            refusal = OutcomeUnknownError() if unknown else StoreUnavailableError(operation=job.operation)
            refused.append((job, None, refusal))
        return refused, set()

    def _was_done(self, transaction: Transaction) -> bool | None:
        """Whether its row is in ``change``. None: the server did not say in time."""
        if not transaction.told:
            return False  # what leaves no row may be done twice
        until = time.monotonic() + OUTCOME_SECS
        while True:
            try:
                db = self._db = connect(self._url, self._origin)
                # A server that still works on the commit lets go of the clock when it is done.
                self._begun(db)
                sql = "SELECT 1 FROM change WHERE seq = %s AND origin = %s"
                found = db.execute(sql, (transaction.change, self._origin)).fetchone()
                db.execute("COMMIT")
            except psycopg.Error as fault:
                self._fault("commit", fault)
                self._disconnect()
                if self._closing or time.monotonic() > until:
                    return None
                time.sleep(PAUSE_SECS * random.uniform(0.5, 1))  # noqa: S311  # spreads them
            else:
                return found is not None

    def _connected(self) -> Database:
        if self._db is None:
            if time.monotonic() < self._again_at:
                raise psycopg.OperationalError("the server was away a moment ago")
            try:
                self._db = connect(self._url, self._origin)
            except psycopg.Error:
                self._pause = min(max(self._pause * 2, PAUSE_SECS), PAUSE_MAX_SECS)
                self._again_at = time.monotonic() + self._pause * random.uniform(0.5, 1)  # noqa: S311  # spreads them
                raise
            self._pause = 0.0
        return self._db

    def _begun(self, db: Database) -> Transaction:
        """Begin a transaction, once it is this daemon's turn."""
        db.execute("BEGIN")
        row = db.execute("SELECT pos, changes FROM clock WHERE one = 1 FOR UPDATE").fetchone()
        assert row is not None
        return Transaction(db, self._clock, row[0], row[1] + 1)

    def _commit(self, transaction: Transaction) -> None:
        """Make the transaction durable, and tell the other daemons of it."""
        db, told = transaction.db, transaction.told
        transaction.committing = True
        if not (transaction.posted or told):
            db.execute("COMMIT")
            return
        with db.pipelined():
            sql = "UPDATE clock SET pos = %s, changes = changes + %s WHERE one = 1"
            db.execute(sql, (transaction.last_pos, int(told)))
            if told:
                sql = (
                    "INSERT INTO change (seq, origin, addresses) "
                    "SELECT changes, %s, %b::text[] FROM clock WHERE one = 1"
                )
                db.execute(sql, (self._origin, sorted(transaction.changed)))
            if transaction.changed:
                db.command(f"NOTIFY {CHANNEL}")
            db.execute("COMMIT")

    def _note(self, transaction: Transaction, writes: int) -> None:
        """Take note of what is durable."""
        if self._failing:
            self._failing = False
            _log.warning("the store works again")
        self._lag += transaction.posted
        self._behind = self._behind or transaction.posted > 0
        self.figures.commits += 1
        self.figures.writes += writes

    def _roll_back(self) -> None:
        """Undo the transaction; a connection that cannot even do that is replaced."""
        try:
            if self._db is not None and not self._db.broken:
                self._db.command("ROLLBACK")
        except psycopg.Error:
            self._disconnect()
        if self._db is not None and self._db.broken:
            self._disconnect()

    def _disconnect(self) -> None:
        if self._db is not None:
            self._db.close()
            self._db = None

    def _fault(self, operation: str, fault: Exception) -> None:
        self.figures.faults += 1
        # A server that is away fails every write: the first says why, until one succeeds again.
        if self._failing:
            _log.debug("the store failed in %s again", operation)
        else:
            self._failing = True
            _log.error("the store failed in %s", operation, exc_info=fault)

    def _answer(self, answers: list[Answer], changed: frozenset[str]) -> None:
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
