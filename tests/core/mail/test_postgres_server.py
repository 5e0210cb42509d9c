"""The store in PostgreSQL while its server is away, and what it makes of databases that are not its own."""

import asyncio
from collections.abc import Iterator

import psycopg
import pytest

from mail4agent_api.errors import RefusalError, StoreUnavailableError
from mail4agent_core.clock import HandClock
from mail4agent_core.mail.postgres import (
    DatabaseForeignError,
    DatabaseNewerError,
    DatabaseUnreachableError,
    PostgresStore,
    listening,
    writer,
)
from mail4agent_core.mail.postgres.schema import migrations
from mail4agent_core.mail.postgres.verify import verify
from tests.postgres import PostgresServer, postgres

from .office import Office

BOUND_SECS = 30.0


@pytest.fixture(scope="module")
def own_server() -> Iterator[PostgresServer]:
    """A server that these tests stop."""
    with postgres() as server:
        yield server


async def working(office: Office, clock: HandClock) -> None:
    """Ask until a write is taken and a read answered."""
    async with asyncio.timeout(BOUND_SECS):
        while True:
            try:
                assert await office.store.remember("asked", clock.now_ms()) == clock.now_ms()
            except StoreUnavailableError:
                await asyncio.sleep(0)
            else:
                return


@pytest.mark.promise("store.lost-server-is-named")
async def test_a_server_that_goes_and_comes_back_loses_nothing(own_server: PostgresServer, clock: HandClock):
    """What waits is refused as store_unavailable, and both daemons work again by themselves."""
    url = own_server.create()
    one, other = await PostgresStore.open(url, clock), await PostgresStore.open(url, clock)
    told: list[frozenset[str]] = []
    heard = asyncio.Event()
    other.subscribe(lambda changed: (told.append(changed), heard.set()))
    office, there = Office(one, clock), Office(other, clock, seed=1)
    ann, bob = await office.accounts("ann", "bob")
    kept = [await office.send(ann, "bob", str(n)) for n in range(3)]
    own_server.stop()
    outcomes = await asyncio.gather(
        *(office.send(ann, "bob", f"lost {n}") for n in range(3)),
        there.unread(bob),
        there.ack(bob, kept[0]),
        return_exceptions=True,
    )
    assert [each.kind for each in outcomes if isinstance(each, RefusalError)] == ["store_unavailable"] * 5
    own_server.start()
    await working(office, clock)
    await working(there, clock)
    heard.clear()
    kept.append(await office.send(ann, "bob", "after"))
    async with asyncio.timeout(BOUND_SECS):
        while frozenset(("bob",)) not in told:
            await heard.wait()
            heard.clear()
    page = await there.inbox(bob)
    assert [message.message_id for message in page.messages] == kept
    await one.close()
    await other.close()
    assert verify(url) == []


@pytest.mark.promise("store.daemons-share-a-database")
async def test_changes_are_heard_of_where_nothing_is_notified(
    postgres_url: str, clock: HandClock, monkeypatch: pytest.MonkeyPatch
):
    """The slow look at the clock row is the guarantee; old changes go, and who missed them is told of all."""
    monkeypatch.setattr(writer, "CHANNEL", "nobody")
    monkeypatch.setattr(listening, "FORGET_SECS", 0.0)
    monkeypatch.setattr(listening, "KEPT_SECS", 0.0)
    monkeypatch.setattr(listening, "POLL_SECS", 0.01)
    one, other = await PostgresStore.open(postgres_url, clock), await PostgresStore.open(postgres_url, clock)
    told: set[str] = set()
    heard = asyncio.Event()
    other.subscribe(lambda changed: (told.update(changed), heard.set()))
    office = Office(one, clock)
    ann, _ = await office.accounts("ann", "bob")
    async with asyncio.timeout(BOUND_SECS):
        for n in range(50):
            told.clear()
            await office.send(ann, "bob", str(n))
            while "bob" not in told:
                await heard.wait()
                heard.clear()
    await one.close()
    await other.close()


async def test_writers_of_two_daemons_give_positions_in_the_order_of_their_commits(
    postgres_url: str, clock: HandClock
):
    """A reader that follows one box while both write misses and repeats nothing."""
    one, other = await PostgresStore.open(postgres_url, clock), await PostgresStore.open(postgres_url, clock)
    offices = Office(one, clock), Office(other, clock, seed=1)
    ann, bob = await offices[0].accounts("ann", "bob")
    await offices[0].room("hall", ann, bob)

    async def send(number: int) -> None:
        await offices[number % 2].send((ann, bob)[number // 2 % 2], "#hall", str(number))

    async def follow() -> list[str]:
        seen: list[str] = []
        after = None
        while len(seen) < 200:
            page = (await offices[1].inbox(bob, after=after, limit=7)).messages
            seen += [message.subject for message in page]
            if page:
                after = {
                    "created_at_unix_ms": page[-1].created_at_unix_ms,
                    "message_id": page[-1].message_id,
                }
        return seen

    async with asyncio.timeout(BOUND_SECS), asyncio.TaskGroup() as group:
        following = group.create_task(follow())
        for number in range(200):
            group.create_task(send(number))
    assert sorted(map(int, following.result())) == list(range(200))
    assert following.result() == await offices[0].subjects(bob, limit=256)
    assert await offices[0].unread(bob) == await offices[1].unread(bob) == 100
    await one.close()
    await other.close()
    assert verify(postgres_url) == []


@pytest.mark.promise("store.one-daemon-one-file")
async def test_a_newer_database_is_refused_by_name(postgres_server: PostgresServer, clock: HandClock):
    """With what it is and what this program knows; nothing is changed."""
    url, known = postgres_server.create(), migrations()[-1][0]
    await (await PostgresStore.open(url, clock)).close()
    with psycopg.connect(url) as connection:
        connection.execute("UPDATE mail4agent_schema SET version = 99")
    with pytest.raises(DatabaseNewerError) as refused:
        await PostgresStore.open(url, clock)
    assert (refused.value.found, refused.value.known) == (99, known)


async def test_a_database_of_something_else_is_left_alone(postgres_server: PostgresServer, clock: HandClock):
    """No table is added to it."""
    url = postgres_server.create()
    with psycopg.connect(url) as connection:
        connection.execute("CREATE TABLE theirs (n INTEGER)")
    with pytest.raises(DatabaseForeignError):
        await PostgresStore.open(url, clock)
    with psycopg.connect(url) as connection:
        row = connection.execute("SELECT count(*) FROM pg_tables WHERE schemaname = 'public'").fetchone()
    assert row == (1,)


async def test_daemons_that_start_together_make_one_schema(postgres_server: PostgresServer, clock: HandClock):
    """Whichever comes first, all of them open."""
    url = postgres_server.create()
    stores = await asyncio.gather(*(PostgresStore.open(url, clock) for _ in range(4)))
    for store in stores:
        await store.close()
    assert verify(url) == []


async def test_a_server_that_is_not_there_is_named_without_the_password(clock: HandClock):
    """The place is said, and what is secret is not."""
    url = "postgresql://mail:hidden@127.0.0.1:1/mail"
    with pytest.raises(DatabaseUnreachableError) as refused:
        await PostgresStore.open(url, clock)
    assert "127.0.0.1:1" in str(refused.value)
    assert "hidden" not in str(refused.value)
