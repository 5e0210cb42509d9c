"""The loop that torture tests run on."""

import pytest


@pytest.fixture
def anyio_backend() -> str:
    """The loop of the daemon."""
    return "asyncio"
