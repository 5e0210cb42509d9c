"""Copying the mail of one SQLite file into an empty database, and proving that all of it is there.

Everything is done in one transaction, which is committed only when each row that was read from the file has
been read again from the database, and the database's checks find nothing.
"""

import os
import sqlite3
from collections.abc import Generator, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from typing import Any

import psycopg

from mail4agent_core.mail.sqlite.backup import copy_database
from mail4agent_core.mail.sqlite.faults import StoreDamagedError, StoreForeignError, StoreOpenError
from mail4agent_core.mail.sqlite.schema import connect_inspector, migrate, schema_of
from mail4agent_core.mail.sqlite.verify import verify as verify_file
from mail4agent_core.mail.sqlite.writer import highest_pos

from .connection import Database, shown
from .faults import DatabaseUnreachableError
from .registry import AUDITED
from .schema import connect_migrated, reason_of
from .verify import findings_of

#: How many rows are read at a time when they are compared.
STEP = 1_000


class TargetNotEmptyError(StoreOpenError):
    """The database holds something already."""

    def __init__(self, name: str, table: str) -> None:
        super().__init__(f"{name} is not empty: there are rows in {table}. Nothing in it was changed.")


class CopyDiffersError(StoreOpenError):
    """What was read back is not what was read. Nothing was kept."""

    def __init__(self, name: str, what: str) -> None:
        super().__init__(f"the copy in {name} differs from the file ({what}); nothing of it was kept")


@dataclass(frozen=True, slots=True)
class _Table:
    """A table, its columns, where they come from, and what orders its rows."""

    name: str
    columns: str
    source: str
    order: str


_MESSAGE = (
    "FROM message m LEFT JOIN message root ON root.pos = m.thread_pos"  # a thread's first may be deleted
)
_TABLES = (
    _Table(
        "participant",
        "account_no, id, label, secret_digest, capabilities, created_at, secret_issued_at, removed_at, "
        "attestation, common_reader",
        "FROM participant",
        "account_no",
    ),
    _Table(
        "box",
        "box_no, address, owner, n, last_pos, last_sender, other_pos",
        "FROM (SELECT *, CASE WHEN instr(address, '/') > 0 THEN substr(address, 1, instr(address, '/') - 1) "
        "END AS owner FROM box)",
        "box_no",
    ),
    _Table("room", "box_no, id, posting, created_at", "FROM room", "box_no"),
    _Table("membership", "account_no, box_no", "FROM membership", "account_no, box_no"),
    _Table("reader", "reader_no, address, account_no, told", "FROM reader", "reader_no"),
    _Table("counter", "box_no, reader_no, acked", "FROM counter", "box_no, reader_no"),
    _Table("ack_range", "box_no, reader_no, lo, hi", "FROM ack_range", "box_no, reader_no, lo"),
    _Table(
        "ack",
        "box_no, pos, reader_no, acked_at",
        "FROM (SELECT m.box_no, a.pos, a.reader_no, a.acked_at FROM ack a JOIN message m ON m.pos = a.pos)",
        "box_no, pos, reader_no",
    ),
    _Table(
        "message",
        "box_no, pos, message_id, sender_no, account_no, thread_pos, correlation, wire",
        "FROM message",
        "box_no, pos",
    ),
    _Table(
        "place",
        "message_id, box_no, pos, sender_no, thread_pos, thread_box",
        "FROM (SELECT m.message_id, m.box_no, m.pos, m.sender_no, m.thread_pos, "
        f"coalesce(root.box_no, m.box_no) AS thread_box {_MESSAGE})",
        "message_id",
    ),
    _Table("sent", "sender_no, pos, box_no, thread_pos", "FROM message", "sender_no, pos"),
    _Table(
        "idempotency", "reader_no, key, content, message_id, created_at", "FROM idempotency", "reader_no, key"
    ),
    _Table(
        "number",
        "name, value",
        "FROM (SELECT name, value FROM number WHERE name NOT IN ('indexed', 'highest', 'opened') UNION ALL "
        f"SELECT '{AUDITED}', seq FROM sqlite_sequence WHERE name = 'audit')",
        "name",
    ),
    _Table("boot", "boot_id, boot_ms", "FROM boot", "boot_id"),
    _Table(
        "session",
        "reader_no, account_no, box_no, id, boot_id, pid, start_ticks, digest, attested, corroborated, "
        "declared, first_seen, last_seen, dead_at",
        "FROM session",
        "reader_no",
    ),
    _Table(
        "listener",
        "listener_no, owner, account_no, url, key, uid, cursor, outstanding, rung, given_up, last_rung_at, "
        "last_failed_at, failure, failures, due_at, failing_since",
        "FROM listener",
        "listener_no",
    ),
    _Table(
        "ring",
        "listener_no, attempts, pos, box_no",
        # The ring of a message that was deleted is dropped at its listener's next turn, as it is in the file.
        "FROM (SELECT r.listener_no, r.attempts, r.pos, coalesce(m.box_no, 0) AS box_no FROM ring r "
        "LEFT JOIN message m ON m.pos = r.pos)",
        "listener_no, attempts, pos",
    ),
    _Table("listener_floor", "listener_no, box_no, pos", "FROM listener_floor", "listener_no, box_no"),
    _Table("audit", "number, at_unix_ms, actor, operation, target, detail", "FROM audit", "number"),
)
#: Filled by the daemons themselves.
_OTHERS = ("found", "change")
#: Numbers that are never given again, also not those of rows that are gone.
_NUMBERED = {"participant": "account_no", "box": "box_no", "reader": "reader_no", "listener": "listener_no"}


