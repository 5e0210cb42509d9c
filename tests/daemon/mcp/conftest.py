"""One daemon for the tests of the MCP door, and who talks to it."""

from collections.abc import Iterator

import pytest

from tests.daemon.running import Daemon, running

from .talk import Talk

#: Tests ask more of few connections than those may by default, and show wrong secrets.
UNMETERED = {
    "M4A_LIMITS__ACCOUNT_PER_SEC": "0",
    "M4A_LIMITS__CONNECTION_PER_SEC": "0",
    "M4A_LIMITS__WRONG_SECRET_MS": "0",
}


@pytest.fixture(scope="package")
def daemon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Daemon]:
    """A daemon with the accounts ada and ben, the room desk, and mute, who may read and not send."""
    with running(tmp_path_factory.mktemp("mcp") / "home", **UNMETERED) as one:
        for account in ("ada", "ben"):
            # This process is nobody's session: it calls as the account that it names.
            one.add(account, attestation="off")
        one.add("mute", may_send=False, attestation="off")
        assert one.post("/admin/room", {"id": "desk"}).status == 200
        for account in ("ada", "ben"):
            member = {"room": "desk", "participant": account}
            assert one.post("/admin/room/member/add", member).status == 200
        yield one


@pytest.fixture(scope="package")
def talk(daemon: Daemon) -> Talk:
    """Who talks to it."""
    return Talk(daemon)
