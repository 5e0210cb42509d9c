"""Opening and migrating a database.

Migrations are numbered SQL files, each applied in one transaction with its number. A newer database is
refused by name; a file that is something else is left alone.
"""

import os
import sqlite3
from importlib.resources import files
from pathlib import Path

from .faults import (
    StoreBusyError,
    StoreDamagedError,
    StoreForeignError,
    StoreNewerError,
    StoreOpenError,
    StoreUnwritableError,
)

#: "M4A1": says that the file is a mail database.
APPLICATION_ID = 0x4D344131
#: What a journal keeps of its size after a long reader let it grow, in bytes.
JOURNAL_KEPT = 64 * 1024 * 1024
#: How long a statement waits for another process's lock, in seconds.
LOCK_SECS = 5


def migrations() -> list[tuple[int, str]]:
    """The numbered migrations in order, with their SQL."""
    folder = files("mail4agent_core.mail.sqlite").joinpath("migrations")
    found = sorted((f for f in folder.iterdir() if f.name.endswith(".sql")), key=lambda f: f.name)
    numbered = [(int(f.name[:4]), f.read_text("utf-8")) for f in found]
    numbers = [number for number, _ in numbered]
    assert numbers[0] == 1, "the first is there"
    assert len(set(numbers)) == len(numbers), "each number names one"
    return numbered


def connect_writer(path: Path) -> sqlite3.Connection:
    """Open the one connection that writes, creating and migrating the database. Raises StoreOpenError.

    It is used by one thread at a time, not always the same one.
    """
    connection: sqlite3.Connection | None = None
    try:
        if path.exists():
            _inspect(path)
        else:
            os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
        connection = sqlite3.connect(
            path, isolation_level=None, cached_statements=256, timeout=LOCK_SECS, check_same_thread=False
        )
        migrate(connection, path)
        if connection.execute("PRAGMA journal_mode = WAL").fetchone()[0] != "wal":
            raise StoreUnwritableError(path)
        # A commit is on disk before it is acknowledged; macOS needs the second to be told so.
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("PRAGMA fullfsync = 1")
        connection.execute(f"PRAGMA journal_size_limit = {JOURNAL_KEPT}")
        connection.execute("PRAGMA temp_store = MEMORY")
        connection.execute("PRAGMA cache_size = -16384")
        # A write shows now, not at the first send, whether the file can be written.
        connection.execute(
            "INSERT INTO number VALUES ('opened', 1) ON CONFLICT DO UPDATE SET value = value + 1"
        )
    except (OSError, sqlite3.Error) as fault:
        if connection is not None:
            connection.close()
        raise open_error(path, fault) from fault
    except BaseException:
        if connection is not None:
            connection.close()
        raise
    return connection


def connect_reader(path: Path) -> sqlite3.Connection:
    """Open a connection that only reads. It may move between threads, in use by one at a time."""
    # It creates nothing in the place of a file that was deleted.
    connection = sqlite3.connect(
        f"{Path(os.path.realpath(path)).as_uri()}?mode=rw",
        uri=True,
        isolation_level=None,
        cached_statements=256,
        check_same_thread=False,
        timeout=LOCK_SECS,
    )
    connection.execute("PRAGMA query_only = 1")
    connection.execute("PRAGMA temp_store = MEMORY")
    connection.execute("PRAGMA cache_size = -16384")
    return connection


def connect_inspector(path: Path) -> sqlite3.Connection:
    """Open a connection that leaves the file, and what lies beside it, as it is. Raises sqlite3.Error."""
    if path.exists() and not path.is_file():
        # SQLite would wait at a pipe until somebody writes it.
        fault = sqlite3.OperationalError("not a regular file")
        fault.sqlite_errorcode = sqlite3.SQLITE_CANTOPEN
        raise fault
    log = path.with_name(f"{path.name}-wal")
    # Without a log nobody has it open and this file is all there is; a reader that looked for a log would
    # leave an empty one. An empty one may be that of a daemon that has just started.
    alone = "" if log.exists() else "&immutable=1"
    uri = f"{Path(os.path.realpath(path)).as_uri()}?mode=ro{alone}"
    return sqlite3.connect(uri, uri=True, isolation_level=None, timeout=LOCK_SECS)


def _inspect(path: Path) -> None:
    inspector = connect_inspector(path)
    try:
        schema_of(inspector, path)
    finally:
        inspector.close()


def schema_of(connection: sqlite3.Connection, path: Path) -> int:
    """The number of the last migration applied, 0 for an empty file.

    Raises StoreNewerError or StoreForeignError.
    """
    version: int = connection.execute("PRAGMA user_version").fetchone()[0]
    application: int = connection.execute("PRAGMA application_id").fetchone()[0]
    if application != APPLICATION_ID:
        tables: int = connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()[0]
        if version or application or tables:
            raise StoreForeignError(path)
    # No migration makes one: somebody else's would run within every statement, and may never end.
    if connection.execute("SELECT 1 FROM sqlite_schema WHERE type IN ('trigger', 'view')").fetchone():
        raise StoreForeignError(path)
    known = migrations()[-1][0]
    if version > known:
        raise StoreNewerError(path, version, known)
    return version


def migrate(connection: sqlite3.Connection, path: Path, upto: int | None = None) -> None:
    """Apply what is pending, each migration in a transaction of its own.

    Raises StoreNewerError, StoreForeignError, or sqlite3.Error, which leaves the last whole migration.
    """
    version = schema_of(connection, path)
    last = migrations()[-1][0] if upto is None else upto
    for number, sql in migrations():
        if not version < number <= last:
            continue
        try:
            connection.executescript(
                f"BEGIN EXCLUSIVE;\n{sql}\nPRAGMA user_version = {number};\n"
                f"PRAGMA application_id = {APPLICATION_ID};\nCOMMIT;"
            )
        except sqlite3.Error:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            raise


def open_error(path: Path, fault: OSError | sqlite3.Error) -> StoreOpenError:
    """What a fault says about the file."""
    # The lower byte is the primary code, the rest tells variants apart.
    code = getattr(fault, "sqlite_errorcode", 0) & 0xFF
    match code:
        case sqlite3.SQLITE_NOTADB:
            return StoreForeignError(path)
        case sqlite3.SQLITE_CORRUPT:
            return StoreDamagedError(path)
        case sqlite3.SQLITE_BUSY | sqlite3.SQLITE_LOCKED:
            return StoreBusyError(path)
        case _:
            return StoreUnwritableError(path)
