"""Fixtures of the tests of the whole daemon."""

from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from .inside import Daemons, Inside
from .running import Daemon, running


@pytest.fixture(scope="module")
def daemon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Daemon]:
    """A daemon for a module, with the accounts ada, ben and eve, the first two in the room desk."""
    with running(tmp_path_factory.mktemp("daemon") / "home") as one:
        for account in ("ada", "ben", "eve"):
            one.add(account)
        assert one.post("/admin/room", {"id": "desk"}).status == 200
        for account in ("ada", "ben"):
            member = {"room": "desk", "participant": account}
            assert one.post("/admin/room/member/add", member).status == 200
        yield one


@pytest.fixture
async def daemons(tmp_path: Path) -> AsyncIterator[Daemons]:
    """Daemons on this test's own loop, to start."""
    async with AsyncExitStack() as stack:
        yield Daemons(tmp_path, stack)


@pytest.fixture
async def inside(daemons: Daemons) -> Inside:
    """One with the usual limits."""
    return await daemons.start()
