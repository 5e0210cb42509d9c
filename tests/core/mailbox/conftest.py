"""A store with a clock that is turned by hand."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from mail4agent_core.clock import HandClock
from mail4agent_core.mailbox import MailboxStore

from .post import Post


@pytest.fixture
def clock() -> HandClock:
    """A clock that moves when told to."""
    return HandClock()


@pytest.fixture
def store(tmp_path: Path, clock: HandClock) -> Iterator[MailboxStore]:
    """A new root."""
    with MailboxStore.open(tmp_path / "messages", clock=clock) as opened:
        yield opened


@pytest.fixture
def post(store: MailboxStore) -> Post:
    """Sends with little said."""
    return Post(store)
