"""What operations cost: which indexes they walk, and that the work does not grow with the mailbox.

Nothing here looks at a clock: plans are read, and SQLite's own instructions are counted.
"""

import asyncio
import re
import sqlite3
import threading
from collections.abc import Awaitable, Callable
from contextlib import asynccontextmanager
from functools import partial
from typing import Any

import pytest

from mail4agent_api.addresses import text_of
from mail4agent_api.mail import (
    InboxRequest,
    Message,
    MessageId,
    SendManyRequest,
    SendRequest,
    StatusRequest,
)
from mail4agent_core.mail.identity import Caller
from mail4agent_core.mail.process import Evidence, ProcessId
from mail4agent_core.mail.sqlite import SqliteStore

from .office import Office, position

pytestmark = pytest.mark.promise("store.cost-does-not-grow")

#: Tables and indexes that grow with the mail or its readers.
GROWING = re.compile(
    r"^SCAN (message|m|box|b|ack|a|ack_range|r|counter|c|participant|p|reader|idempotency|membership|room"
    r"|session|s)\b"
)


def _process(number: int) -> ProcessId:
    return ProcessId("boot", number + 1, 7)


class Mailbox:
    """A mailbox of some size, and every operation of a reader or sender on it."""

    def __init__(self, office: Office, store: SqliteStore) -> None:
        self.office = office
        self.store = store

    async def fill(self, size: int) -> None:
        """Half of the mail in a room, a fifth of it acknowledged here and there, the rest in order."""
        office = self.office
        self.ann, self.bob = await office.accounts("ann", "bob")
        for n in range(20):
            await office.room(f"room{n}", self.ann, self.bob)
        self.session = await self.met(0)
        # Sessions that died, one for each few messages.
        for number in range(1, size // 200):
            await self.met(number)
        office.running.intersection_update({_process(0)})
        await office.sessions.flush()
        self.sent: list[MessageId] = []
        root = await office.send(self.bob, "#room0", "root")
        for start in range(0, size, 100):
            messages = [
                SendRequest.model_validate(
                    {
                        "to": self.bob.address if n % 2 else {"kind": "room", "room": "room0"},
                        "subject": str(n),
                        "body": "text",
                        "correlation": f"c{n % 7}",
                        "reply_to": root if n % 10 == 0 else None,
                    }
                )
                for n in range(start, start + 100)
            ]
            wire = await office.engine.send_many(self.ann, SendManyRequest(messages=messages))
            self.sent += [outcome.message_id for outcome in wire.value().outcomes if outcome.kind == "sent"]
            await office.ack_many(self.bob, *self.sent[-100:-20], self.sent[-10], self.sent[-5])
        await office.store.change(
            lambda registry: registry.set_listener(self.bob.address, "http://127.0.0.1:9/", None, None)
        )
        self.root = root
        middle: Message = await office.get(self.bob, self.sent[size // 2])
        newest: Message = await office.get(self.bob, self.sent[-1])
        self.middle, self.newest = position(middle), position(newest)

    async def met(self, number: int) -> Caller:
        """A process as a session of bob."""
        office, process = self.office, _process(number)
        await office.sessions.prepare(process.boot_id, 1_600_000_000_000)
        office.running.add(process)
        address = await office.sessions.meet(self.bob.account, Evidence(process, exe="/bin/agent"))
        return Caller(address, self.bob.capabilities)

    def reads(self) -> dict[str, Callable[[], Awaitable[Any]]]:
        """What runs on the event loop."""
        office, bob, middle = self.office, self.bob, self.middle

        def page(reader: Caller = bob, **fields: object) -> Callable[[], Awaitable[Any]]:
            return lambda: office.engine.inbox(reader, InboxRequest.model_validate(fields))

        return {
            "who is rung": lambda: office.store.listening_to(["bob", "#room0"]),
            "page": page(),
            "page after": page(after=middle),
            "page before": page(before=middle, order="newest"),
            "page newest": page(order="newest"),
            "page at the head": page(after=self.newest),
            "page since": page(since_unix_ms=1),
            "page unread": page(unread_only=True),
            "page unread newest": page(unread_only=True, order="newest"),
            "page unread after": page(unread_only=True, after=middle, limit=20),
            "page of a session": page(self.session),
            "page of a room": page(room="room0"),
            "page sent by": page(sent_by="ann", order="newest"),
            "page correlation": page(correlation="c3", after=middle),
            "page thread": page(thread=self.root),
            "page thread newest": page(thread=self.root, order="newest"),
            "unread": lambda: office.unread(bob),
            "get": lambda: office.get(bob, self.sent[7]),
            "thread": lambda: office.thread(bob, self.root),
            "thread after": lambda: office.thread(bob, self.root, after=middle),
            "newest": lambda: office.engine.newest(bob),
            "stands after": lambda: office.engine.stands_after(bob, middle),
            "boxes": lambda: office.engine.boxes(bob),
            "authenticate": lambda: self.store.authenticate(b"x" * 32),
            "credential": lambda: office.sessions.credential(b"x" * 32),
            "session known": lambda: office.sessions.known(bob.account, _process(0)),
            "session met again": lambda: office.sessions.meet(
                bob.account, Evidence(_process(0), exe="/bin/agent")
            ),
            "unread of a session": lambda: office.unread(self.session),
        }

    def writes(self) -> dict[str, Callable[[], Awaitable[Any]]]:
        """What the writer runs."""
        office, ann, bob, sent = self.office, self.ann, self.bob, self.sent
        third = len(sent) // 300 * 100
        unwanted = iter(sent[third + 33 : third + 63])
        return {
            "send": lambda: office.send(ann, "bob"),
            "send with key": lambda: office.send(ann, "bob", key="k"),
            "send again": lambda: office.send(ann, "bob", key="k"),
            "send to a room": lambda: office.send(ann, "#room0"),
            "send as a session": lambda: office.send(self.session, text_of(self.session.address)),
            "send to a session": lambda: office.send(ann, text_of(self.session.address)),
            "status": lambda: office.engine.status(self.session, StatusRequest(role="reviewer")),
            "reply": lambda: office.send(bob, "ann", reply_to=sent[3]),
            "ack": lambda: office.ack(bob, sent[-3]),
            "ack again": lambda: office.ack(bob, sent[-3]),
            "ack of a session": lambda: office.ack(self.session, sent[len(sent) // 2]),
            "ring": lambda: office.store.next_ring("bob", None, office.clock.now_ms()),
            "tell": lambda: office.tell(bob, limit=4),
            "tell a session": lambda: office.tell(self.session, limit=4),
            "purge": lambda: office.purge_message(next(unwanted)),
        }


@pytest.fixture
async def mailbox(sqlite_office: Office, sqlite_store: SqliteStore) -> Mailbox:
    """A mailbox with a thousand messages."""
    box = Mailbox(sqlite_office, sqlite_store)
    await box.fill(1_000)
    return box


async def writing_connection(store: SqliteStore) -> sqlite3.Connection:
    """The connection of the writer."""
    return await store._writer.write("test", lambda transaction: transaction.db)


@asynccontextmanager
async def statements(store: SqliteStore):
    """Gather the statements that both connections run, with their values."""
    gathered: list[str] = []
    await store._writer.write("test", lambda transaction: transaction.db.set_trace_callback(gathered.append))
    store._readers._inline.set_trace_callback(gathered.append)
    yield gathered
    store._readers._inline.set_trace_callback(None)
    await store._writer.write("test", lambda transaction: transaction.db.set_trace_callback(None))


def wasteful(store: SqliteStore, statement: str) -> list[str]:
    """The steps of a statement's plan that grow with the mail, or sort it."""
    if not statement.startswith(("SELECT", "INSERT", "UPDATE", "DELETE", "WITH")) or "found" in statement:
        return []
    plan = [row[3] for row in store._readers._inline.execute(f"EXPLAIN QUERY PLAN {statement}")]
    return [f"{step} <- {statement}" for step in plan if GROWING.match(step) or "TEMP B-TREE" in step]


async def test_no_hot_statement_scans_or_sorts_the_mailbox(mailbox: Mailbox, sqlite_store: SqliteStore):
    """Every statement of every hot operation goes down an index."""
    for name, operation in (mailbox.reads() | mailbox.writes()).items():
        async with statements(sqlite_store) as ran:
            await operation()
        assert any(re.search("message|participant|session|listener", statement) for statement in ran), name
        assert [step for statement in ran for step in wasteful(sqlite_store, statement)] == [], name


async def test_the_plan_check_sees_a_scan_and_a_sort(sqlite_store: SqliteStore):
    """What it is there for is found."""
    assert wasteful(sqlite_store, "SELECT count(*) FROM message WHERE correlation = 'x'") != []
    assert wasteful(sqlite_store, "SELECT pos FROM message WHERE box_no = 1 ORDER BY correlation") != []
    assert wasteful(sqlite_store, "SELECT pos FROM message WHERE box_no = 1 ORDER BY pos") == []


async def test_the_sender_of_everything_lists_its_mail_by_an_index(
    mailbox: Mailbox, sqlite_store: SqliteStore
):
    """Only the acknowledgements of a listed message are sorted."""
    office = mailbox.office
    ran: list[str] = []

    def trace(db: sqlite3.Connection) -> None:
        both.wait(10)
        db.set_trace_callback(ran.append)

    # Each holds its thread until the other has one too: both connections are traced.
    both = threading.Barrier(2)
    await asyncio.gather(*(sqlite_store._readers.aside("test", name, trace) for name in ("ann", "bob")))
    await office.sent(mailbox.ann)
    wasted = [step for statement in ran for step in wasteful(sqlite_store, statement)]
    assert wasted != []
    assert all("FROM ack a" in step and "TEMP B-TREE FOR ORDER BY" in step for step in wasted)


async def steps(store: SqliteStore, operation: Callable[[], Awaitable[Any]]) -> int:
    """How many instructions of SQLite an operation runs, on the loop and in the writer."""
    count = 0

    def tick() -> int:
        nonlocal count
        count += 1
        return 0

    store._readers._inline.set_progress_handler(tick, 1)
    await store._writer.write("test", lambda transaction: transaction.db.set_progress_handler(tick, 1))
    count = 0
    await operation()
    ran = count
    store._readers._inline.set_progress_handler(None, 0)
    await store._writer.write("test", lambda transaction: transaction.db.set_progress_handler(None, 0))
    return ran


@pytest.mark.timeout(400)
async def test_the_work_does_not_grow_with_the_mailbox(
    sqlite_office: Office, sqlite_store: SqliteStore, tmp_path
):
    """Each operation runs as many instructions at 50,000 messages as at 1,000, within a fifth."""
    counts: list[dict[str, int]] = []
    large_store = await SqliteStore.open(tmp_path / "large.sqlite3", sqlite_office.clock)
    for store, size in ((sqlite_store, 1_000), (large_store, 50_000)):
        box = Mailbox(Office(store, sqlite_office.clock), store)
        await box.fill(size)
        # The writer indexes for search in between: let it finish, so that it is not counted.
        await box.office.search(box.ann, "text", limit=1)
        operations = box.reads() | box.writes()
        count = {name: await steps(store, operation) for name, operation in operations.items()}
        # The search index merges its segments by the way, now and then: one write pays for many.
        purges = [count["purge"], *[await steps(store, operations["purge"]) for _ in range(4)]]
        counts.append(count | {"purge": min(purges)})
    await large_store.close()
    small, large = counts
    assert {name: (small[name], large[name]) for name in small if large[name] > 1.2 * small[name] + 20} == {}
    assert min(small.values()) > 0


async def test_a_first_contact_does_not_grow_with_the_sessions_before(
    sqlite_store: SqliteStore, sqlite_office: Office
):
    """The account's next session costs as much after two hundred that acknowledged mail as after ten."""
    box = Mailbox(sqlite_office, sqlite_store)
    await box.fill(1_000)
    number, counts = 1_000, []
    for sessions in (10, 190):
        for _ in range(sessions):
            number += 1
            # Each closes a gap between two runs, so that their number stays about the same.
            await sqlite_office.ack(await box.met(number), box.sent[number % 500])
        number += 1
        counts.append(await steps(sqlite_store, partial(box.met, number)))
    few, many = counts
    assert 0 < many <= 1.2 * few + 20
