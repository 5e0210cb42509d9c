"""Group commit: what shares a commit, what a fault takes with it, and that the event loop never waits."""

import asyncio
import sqlite3
import threading
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest

from mail4agent_api.errors import OverloadedError, StoreUnavailableError
from mail4agent_core.clock import HandClock
from mail4agent_core.mail.sqlite import SqliteStore
from mail4agent_core.mail.sqlite import writer as writer_module
from mail4agent_core.mail.sqlite.schema import LOCK_SECS, connect_writer
from mail4agent_core.mail.sqlite.writer import BATCH_MAX, Transaction, Writer

BOUND_SECS = 10
FULL = "database or disk is full"


class FaultyConnection:
    """A connection whose next execution of a statement fails."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self.failing: str | None = None

    def execute(self, sql: str, *values: Any) -> sqlite3.Cursor:
        """Run it, or fail once."""
        if self.failing == sql:
            self.failing = None
            raise sqlite3.OperationalError(FULL)
        return self._connection.execute(sql, *values)

    def __getattr__(self, name: str) -> Any:
        """Everything else is the connection's."""
        return getattr(self._connection, name)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Where the database is."""
    return tmp_path / "mail.sqlite3"


@pytest.fixture
async def writer(path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Writer]:
    """An open writer whose connection can be made to fail."""
    monkeypatch.setattr(writer_module, "connect_writer", lambda path: FaultyConnection(connect_writer(path)))
    made = Writer(path, asyncio.get_running_loop(), lambda _: None)
    await made.open()
    yield made
    await made.close()


def put(name: str) -> Callable[[Transaction], str]:
    """A write of one row."""

    def run(transaction: Transaction) -> str:
        transaction.db.execute("INSERT INTO number VALUES (?, 1)", (name,))
        return name

    return run


def broken(transaction: Transaction) -> None:
    """A write that fails after it has written."""
    put("broken")(transaction)
    raise sqlite3.OperationalError(FULL)


def names(path: Path) -> set[str]:
    """What is on disk."""
    db = sqlite3.connect(path)
    try:
        return {row[0] for row in db.execute("SELECT name FROM number WHERE name <> 'opened'")}
    finally:
        db.close()


def connection_of(writer: Writer) -> FaultyConnection:
    """The connection that a test makes fail."""
    connection: Any = writer._db
    assert isinstance(connection, FaultyConnection)
    return connection


async def together(*writes: Any) -> list[Any]:
    """The outcomes of writes that arrive in one turn of the loop."""
    async with asyncio.timeout(BOUND_SECS):
        return await asyncio.gather(*writes, return_exceptions=True)


@pytest.mark.parametrize("short", [1, None])
async def test_writes_that_arrive_together_share_a_commit(
    writer: Writer, path: Path, short: int | None
) -> None:
    """On the loop or on the thread, many writes cost one commit and each has its own answer."""
    wanted = [f"n{n}" for n in range(20)]
    assert await together(*(writer.write("put", put(name), short=short) for name in wanted)) == wanted
    assert (writer.figures.commits, writer.figures.writes) == (1, 20)
    assert names(path) == set(wanted)


async def test_short_and_long_writes_keep_their_order(writer: Writer) -> None:
    """A long write sends the batch to the thread; what came first is run first."""
    order: list[int] = []
    writes = [
        writer.write("put", lambda _, n=n: order.append(n), short=None if n == 3 else 1) for n in range(6)
    ]
    await together(*writes)
    assert order == list(range(6))


async def test_a_commit_is_bounded(writer: Writer) -> None:
    """More than a batch is spread over commits, and a write that is larger by itself gets one of its own."""
    large = writer.write("put", put("large"), short=BATCH_MAX + 1)
    halves = [writer.write("put", put(f"half{n}"), short=BATCH_MAX // 2) for n in range(3)]
    assert await together(large, *halves) == ["large", "half0", "half1", "half2"]
    assert writer.figures.commits == 3


@pytest.mark.parametrize("short", [1, None])
async def test_a_write_that_fails_by_itself_fails_alone(
    writer: Writer, path: Path, short: int | None
) -> None:
    """Its neighbours in the batch are stored and answered; of it nothing is left."""
    outcomes = await together(
        writer.write("put", put("before"), short=1),
        writer.write("broken", broken, short=short),
        writer.write("put", put("after"), short=1),
    )
    assert outcomes[0] == "before"
    assert isinstance(outcomes[1], StoreUnavailableError)
    assert outcomes[2] == "after"
    assert names(path) == {"before", "after"}


@pytest.mark.parametrize("short", [1, None])
@pytest.mark.parametrize("statement", ["BEGIN IMMEDIATE", "COMMIT"])
async def test_a_commit_that_fails_takes_its_writes_and_no_others(
    writer: Writer, path: Path, statement: str, short: int | None
) -> None:
    """Each sender is told, what is not answered is not stored, and the next write goes through."""
    connection_of(writer).failing = statement
    outcomes = await together(*(writer.write("put", put(name), short=short) for name in ("one", "two")))
    answered = {each for each in outcomes if isinstance(each, str)}
    assert all(isinstance(each, str | StoreUnavailableError) for each in outcomes)
    assert names(path) == answered
    assert writer.figures.faults >= 1
    assert await writer.write("put", put("three"), short=short) == "three"
    assert names(path) == {*answered, "three"}


async def test_the_loop_does_not_wait_for_a_lock_that_another_holds(writer: Writer, path: Path) -> None:
    """While somebody else writes, sends wait and everything else goes on."""
    held, moved = threading.Event(), threading.Event()

    def hold() -> bool:
        other = sqlite3.connect(path, isolation_level=None)
        try:
            other.execute("BEGIN IMMEDIATE")
            held.set()
            # Less than a connection waits for the lock: a loop that waited for it would come too late.
            in_time = moved.wait(LOCK_SECS / 2)
            other.execute("COMMIT")
            return in_time
        finally:
            other.close()

    async with asyncio.timeout(BOUND_SECS):
        holding = asyncio.create_task(asyncio.to_thread(hold))
        await asyncio.to_thread(held.wait)
        waiting = asyncio.create_task(writer.write("put", put("late"), short=1))
        for _ in range(100):
            await asyncio.sleep(0)
        assert not waiting.done()
        moved.set()
        assert await holding
        assert await waiting == "late"


async def test_closing_finishes_what_was_accepted(path: Path) -> None:
    """Writes that wait behind a commit when the writer is closed are durable; later ones are refused."""
    writer = Writer(path, asyncio.get_running_loop(), lambda _: None)
    await writer.open()
    accepted = [asyncio.create_task(writer.write("put", put(f"n{n}"), short=BATCH_MAX)) for n in range(5)]
    await asyncio.sleep(0)
    await writer.close()
    assert [task.result() for task in accepted] == [f"n{n}" for n in range(5)]
    assert names(path) == {f"n{n}" for n in range(5)}
    with pytest.raises(StoreUnavailableError):
        await writer.write("put", put("late"), short=1)


async def test_one_write_too_many_is_refused_and_those_that_wait_are_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """The queue of the writer has an end; who finds it full is told to come back."""
    monkeypatch.setattr(writer_module, "WAITING_MAX", 2)
    store = await SqliteStore.open(tmp_path / "mail.sqlite3", HandClock())
    asked = [asyncio.ensure_future(store.remember(f"n{number}", number)) for number in range(3)]
    outcomes = await asyncio.gather(*asked, return_exceptions=True)
    await store.close()
    assert outcomes[:2] == [0, 1]
    assert isinstance(outcomes[2], OverloadedError)


async def test_a_connection_that_was_given_up_is_replaced_on_the_thread(
    writer: Writer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Opening a database may wait for a lock or the disk, and the loop must not."""
    opened_by: list[str] = []

    def connect(path: Path) -> Any:
        opened_by.append(threading.current_thread().name)
        return connect_writer(path)

    monkeypatch.setattr(writer_module, "connect_writer", connect)
    assert await together(writer.write("put", put("before"), short=1)) == ["before"]
    writer._disconnect()
    assert await together(writer.write("put", put("after"), short=1)) == ["after"]
    assert opened_by == ["mail-writer"]
