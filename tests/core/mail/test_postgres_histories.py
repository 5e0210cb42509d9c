"""The same random histories over the store in PostgreSQL."""

import os
from collections.abc import Coroutine
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from mail4agent_core.mail.postgres import PostgresStore
from mail4agent_core.mail.postgres.verify import verify
from mail4agent_core.mail.store import MailStore
from tests.postgres import empty_database

from .test_random_histories import TORTURE, Histories


class PostgresHistories(Histories):
    """Operations on the store in memory, the one in PostgreSQL and the model, compared after each."""

    url = ""

    def prepare(self) -> None:
        """Empty the database that all histories use, one after the other."""
        empty_database(self.url)

    def open_store(self) -> Coroutine[Any, Any, MailStore]:
        """Open the store, for the first time or again."""
        return PostgresStore.open(self.url, self.clock)

    def findings(self) -> list[str]:
        """What is wrong with the store."""
        return verify(self.url)

    def discard(self) -> None:
        """Leave the database to the next history."""


@pytest.fixture(autouse=True)
def database(migrated_url: str) -> None:
    """Tell the histories which database is theirs."""
    PostgresHistories.url = migrated_url


@pytest.mark.promise(
    "store.all-stores-keep-one-contract",
    "mail.unread-is-one-number",
    "mail.paging-misses-and-repeats-nothing",
    "mail.position-never-decreases",
    "mail.same-key-same-effect",
    "mail.filters-come-before-the-limit",
    "mail.told-once",
    "admin.retention-spares-unsettled-mail",
)
@pytest.mark.timeout(14_400 if TORTURE else 300)
class TestPostgresHistories(PostgresHistories.TestCase):
    """Each history ends as the model says."""

    settings = settings(
        max_examples=int(os.environ.get("M4A_POSTGRES_HISTORIES", "500" if TORTURE else "8")),
        stateful_step_count=60,
        derandomize=not TORTURE,
        deadline=None,
        database=None,
        print_blob=True,
        suppress_health_check=list(HealthCheck),
    )
