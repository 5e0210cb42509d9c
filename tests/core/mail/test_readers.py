"""Queries aside: nobody's keep others from theirs, and each ends."""

import asyncio
import sqlite3
import threading
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from mail4agent_api.errors import OverloadedError, StoreUnavailableError
from mail4agent_api.mail import DirectoryRequest, ParticipantId, WhoAmIRequest
from mail4agent_core.mail.sqlite import SqliteStore, readers, shares
from mail4agent_core.mail.sqlite.readers import THREADS, Readers

from .office import Office

BOUND_SECS = 10
ANN, BOB, CAT = map(ParticipantId, ("ann", "bob", "cat"))
ENDLESS = "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n"


class Gate:
    """A query that runs until it is let go."""

    def __init__(self) -> None:
        self.entered = threading.Event()
        self._open = threading.Event()

    def __call__(self, _: sqlite3.Connection) -> str:
        self.entered.set()
        assert self._open.wait(BOUND_SECS)
        return "done"

    async def met(self) -> None:
        """Wait until it runs."""
        assert await asyncio.to_thread(self.entered.wait, BOUND_SECS)

    def open(self) -> None:
        """Let it end."""
        self._open.set()


@pytest.fixture
async def pool(path: Path, sqlite_store: SqliteStore) -> AsyncIterator[Readers]:
    """Readers of an empty store."""
    made = Readers(path)
    yield made
    await made.close()


def one(db: sqlite3.Connection) -> int:
    """A short query."""
    return db.execute("SELECT 1").fetchone()[0]


def endless(db: sqlite3.Connection) -> int:
    """A query that never ends by itself."""
    return db.execute(ENDLESS).fetchone()[0]


def asked(pool: Readers, account: ParticipantId, query: readers.Query[object]) -> asyncio.Task[object]:
    """Ask without waiting for the answer."""
    return asyncio.ensure_future(pool.aside("test", account, query))


async def turns() -> None:
    """Let what was asked reach its queue."""
    for _ in range(5):
        await asyncio.sleep(0)


async def test_a_query_ends_at_its_deadline(pool: Readers, monkeypatch: pytest.MonkeyPatch):
    """It is refused as overloaded, and its thread serves the next."""
    monkeypatch.setattr(readers, "DEADLINE_SECS", 0.0)
    async with asyncio.timeout(BOUND_SECS):
        for _ in range(THREADS + 1):
            with pytest.raises(OverloadedError) as refused:
                await pool.aside("test", ANN, endless)
            assert refused.value.refusal.retry_after_secs == 1
    monkeypatch.undo()
    assert await pool.aside("test", ANN, one) == 1


async def test_a_search_for_a_common_phrase_ends_at_its_deadline(
    sqlite_office: Office, monkeypatch: pytest.MonkeyPatch
):
    """Also while the index looks for a phrase that stands nowhere."""
    ann, bob = await sqlite_office.accounts("ann", "bob")
    for _ in range(20):
        await sqlite_office.send(ann, "bob", body="one two three " * 200)
    monkeypatch.setattr(readers, "DEADLINE_SECS", 0.0)
    monkeypatch.setattr(readers, "DEADLINE_STEPS", 1)
    with pytest.raises(OverloadedError):
        await sqlite_office.search(bob, '"two one"')
    monkeypatch.undo()
    assert await sqlite_office.search(bob, '"two one"') == []


async def test_an_account_has_one_query_at_work(pool: Readers):
    """Its others wait behind that one, while another account is answered."""
    gate, second = Gate(), Gate()
    first, behind = asked(pool, ANN, gate), asked(pool, ANN, second)
    await gate.met()
    async with asyncio.timeout(BOUND_SECS):
        assert [await pool.aside("test", BOB, one) for _ in range(3)] == [1, 1, 1]
    assert not second.entered.is_set()
    gate.open()
    second.open()
    assert await asyncio.gather(first, behind) == ["done", "done"]


