"""The store in memory."""

from pathlib import Path

import pytest

from mail4agent_api.errors import StoreUnavailableError
from mail4agent_core.mail.memory import MemoryStore

from .store_contract import StoreContract


class TestMemoryStore(StoreContract):
    """Passes the contract."""

    @pytest.fixture
    def store(self, memory_store: MemoryStore) -> MemoryStore:
        """The store that the contract is about."""
        return memory_store

    async def test_there_is_nothing_to_back_up(self, store: MemoryStore, tmp_path: Path):
        """A backup is refused, and no file appears."""
        with pytest.raises(StoreUnavailableError):
            await store.backup(tmp_path / "copy")
        assert list(tmp_path.iterdir()) == []
