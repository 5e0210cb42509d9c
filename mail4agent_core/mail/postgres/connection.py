"""Connections to the server, and how statements are given to them."""

from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psycopg
from psycopg import conninfo
from psycopg.types.numeric import Int8BinaryDumper, Int8Dumper

from .faults import DatabaseAddressError

#: One row of an answer.
Row = tuple[Any, ...]
Cursor = psycopg.Cursor[Row]

#: How long a connection may take to be made, and a statement to wait for a lock, in seconds.
CONNECT_SECS = 5
LOCK_SECS = 10
#: How long a statement of a writer, or of a read that a page bounds, may run; and how long a transaction may
#: stand still before the server ends it, so that a daemon that is stopped in one does not stop the others.
STATEMENT_SECS = 20
IDLE_SECS = 10
#: How many statements a connection keeps prepared.
PREPARED_MAX = 500

_OPTIONS = (
    # A commit is on the server's disk before it is acknowledged.
    "-c synchronous_commit=on",
    f"-c statement_timeout={STATEMENT_SECS}s",
    f"-c lock_timeout={LOCK_SECS}s",
    f"-c idle_in_transaction_session_timeout={IDLE_SECS}s",
    # Every statement here finds its rows by an index, in the index's order; what the server does not know of
    # the tables' sizes, or knew when they were small, must not talk the planner into reading, or sorting, a
    # whole mailbox. For the same reason a join to a row by its key is lateral with LIMIT 1: it cannot be
    # turned round.
    "-c enable_seqscan=off",
    "-c enable_bitmapscan=off",
    "-c enable_mergejoin=off",
    "-c enable_hashjoin=off",
    "-c enable_sort=off",
    "-c jit=off",
    "-c timezone=UTC",
)


#: Parameters of an address that name files.
_FILES = ("passfile", "sslcert", "sslkey", "sslrootcert", "sslcrl")


class Database:
    """One connection; its statements are prepared and their answers binary."""

    def __init__(self, connection: psycopg.Connection[Row]) -> None:
        self.connection = connection

    def execute(self, sql: str, values: Sequence[object] | Mapping[str, object] = ()) -> Cursor:
        """Run a statement with its values."""
        return self.connection.execute(sql.encode(), values or None, prepare=True, binary=True)

    def command(self, sql: str) -> None:
        """Run a statement that has no answer and is not worth preparing."""
        self.connection.execute(sql.encode(), prepare=False)

    @contextmanager
    def pipelined(self) -> Generator[None]:
        """Send the statements of a block together; none of their answers is looked at inside."""
        with self.connection.pipeline():
            yield

    @property
    def broken(self) -> bool:
        """Whether it is of no use any more."""
        return self.connection.closed

    def close(self) -> None:
        """Let go of it."""
        self.connection.close()


def connect(url: str, name: str) -> Database:
    """Open a connection; ``name`` is shown in the server's list of them. Raises psycopg.Error."""
    given = conninfo.conninfo_to_dict(url)
    options = " ".join((*_OPTIONS, str(given.get("options") or ""))).strip()
    connection = psycopg.connect(
        url,
        autocommit=True,
        prepare_threshold=1,
        connect_timeout=CONNECT_SECS,
        application_name=f"mail4agent {name}",
        options=options,
        keepalives_idle=10,
        keepalives_interval=5,
        keepalives_count=3,
        tcp_user_timeout=20_000,
    )
    connection.prepared_max = PREPARED_MAX
    # Numbers are of one type, whatever their size, so that a statement is prepared once.
    connection.adapters.register_dumper(int, Int8Dumper)
    connection.adapters.register_dumper(int, Int8BinaryDumper)
    return Database(connection)


def checked(url: str) -> None:
    """Raises DatabaseAddressError for what libpq cannot read, and for a file in it that is no file."""
    try:
        parts = conninfo.conninfo_to_dict(url)
    except psycopg.Error:
        raise DatabaseAddressError("it is not one that PostgreSQL's library reads") from None
    for name in _FILES:
        path = Path(str(parts.get(name) or ""))
        # The library opens what is named as it is, and would wait at a pipe for ever.
        if path.name and path.exists() and not path.is_file():
            raise DatabaseAddressError(f"{name} names no regular file")


def shown(url: str) -> str:
    """A URL without its password, as people are told of the database. Raises ValueError for no such URL."""
    try:
        parts = conninfo.conninfo_to_dict(url)
    except psycopg.Error:
        raise ValueError("is no PostgreSQL address") from None
    host = parts.get("host") or parts.get("hostaddr") or "localhost"
    port = f":{parts['port']}" if parts.get("port") else ""
    return f"PostgreSQL database {parts.get('dbname') or 'postgres'} at {host}{port}"


def columns(rows: Sequence[Sequence[Any]], count: int) -> list[list[Any]]:
    """Rows turned into so many columns, for ``unnest``."""
    return [[row[index] for row in rows] for index in range(count)]


Query = Callable[[Database], Any]
