"""Opening and migrating a database.

Migrations are numbered SQL files, each applied in one transaction with its number. A newer database is refused by name; a file that is something else is left alone.
"""

import os
import sqlite3
from importlib.resources import files
from pathlib import Path

from .faults import StoreForeignError, StoreNewerError, StoreUnwritableError

#: "M4A1": says that the file is a mail database.
APPLICATION_ID = 0x4D344131


def migrations() -> list[tuple[int, str]]:
    """The numbered migrations in order, with their SQL."""
    found = sorted((f for f in files(__package__).joinpath("migrations").iterdir() if f.name.endswith(".sql")), key=lambda f: f.name)
    numbered = [(int(f.name[:4]), f.read_text("utf-8")) for f in found]
    assert [number for number, _ in numbered] == list(range(1, len(numbered) + 1)), "migrations are numbered from 1 without a gap"
    return numbered


def connect_writer(path: Path) -> sqlite3.Connection:
    """Open the one connection that writes, creating and migrating the database. Raises StoreOpenError."""
    created = not path.exists()
    connection: sqlite3.Connection | None = None
    try:
        if created:
            os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
        connection = sqlite3.connect(path, isolation_level=None, cached_statements=256, timeout=5)
        migrate(connection, path)
        connection.execute("PRAGMA journal_mode = WAL")
        # FULL: a commit is on disk before it is acknowledged.
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("PRAGMA temp_store = MEMORY")
        connection.execute("PRAGMA cache_size = -16384")
        # A write shows now, not at the first send, whether the file can be written.
        connection.execute("BEGIN IMMEDIATE")
        connection.execute("INSERT OR REPLACE INTO number VALUES ('opened', unixepoch())")
        connection.execute("COMMIT")
    except (OSError, sqlite3.Error) as fault:
        if connection is not None:
            connection.close()
        if isinstance(fault, sqlite3.DatabaseError) and not isinstance(fault, sqlite3.OperationalError):
            raise StoreForeignError(path) from fault
        raise StoreUnwritableError(path) from fault
    except BaseException:
        if connection is not None:
            connection.close()
        raise
    return connection


def connect_reader(path: Path) -> sqlite3.Connection:
    """Open a connection that only reads."""
    connection = sqlite3.connect(path, isolation_level=None, cached_statements=256, check_same_thread=False, timeout=5)
    connection.execute("PRAGMA query_only = 1")
    connection.execute("PRAGMA temp_store = MEMORY")
    connection.execute("PRAGMA cache_size = -16384")
    return connection


def migrate(connection: sqlite3.Connection, path: Path, upto: int | None = None) -> None:
    """Apply what is pending, each migration in a transaction of its own. Raises StoreNewerError or StoreForeignError."""
    version = connection.execute("PRAGMA user_version").fetchone()[0]
    application = connection.execute("PRAGMA application_id").fetchone()[0]
    known = migrations()
    if application != APPLICATION_ID and (version or application or connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()[0]):
        raise StoreForeignError(path)
    if version > len(known):
        raise StoreNewerError(path, version, len(known))
    for number, sql in known[version:upto]:
        try:
            connection.executescript(f"BEGIN EXCLUSIVE;\n{sql}\nPRAGMA user_version = {number};\nPRAGMA application_id = {APPLICATION_ID};\nCOMMIT;")
        except sqlite3.Error:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            raise