async def test_accounts_take_turns(pool: Readers):
    """Who asked once is served after one query of an account that asked many times before."""
    gates = [Gate(), Gate()]
    held = [asked(pool, ANN, gates[0]), asked(pool, BOB, gates[1])]
    for gate in gates:
        await gate.met()
    served: list[str] = []

    def noting(name: str) -> readers.Query[object]:
        return lambda _: served.append(name)

    queued = [asked(pool, ANN, noting(f"ann {n}")) for n in range(4)]
    await turns()
    queued.append(asked(pool, CAT, noting("cat")))
    await turns()
    gates[0].open()
    await asyncio.gather(held[0], *queued)
    assert served == ["cat", "ann 0", "ann 1", "ann 2", "ann 3"]
    gates[1].open()
    await held[1]


async def test_too_many_queries_of_an_account_are_refused(pool: Readers):
    """The account's own queue is full; that of another is not."""
    gate = Gate()
    held = [asked(pool, ANN, gate) for _ in range(shares.QUEUE_MAX + 1)]
    await gate.met()
    with pytest.raises(OverloadedError):
        await pool.aside("test", ANN, one)
    assert await pool.aside("test", BOB, one) == 1
    gate.open()
    assert await asyncio.gather(*held) == ["done"] * len(held)
    assert await pool.aside("test", ANN, one) == 1


async def test_who_goes_away_leaves_the_queue_and_keeps_no_turn(pool: Readers):
    """A cancelled query that waits is forgotten; one at work holds its account's turn until it ends."""
    gate = Gate()
    first = asked(pool, ANN, gate)
    await gate.met()
    waiting = [asked(pool, ANN, one) for _ in range(shares.QUEUE_MAX)]
    await turns()
    for task in (first, *waiting):
        task.cancel()
    await asyncio.wait((first, *waiting), timeout=BOUND_SECS)
    last = asked(pool, ANN, one)
    await turns()
    assert not last.done()
    gate.open()
    assert await asyncio.wait_for(last, BOUND_SECS) == 1


async def test_a_turn_given_to_who_goes_away_is_passed_on():
    """Cancelled in the moment in which its turn came."""
    turns_of = shares.Shares(1)
    await turns_of.take(ANN)
    bob, cat = (asyncio.ensure_future(turns_of.take(each)) for each in (BOB, CAT))
    await turns()
    turns_of.give_back(ANN)
    bob.cancel()
    await asyncio.wait_for(cat, BOUND_SECS)
    assert bob.cancelled()


async def test_whoami_waits_for_no_query_aside(sqlite_office: Office, sqlite_store: SqliteStore):
    """An account learns who it is while every thread is taken; the directory takes its turn."""
    ann = await sqlite_office.account("ann")
    gates = [Gate() for _ in range(THREADS)]
    held = [asked(sqlite_store._readers, ParticipantId(f"p{n}"), gate) for n, gate in enumerate(gates)]
    for gate in gates:
        await gate.met()
    directory = asyncio.ensure_future(sqlite_office.engine.directory(ann, DirectoryRequest()))
    async with asyncio.timeout(BOUND_SECS):
        assert (await sqlite_office.engine.whoami(ann, WhoAmIRequest())).address == ann.address
    assert not directory.done()
    for gate in gates:
        gate.open()
    await asyncio.gather(*held)
    assert [entry.id for entry in (await directory).value().participants] == ["ann"]


async def test_what_waits_when_the_store_closes_is_refused(path: Path, sqlite_store: SqliteStore):
    """What runs is finished; what waits is told."""
    pool, gate = Readers(path), Gate()
    first = asked(pool, ANN, gate)
    await gate.met()
    behind = asked(pool, ANN, one)
    await turns()
    closing = asyncio.ensure_future(pool.close())
    await turns()
    gate.open()
    assert await first == "done"
    with pytest.raises(StoreUnavailableError):
        await behind
    await closing
