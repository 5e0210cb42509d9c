"""Opening and migrating databases: what is made, what is refused, and what is left alone."""

import asyncio
import hashlib
import os
import re
import sqlite3
import stat
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from mail4agent_core.clock import HandClock
from mail4agent_core.mail.sqlite import (
    SqliteStore,
    StoreBusyError,
    StoreDamagedError,
    StoreForeignError,
    StoreNewerError,
    StoreOpenError,
    StoreUnwritableError,
    schema,
)
from mail4agent_core.mail.sqlite.verify import verify

from .office import Office


def fingerprint(path: Path) -> str:
    """What a file holds."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def layout(path: Path) -> list[tuple[str, str, str]]:
    """Every object of a database with its SQL."""
    with sqlite3.connect(path) as connection:
        found = connection.execute(
            "SELECT type, name, coalesce(sql, '') FROM sqlite_schema ORDER BY type, name"
        )
        rows = found.fetchall()
    connection.close()
    return rows


@pytest.fixture
def used(path: Path, clock: HandClock) -> Path:
    """A database with some mail."""
    asyncio.run(use(path, clock))
    return path


async def use(path: Path, clock: HandClock) -> None:
    """Fill it."""
    store = await SqliteStore.open(path, clock)
    office = Office(store, clock)
    ann, _ = await office.accounts("ann", "bob")
    await office.send(ann, "bob", "kept")
    await store.close()


@pytest.fixture
def next_migration(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Pretend that the program knows one more migration."""
    known = schema.migrations()

    def add(sql: str) -> None:
        monkeypatch.setattr(schema, "migrations", lambda: [*known, (known[-1][0] + 1, sql)])

    return add


async def test_a_new_database_is_private_and_sound(path: Path, clock: HandClock):
    """Mode 0600, write-ahead log, named as a mail database, nothing wrong in it."""
    store = await SqliteStore.open(path, clock)
    await store.close()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert verify(path) == []
    with sqlite3.connect(path) as connection:
        assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
        assert connection.execute("PRAGMA application_id").fetchone() == (schema.APPLICATION_ID,)
    connection.close()


async def test_a_commit_waits_for_the_disk(sqlite_store: SqliteStore):
    """The writer's connection syncs in full; the readers' cannot write."""
    synchronous = await sqlite_store._writer.write(
        "test", lambda transaction: transaction.db.execute("PRAGMA synchronous").fetchone()[0]
    )
    assert synchronous == 2
    with pytest.raises(sqlite3.OperationalError, match="readonly"):
        sqlite_store._readers._inline.execute("DELETE FROM message")


async def test_an_empty_file_becomes_a_database(path: Path, clock: HandClock):
    """What a crash between making the file and filling it left is taken up."""
    path.touch()
    store = await SqliteStore.open(path, clock)
    await store.close()
    assert verify(path) == []


def test_migrating_twice_is_a_no_op(path: Path):
    """The second run applies nothing and changes nothing."""
    connection = sqlite3.connect(path, isolation_level=None)
    schema.migrate(connection, path)
    before = fingerprint(path)
    schema.migrate(connection, path)
    connection.close()
    assert fingerprint(path) == before


def test_a_fresh_schema_equals_all_migrations_applied_one_by_one(tmp_path: Path):
    """Whichever version a database starts from, it ends with the same tables."""
    fresh, grown = tmp_path / "fresh", tmp_path / "grown"
    for path, steps in ((fresh, [None]), (grown, range(1, schema.migrations()[-1][0] + 1))):
        connection = sqlite3.connect(path, isolation_level=None)
        for upto in steps:
            schema.migrate(connection, path, upto)
        connection.close()
    assert layout(fresh) == layout(grown)
    assert layout(fresh) != []


async def test_an_appended_migration_applies_alone(
    used: Path, clock: HandClock, next_migration: Callable[[str], None]
):
    """Mail survives, and the number is the new one."""
    next_migration("CREATE TABLE addition (x);\nUPDATE number SET value = value;")
    store = await SqliteStore.open(used, clock)
    page = await Office(store, clock).inbox_of(Office(store, clock).operator, "bob")
    await store.close()
    assert [message.subject for message in page.messages] == ["kept"]
    assert ("table", "addition") in [(kind, name) for kind, name, _ in layout(used)]


