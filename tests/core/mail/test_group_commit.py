"""Writes that share a commit: who is answered, who is refused, and what is left on disk."""

import asyncio
import logging
import resource
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Self

import pytest

from mail4agent_api.errors import StoreUnavailableError
from mail4agent_api.mail import SendManyRequest, SendRequest
from mail4agent_core.clock import HandClock
from mail4agent_core.mail.identity import Caller
from mail4agent_core.mail.sqlite import SqliteStore
from mail4agent_core.mail.sqlite.verify import verify
from mail4agent_core.mail.sqlite.writer import BATCH_MAX, Transaction

from .office import Office

BOUND_SECS = 30


@pytest.fixture
async def ann(sqlite_office: Office) -> Caller:
    """An account that sends; bob is registered too."""
    ann, _ = await sqlite_office.accounts("ann", "bob")
    return ann


@pytest.fixture
async def bob(sqlite_office: Office, ann: Caller) -> Caller:
    """An account that reads."""
    return Caller(ann.address.model_copy(update={"participant": "bob"}), ann.capabilities)


class Held:
    """The writer, held inside a write so that others gather behind it."""

    def __init__(self, store: SqliteStore) -> None:
        self._writer = store._writer
        self._go = threading.Event()
        self._entered = threading.Event()
        self._holding: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Self:
        def wait(_: Transaction) -> None:
            self._entered.set()
            assert self._go.wait(BOUND_SECS)

        self._holding = asyncio.create_task(self._writer.write("hold", wait))
        await asyncio.to_thread(self._entered.wait, BOUND_SECS)
        return self

    async def __aexit__(self, *failure: object) -> None:
        # Whoever was started before gets to the writer's queue first.
        await asyncio.sleep(0)
        self._go.set()
        assert self._holding is not None
        await self._holding


async def outcome(write: asyncio.Task[object]) -> str:
    """ok, or the kind of refusal."""
    try:
        async with asyncio.timeout(BOUND_SECS):
            await write
    except StoreUnavailableError as refusal:
        return refusal.kind
    return "ok"


def start(office: Office, ann: Caller, count: int) -> list[asyncio.Task[object]]:
    """Senders of numbered messages, on their way to the writer."""
    return [asyncio.ensure_future(office.send(ann, "bob", str(n))) for n in range(count)]


def fail(_: Transaction) -> None:
    """A write with a fault of its own."""
    raise RuntimeError("fault")


def write_then_fail(transaction: Transaction) -> None:
    """A write that fails after it has changed something."""
    transaction.db.execute("UPDATE box SET n = n + 100")
    transaction.changed.add("everyone")
    transaction.last_pos += 1 << 40
    raise RuntimeError("fault")


def break_connection(transaction: Transaction) -> None:
    """A write after which the connection can do nothing any more."""
    transaction.db.close()


async def test_writes_that_arrive_together_share_a_commit(
    sqlite_office: Office, sqlite_store: SqliteStore, ann: Caller, bob: Caller
):
    """A hundred senders, one commit; told once, after it."""
    before = sqlite_store.figures.commits
    told = sqlite_office.told()
    async with Held(sqlite_store):
        sends = start(sqlite_office, ann, 100)
    assert [await outcome(send) for send in sends] == ["ok"] * 100
    assert sqlite_store.figures.commits - before == 2
    assert told == [{"bob"}]
    assert await sqlite_office.subjects(bob, limit=256) == [str(n) for n in range(100)]


async def test_more_writes_than_a_batch_holds_are_all_answered(
    sqlite_office: Office, sqlite_store: SqliteStore, ann: Caller, bob: Caller
):
    """What does not fit goes into the next commit, in order."""
    async with Held(sqlite_store):
        sends = start(sqlite_office, ann, 2 * BATCH_MAX + 1)
    assert {await outcome(send) for send in sends} == {"ok"}
    assert await sqlite_office.walk(bob, limit=256) == [str(n) for n in range(2 * BATCH_MAX + 1)]


