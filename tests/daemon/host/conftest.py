"""Fixtures of the tests that speak to a served application."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest

from .served import Host, Hosts


@pytest.fixture(params=[False, True], ids=["asyncio", "uvloop"])
def anyio_backend(request: pytest.FixtureRequest) -> tuple[str, dict[str, Any]]:
    """Each loop that the daemon runs on."""
    return "asyncio", {"use_uvloop": request.param}


@pytest.fixture
async def hosts(tmp_path: Path) -> AsyncIterator[Hosts]:
    """Servers to start."""
    async with AsyncExitStack() as stack:
        yield Hosts(tmp_path, stack)


@pytest.fixture
async def host(hosts: Hosts) -> Host:
    """A server with the usual limits."""
    return await hosts.start()