@pytest.mark.parametrize(
    "broken",
    [
        "CREATE TABLE half (x); INSERT INTO half VALUES (1); SELECT nonsense FROM nowhere;",
        "DROP TABLE counter; CREATE TABLE counter (other); CREATE TABLE message (x);",
        "CREATE TABLE half (x); this is no SQL;",
    ],
)
async def test_a_migration_that_fails_half_way_leaves_the_database_as_it_was(
    used: Path, clock: HandClock, broken: str, monkeypatch: pytest.MonkeyPatch, next_migration
):
    """The program does not start, and the older one goes on as if nothing had been."""
    before = layout(used)
    next_migration(broken)
    with pytest.raises(StoreOpenError):
        await SqliteStore.open(used, clock)
    assert layout(used) == before
    monkeypatch.undo()
    store = await SqliteStore.open(used, clock)
    page = await Office(store, clock).inbox_of(Office(store, clock).operator, "bob")
    await store.close()
    assert page.unread == 1
    assert verify(used) == []


@pytest.mark.promise("store.one-daemon-one-file")
async def test_a_newer_database_is_refused_by_name_and_untouched(used: Path, clock: HandClock):
    """The refusal tells both numbers, also while the file has a journal that was not folded in."""
    connection = sqlite3.connect(used, isolation_level=None)
    connection.execute("PRAGMA user_version = 99")
    journal = used.with_name(f"{used.name}-wal")
    before = fingerprint(used), fingerprint(journal)
    with pytest.raises(StoreNewerError) as refused:
        await SqliteStore.open(used, clock)
    assert (refused.value.found, refused.value.known) == (99, schema.migrations()[-1][0])
    assert "99" in str(refused.value)
    assert (fingerprint(used), fingerprint(journal)) == before
    connection.close()
    with pytest.raises(StoreNewerError):
        verify(used)


@pytest.mark.parametrize("mode", ["delete", "wal"])
async def test_another_programs_database_is_refused_and_untouched(path: Path, clock: HandClock, mode: str):
    """A SQLite file with tables of somebody else's, in either journal mode."""
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute(f"PRAGMA journal_mode = {mode}")
    connection.execute("CREATE TABLE theirs (x)")
    connection.close()
    before = fingerprint(path)
    with pytest.raises(StoreForeignError):
        await SqliteStore.open(path, clock)
    with pytest.raises(StoreForeignError):
        verify(path)
    assert fingerprint(path) == before
    assert layout(path) == [("table", "theirs", "CREATE TABLE theirs (x)")]


@pytest.mark.parametrize(
    "content", [b"hello, this is a letter\n" * 100, b"\x00" * 5000, b"SQLite format 3\x00"]
)
async def test_a_file_that_is_no_database_is_refused_and_untouched(
    path: Path, clock: HandClock, content: bytes
):
    """Whatever it holds."""
    path.write_bytes(content)
    with pytest.raises(StoreOpenError):
        await SqliteStore.open(path, clock)
    assert path.read_bytes() == content


async def test_text_is_named_as_foreign(path: Path, clock: HandClock):
    """The person is told that the file is something else, not that the disk is full."""
    path.write_bytes(b"hello, this is a letter\n" * 100)
    with pytest.raises(StoreForeignError):
        await SqliteStore.open(path, clock)
    with pytest.raises(StoreForeignError):
        verify(path)


async def test_a_damaged_database_is_named(used: Path, clock: HandClock):
    """One whose first pages are garbled is neither foreign nor a matter of rights."""
    content = bytearray(used.read_bytes())
    content[100:2000] = b"\xff" * 1900
    used.write_bytes(content)
    with pytest.raises(StoreDamagedError):
        await SqliteStore.open(used, clock)
    assert verify(used) != []


@pytest.mark.promise("store.broken-disk-is-named")
async def test_a_folder_that_is_not_there_is_named(tmp_path: Path, clock: HandClock):
    """No store is made, and no folder."""
    with pytest.raises(StoreUnwritableError):
        await SqliteStore.open(tmp_path / "nowhere" / "mail.sqlite3", clock)
    assert list(tmp_path.iterdir()) == []


async def test_a_folder_in_place_of_the_file_is_named(tmp_path: Path, clock: HandClock):
    """It stays a folder."""
    (tmp_path / "mail.sqlite3").mkdir()
    with pytest.raises(StoreUnwritableError):
        await SqliteStore.open(tmp_path / "mail.sqlite3", clock)


