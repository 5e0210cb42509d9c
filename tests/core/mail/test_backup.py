"""Backups of a live store."""

import asyncio
import sqlite3
import stat
from pathlib import Path

import pytest

from mail4agent_api.errors import StoreUnavailableError
from mail4agent_core.clock import HandClock
from mail4agent_core.mail.sqlite import SqliteStore, backup
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
