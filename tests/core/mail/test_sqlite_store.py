"""The store in one SQLite file."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from mail4agent_core.mail.sqlite import SqliteStore
from mail4agent_core.mail.sqlite.verify import verify

from .store_contract import StoreContract


class TestSqliteStore(StoreContract):
    """Passes the contract, and is sound after each of its tests."""

    @pytest.fixture
    async def store(self, sqlite_store: SqliteStore, path: Path) -> AsyncIterator[SqliteStore]:
        """The store that the contract is about."""
        yield sqlite_store
        await sqlite_store.close()
        assert verify(path) == []