@pytest.mark.promise("mail.failed-commit-fails-its-own-senders")
@pytest.mark.parametrize("fault", [fail, write_then_fail, break_connection])
async def test_a_write_that_fails_fails_alone(
    sqlite_office: Office,
    sqlite_store: SqliteStore,
    ann: Caller,
    bob: Caller,
    path: Path,
    *,
    fault: Callable[[Transaction], None],
):
    """The others of its batch are stored and answered, and nothing of it is left."""
    told = sqlite_office.told()
    async with Held(sqlite_store):
        first = start(sqlite_office, ann, 3)
        bad = asyncio.ensure_future(sqlite_store._writer.write("fault", fault))
        last = asyncio.ensure_future(sqlite_office.send(ann, "bob", "last"))
    assert await outcome(bad) == "store_unavailable"
    assert [await outcome(write) for write in (*first, last)] == ["ok"] * 4
    assert await sqlite_office.subjects(bob) == ["0", "1", "2", "last"]
    assert await sqlite_office.unread(bob) == 4
    assert told == [{"bob"}]
    await sqlite_office.send(ann, "bob", "later")
    page = await sqlite_office.inbox(bob)
    assert page.messages[-1].created_at_unix_ms == page.messages[0].created_at_unix_ms
    await sqlite_store.close()
    assert verify(path) == []


async def test_a_write_that_fails_by_itself_is_run_once(sqlite_store: SqliteStore):
    """Nothing is tried again that had the transaction to itself."""
    runs: list[int] = []

    def count(_: Transaction) -> None:
        runs.append(1)
        raise RuntimeError("fault")

    with pytest.raises(StoreUnavailableError):
        await sqlite_store._writer.write("fault", count)
    assert runs == [1]


@contextmanager
def file_size_limit(size: int) -> Iterator[None]:
    """No file of this process grows past a size: to SQLite it is a full disk."""
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, limits[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)


@pytest.mark.promise("mail.failed-commit-fails-its-own-senders", "store.broken-disk-is-named")
async def test_a_full_disk_refuses_every_sender_of_the_commit_and_loses_nothing(
    sqlite_office: Office,
    sqlite_store: SqliteStore,
    ann: Caller,
    bob: Caller,
    path: Path,
    *,
    caplog: pytest.LogCaptureFixture,
):
    """COMMIT fails for want of space: all are refused at once, nothing is half-written, space mends it."""
    caplog.set_level(logging.DEBUG, "mail4agent_core")
    await sqlite_office.send(ann, "bob", "before", key="kept")
    journal = path.with_name(f"{path.name}-wal")
    with file_size_limit(journal.stat().st_size):
        async with Held(sqlite_store):
            sends = start(sqlite_office, ann, 20)
        assert [await outcome(send) for send in sends] == ["store_unavailable"] * 20
        assert await sqlite_office.subjects(bob) == ["before"]
        assert await sqlite_office.unread(bob) == 1
        with pytest.raises(StoreUnavailableError):
            await sqlite_office.send(ann, "bob", "before", key="other")
    assert sqlite_store.figures.faults >= 2
    assert [record.args for record in caplog.records].count(("post",)) == 2
    assert [record.levelname for record in caplog.records if record.exc_info] == ["ERROR"]
    await sqlite_office.send(ann, "bob", "after")
    assert caplog.records[-1].levelname == "WARNING"
    await sqlite_office.send(ann, "bob", "before", key="kept")
    assert await sqlite_office.subjects(bob) == ["before", "after"]
    await sqlite_store.close()
    assert verify(path) == []


