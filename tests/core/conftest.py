"""The loop that engine and store tests run on, and the stores that they run over."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from mail4agent_core.clock import HandClock
from mail4agent_core.mail.memory import MemoryStore
from mail4agent_core.mail.postgres import PostgresStore
from mail4agent_core.mail.postgres.schema import connect_migrated
from mail4agent_core.mail.sqlite import SqliteStore
from tests.core.mail.office import Office
from tests.postgres import PostgresServer, empty_database


@pytest.fixture
def anyio_backend() -> str:
    """The loop of the daemon."""
    return "asyncio"


@pytest.fixture
def clock() -> HandClock:
    """A clock that stands until it is turned."""
    return HandClock()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Where a database may be made."""
    return tmp_path / "mail.sqlite3"


@pytest.fixture
async def sqlite_store(path: Path, clock: HandClock) -> AsyncIterator[SqliteStore]:
    """An empty store in a file."""
    store = await SqliteStore.open(path, clock)
    yield store
    await store.close()


@pytest.fixture
def memory_store(clock: HandClock) -> MemoryStore:
    """An empty store in memory."""
    return MemoryStore(clock)


@pytest.fixture
def sqlite_office(sqlite_store: SqliteStore, clock: HandClock) -> Office:
    """Engine and administration over an empty store in a file."""
    return Office(sqlite_store, clock)


@pytest.fixture(scope="session")
def migrated_url(postgres_server: PostgresServer) -> str:
    """A database with the present schema, emptied for each test."""
    url = postgres_server.create()
    connect_migrated(url, "tests").close()
    return url


@pytest.fixture
def postgres_url(migrated_url: str) -> str:
    """The address of an empty database with the present schema."""
    empty_database(migrated_url)
    return migrated_url


@pytest.fixture
async def postgres_store(postgres_url: str, clock: HandClock) -> AsyncIterator[PostgresStore]:
    """An empty store in PostgreSQL."""
    store = await PostgresStore.open(postgres_url, clock)
    yield store
    await store.close()


@pytest.fixture
def postgres_office(postgres_store: PostgresStore, clock: HandClock) -> Office:
    """Engine and administration over an empty store in PostgreSQL."""
    return Office(postgres_store, clock)
