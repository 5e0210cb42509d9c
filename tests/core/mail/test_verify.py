"""What the check of a database finds."""

import asyncio
import sqlite3
from pathlib import Path

import pytest

from mail4agent_core.clock import HandClock
from mail4agent_core.mail.sqlite import SqliteStore
from mail4agent_core.mail.sqlite.verify import FINDINGS_MAX, verify

from .office import Office

#: A change that no program of ours makes, and a word of what is found.
DAMAGE = {
    "UPDATE box SET n = n + 1 WHERE address = 'bob'": "counts",
    "UPDATE box SET last_pos = 1 WHERE address = 'bob'": "counts",
    "UPDATE counter SET acked = acked + 1": "acknowledged",
    "DELETE FROM ack_range": "acknowledged",
    "DELETE FROM counter": "no counter",
    "INSERT INTO ack_range SELECT reader_no, box_no, lo - 5, lo - 4 FROM ack_range LIMIT 1": "meet",
    "INSERT INTO ack SELECT max(pos), 1, 1 FROM message WHERE box_no = 2": "not in its runs",
    "UPDATE message SET box_no = 999": "no box",
    "UPDATE message SET wire = CAST(replace(CAST(wire AS TEXT), 'm4a_', 'm4a_0') AS BLOB)": "another id",
    "UPDATE message SET wire = CAST(replace(CAST(wire AS TEXT), 'ms\":1', 'ms\":2') AS BLOB)": "time",
    "UPDATE message SET wire = x'7b'": "another id",
    "DELETE FROM reader WHERE address = 'ann'": "of its own",
    "DELETE FROM membership": "of its own",
    "INSERT INTO membership VALUES (999, 1)": "gone",
    "DELETE FROM box WHERE address = '#hall'": "room",
}


@pytest.fixture
def used(path: Path, clock: HandClock) -> Path:
    """A database with mail that is partly acknowledged."""
    asyncio.run(use(path, clock))
    return path


async def use(path: Path, clock: HandClock) -> None:
    """Fill it."""
    store = await SqliteStore.open(path, clock)
    office = Office(store, clock)
    ann, bob = await office.accounts("ann", "bob")
    await office.room("hall", ann, bob)
    sent = [await office.send(ann, ("bob", "#hall")[n % 2], str(n)) for n in range(8)]
    await office.ack_many(bob, *sent[3:6])
    await store.close()


@pytest.mark.parametrize("damage", DAMAGE)
def test_damage_is_found_and_named(used: Path, damage: str):
    """Each invariant that is broken by hand is reported, and the file is only read."""
    assert verify(used) == []
    connection = sqlite3.connect(used)
    with connection:
        connection.execute(damage)
    connection.close()
    assert any(DAMAGE[damage] in finding for finding in verify(used))


def test_findings_are_bounded(used: Path):
    """A broken database gives a page of findings, not a flood."""
    connection = sqlite3.connect(used)
    with connection:
        connection.executemany("INSERT INTO box (n) VALUES (?)", [(1,)] * 3)
        connection.executemany("INSERT INTO box (address, n) VALUES (?, 5)", [(f"x{n}",) for n in range(100)])
    connection.close()
    assert len(verify(used)) == FINDINGS_MAX


def test_what_is_not_there_cannot_be_checked(tmp_path: Path):
    """No file is made by looking for it."""
    with pytest.raises(sqlite3.OperationalError):
        verify(tmp_path / "nothing")
    assert list(tmp_path.iterdir()) == []