@pytest.mark.promise("store.broken-disk-is-named")
async def test_a_database_at_its_greatest_size_refuses_what_does_not_fit(
    sqlite_office: Office, sqlite_store: SqliteStore, ann: Caller, bob: Caller, path: Path
):
    """The statement that finds no page fails its own sender; reading and what fits go on."""

    def pages(transaction: Transaction, limit: int | None = None) -> int:
        sql = "PRAGMA page_count" if limit is None else f"PRAGMA max_page_count = {limit}"
        return transaction.db.execute(sql).fetchone()[0]

    letter = await sqlite_office.send(ann, "bob", "before")
    used = await sqlite_store._writer.write("test", pages)
    await sqlite_store._writer.write("test", lambda transaction: pages(transaction, used + 4))
    async with Held(sqlite_store):
        big = [asyncio.ensure_future(sqlite_office.send(ann, "bob", str(n), "x" * 60_000)) for n in range(3)]
        ack = asyncio.ensure_future(sqlite_office.ack(bob, letter))
    assert [await outcome(write) for write in big] == ["store_unavailable"] * 3
    assert await outcome(ack) == "ok"
    assert await sqlite_office.subjects(bob) == ["before"]
    await sqlite_store._writer.write("test", lambda transaction: pages(transaction, 1 << 30))
    await sqlite_office.send(ann, "bob", "after", "x" * 60_000)
    assert await sqlite_office.subjects(bob) == ["before", "after"]
    await sqlite_store.close()
    assert verify(path) == []


async def test_a_cancelled_sender_leaves_its_message_at_most_once(
    sqlite_office: Office, sqlite_store: SqliteStore, ann: Caller, bob: Caller
):
    """It learns nothing; with its key it gets the answer later, and the others of the batch are answered."""
    async with Held(sqlite_store):
        cancelled = asyncio.ensure_future(sqlite_office.send(ann, "bob", "once", key="k"))
        other = asyncio.ensure_future(sqlite_office.send(ann, "bob", "other"))
        await asyncio.sleep(0)
        cancelled.cancel()
        with pytest.raises(asyncio.CancelledError):
            await cancelled
    assert await outcome(other) == "ok"
    await sqlite_office.send(ann, "bob", "once", key="k")
    assert sorted(await sqlite_office.subjects(bob)) == ["once", "other"]


async def test_closing_finishes_what_was_accepted(
    sqlite_office: Office, sqlite_store: SqliteStore, ann: Caller, path: Path, clock: HandClock
):
    """Writes on their way are committed and answered; later ones are refused."""
    async with Held(sqlite_store):
        sends = start(sqlite_office, ann, 50)
        await asyncio.sleep(0)
        closing = asyncio.ensure_future(sqlite_store.close())
        await asyncio.sleep(0)
    await closing
    assert all(send.done() for send in sends)
    assert {await outcome(send) for send in sends} == {"ok"}
    with pytest.raises(StoreUnavailableError):
        await sqlite_office.send(ann, "bob", "late")
    assert verify(path) == []
    again = await SqliteStore.open(path, clock)
    bob = Caller(ann.address.model_copy(update={"participant": "bob"}), ann.capabilities)
    assert len(await Office(again, clock).subjects(bob, limit=256)) == 50
    await again.close()


async def test_a_batch_of_one_request_is_one_commit(
    sqlite_office: Office, sqlite_store: SqliteStore, ann: Caller, bob: Caller
):
    """send_many costs one commit however many messages it has."""
    before = sqlite_store.figures.commits
    messages = [SendRequest(to=bob.address, subject=str(n), body="") for n in range(100)]
    await sqlite_office.engine.send_many(ann, SendManyRequest(messages=messages))
    assert sqlite_store.figures.commits - before == 1


async def test_the_reason_of_a_fault_is_logged_and_not_told(
    sqlite_office: Office, sqlite_store: SqliteStore, ann: Caller, caplog: pytest.LogCaptureFixture
):
    """A refusal names the operation alone; the log has the exception."""
    with pytest.raises(StoreUnavailableError) as refused:
        await sqlite_store._writer.write("test", fail)
    assert refused.value.refusal.operation == "test"
    assert [record.exc_info[1].args for record in caplog.records if record.exc_info] == [("fault",)]
