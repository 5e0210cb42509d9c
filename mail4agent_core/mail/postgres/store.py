"""The store in a PostgreSQL database that any number of daemons share."""

import asyncio
import secrets
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

from . import deletion, doorbells, flow, pages, plain, posting, reading, search, telling
from .batch import POST, TELL, Transaction
from .connection import Database
from .listening import Listening
from .lookups import Lookups
from .people import active_reader
from .readers import Readers
from .registry import PostgresRegistry
from .writer import Writer

T = TypeVar("T")

#: What looking over a step of mail weighs in a commit.
RING_WEIGHT = STEP // 4
#: A message counts for one more for each so many bytes.
SHORT_BYTES = 4_096


class PostgresStore:
    """Durable mail in a PostgreSQL database. Implements the MailStore Protocol.

    One connection writes, a few read and one listens to the other daemons.
    """

    def __init__(
        self,
        origin: str,
        writer: Writer,
        readers: Readers,
        listening: Listening,
        listeners: list[Listener],
    ) -> None:
        self._origin = origin
        self._writer = writer
        self._readers = readers
        self._lookups = Lookups(readers)
        self._listening = listening
        self._listeners = listeners

    @classmethod
    async def open(cls, url: str, clock: Clock) -> "PostgresStore":
        """Open a database, migrating it. Raises StoreOpenError."""
        listeners: list[Listener] = []

        def tell(changed: frozenset[str]) -> None:
            for listener in listeners:
                listener(changed)

        # Names this daemon for as long as it runs, to tell its own commits and leases from those of others.
        origin = secrets.token_hex(8)
        loop = asyncio.get_running_loop()
        writer = Writer(url, origin, loop, tell, clock)
        await writer.open()
        listening = Listening(url, origin, loop, tell)
        await listening.open()
        return cls(origin, writer, Readers(url, origin), listening, listeners)

    @property
    def figures(self) -> Figures:
        """What the writer has done."""
        return self._writer.figures

    def subscribe(self, listener: Listener) -> None:
        self._listeners.append(listener)

    async def authenticate(self, digest: bytes) -> Account | None:
        return await self._lookups.account(digest)

    async def post(self, postings: Sequence[Posting]) -> list[Posted | RefusalError]:
        if not postings:
            return []
        weight = sum(1 + len(each.head) // SHORT_BYTES for each in postings)
        return await self._writer.together(POST, posting.post, postings, weight=weight)

    async def acknowledge(
        self, reader: ParticipantAddress, message_ids: Sequence[MessageId]
    ) -> list[Ack | Sight]:
        asked = reader, message_ids
        return await self._writer.together(
            "acknowledge", posting.acknowledge, asked, weight=max(len(message_ids), 1)
        )

    async def page(self, reader: ParticipantAddress, query: PageQuery) -> Page:
        if plain.is_plain(query):
            return await self._readers.now(
                "page", lambda db: plain.plain_page(db, reader, query), single=True
            )
        if not pages.is_bounded(query) and not await self._readers.now(
            "page", lambda db: pages.is_short(db, reader, query)
        ):
            return await self._readers.aside(
                "page", reader.participant, lambda db: pages.page(db, reader, query)
            )
        return await self._readers.now("page", lambda db: pages.page(db, reader, query))

    async def unread(self, reader: ParticipantAddress) -> int:
        return await self._readers.now("unread", lambda db: pages.unread(db, reader))

    async def message(self, reader: ParticipantAddress, message_id: MessageId) -> Seen:
        return await self._readers.now("message", lambda db: reading.message(db, reader, message_id))

    async def thread(
        self,
        reader: ParticipantAddress,
        message_id: MessageId,
        after: Position | None,
        limit: int,
        max_bytes: int,
    ) -> list[bytes]:
        return await self._readers.now(
            "thread",
            lambda db: reading.thread(db, reader, message_id, after, limit=limit, max_bytes=max_bytes),
        )

    async def search(self, reader: ParticipantAddress, query: SearchQuery, max_bytes: int) -> list[bytes]:
        committed = await self._readers.now("search", search.newest_pos, single=True)
        while await self._readers.now("search", lambda db: search.behind(db, committed)):
            await self._writer.write("search", lambda t: search.index_step(t.db))

        def look(db: Database) -> list[bytes]:
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
        return await self._readers.aside("flow", account, lambda db: flow.most(db, slot_at(since_ms), limit))

    async def newest(self, reader: ParticipantAddress) -> Position | None:
        return await self._readers.now("newest", lambda db: reading.newest(db, reader))

    async def stands_after(self, reader: ParticipantAddress, after: Position | None) -> bool:
        return await self._readers.now("stands_after", lambda db: reading.stands_after(db, reader, after))

    async def tell(self, reader: ParticipantAddress, limit: int) -> Telling:
        # Most hooks find nothing, and that needs no turn of the writer.
        now, has_asked = await self._readers.now("tell", lambda db: telling.peek(db, reader, limit))
        if not now.messages and has_asked:
            return now
        return await self._writer.write(TELL, lambda t: telling.tell(t, reader, limit), weight=limit)

    async def shown(self, reader: ParticipantAddress, span: tuple[int, int]) -> None:
        if await self._readers.now("shown", lambda db: telling.covers(db, reader, span)):
            await self._writer.write("shown", lambda t: telling.shown(t, reader, span))

    async def meet(self, session: SessionAddress) -> None:
        await self._writer.write("meet", lambda t: active_reader(t.db, session))

    async def boxes(self, reader: ParticipantAddress) -> frozenset[str]:
        return await self._readers.now("boxes", lambda db: reading.box_addresses(db, reader))

    async def change(self, command: Callable[[Registry], T]) -> T:
        def run(transaction: Transaction) -> T:
            registry = PostgresRegistry(transaction.db, transaction.changed)
            answer = command(registry)
            registry.write_deeds()
            return answer

        return await self._writer.write("change", run, undoable=True)

    async def look(self, query: Callable[[Registry], T]) -> T:
        return await self._readers.now("look", lambda db: query(PostgresRegistry(db, set())))

    async def survey(self, account: ParticipantId, query: Callable[[Registry], T]) -> T:
        return await self._readers.aside("survey", account, lambda db: query(PostgresRegistry(db, set())))

    async def doorbells(self) -> list[str]:
        return await self._readers.now("doorbells", doorbells.owners, single=True)

    async def listening_to(self, boxes: Collection[str]) -> list[str]:
        return await self._readers.now("listening_to", lambda db: doorbells.listening_to(db, boxes))

    async def next_ring(self, owner: str, attempt: Attempt | None, now: int) -> Turn | None:
        return await self._writer.write(
            "next_ring",
            lambda t: doorbells.next_ring(t, self._origin, owner, attempt, now),
            weight=RING_WEIGHT,
        )

    async def sweep(
        self, settled_before: int | None, keys_before: int, resume: int, idle_before: int = 0
    ) -> Swept:
        return await self._writer.write(
            "sweep", lambda t: deletion.sweep(t.db, settled_before, keys_before, resume, idle_before)
        )

    async def remember(self, name: str, value: int | None) -> int | None:
        def write(transaction: Transaction) -> None:
            sql = "INSERT INTO number VALUES (%s, %s) ON CONFLICT (name) DO UPDATE SET value = excluded.value"
            transaction.db.execute(sql, (name, value))

        def read(db: Database) -> int | None:
            row = db.execute("SELECT value FROM number WHERE name = %s", (name,)).fetchone()
            return None if row is None else row[0]

        if value is not None:
            await self._writer.write("remember", write)
        return await self._readers.now("remember", read, single=True)

    async def backup(self, target: Path) -> None:
        del target
        # The server's own tools make backups of a database that several programs share.
        raise StoreUnavailableError(operation="backup")

    async def close(self) -> None:
        await self._listening.close()
        await self._readers.close()
        await self._writer.close()
