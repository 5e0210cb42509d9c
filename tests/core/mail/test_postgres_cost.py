"""What the hot statements read in PostgreSQL, as the server itself counts it."""

import asyncio
from collections.abc import Iterator
from typing import Any

import psycopg
import pytest

from mail4agent_api.addresses import participant_of
from mail4agent_api.mail import Position
from mail4agent_core.clock import HandClock
from mail4agent_core.mail.identity import Caller
from mail4agent_core.mail.postgres import PostgresStore
from mail4agent_core.mail.postgres.connection import Database

from .office import Office, position

MESSAGES = 1_500
LIMIT = 20

#: How many messages there were when the server last looked at its tables; 0 for never.
KNOWN = (0, 1, 20, MESSAGES)


def nodes_of(plan: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """A plan's node and all below it."""
    yield plan
    for below in plan.get("Plans", ()):
        yield from nodes_of(below)


class Counting:
    """Explains each statement that reads, as it runs, and keeps how many rows its greediest node touched."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.touched: dict[str, int] = {}
        execute = Database.execute

        def explained(db: Database, sql: str, values: Any = ()) -> Any:
            if sql.lstrip().startswith(("SELECT", "WITH")) and "pg_" not in sql:
                asked = f"EXPLAIN (ANALYZE, FORMAT JSON) {sql}".encode()
                row = db.connection.execute(asked, values or None, prepare=False).fetchone()
                assert row is not None
                rows = [
                    node["Actual Loops"] * (node["Actual Rows"] + node.get("Rows Removed by Filter", 0))
                    for node in nodes_of(row[0][0]["Plan"])
                ]
                self.touched[sql] = max(self.touched.get(sql, 0), *map(int, rows))
            return execute(db, sql, values)

        monkeypatch.setattr(Database, "execute", explained)


def analyse(url: str) -> None:
    """Have the server look at its tables, as it does by itself when it likes."""
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("VACUUM ANALYZE")


@pytest.fixture
def known() -> int:
    """How many messages the server knows of, where a test does not say."""
    return 0


@pytest.fixture
async def full(
    postgres_office: Office, postgres_url: str, known: int
) -> tuple[Caller, Caller, list[Position]]:
    """Two who read a full mailbox and a full room, and positions spread over them."""
    ann, bob = await postgres_office.accounts("ann", "bob")
    await postgres_office.room("hall", ann, bob)
    for numbers in (range(known), range(known, MESSAGES)):
        await asyncio.gather(
            *(
                postgres_office.send(ann, "#hall" if n % 2 else "bob", f"subject {n}", key=f"k{n}")
                for n in numbers
            )
        )
        if known == numbers.stop:
            analyse(postgres_url)
    last = (await postgres_office.inbox(bob, limit=LIMIT, order="newest")).messages
    first = (await postgres_office.inbox(bob, limit=LIMIT)).messages
    await postgres_office.ack_many(bob, *(each.message_id for each in (*first[::2], *last[::2])))
    return ann, bob, [position(first[-1]), position(last[-1])]


@pytest.mark.promise("store.cost-does-not-grow")
@pytest.mark.parametrize("known", KNOWN)
async def test_no_hot_statement_reads_more_than_its_page(
    postgres_office: Office,
    postgres_store: PostgresStore,
    full: tuple[Caller, Caller, list[Position]],
    clock: HandClock,
    monkeypatch: pytest.MonkeyPatch,
):
    """Whatever the server knows of a mailbox's size, no node of a plan scans, filters or sorts it."""
    ann, bob, (early, late) = full
    counting = Counting(monkeypatch)
    office = postgres_office
    for order in ("oldest", "newest"):
        for fields in ({}, {"unread_only": True}, {"room": "hall"}, {"after": early}, {"after": late}):
            assert len(await office.subjects(bob, limit=LIMIT, order=order, **fields)) >= LIMIT - 1
    newest = (await office.inbox(bob, limit=1, order="newest")).messages[0].message_id
    await office.unread(bob)
    await office.get(bob, newest)
    await office.sent(ann, limit=LIMIT)
    await office.store.stands_after(bob.address, late)
    await office.store.newest(bob.address)
    await office.store.tell(bob.address, LIMIT)
    await office.store.thread(bob.address, newest, None, LIMIT, 1_000_000)
    await office.store.change(
        lambda registry: registry.set_listener(participant_of("bob"), "http://127.0.0.1:1/", None, None)
    )
    await office.send(ann, "bob", "reply", reply_to=newest, key="r1")
    await office.send(bob, "#hall", "mine", key="r2")
    await office.ack_many(bob, newest)
    assert await office.store.next_ring("bob", None, clock.now_ms()) is not None
    assert len(counting.touched) > 15
    greedy = {sql: rows for sql, rows in counting.touched.items() if rows > 6 * LIMIT}
    assert greedy == {}


async def test_the_count_sees_a_scan(
    postgres_store: PostgresStore,
    full: tuple[Caller, Caller, list[Position]],
    monkeypatch: pytest.MonkeyPatch,
):
    """A statement without an index is told from the others."""
    counting = Counting(monkeypatch)
    sql = "SELECT pos FROM message WHERE octet_length(wire) < 0"
    await postgres_store._readers.now("scan", lambda db: db.execute(sql).fetchall())
    assert counting.touched[sql] >= MESSAGES
    assert len(full[2]) == 2
