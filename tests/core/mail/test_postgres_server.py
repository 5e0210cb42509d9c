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
    """Whichever comes first, all of them open, whatever each has read of it before another was done."""
    for _ in range(8):
        url = postgres_server.create()
        stores = await asyncio.gather(*(PostgresStore.open(url, clock) for _ in range(6)))
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


async def test_a_connection_that_was_lost_idle_fails_nobody(postgres_url: str, clock: HandClock):
    """What comes next finds another connection: nothing had been asked of the lost one."""
    store = await PostgresStore.open(postgres_url, clock)
    office = Office(store, clock)
    ann, bob = await office.accounts("ann", "bob")
    assert await office.unread(bob) == 0
    # The daemon's connections are ended by the server, each waited for.
    ended = (
        "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity "
        "WHERE datname = current_database() AND pid <> pg_backend_pid()"
    )
    for _ in range(3):
        with psycopg.connect(postgres_url, autocommit=True) as connection:
            assert len(connection.execute(ended).fetchall()) >= 2
        await office.send(ann, "bob", "kept")
        assert await office.unread(bob) == len(await office.subjects(bob))
    assert await office.unread(bob) == 3
    await store.close()


@pytest.mark.promise("store.broken-disk-is-named")
async def test_a_commit_that_fails_fails_exactly_what_made_it_fail(
    postgres_server: PostgresServer, clock: HandClock
):
    """Of sends that share a commit the others are stored in another one, each once."""
    url = postgres_server.create()
    store = await PostgresStore.open(url, clock)
    office = Office(store, clock)
    ann, bob = await office.accounts("ann", "bob")
    # It fails at the very end, as a full disk would.
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(
            "CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'no'; END $$"
        )
        connection.execute(
            "CREATE CONSTRAINT TRIGGER refused AFTER INSERT ON idempotency DEFERRABLE INITIALLY DEFERRED "
            "FOR EACH ROW WHEN (NEW.key = 'bad') EXECUTE FUNCTION refuse()"
        )
    keys = ["a", "bad", "b", "c"]
    outcomes = await asyncio.gather(
        *(office.send(ann, "bob", key, key=key) for key in keys), return_exceptions=True
    )
    refused = [key for key, outcome in zip(keys, outcomes, strict=True) if not isinstance(outcome, str)]
    assert refused == ["bad"]
    assert isinstance(outcomes[1], StoreUnavailableError)
    assert sorted(await office.subjects(bob)) == ["a", "b", "c"]
    await store.close()
    assert verify(url) == []


@pytest.mark.promise("mail.position-never-decreases")
async def test_a_daemon_whose_clock_is_behind_does_not_turn_time_back(postgres_url: str, clock: HandClock):
    """Its mail comes after what another daemon stored, in order and in time."""
    late = HandClock()
    clock.step(3_600_000)
    one, other = await PostgresStore.open(postgres_url, clock), await PostgresStore.open(postgres_url, late)
    office, behind = Office(one, clock), Office(other, late, seed=1)
    ann, bob = await office.accounts("ann", "bob")
    for number in range(6):
        await (office, behind)[number % 2].send(ann, "bob", str(number))
    page = (await behind.inbox(bob)).messages
    assert [message.subject for message in page] == [str(number) for number in range(6)]
    times = [message.created_at_unix_ms for message in page]
    assert times == sorted(times)
    assert times[0] == clock.now_ms()
    await one.close()
    await other.close()
