"""Databases that somebody else made: whatever stands in them, nothing of it is run, and the reader ends."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import psycopg
import pytest

from mail4agent_core.mail.postgres.copying import copy_store
from mail4agent_core.mail.postgres.faults import DatabaseAddressError
from mail4agent_core.mail.postgres.inspection import inspected
from mail4agent_core.mail.postgres.schema import connect_migrated
from mail4agent_core.mail.postgres.verify import verify as verify_database
from mail4agent_core.mail.sqlite.faults import StoreForeignError, StoreOpenError
from mail4agent_core.mail.sqlite.schema import connect_writer
from mail4agent_core.mail.sqlite.verify import verify
from mail4agent_daemon.intake.database import BoxOpenError, connected
from tests.postgres import PostgresServer

from .readers import DATABASE, _migrated

pytestmark = [pytest.mark.timeout(60), pytest.mark.promise("files.hostile-files-are-named")]
ENDLESS = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT x FROM n"
TRIGGER = "CREATE TRIGGER trap AFTER"
#: Each runs within a statement of whoever opens, checks or copies the file, and ends never.
TRAPS = {
    "a trigger": f"{TRIGGER} UPDATE ON number BEGIN DELETE FROM ack WHERE pos IN ({ENDLESS}); END",
    "a view for a table": "DROP TABLE ring; CREATE VIEW ring AS SELECT x AS listener_no, x AS pos "
    f"FROM ({ENDLESS})",
    "a view that is joined": "DROP TABLE ack; CREATE VIEW ack AS SELECT -x AS pos, x AS reader_no "
    f"FROM ({ENDLESS})",
}
READS: dict[str, Callable[[Path], object]] = {
    "opened": lambda path: connect_writer(path).close(),
    "verified": verify,
    "copied elsewhere": _migrated,
}


def changed(path: Path, sql: str) -> bytes:
    """A sound store after somebody changed it, as one file; its bytes."""
    path.write_bytes(DATABASE())
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        db.execute("PRAGMA journal_mode = DELETE")
        db.executescript(sql)
    return path.read_bytes()


@pytest.mark.parametrize("trap", TRAPS)
@pytest.mark.parametrize("read", READS)
def test_a_store_that_runs_somebody_elses_statements_is_refused(tmp_path: Path, trap: str, read: str) -> None:
    """A trigger or a view that never ends is found before the first statement that it would hang in."""
    path = tmp_path / "mail.db"
    before = changed(path, TRAPS[trap])
    with pytest.raises(StoreForeignError):
        READS[read](path)
    assert path.read_bytes() == before
    assert [each.name for each in tmp_path.iterdir()] == ["mail.db"]


def test_a_box_that_runs_somebody_elses_statements_is_refused(tmp_path: Path) -> None:
    """As a store is."""
    path = tmp_path / "box.sqlite3"
    connected(path).close()
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        db.executescript(f"{TRIGGER} INSERT ON meta BEGIN SELECT count(*) FROM ({ENDLESS}); END")
    with pytest.raises(BoxOpenError, match="trigger or a view"):
        connected(path)


#: What SQLite keeps and finds sound, and PostgreSQL does not take; and what no store of this program lacks.
FOREIGN = {
    "a zero in a text": "INSERT INTO boot VALUES (char(97, 0, 98), 1)",
    "a text that is no UTF-8": "INSERT INTO boot VALUES (CAST(x'61ff62' AS TEXT), 1)",
    "a number past its range": "INSERT INTO number VALUES ('big', 9223372036854775807)",
    "no table of messages": "DROP TABLE message",
    "no table of numbers": "DROP TABLE number",
    "an older version without its tables": "DROP TABLE listener; PRAGMA user_version = 1",
    "a newer version": "PRAGMA user_version = 9999",
    "a version below nothing": "PRAGMA user_version = -1",
    "one huge text": "INSERT INTO boot VALUES (printf('%.*c', 4000000, 'a'), 1)",
    "pages of 64 KiB": "PRAGMA page_size = 65536; VACUUM",
}


def test_what_the_other_store_does_not_take_is_named(tmp_path: Path, postgres_server: PostgresServer) -> None:
    """Odd values, tables and versions are copied whole, or one line says why and nothing is there."""
    path, said, postgres_url = tmp_path / "mail.db", dict[str, str](), postgres_server.create()
    connect_migrated(postgres_url, "tests").close()
    for what, sql in FOREIGN.items():
        before = changed(path, sql)
        try:
            copy_store(path, postgres_url)
        except (StoreOpenError, sqlite3.Error) as fault:
            said[what] = str(fault)
            with psycopg.connect(postgres_url) as db:
                assert db.execute("SELECT count(*) FROM boot").fetchone() == (0,), what
        else:
            postgres_url = postgres_server.create()
            connect_migrated(postgres_url, "tests").close()
        assert path.read_bytes() == before, what
        assert len(said.get(what, "copied").splitlines()) == 1, what
        assert [each.name for each in tmp_path.iterdir()] == ["mail.db"], what
    assert said.keys() == FOREIGN.keys() - {"a number past its range", "pages of 64 KiB"}


#: No address, and one whose file would hold the library up.
ADDRESSES = ("postgresql://u:secret%zz@127.0.0.1:1/d", "postgresql://127.0.0.1:1/d?nonsense=secret")


def test_an_address_that_is_none_is_named_and_not_repeated(tmp_path: Path) -> None:
    """Whether mail is copied there or the doctor looks, it is one line without a secret."""
    pipe = tmp_path / "pass"
    os.mkfifo(pipe)
    path = tmp_path / "mail.db"
    path.write_bytes(DATABASE())
    for url in (*ADDRESSES, f"postgresql://127.0.0.1:1/d?passfile={pipe}"):
        for read in (lambda: copy_store(path, url), lambda: verify_database(url), lambda: looked_at(url)):  # noqa: B023
            with pytest.raises(DatabaseAddressError) as said:
                read()
            assert "secret" not in str(said.value)


def looked_at(url: str) -> None:
    """As the doctor does."""
    with inspected(url):
        pass
