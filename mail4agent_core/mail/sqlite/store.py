"""The store in one SQLite file."""

import asyncio
import sqlite3
from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from typing import TypeVar

from mail4agent_api.errors import RefusalError, StoreUnavailableError
from mail4agent_api.mail import Ack, MessageId, ParticipantAddress, ParticipantId, Position, SessionAddress
from mail4agent_core.clock import Clock
from mail4agent_core.mail.doorbells import STEP, Attempt, Turn
from mail4agent_core.mail.figures import Figures
from mail4agent_core.mail.flow import FlowCounts, slot_at
from mail4agent_core.mail.posting import Posted, Posting, Sight
from mail4agent_core.mail.records import Account, Page, PageQuery, SearchQuery, Seen, Sent, Swept, Telling
from mail4agent_core.mail.store import Listener, Registry

from . import deletion, doorbells, flow, pages, posting, reading, search, telling
from .backup import copy_database
from .people import active_reader
from .readers import Readers
from .registry import SqliteRegistry, account_by_digest
from .schema import open_error
from .writer import SHORT_BYTES, Transaction, Writer

__all__ = ["SqliteStore", "copy_database"]

T = TypeVar("T")

#: What looking over a step of mail weighs, in short writes: it inserts a narrow row for each message.
RING_WEIGHT = STEP // 4


