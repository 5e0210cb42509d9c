"""What every test may use."""

from collections.abc import Iterator

import pytest

from tests.postgres import PostgresServer, postgres


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[PostgresServer]:
    """A server that all tests of this process share; each makes databases of its own in it."""
    with postgres() as server:
        yield server
