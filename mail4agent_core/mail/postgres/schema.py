"""Migrating a database: numbered SQL files, each applied in one transaction with its number."""

from importlib.resources import files

import psycopg

from .connection import Database, checked, connect, shown
from .faults import DatabaseForeignError, DatabaseNewerError, DatabaseUnreachableError

#: Made by the first migration's transaction; its one row is the number of the last.
_SCHEMA = "CREATE TABLE mail4agent_schema (version INTEGER NOT NULL)"


def migrations() -> list[tuple[int, str]]:
    """The numbered migrations in order, with their SQL."""
    folder = files("mail4agent_core.mail.postgres").joinpath("migrations")
    found = sorted((f for f in folder.iterdir() if f.name.endswith(".sql")), key=lambda f: f.name)
    return [(int(f.name[:4]), f.read_text("utf-8")) for f in found]


def schema_of(db: Database, name: str) -> int:
    """The number of the last migration applied, 0 for an empty database.

    Raises DatabaseNewerError or DatabaseForeignError.
    """
    if not _made(db, name):
        return 0
    (version,) = _one(db, "SELECT coalesce(max(version), 0) FROM mail4agent_schema")
    known = migrations()[-1][0]
    if version > known:
        raise DatabaseNewerError(name, version, known)
    return version


def _made(db: Database, name: str) -> bool:
    """Whether there is a schema of ours; no lock is taken on it. Raises DatabaseForeignError."""
    # One statement: what another daemon makes meanwhile is not taken for something else's.
    tables = "SELECT count(*) FROM pg_tables WHERE schemaname = current_schema()"
    row = db.execute(f"SELECT to_regclass('mail4agent_schema') IS NOT NULL, ({tables})").fetchone()
    assert row is not None
    if row[1] and not row[0]:
        raise DatabaseForeignError(name)
    return bool(row[0])


def migrate(db: Database, name: str) -> None:
    """Apply what is pending. Daemons that start together take turns.

    Raises DatabaseNewerError, DatabaseForeignError or psycopg.Error; each leaves the last whole migration.
    """
    if schema_of(db, name) == migrations()[-1][0]:
        return
    for number, sql in migrations():
        with db.connection.transaction():
            # Two daemons that make the first table at once: the second fails by its name and is started anew.
            if not _made(db, name):
                db.command(_SCHEMA)
                db.command("INSERT INTO mail4agent_schema VALUES (0)")
            # Before it is read: of two that have read it and then want it alone, neither gets it.
            db.command("LOCK TABLE mail4agent_schema IN ACCESS EXCLUSIVE MODE")
            if schema_of(db, name) >= number:
                continue
            db.command(sql)
            db.command(f"UPDATE mail4agent_schema SET version = {number}")


def _one(db: Database, sql: str) -> tuple[int]:
    row = db.execute(sql).fetchone()
    assert row is not None
    return (row[0],)


def connect_migrated(url: str, name: str) -> Database:
    """Open a connection to a database that has the present schema. Raises StoreOpenError."""
    checked(url)
    db: Database | None = None
    try:
        db = connect(url, name)
        try:
            migrate(db, shown(url))
        except (psycopg.errors.UniqueViolation, psycopg.errors.DuplicateTable):
            # Another daemon made it in the same moment.
            migrate(db, shown(url))
    except psycopg.Error as fault:
        if db is not None:
            db.close()
        raise DatabaseUnreachableError(shown(url), reason_of(fault)) from fault
    except BaseException:
        if db is not None:
            db.close()
        raise
    return db


def reason_of(fault: psycopg.Error) -> str:
    """Why the server was of no use, in words that hold nothing of the address."""
    match fault:
        case psycopg.errors.InvalidPassword() | psycopg.errors.InvalidAuthorizationSpecification():
            return "the server refuses the user or the password"
        case psycopg.errors.InvalidCatalogName():
            return "the server has no such database"
        case psycopg.errors.InsufficientPrivilege():
            return "the user may not create tables there"
        case psycopg.errors.ConnectionTimeout():
            return "the server did not answer in time"
        case psycopg.OperationalError():
            return "the server does not answer, or refuses the connection"
        case _:
            return f"the server answered with an error ({fault.sqlstate or 'unknown'})"
