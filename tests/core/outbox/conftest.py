"""An outbox with a clock that is turned by hand."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from mail4agent_core.clock import HandClock
from mail4agent_core.outbox import OutboxStore

from .office import Office


@pytest.fixture
def clock() -> HandClock:
    """A clock that moves when told to."""
    return HandClock()


@pytest.fixture
def store(tmp_path: Path, clock: HandClock) -> Iterator[OutboxStore]:
    """A new root."""
    with OutboxStore.open(tmp_path / "outbox", clock=clock) as opened:
        yield opened


@pytest.fixture
def office(store: OutboxStore) -> Office:
    """Stages and decides with little said."""
    return Office(store)
