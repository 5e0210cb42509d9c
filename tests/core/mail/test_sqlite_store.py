"""The store in one SQLite file."""

import sqlite3
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from mail4agent_api.errors import StoreUnavailableError
from mail4agent_core.clock import HandClock
from mail4agent_core.mail.sqlite import SqliteStore, StoreOpenError, deletion, store
from mail4agent_core.mail.sqlite.pages import SHORT_MESSAGES
from mail4agent_core.mail.sqlite.verify import verify

from .contract_registry import RegistryContract
from .contract_rooms import RoomContract
from .contract_upkeep import UpkeepContract
from .office import SESSION, Office, position
from .store_contract import StoreContract


@pytest.fixture
async def sound_store(sqlite_store: SqliteStore, path: Path) -> AsyncIterator[SqliteStore]:
    """A store whose file is checked after the test."""
    yield sqlite_store
    await sqlite_store.close()
    assert verify(path) == []


class TestSqliteStore(StoreContract):
    """Passes the contract, and is sound after each of its tests."""

    @pytest.fixture
    def store(self, sound_store: SqliteStore) -> SqliteStore:
        """The store that the contract is about."""
        return sound_store


class TestSqliteStoreInSmallSteps(RegistryContract, RoomContract, UpkeepContract):
    """Deletes as the contract says when a step does next to nothing: each deletion is many transactions."""

    @pytest.fixture
    def office(self, sound_store: SqliteStore, clock: HandClock, monkeypatch: pytest.MonkeyPatch) -> Office:
        """Engine and administration over the store."""
        monkeypatch.setattr(deletion, "STEP_MESSAGES", 2)
        monkeypatch.setattr(deletion, "STEP_READERS", 1)
        return Office(sound_store, clock)


async def test_nothing_is_left_of_what_was_purged(
    sqlite_office: Office, sqlite_store: SqliteStore, monkeypatch: pytest.MonkeyPatch
):
    """Boxes, readers, counters, runs and acknowledgements of an account and a room are gone, step by step."""
    office = sqlite_office
    ann, bob = await office.accounts("ann", "bob")
    await office.room("hall", ann, bob)
    await office.room("yard", ann, bob)
    session = await office.session(bob)
    sent = [
        await office.send(ann, to, str(n))
        for n, to in enumerate(("bob", "#hall", f"bob/{SESSION}", "#yard") * 60)
    ]
    for reader in (bob, session):
        await office.ack_many(reader, *sent[::3])
    monkeypatch.setattr(deletion, "STEP_MESSAGES", 7)
    monkeypatch.setattr(deletion, "STEP_READERS", 3)
    await office.remove("bob")
    assert await office.purge("bob") == 120
    await office.remove_room("hall")

    def rows(table: str, where: str = "TRUE") -> int:
        sql = f"SELECT count(*) FROM {table} WHERE {where}"
        return sqlite_store._readers._inline.execute(sql).fetchone()[0]

    assert (rows("message"), rows("box"), rows("reader"), rows("participant")) == (60, 2, 1, 1)
    assert rows("counter", "reader_no <> (SELECT reader_no FROM reader)") == 0
    assert rows("ack_range", "reader_no <> (SELECT reader_no FROM reader)") == 0
    assert rows("ack", "pos NOT IN (SELECT pos FROM message)") == 0
    assert await office.subjects(ann, limit=256) == [str(n) for n in range(3, 240, 4)]


async def test_a_reading_fault_is_named_and_passes(
    sqlite_office: Office, sqlite_store: SqliteStore, monkeypatch: pytest.MonkeyPatch
):
    """Reads on the loop and aside are refused as store_unavailable, and work again afterwards."""
    ann, bob = await sqlite_office.accounts("ann", "bob")
    await sqlite_office.send(ann, "bob", "kept")

    def fail(*_: object) -> None:
        raise sqlite3.OperationalError("disk I/O error")

    with monkeypatch.context() as broken:
        broken.setattr(store.pages, "unread", fail)
        broken.setattr(store.reading, "sent", fail)
        with pytest.raises(StoreUnavailableError) as inline:
            await sqlite_office.unread(bob)
        with pytest.raises(StoreUnavailableError) as aside:
            await sqlite_office.sent(ann)
    assert (inline.value.refusal.operation, aside.value.refusal.operation) == ("unread", "sent")
    assert await sqlite_office.unread(bob) == 1
    assert len(await sqlite_office.sent(ann)) == 1


async def test_a_store_without_readers_does_not_open(
    path: Path, clock: HandClock, monkeypatch: pytest.MonkeyPatch
):
    """The writer is let go of, and the next opening works."""

    def fail(_: Path) -> None:
        raise sqlite3.OperationalError("unable to open database file")

    with monkeypatch.context() as broken:
        broken.setattr(store, "Readers", fail)
        with pytest.raises(StoreOpenError):
            await SqliteStore.open(path, clock)
    opened = await SqliteStore.open(path, clock)
    await opened.close()
    assert verify(path) == []


@pytest.mark.promise("mail.filtered-waits-are-not-refused")
async def test_combined_filters_run_on_the_loop_over_a_short_range_and_aside_over_a_long_one(
    sqlite_office: Office, sqlite_store: SqliteStore, monkeypatch: pytest.MonkeyPatch
):
    """What counts is how many messages stand in the range, in all boxes together; the page is the same."""
    ann, bob = await sqlite_office.accounts("ann", "bob")
    await sqlite_office.room("hall", ann, bob)
    for number in range(SHORT_MESSAGES + 1):
        to = "#hall" if number % 2 else "bob"
        await sqlite_office.send(ann, to, str(number), correlation="c" if number % 50 == 0 else None)
    first = (await sqlite_office.inbox(bob, limit=1)).messages[0]
    readers, aside = sqlite_store._readers, 0
    run_aside = readers.aside

    async def counted(*of: Any) -> Any:
        nonlocal aside
        aside += 1
        return await run_aside(*of)

    monkeypatch.setattr(readers, "aside", counted)
    both = {"sent_by": "ann", "correlation": "c"}
    assert await sqlite_office.subjects(bob, **both) == ["0", "50", "100"]
    assert aside == 1
    assert await sqlite_office.subjects(bob, **both, after=position(first)) == ["50", "100"]
    assert await sqlite_office.subjects(bob, **both, room="hall") == []
    assert aside == 1
