"""How secrets are looked up together in PostgreSQL, and how queries are given to the threads that read."""

import asyncio
import threading
from collections.abc import AsyncIterator
from typing import Any

import psycopg
import pytest

from mail4agent_api.mail import ParticipantId
from mail4agent_core.clock import HandClock
from mail4agent_core.ids import digest_of
from mail4agent_core.mail.postgres import PostgresStore
from mail4agent_core.mail.postgres.connection import Database
from mail4agent_core.mail.postgres.pool import Pool
from mail4agent_core.mail.store import Registry

BOUND_SECS = 30.0
ANN = ParticipantId("ann")
OLD, NEW = digest_of("a1" * 32), digest_of("b2" * 32)


class Lookups:
    """Counts the statements that look secrets up; each waits for ``go``."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, loop: asyncio.AbstractEventLoop) -> None:
        self.go = threading.Event()
        self.begun = asyncio.Event()
        self.looked: list[list[bytes]] = []
        execute = Database.execute

        def counted(db: Database, sql: str, values: Any = ()) -> Any:
            if "secret_digest = w.digest" not in sql:
                return execute(db, sql, values)
            self.looked.append(list(values[0]))
            answer = execute(db, sql, values)
            loop.call_soon_threadsafe(self.begun.set)
            assert self.go.wait(BOUND_SECS)
            return answer

        monkeypatch.setattr(Database, "execute", counted)


async def registered(store: PostgresStore, *names: str) -> dict[str, bytes]:
    """Accounts, and the digests of their secrets."""
    digests = {name: digest_of(f"{name:0>64}") for name in names}

    def add(registry: Registry) -> None:
        for name, digest in digests.items():
            registry.add_account(ParticipantId(name), None, digest, frozenset({"mail:read"}), 1)

    await store.change(add)
    return digests


@pytest.mark.promise("store.daemons-share-a-database")
async def test_secrets_presented_together_are_looked_up_in_one_statement(
    postgres_store: PostgresStore, monkeypatch: pytest.MonkeyPatch
):
    """Each gets its own account, an unknown one none."""
    digests = await registered(postgres_store, "ann", "bob", "cid")
    lookups = Lookups(monkeypatch, asyncio.get_running_loop())
    lookups.go.set()
    asked = [*digests.values(), NEW, *digests.values()]
    found = await asyncio.gather(*(postgres_store.authenticate(each) for each in asked))
    assert [None if each is None else each.id for each in found] == [*digests, None, *digests]
    assert len(lookups.looked) == 1


@pytest.mark.promise("store.daemons-share-a-database")
async def test_a_secret_that_ended_while_another_look_up_was_on_its_way_is_refused(
    postgres_url: str, postgres_store: PostgresStore, clock: HandClock, monkeypatch: pytest.MonkeyPatch
):
    """A look-up that began before the secret was presented says nothing of it."""
    other = await PostgresStore.open(postgres_url, clock)
    await postgres_store.change(lambda each: each.add_account(ANN, None, OLD, frozenset({"mail:read"}), 1))
    lookups = Lookups(monkeypatch, asyncio.get_running_loop())
    async with asyncio.timeout(BOUND_SECS):
        first = asyncio.create_task(postgres_store.authenticate(OLD))
        await lookups.begun.wait()
        await other.change(lambda each: each.set_secret(ANN, NEW, 2))
        second = asyncio.create_task(postgres_store.authenticate(OLD))
        lookups.go.set()
        assert (await first) is not None
        assert (await second) is None
    await other.close()


@pytest.fixture
async def pool(postgres_url: str) -> AsyncIterator[Pool]:
    """One thread that takes all that waits."""
    made = Pool(postgres_url, "test", 1, 8)
    yield made
    await made.close()


def number(value: int) -> Any:
    """A query that answers a number, or divides by it."""
    return lambda db: db.execute("SELECT 12 / %s", (value,)).fetchone()[0]


@pytest.mark.promise("store.lost-server-is-named")
async def test_a_query_that_fails_fails_nobody_that_shares_its_thread(pool: Pool):
    """Those before and after it are answered, within a transaction and without one."""
    for single in (True, False):
        asked = [pool.submit(number(each), deadline_ms=None, single=single) for each in (1, 2, 0, 3)]
        found = await asyncio.gather(*asked, return_exceptions=True)
        assert [found[0], found[1], found[3]] == [12, 6, 4]
        assert isinstance(found[2], psycopg.errors.DivisionByZero)


async def test_a_query_whose_caller_is_gone_holds_up_nobody(pool: Pool):
    """Its answer is thrown away, and the next one is given."""
    gone, kept = (pool.submit(number(each), deadline_ms=None, single=True) for each in (2, 3))
    gone.cancel()
    async with asyncio.timeout(BOUND_SECS):
        assert await kept == 4
        assert await pool.submit(number(4), deadline_ms=None, single=True) == 3


async def test_closing_finishes_what_was_asked_for(postgres_url: str):
    """All that waits is answered first, in as many shares as it takes."""
    pool = Pool(postgres_url, "test", 1, 2)
    asked = [pool.submit(number(each), deadline_ms=None, single=True) for each in (1, 2, 3, 4, 6)]
    async with asyncio.timeout(BOUND_SECS):
        await pool.close()
    assert [each.result() for each in asked] == [12, 6, 4, 3, 2]