def copy_store(file: Path, url: str) -> dict[str, int]:
    """Copy the mail of a file, in use or not, into an empty database; how many rows of each table there are.

    A copy of the file is made beside it for the time that this takes. Raises StoreOpenError with the reason,
    FileNotFoundError for no file, OSError where there is no room for the copy, and sqlite3.Error.
    """
    db: Database | None = None
    try:
        db = connect_migrated(url, "migrate")
        with _at_one_moment(file) as source:
            return _copied(source, db, shown(url))
    except psycopg.Error as fault:
        raise DatabaseUnreachableError(shown(url), reason_of(fault)) from fault
    finally:
        if db is not None:
            db.close()


@contextmanager
def _at_one_moment(file: Path) -> Generator[sqlite3.Connection]:
    """The file as it is now, checked, with the present schema."""
    partial = file.with_name(f".{file.name}.{os.getpid()}.migrating")
    try:
        copy_database(file, partial)
        with closing(sqlite3.connect(partial, isolation_level=None)) as copy:
            if schema_of(copy, file) == 0:
                raise StoreForeignError(file)
            migrate(copy, file)
        if verify_file(partial):
            raise StoreDamagedError(file)
        with closing(connect_inspector(partial)) as source:
            yield source
    finally:
        for each in (partial, *(partial.with_name(f"{partial.name}-{end}") for end in ("wal", "shm"))):
            each.unlink(missing_ok=True)


def _copied(source: sqlite3.Connection, db: Database, name: str) -> dict[str, int]:
    db.command("BEGIN")
    # Nobody else writes meanwhile, however long it takes.
    db.command("SET LOCAL statement_timeout = 0; SET LOCAL idle_in_transaction_session_timeout = 0")
    db.execute("SELECT 1 FROM clock WHERE one = 1 FOR UPDATE")
    for table in (*(each.name for each in _TABLES), *_OTHERS):
        if db.execute(f"SELECT 1 FROM {table} LIMIT 1").fetchone() is not None:
            raise TargetNotEmptyError(name, table)
    for table in _TABLES:
        _write(source, db, table)
    db.execute("UPDATE clock SET pos = %s WHERE one = 1", (highest_pos(source),))
    given: dict[str, int] = dict(source.execute("SELECT name, seq FROM sqlite_sequence").fetchall())
    for table, column in _NUMBERED.items():
        if table in given:
            db.execute(f"SELECT setval(pg_get_serial_sequence('{table}', '{column}'), %s)", (given[table],))
    db.command("ANALYZE")
    counts = {table.name: _compared(source, db, table, name) for table in _TABLES}
    wrong = findings_of(db)
    if wrong:
        raise CopyDiffersError(name, wrong[0])
    db.command("COMMIT")
    return counts


def _read(source: sqlite3.Connection, table: _Table) -> Iterator[tuple[Any, ...]]:
    return iter(source.execute(f"SELECT {table.columns} {table.source} ORDER BY {table.order}"))


def _write(source: sqlite3.Connection, db: Database, table: _Table) -> None:
    statement = f"COPY {table.name} ({table.columns}) FROM STDIN"
    with closing(db.connection.cursor()) as cursor, cursor.copy(statement.encode()) as copy:
        for row in _read(source, table):
            copy.write_row(row)


def _compared(source: sqlite3.Connection, db: Database, table: _Table, name: str) -> int:
    """How many rows a table has, which are the file's, one by one."""
    count = 0
    with db.connection.cursor("compared") as cursor:
        cursor.itersize = STEP
        cursor.execute(f"SELECT {table.columns} FROM {table.name} ORDER BY {table.order}".encode())
        for row, found in zip_longest(_read(source, table), cursor):
            if row != found:
                raise CopyDiffersError(name, f"row {count + 1} of {table.name}")
            count += 1
    return count
