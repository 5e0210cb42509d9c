"""The store in a PostgreSQL database."""

import pytest

from mail4agent_core.mail.postgres import PostgresStore

from .store_contract import StoreContract


class TestPostgresStore(StoreContract):
    """Passes the contract."""

    @pytest.fixture
    def store(self, postgres_store: PostgresStore) -> PostgresStore:
        """The store that the contract is about."""
        return postgres_store
