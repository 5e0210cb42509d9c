"""What every test may use, and how the tests are shared out among workers."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.postgres import PostgresServer, postgres

TESTS = Path(__file__).parent
#: Files, or folders of them, that take longest: they begin first, so that no worker is left alone with one.
LONG = (
    "torture/",
    "contract/test_fuzz.py",
    "clients/test_docs.py",
    "core/mail/test_cost.py",
    "core/mail/test_postgres_cost.py",
    "contract/test_consumers.py",
    "daemon/test_readme.py",
    "daemon/test_races.py",
    "daemon/test_starting.py",
    "contract/test_mutations.py",
    "contract/test_generation.py",
    "daemon/test_daemon_verbs.py",
)


def pytest_xdist_auto_num_workers(config: pytest.Config) -> int | None:
    """One worker more than processors: a third of its time a worker waits for a disk, a peer or a time."""
    if config.option.numprocesses != "auto" or "PYTEST_XDIST_AUTO_NUM_WORKERS" in os.environ:
        return None
    return (os.cpu_count() or 1) + 1


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put the long files first, each whole: workers take files in this order with --no-loadscope-reorder."""

    def rank(item: pytest.Item) -> int:
        name = item.path.relative_to(TESTS).as_posix()
        return next((rank for rank, long in enumerate(LONG) if name.startswith(long)), len(LONG))

    items.sort(key=rank)


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[PostgresServer]:
    """A server that all tests of this process share; each makes databases of its own in it."""
    with postgres() as server:
        yield server
