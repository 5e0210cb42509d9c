"""The store in a PostgreSQL database that any number of daemons share. It needs psycopg."""

from .faults import DatabaseForeignError, DatabaseNewerError, DatabaseUnreachableError
from .store import PostgresStore

__all__ = ["DatabaseForeignError", "DatabaseNewerError", "DatabaseUnreachableError", "PostgresStore"]