class SqliteStore:
    """Durable mail in one file. Implements the MailStore Protocol.

    Reads that are bounded by their page run where they are called, on the event loop; the rest runs on
    threads. Exactly one process may have the file open for writing: the daemon holds a lock on its home for
    that.
    """

    def __init__(
        self, path: Path, clock: Clock, writer: Writer, readers: Readers, listeners: list[Listener]
    ) -> None:
        self._path = path
        self._clock = clock
        self._writer = writer
        self._readers = readers
        self._listeners = listeners

    @classmethod
    async def open(cls, path: Path, clock: Clock) -> "SqliteStore":
        """Open a database, creating and migrating it. Raises StoreOpenError."""
        listeners: list[Listener] = []

        def tell(changed: frozenset[str]) -> None:
            for listener in listeners:
                listener(changed)

        writer = Writer(path, asyncio.get_running_loop(), tell)
        await writer.open()
        try:
            readers = Readers(path)
        except sqlite3.Error as fault:
            await writer.close()
            raise open_error(path, fault) from fault
        return cls(path, clock, writer, readers, listeners)

    @property
    def figures(self) -> Figures:
        """What the writer has done."""
        return self._writer.figures

    def subscribe(self, listener: Listener) -> None:
        self._listeners.append(listener)

    async def authenticate(self, digest: bytes) -> Account | None:
        return self._readers.now("authenticate", lambda db: account_by_digest(db, digest))

    async def post(self, postings: Sequence[Posting]) -> list[Posted | RefusalError]:
        return await self._writer.write(
            "post",
            lambda t: posting.post(t, postings, self._clock),
            short=sum(1 + len(each.head) // SHORT_BYTES for each in postings),
        )

    async def acknowledge(
        self, reader: ParticipantAddress, message_ids: Sequence[MessageId]
    ) -> list[Ack | Sight]:
        return await self._writer.write(
            "acknowledge",
            lambda t: posting.acknowledge(t, reader, message_ids, self._clock),
            short=len(message_ids),
        )

    async def page(self, reader: ParticipantAddress, query: PageQuery) -> Page:
        if pages.is_bounded(query) or self._readers.now("page", lambda db: pages.is_short(db, reader, query)):
            return self._readers.now("page", lambda db: pages.page(db, reader, query))
        return await self._readers.aside("page", reader.participant, lambda db: pages.page(db, reader, query))

    async def unread(self, reader: ParticipantAddress) -> int:
        return self._readers.now("unread", lambda db: pages.unread(db, reader))

    async def message(self, reader: ParticipantAddress, message_id: MessageId) -> Seen:
        return self._readers.now("message", lambda db: reading.message(db, reader, message_id))

    async def thread(
        self,
        reader: ParticipantAddress,
        message_id: MessageId,
        after: Position | None,
        limit: int,
        max_bytes: int,
    ) -> list[bytes]:
        return self._readers.now(
            "thread",
            lambda db: reading.thread(db, reader, message_id, after, limit=limit, max_bytes=max_bytes),
        )

    async def search(self, reader: ParticipantAddress, query: SearchQuery, max_bytes: int) -> list[bytes]:
        committed = self._readers.now("search", search.newest_pos)
        while self._readers.now("search", lambda db: search.behind(db, committed)):
            await self._writer.write("search", lambda t: search.index_step(t.db))

        def look(db: sqlite3.Connection) -> list[bytes]:
            return search.search(db, reader, query, pages.upper_bound(db, query.before), max_bytes)

        return await self._readers.aside("search", reader.participant, look)

    async def sent(
        self, sender: ParticipantAddress, before: Position | None, limit: int, max_bytes: int
    ) -> list[Sent]:
        # Not bounded by the page alone: the acknowledgements of a message are sorted.
        return await self._readers.aside(
            "sent", sender.participant, lambda db: reading.sent(db, sender, before, limit, max_bytes)
        )

    async def flow(self, account: ParticipantId, since_ms: int, limit: int) -> FlowCounts:
        # It grows with the pairs and the slots of its span.
        return await self._readers.aside("flow", account, lambda db: flow.most(db, slot_at(since_ms), limit))

    async def newest(self, reader: ParticipantAddress) -> Position | None:
        return self._readers.now("newest", lambda db: reading.newest(db, reader))

    async def stands_after(self, reader: ParticipantAddress, after: Position | None) -> bool:
        return self._readers.now("stands_after", lambda db: reading.stands_after(db, reader, after))

    async def tell(self, reader: ParticipantAddress, limit: int) -> Telling:
        # Most hooks find nothing, and that needs no place in the queue of the writer.
        now = self._readers.now("tell", lambda db: telling.peek(db, reader, limit))
        if not now.messages and self._readers.now("tell", lambda db: telling.has_asked(db, reader)):
            return now
        return await self._writer.write("tell", lambda t: telling.tell(t, reader, limit), short=limit)

    async def shown(self, reader: ParticipantAddress, span: tuple[int, int]) -> None:
        if self._readers.now("shown", lambda db: telling.covers(db, reader, span)):
            await self._writer.write("shown", lambda t: telling.shown(t, reader, span), short=1)

    async def meet(self, session: SessionAddress) -> None:
        await self._writer.write("meet", lambda t: active_reader(t.db, session))

    async def boxes(self, reader: ParticipantAddress) -> frozenset[str]:
        return self._readers.now("boxes", lambda db: reading.box_addresses(db, reader))

    async def change(self, command: Callable[[Registry], T]) -> T:
        def run(transaction: Transaction) -> T:
            return command(SqliteRegistry(transaction.db, transaction.changed))

        return await self._writer.write("change", run, undoable=True)

    async def look(self, query: Callable[[Registry], T]) -> T:
        return self._readers.now("look", lambda db: query(SqliteRegistry(db, set())))

    async def survey(self, account: ParticipantId, query: Callable[[Registry], T]) -> T:
        return await self._readers.aside("survey", account, lambda db: query(SqliteRegistry(db, set())))

    async def doorbells(self) -> list[str]:
        return self._readers.now("doorbells", doorbells.owners)

    async def listening_to(self, boxes: Collection[str]) -> list[str]:
        return self._readers.now("listening_to", lambda db: doorbells.listening_to(db, boxes))

    async def next_ring(self, owner: str, attempt: Attempt | None, now: int) -> Turn | None:
        return await self._writer.write(
            "next_ring", lambda t: doorbells.next_ring(t, owner, attempt, now), short=RING_WEIGHT
        )

    async def sweep(
        self, settled_before: int | None, keys_before: int, resume: int, idle_before: int = 0
    ) -> Swept:
        return await self._writer.write(
            "sweep", lambda t: deletion.sweep(t.db, settled_before, keys_before, resume, idle_before)
        )

    async def remember(self, name: str, value: int | None) -> int | None:
        def write(transaction: Transaction) -> None:
            transaction.db.execute("INSERT OR REPLACE INTO number VALUES (?, ?)", (name, value))

        def read(db: sqlite3.Connection) -> int | None:
            row = db.execute("SELECT value FROM number WHERE name = ?", (name,)).fetchone()
            return None if row is None else row[0]

        if value is not None:
            await self._writer.write("remember", write)
        return self._readers.now("remember", read)

    async def backup(self, target: Path) -> None:
        try:
            await asyncio.to_thread(copy_database, self._path, target)
        except sqlite3.Error as fault:
            raise StoreUnavailableError(operation="backup") from fault

    async def close(self) -> None:
        # The writer closes last: the connection that checkpoints is the one that wrote.
        await self._readers.close()
        await self._writer.close()
