"""The box's one database: opened and migrated, and every statement run on one thread with group commit.

Jobs that arrive while a commit is on its way to disk share the next one, and each is answered after its
commit has returned. A job that refuses undoes its own statements and nobody else's.
"""

import asyncio
import os
import queue
import secrets
import sqlite3
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any, TypeVar

from mail4agent_api.errors import OverloadedError, RefusalError, StoreUnavailableError
from mail4agent_daemon.log import Log

T = TypeVar("T")
NAME = "box.sqlite3"
#: "M4B1": says that the file is a box.
APPLICATION_ID = 0x4D344231
BATCH_MAX = 256
WAITING_MAX = 4_096
_OPERATION = "intake"


class BoxOpenError(Exception):
    """The box's database cannot be used; the message says why."""


def migrations() -> list[tuple[int, str]]:
    """The numbered migrations in order, with their SQL."""
    folder = files("mail4agent_daemon.intake").joinpath("migrations")
    found = sorted((f for f in folder.iterdir() if f.name.endswith(".sql")), key=lambda f: f.name)
    return [(int(f.name[:4]), f.read_text("utf-8")) for f in found]


def connected(path: Path) -> sqlite3.Connection:
    """Open the database, making and migrating it; a new one gets an epoch of its own. Raises BoxOpenError."""
    db: sqlite3.Connection | None = None
    try:
        if not path.exists():
            os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
        db = sqlite3.connect(
            path, isolation_level=None, cached_statements=128, timeout=5, check_same_thread=False
        )
        _check(db, path)
        # What is deleted is overwritten, and the file shrinks: nothing of a stranger is kept after it left.
        db.execute("PRAGMA secure_delete = ON")
        db.execute("PRAGMA auto_vacuum = INCREMENTAL")
        _migrate(db)
        db.execute("PRAGMA journal_mode = WAL")
        db.execute("PRAGMA synchronous = FULL")
        db.execute("PRAGMA fullfsync = 1")
        db.execute("PRAGMA foreign_keys = ON")
        db.execute("PRAGMA temp_store = MEMORY")
        db.execute("INSERT INTO meta VALUES ('epoch', ?) ON CONFLICT DO NOTHING", (secrets.token_hex(16),))
    except (OSError, sqlite3.Error) as fault:
        if db is not None:
            db.close()
        said = fault.strerror if isinstance(fault, OSError) else str(fault)
        raise BoxOpenError(f"{path} cannot be used: {said}") from fault
    except BaseException:
        if db is not None:
            db.close()
        raise
    return db


def _check(db: sqlite3.Connection, path: Path) -> None:
    version: int = db.execute("PRAGMA user_version").fetchone()[0]
    application: int = db.execute("PRAGMA application_id").fetchone()[0]
    tables: int = db.execute("SELECT count(*) FROM sqlite_schema").fetchone()[0]
    if application != APPLICATION_ID and (version or application or tables):
        raise BoxOpenError(f"{path} is no database of a box")
    # No migration makes one: somebody else's would run within every statement, and may never end.
    if db.execute("SELECT 1 FROM sqlite_schema WHERE type IN ('trigger', 'view')").fetchone():
        raise BoxOpenError(f"{path} holds a trigger or a view, which no box has")
    if version > migrations()[-1][0]:
        raise BoxOpenError(f"{path} was made by a newer mail4agent; start that one")


def _migrate(db: sqlite3.Connection) -> None:
    version: int = db.execute("PRAGMA user_version").fetchone()[0]
    for number, sql in migrations():
        if number > version:
            try:
                db.executescript(
                    f"BEGIN EXCLUSIVE;\n{sql}\nPRAGMA user_version = {number};\n"
                    f"PRAGMA application_id = {APPLICATION_ID};\nCOMMIT;"
                )
            except sqlite3.Error:
                if db.in_transaction:
                    db.execute("ROLLBACK")
                raise


@dataclass(slots=True)
class _Job:
    run: Callable[[sqlite3.Connection], Any]
    answer: "asyncio.Future[Any]"
    scrub: bool
    result: Any = None
    refusal: RefusalError | None = None