@pytest.mark.promise("store.broken-disk-is-named")
def test_a_read_only_folder_is_named_and_nothing_is_lost(used: Path, tmp_path: Path):
    """Who may not write gets a clear refusal; with the right back, all mail is there."""
    script = (
        "import asyncio, sys\n"
        "from pathlib import Path\n"
        "from mail4agent_core.clock import HandClock\n"
        "from mail4agent_core.mail.sqlite import SqliteStore, StoreUnwritableError\n"
        "async def main():\n"
        "    try: await SqliteStore.open(Path(sys.argv[1]), HandClock())\n"
        "    except StoreUnwritableError as fault: print(type(fault).__name__)\n"
        "asyncio.run(main())\n"
    )
    before = fingerprint(used)
    # Root writes anywhere, unless it gives that capability up.
    bound = ["setpriv", "--bounding-set", "-dac_override,-dac_read_search"] if os.geteuid() == 0 else []
    modes = {entry: stat.S_IMODE(entry.stat().st_mode) for entry in (used, used.parent)}
    used.chmod(0o444)
    used.parent.chmod(0o555)
    try:
        done = subprocess.run(
            [*bound, sys.executable, "-c", script, str(used)],
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
    finally:
        for entry, mode in modes.items():
            entry.chmod(mode)
    assert (done.stdout, done.returncode) == ("StoreUnwritableError\n", 0), done.stderr
    assert fingerprint(used) == before


async def test_a_database_that_another_process_writes_is_busy(
    used: Path, clock: HandClock, monkeypatch: pytest.MonkeyPatch
):
    """After waiting for its lock in vain the person is told so."""
    monkeypatch.setattr(schema, "LOCK_SECS", 0.01)
    other = sqlite3.connect(used, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(StoreBusyError):
        await SqliteStore.open(used, clock)
    other.close()
    store = await SqliteStore.open(used, clock)
    await store.close()


@pytest.mark.promise("mail.position-never-decreases")
async def test_positions_go_on_after_a_restart_with_the_clock_set_back(path: Path, clock: HandClock):
    """Also when the newest message, its room and its box are gone, and the clock says yesterday."""
    store = await SqliteStore.open(path, clock)
    office = Office(store, clock)
    ann, bob = await office.accounts("ann", "bob")
    await office.room("hall", bob)
    await office.send(ann, "bob", "old")
    clock.step(60_000)
    await office.send(ann, "#hall", "newest")
    newest = await office.engine.newest(bob)
    await office.remove_room("hall")
    await store.close()
    clock.step(-86_400_000)
    store = await SqliteStore.open(path, clock)
    office = Office(store, clock)
    await office.send(ann, "bob", "new")
    assert newest is not None
    page = await office.inbox(bob, after=newest)
    assert [message.subject for message in page.messages] == ["new"]
    assert page.messages[0].created_at_unix_ms == newest.created_at_unix_ms
    await store.close()


async def test_everything_is_there_after_a_restart(path: Path, clock: HandClock):
    """Mail, acks, unread counts, keys, rooms, rights and the search index."""
    store = await SqliteStore.open(path, clock)
    office = Office(store, clock)
    ann, bob = await office.accounts("ann", "bob")
    await office.room("hall", ann, bob)
    first = await office.send(ann, "bob", "first", key="k")
    await office.send(ann, "#hall", "second")
    await office.ack(bob, first)
    await store.close()
    store = await SqliteStore.open(path, clock)
    office = Office(store, clock)
    assert await office.subjects(bob) == ["first", "second"]
    assert await office.subjects(bob, unread_only=True) == ["second"]
    assert await office.send(ann, "bob", "first", key="k") == first
    assert await office.search(bob, "text") == ["second", "first"]
    assert await office.engine.boxes(bob) == {"bob", "#hall"}
    await store.close()


async def test_opening_can_be_given_up(path: Path, clock: HandClock):
    """A caller that is cancelled while a database opens leaves no thread and no lock behind."""
    opening = asyncio.ensure_future(SqliteStore.open(path, clock))
    await asyncio.sleep(0)
    opening.cancel()
    with pytest.raises(asyncio.CancelledError):
        await opening
    for thread in threading.enumerate():
        if thread.name == "mail-writer":
            await asyncio.to_thread(thread.join, 30)
    store = await SqliteStore.open(path, clock)
    await store.close()
    assert verify(path) == []


def test_no_statement_numbers_its_placeholders():
    """Python 3.12 warns of ?1 with a sequence; within a query that would look like a broken store."""
    folder = Path(schema.__file__).parent
    numbered = [path.name for path in folder.glob("*.py") if re.search(r"\?[0-9]", path.read_text("utf-8"))]
    assert numbered == []
