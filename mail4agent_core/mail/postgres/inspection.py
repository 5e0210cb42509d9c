"""What ``doctor`` asks of a database, which it only reads."""

from collections.abc import Generator
from contextlib import contextmanager

import psycopg

from .connection import Database, Row, checked, connect, shown
from .faults import DatabaseUnreachableError
from .schema import reason_of, schema_of
from .verify import findings_of


@contextmanager
def inspected(url: str) -> Generator["Inspection | None"]:
    """Look at a database at one moment; None when it is empty. Raises StoreOpenError."""
    checked(url)
    db: Database | None = None
    try:
        db = connect(url, "doctor")
        db.command("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
        yield None if schema_of(db, shown(url)) == 0 else Inspection(db)
    except psycopg.Error as fault:
        raise DatabaseUnreachableError(shown(url), reason_of(fault)) from fault
    finally:
        if db is not None:
            db.close()


class Inspection:
    """A database at one moment."""

    def __init__(self, db: Database) -> None:
        self._db = db

    def findings(self) -> list[str]:
        """What is wrong with it."""
        return findings_of(self._db)

    def secrets(self) -> list[Row]:
        """Id, capabilities and digest of every account with a secret."""
        sql = "SELECT id, capabilities, secret_digest FROM participant WHERE secret_digest IS NOT NULL"
        return self._db.execute(sql).fetchall()

    def size(self) -> int:
        """How much it takes on the server, in bytes."""
        return self._db.execute("SELECT pg_database_size(current_database())").fetchall()[0][0]

    def version(self) -> str:
        """The server's version."""
        return str(self._db.execute("SHOW server_version").fetchall()[0][0])

    def numbers(self) -> dict[str, int]:
        """What is kept of retention, by name."""
        rows = self._db.execute("SELECT name, value FROM number WHERE name LIKE 'retention.%%'")
        return {row[0]: row[1] for row in rows}

    def listeners(self) -> list[Row]:
        """Owner, last failure, rings that wait and rings given up of every listener."""
        sql = "SELECT owner, failure, outstanding, given_up FROM listener ORDER BY owner"
        return self._db.execute(sql).fetchall()
