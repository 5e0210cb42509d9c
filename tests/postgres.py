"""A PostgreSQL server of the tests' own: one a session, on a UNIX socket, thrown away at the end.

A machine without PostgreSQL leaves these tests out; with CI=true it fails them.
"""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import count
from pathlib import Path

import psycopg
import pytest

from tests.faulty import FaultyDisk

OPTIONS = ("max_connections=100", "listen_addresses=")
#: Where the disk is sound: nothing here outlives the server, so that nothing needs to reach it.
HASTY = ("fsync=off", "full_page_writes=off")
START_SECS = "60"


def programs() -> Path:
    """The folder of the server's programs, the newest there is. Skips, or fails in CI."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda p: float(p.parts[-3]))
    if found:
        return found[-1].parent
    if there := shutil.which("initdb"):
        return Path(there).resolve().parent
    if os.environ.get("CI") == "true":
        pytest.fail("PostgreSQL is not on this machine")
    pytest.skip("PostgreSQL is not on this machine")


class PostgresServer:
    """A running server; databases are made in it by name."""

    def __init__(
        self, folder: Path, control: Callable[..., None], options: Sequence[str], disk: FaultyDisk | None
    ) -> None:
        self._folder = folder
        self._control = control
        self._options = options
        self._disk = disk
        self._numbers = count(1)

    @property
    def disk(self) -> FaultyDisk:
        """The disk under it, of a server that was made with a faulty one."""
        assert self._disk is not None
        return self._disk

    def start(self) -> None:
        """Start it, and wait until it takes connections."""
        options = " ".join(f"-c {option}" for option in (*OPTIONS, *self._options))
        self._control("-w", "-t", START_SECS, "-o", f"{options} -k {self._folder}", "start")

    def stop(self) -> None:
        """Stop it as a crash does."""
        self._control("-m", "immediate", "-w", "stop")

    @property
    def runs(self) -> bool:
        """Whether there is a process of it, which may still be starting."""
        try:
            self._control("status")
        except subprocess.CalledProcessError:
            return False
        return True

    @property
    def answers(self) -> bool:
        """Whether it takes connections."""
        try:
            psycopg.connect(self.url("postgres")).close()
        except psycopg.OperationalError:
            return False
        return True

    def url(self, database: str) -> str:
        """The address of a database, for its superuser."""
        return f"postgresql://mail@/{database}?host={self._folder}"

    @property
    def pid(self) -> int:
        """Its first process, the parent of all others."""
        return int((self._folder / "data/postmaster.pid").read_text("ascii").split()[0])

    @property
    def socket(self) -> Path:
        """Where it listens."""
        return self._folder / ".s.PGSQL.5432"

    def create(self, template: str = "template1") -> str:
        """Make a database, a copy of another one that nobody uses; return its address."""
        name = f"mail{next(self._numbers)}"
        self.run("postgres", f"CREATE DATABASE {name} TEMPLATE {template}")
        return self.url(name)

    def run(self, database: str, statement: str) -> None:
        """Run a statement in a database."""
        with psycopg.connect(self.url(database), autocommit=True) as connection:
            connection.execute(statement.encode())


@contextmanager
def postgres(options: Sequence[str] = (), *, faulty: bool = False) -> Iterator[PostgresServer]:
    """Start a server for the length of the block, on a sound disk or on one that can fail.

    ``options`` is for more of its settings; without any, one on a sound disk hurries.
    """
    bin_ = programs()
    # The socket's path must be short, and the server, which refuses to be root, must reach it.
    folder = Path(tempfile.mkdtemp(prefix="m4a-pg-"))
    root = os.geteuid() == 0
    who = {"user": "postgres", "group": "postgres", "extra_groups": ()} if root else {}
    owner = None
    if root:
        entry = pwd.getpwnam("postgres")
        owner = (entry.pw_uid, entry.pw_gid)
        os.chown(folder, *owner)
    data = str(folder / "data")

    def run(program: str, *arguments: str) -> None:
        # Its output goes to a file: a server that is left running would hold a pipe open.
        with (folder / "output").open("ab") as output:
            subprocess.run(
                [bin_ / program, *arguments],
                check=True,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                cwd="/",
                env={**os.environ, **(disk.environment if disk else {})},
                **who,
            )

    disk = None
    try:
        disk = FaultyDisk(folder, folder / "data", owner) if faulty else None
        run("initdb", "-D", data, "-U", "mail", "-A", "trust", "-E", "UTF8", "--no-sync", "--locale=C")
        hasty = () if faulty else HASTY
        server = PostgresServer(folder, partial(run, "pg_ctl", "-D", data), options or hasty, disk)
        server.start()
        try:
            yield server
        finally:
            server.stop()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def empty_database(url: str) -> None:
    """Delete everything from a database that has the schema; nobody uses it."""
    with psycopg.connect(url, autocommit=True) as connection:
        sql = "SELECT tablename FROM pg_tables WHERE schemaname = 'public'"
        tables = {row[0] for row in connection.execute(sql)} - {"clock", "mail4agent_schema"}
        statements = "; ".join(f'DELETE FROM "{table}"' for table in sorted(tables))
        connection.execute(f"{statements}; UPDATE clock SET pos = 0, changes = 0".encode())
