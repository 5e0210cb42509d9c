"""A disk that breaks under a box, and what becomes of those who share a commit."""

import asyncio
import sqlite3
import threading
from contextlib import closing
from pathlib import Path

import pytest

from mail4agent_api.errors import StoreUnavailableError
from mail4agent_daemon.intake.database import NAME, Database, connected
from mail4agent_daemon.log import Log
from tests.faulty import FaultyDisk

from .house import house
from .manifests import TALK
from .test_owed import Lines


@pytest.mark.promise("store.refused-was-not-done")
def test_a_submission_that_could_not_be_made_durable_is_not_there_after_a_crash(tmp_path: Path) -> None:
    """Its sender was told that nothing was changed; what came before it is there."""
    disk = FaultyDisk(tmp_path, tmp_path / "box")
    with house(tmp_path / "box", TALK, environment=disk.environment) as open_house:
        assert open_house.send("talk", {"email": "before@example.net"}).status == 200
        disk.fail_syncs()
        refused = open_house.send("talk", {"email": "refused@example.net"})
        assert (refused.status, refused.json["kind"]) == (503, "store_unavailable")
        open_house.process.kill()
        open_house.process.wait()
    with closing(connected(tmp_path / "box" / NAME)) as db:
        assert db.execute("SELECT address FROM pending").fetchall() == [("before@example.net",)]


async def test_what_is_committed_beside_what_cannot_be_scrubbed_is_answered(tmp_path: Path) -> None:
    """Only who asked that nothing be left in the log is told that it is not so."""
    database = Database(tmp_path / NAME, Log(Lines()))
    held, go = list[sqlite3.Cursor](), threading.Event()

    def reading(db: sqlite3.Connection) -> None:
        held.append(db.execute("SELECT a.name FROM sqlite_schema a, sqlite_schema b"))
        # While a statement stands open the log cannot be emptied.
        held[0].fetchone()

    async def let_go() -> None:
        go.set()

    try:
        _, _, noted, scrubbed, _ = await asyncio.gather(
            database.run(lambda _: go.wait(20)),
            database.run(reading),
            database.run(lambda db: db.execute("INSERT INTO meta VALUES ('noted', '1')").rowcount),
            database.run(lambda _: None, scrub=True),
            let_go(),
            return_exceptions=True,
        )
        assert noted == 1
        assert isinstance(scrubbed, StoreUnavailableError)
    finally:
        held.clear()
        await database.close()
