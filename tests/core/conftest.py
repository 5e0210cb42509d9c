"""The loop that engine and store tests run on, and the stores that they run over."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from mail4agent_core.clock import HandClock
from mail4agent_core.mail.memory import MemoryStore
from mail4agent_core.mail.sqlite import SqliteStore
from tests.core.mail.office import Office


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
