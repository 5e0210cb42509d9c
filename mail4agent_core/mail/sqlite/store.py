"""The store in one SQLite file."""

import asyncio
import os
import sqlite3
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar

from mail4agent_api.errors import RefusalError, StoreUnavailableError
from mail4agent_api.mail import Ack, MessageId, ParticipantAddress, Position, SessionAddress

from ...clock import Clock
from ..posting import Posted, Posting, Sight
from ..store import Account, Listener, Page, PageQuery, Registry, SearchQuery, Seen, Sent, Swept
from . import deletion, posting, reading, search
from .people import active_reader
from .registry import SqliteRegistry, account_by_digest
from .schema import connect_reader
from .writer import Figures, Transaction, Writer

T = TypeVar("T")


class SqliteStore:
    """Durable mail in one file. Implements the MailStore Protocol.

    Bounded reads run where they are called, on the event loop; search and backup run on a thread with a connection of their own. Exactly one process
    may have the file open for writing: the daemon holds a lock on its home for that.
    """

    def __init__(self, path: Path, clock: Clock, writer: Writer, listeners: list[Listener]) -> None:
        self._path = path
        self._clock = clock
        self._writer = writer
        self._listeners = listeners
        self._reader = connect_reader(path)
        self._searcher = connect_reader(path)
        self._search_lock = threading.Lock()
        self._closed = False

    @classmethod
    async def open(cls, path: Path, clock: Clock) -> "SqliteStore":
        """Open a database, creating and migrating it. Raises StoreOpenError."""
        listeners: list[Listener] = []

        def tell(changed: frozenset[str]) -> None:
            for listener in listeners:
                listener(changed)

        writer = Writer(path, asyncio.get_running_loop(), tell)
        await writer.open()
        return cls(path, clock, writer, listeners)

    @property
    def figures(self) -> Figures:
        """What the writer has done."""
        return self._writer.figures

    def subscribe(self, listener: Listener) -> None:
        self._listeners.append(listener)

    def _read(self, operation: str, query: Callable[[sqlite3.Connection], T]) -> T:
        if self._closed:
            raise StoreUnavailableError(operation=operation)
        db = self._reader
        try:
            db.execute("BEGIN")
            try:
                return query(db)
            finally:
                db.execute("COMMIT")
        except sqlite3.Error as fault:
            raise StoreUnavailableError(operation=operation) from fault

    async def authenticate(self, digest: bytes) -> Account | None:
        return self._read("authenticate", lambda db: account_by_digest(db, digest))

    async def post(self, postings: Sequence[Posting]) -> list[Posted | RefusalError]:
        return await self._writer.write("post", lambda transaction: posting.post(transaction, postings, self._clock))

    async def acknowledge(self, reader: ParticipantAddress, message_ids: Sequence[MessageId]) -> list[Ack | Sight]:
        return await self._writer.write("acknowledge", lambda transaction: posting.acknowledge(transaction, reader, message_ids, self._clock))

    async def page(self, reader: ParticipantAddress, query: PageQuery) -> Page:
        return self._read("page", lambda db: reading.page(db, reader, query))

    async def unread(self, reader: ParticipantAddress) -> int:
        return self._read("unread", lambda db: reading.unread(db, reader))

    async def message(self, reader: ParticipantAddress, message_id: MessageId) -> Seen:
        return self._read("message", lambda db: reading.message(db, reader, message_id))

    async def thread(self, reader: ParticipantAddress, message_id: MessageId, after: Position | None, limit: int, max_bytes: int) -> list[bytes]:
        return self._read("thread", lambda db: reading.thread(db, reader, message_id, after, limit, max_bytes))

    async def search(self, reader: ParticipantAddress, query: SearchQuery, max_bytes: int) -> list[bytes]:
        while self._read("search", search.behind):
            await self._writer.write("search", lambda transaction: search.index_step(transaction.db))
        high = self._read("search", lambda db: reading.upper_bound(db, query.before))

        def look() -> list[bytes]:
            with self._search_lock:
                return search.search(self._searcher, reader, query, high)

        try:
            return reading.within(await asyncio.to_thread(look), max_bytes)
        except sqlite3.Error as fault:
            raise StoreUnavailableError(operation="search") from fault

    async def sent(self, sender: ParticipantAddress, before: Position | None, limit: int, max_bytes: int) -> list[Sent]:
        return self._read("sent", lambda db: reading.sent(db, sender, before, limit, max_bytes))

    async def newest(self, reader: ParticipantAddress) -> Position | None:
        return self._read("newest", lambda db: reading.newest(db, reader))

    async def stands_after(self, reader: ParticipantAddress, after: Position | None) -> bool:
        return self._read("stands_after", lambda db: reading.stands_after(db, reader, after))

    async def meet(self, session: SessionAddress) -> None:
        await self._writer.write("meet", lambda transaction: active_reader(transaction.db, session))

    async def boxes(self, reader: ParticipantAddress) -> frozenset[str]:
        return self._read("boxes", lambda db: reading.box_addresses(db, reader))

    async def change(self, command: Callable[[Registry], T]) -> T:
        def run(transaction: Transaction) -> T:
            return command(SqliteRegistry(transaction.db, transaction.changed))

        return await self._writer.write("change", run, undoable=True)

    async def look(self, query: Callable[[Registry], T]) -> T:
        return self._read("look", lambda db: query(SqliteRegistry(db, set())))

    async def sweep(self, now: int, settled_before: int | None, keys_before: int, resume: int) -> Swept:
        return await self._writer.write("sweep", lambda transaction: deletion.sweep(transaction.db, settled_before, keys_before, resume))

    async def remember(self, name: str, value: int | None) -> int | None:
        def write(transaction: Transaction) -> None:
            transaction.db.execute("INSERT OR REPLACE INTO number VALUES (?, ?)", (name, value))

        def read(db: sqlite3.Connection) -> int | None:
            row = db.execute("SELECT value FROM number WHERE name = ?", (name,)).fetchone()
            return None if row is None else row[0]

        if value is not None:
            await self._writer.write("remember", write)
        return self._read("remember", read)

    async def backup(self, target: Path) -> None:
        await asyncio.to_thread(copy_database, self._path, target)

    async def close(self) -> None:
        if self._closed:
            return
        self._closed = True
        # The writer closes last: the connection that checkpoints is the one that wrote.
        self._reader.close()
        with self._search_lock:
            self._searcher.close()
        await self._writer.close()


def copy_database(source: Path, target: Path) -> None:
    """Write a consistent copy of a database, live or not, to a new file of mode 0600, durable when this returns.

    Raises FileExistsError when the target exists, FileNotFoundError when the source does not, and sqlite3.Error when it cannot be read.
    """
    if not source.exists():
        raise FileNotFoundError(source)
    partial = target.with_name(f".{target.name}.{os.getpid()}.partial")
    os.close(os.open(partial, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
    try:
        reading_end = sqlite3.connect(f"{source.resolve().as_uri()}?mode=ro", uri=True, timeout=5)
        writing_end = sqlite3.connect(partial)
        try:
            reading_end.backup(writing_end)
        finally:
            writing_end.close()
            reading_end.close()
        _sync(partial)
        os.link(partial, target)
    finally:
        partial.unlink()
    _sync(target.parent)


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)

