"""A folder of requests and an outbox whose drafts are decided by hand."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from mail4agent_core.frontdoor.store import Frontdoor

from .records import Outbox, types


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Frontdoor]:
    """A new root, with one local type."""
    with Frontdoor.open(tmp_path / "requests", types=types, lock_secs=0.2) as opened:
        yield opened


@pytest.fixture
def outbox() -> Outbox:
    """No drafts yet."""
    return Outbox()
