"""Backups of a live store."""

import asyncio
import sqlite3
import stat
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from mail4agent_api.errors import StoreUnavailableError
from mail4agent_core.clock import HandClock
from mail4agent_core.mail.sqlite import SqliteStore, backup
from mail4agent_core.mail.sqlite.schema import connect_inspector
from mail4agent_core.mail.sqlite.store import copy_database
from mail4agent_core.mail.sqlite.verify import verify

from .office import Office


@pytest.mark.promise("store.backup-is-consistent")
async def test_a_backup_under_writes_is_consistent_and_holds_what_was_acknowledged(
    sqlite_office: Office, sqlite_store: SqliteStore, tmp_path: Path, clock: HandClock
):
    """It opens, is sound, has every message that was answered before it began, and nothing torn."""
    ann, bob = await sqlite_office.accounts("ann", "bob")
    await sqlite_office.room("hall", ann, bob)
    answered: list[str] = []
    stop, more = asyncio.Event(), asyncio.Semaphore(0)

    async def send(number: int) -> None:
        turn = 0
        while not stop.is_set():
            subject = f"{number}-{turn}"
            letter = await sqlite_office.send(ann, ("bob", "#hall")[turn % 2], subject, key=subject)
            answered.append(subject)
            more.release()
            if turn % 3 == 0:
                await sqlite_office.ack(bob, letter)
            turn += 1

    senders = [asyncio.ensure_future(send(number)) for number in range(8)]
    for copy in range(3):
        for _ in range(50):
            await more.acquire()
        before = set(answered)
        target = tmp_path / f"copy{copy}"
        await sqlite_store.backup(target)
        assert verify(target) == []
        assert stat.S_IMODE(target.stat().st_mode) == 0o600
        restored = await SqliteStore.open(target, clock)
        held = await Office(restored, clock).walk(bob, limit=256)
        assert len(held) == len(set(held))
        assert before <= set(held)
        await restored.close()
    stop.set()
    await asyncio.gather(*senders)


async def test_a_backup_refuses_to_overwrite(sqlite_store: SqliteStore, tmp_path: Path):
    """What is there stays, and no part of a copy is left beside it."""
    target = tmp_path / "copy"
    target.write_text("precious")
    with pytest.raises(FileExistsError):
        await sqlite_store.backup(target)
    assert target.read_text() == "precious"
    assert [entry.name for entry in tmp_path.iterdir() if "partial" in entry.name] == []


async def test_a_file_that_comes_meanwhile_is_not_overwritten(
    sqlite_store: SqliteStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """The copy takes its name only while that is free."""
    target = tmp_path / "copy"
    sync = backup._sync

    def come_meanwhile(path: Path) -> None:
        target.write_text("precious")
        sync(path)

    monkeypatch.setattr(backup, "_sync", come_meanwhile)
    with pytest.raises(FileExistsError):
        await sqlite_store.backup(target)
    assert target.read_text() == "precious"
    assert [entry.name for entry in tmp_path.iterdir() if "partial" in entry.name] == []


async def test_a_store_that_is_not_open_can_be_copied(path: Path, tmp_path: Path, clock: HandClock):
    """The command line copies a file that no daemon has open; one that is not there is named."""
    store = await SqliteStore.open(path, clock)
    await store.close()
    copy_database(path, tmp_path / "copy")
    assert verify(tmp_path / "copy") == []
    with pytest.raises(FileNotFoundError):
        copy_database(tmp_path / "nothing", tmp_path / "other")
    assert not (tmp_path / "other").exists()


async def test_a_source_that_cannot_be_read_leaves_no_copy(
    sqlite_store: SqliteStore, path: Path, tmp_path: Path
):
    """Something that is no database is refused, and so is the daemon's own store when it has become that."""
    source = tmp_path / "letter"
    source.write_text("no database " * 500)
    with pytest.raises(sqlite3.DatabaseError):
        copy_database(source, tmp_path / "copy")
    sqlite_store._path = source
    with pytest.raises(StoreUnavailableError):
        await sqlite_store.backup(tmp_path / "copy")
    assert sorted(entry.name for entry in tmp_path.iterdir() if not entry.name.startswith(path.name)) == [
        "letter"
    ]


async def test_a_store_that_is_opened_while_it_is_copied_is_copied_as_of_one_moment(
    path: Path, tmp_path: Path, clock: HandClock, monkeypatch: pytest.MonkeyPatch
):
    """Nobody had it open, so it was read without a lock; what then changed under the copy is copied anew."""
    store = await SqliteStore.open(path, clock)
    await store.close()
    copied: list[str] = []

    class Disturbed(sqlite3.Connection):
        def backup(self, *args: Any, **options: Any) -> None:
            super().backup(*args, **options)
            copied.append(path.name)
            if len(copied) == 1:
                with closing(sqlite3.connect(path)) as other:
                    other.execute("INSERT INTO number VALUES ('meanwhile', 1)")
                    other.commit()

    def connected(source: Path) -> sqlite3.Connection:
        uri = f"{source.as_uri()}?mode=ro&immutable=1"
        return sqlite3.connect(uri, uri=True, isolation_level=None, factory=Disturbed)

    monkeypatch.setattr(backup, "connect_inspector", connected)
    copy_database(path, tmp_path / "copy")
    assert len(copied) == 2
    with closing(sqlite3.connect(tmp_path / "copy")) as copy:
        assert copy.execute("SELECT value FROM number WHERE name = 'meanwhile'").fetchone() == (1,)


async def test_a_database_that_was_only_just_opened_is_not_looked_at_as_if_nobody_had_it(
    path: Path, clock: HandClock
):
    """Its log is still empty; what is looked at may change all the same."""
    store = await SqliteStore.open(path, clock)
    await store.close()
    with closing(sqlite3.connect(path)) as daemon:
        daemon.execute("SELECT count(*) FROM number").fetchone()
        assert path.with_name(f"{path.name}-wal").stat().st_size == 0
        with closing(connect_inspector(path)) as inspector:
            daemon.execute("INSERT INTO number VALUES ('meanwhile', 1)")
            daemon.commit()
            found = inspector.execute("SELECT value FROM number WHERE name = 'meanwhile'").fetchone()
    assert found == (1,)