class Database:
    """Owns the connection and its thread."""

    def __init__(self, path: Path, log: Log) -> None:
        """Open it. Raises BoxOpenError."""
        self._db = connected(path)
        self._log = log
        self._jobs: queue.SimpleQueue[_Job | None] = queue.SimpleQueue()
        self._closing = False
        self._thread = threading.Thread(target=self._main, name="box", daemon=True)
        self._thread.start()

    async def run(self, job: Callable[[sqlite3.Connection], T], *, scrub: bool = False) -> T:
        """Run a job in the next transaction; its answer, once that is durable.

        With ``scrub``, what it deleted is gone from the log beside the database too by then.
        A refusal that it raises is its answer and undoes what it wrote. Raises OverloadedError when too many
        wait, StoreUnavailableError for any fault.
        """
        if self._closing:
            raise StoreUnavailableError(operation=_OPERATION)
        if self._jobs.qsize() >= WAITING_MAX:
            raise OverloadedError(retry_after_secs=1)
        answer: asyncio.Future[T] = asyncio.get_running_loop().create_future()
        self._jobs.put(_Job(job, answer, scrub))
        return await answer

    async def close(self) -> None:
        """Finish what was accepted, then close."""
        if not self._closing:
            self._closing = True
            self._jobs.put(None)
            await asyncio.to_thread(self._thread.join)

    def _main(self) -> None:
        while (job := self._jobs.get()) is not None:
            batch = [job]
            last = False
            while len(batch) < BATCH_MAX and not self._jobs.empty():
                further = self._jobs.get()
                if further is None:
                    last = True
                    break
                batch.append(further)
            self._transaction(batch)
            if last:
                break
        self._db.close()

    def _transaction(self, batch: list[_Job]) -> None:
        fault: Exception | None = None
        try:
            self._db.execute("BEGIN IMMEDIATE")
            for job in batch:
                self._one(job)
            self._commit()
        except Exception as failure:  # noqa: BLE001  whatever it is, who waits is told and the thread goes on
            fault = failure
            self._log.failed("box_failed", failure)
            with suppress(sqlite3.Error):
                if self._db.in_transaction:
                    self._db.execute("ROLLBACK")
        scrubbed = fault if fault is not None else self._scrub(batch)
        loop = batch[0].answer.get_loop()
        loop.call_soon_threadsafe(_answer, batch, fault, scrubbed)

    def _commit(self) -> None:
        try:
            self._db.execute("COMMIT")
        except sqlite3.Error:
            self._write_over()
            raise

    def _write_over(self) -> None:
        """Take the place in the log of a commit that failed.

        What the disk took and could not make durable stands there whole: a box that starts after a crash
        would find it committed, when its senders were told that nothing was changed. Where even this cannot
        be written, the next commit does it.
        """
        with suppress(sqlite3.Error):
            if self._db.in_transaction:
                self._db.execute("ROLLBACK")
            self._db.execute("BEGIN IMMEDIATE")
            # What changes nothing would write nothing.
            self._db.execute(
                "INSERT INTO meta VALUES ('written_over', '1') ON CONFLICT DO UPDATE SET value = value + 1"
            )
            self._db.execute("COMMIT")

    def _scrub(self, batch: list[_Job]) -> Exception | None:
        """Empty the log where a job of a batch that is committed asks for it; why that failed."""
        try:
            if any(job.scrub for job in batch):
                self._db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        except sqlite3.Error as failure:
            self._log.failed("box_failed", failure)
            return failure
        return None

    def _one(self, job: _Job) -> None:
        self._db.execute("SAVEPOINT job")
        try:
            job.result = job.run(self._db)
        except RefusalError as refusal:
            job.refusal = refusal.with_traceback(None)
            self._db.execute("ROLLBACK TO job")
        self._db.execute("RELEASE job")


def _answer(batch: list[_Job], fault: Exception | None, scrubbed: Exception | None) -> None:
    for job in batch:
        if job.answer.done():
            continue
        # What was committed is not refused because what another one deleted still stands in the log.
        if fault is not None or (job.scrub and scrubbed is not None):
            job.answer.set_exception(StoreUnavailableError(operation=_OPERATION))
        elif job.refusal is not None:
            job.answer.set_exception(job.refusal)
        else:
            job.answer.set_result(job.result)
