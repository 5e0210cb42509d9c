"""``mail4agent migrate``: a daemon's file becomes a database that daemons share."""

from pathlib import Path

import pytest

from tests.postgres import PostgresServer

from .running import ran, running


@pytest.mark.promise("store.copy-is-proved")
def test_a_daemon_goes_on_over_the_copy_of_its_live_file(tmp_path: Path, postgres_server: PostgresServer):
    """Secrets, mail, order and counts are as before, and a second copy is refused."""
    home, url = tmp_path / "home", postgres_server.create()
    with running(home) as before:
        for account in ("ada", "ben"):
            before.add(account)
        sent = [before.send("ada", "ben", str(n), idempotency_key=f"k{n}") for n in range(5)]
        assert before.post("/mail/ack", {"message_id": sent[1]}, "ben").status == 200
        ended = ran(home, "migrate", "--json", M4A_STORE__URL=url)
        assert ended.status == 0, ended.err
        assert ended.json["rows"]["message"] == 5
        assert before.stop() == 0
    with running(home, M4A_STORE__URL=url) as after:
        after.keys.update(before.keys)
        page = after.post("/mail/inbox", {}, "ben").json
        assert [message["message_id"] for message in page["messages"]] == sent
        assert page["unread"] == 4
        assert after.send("ada", "ben", "3", idempotency_key="k3") == sent[3]
        assert after.post("/admin/participant/list", {}).status == 200
        assert after.post("/mail/search", {"query": "4"}, "ben").json["messages"][0]["message_id"] == sent[4]
        assert after.stop() == 0
    again = ran(home, "migrate", M4A_STORE__URL=url)
    assert (again.status, again.out) == (1, "")
    assert "not empty" in again.err


def test_a_copy_needs_a_database_to_go_to(tmp_path: Path):
    """Without one set, the setting is named."""
    ended = ran(tmp_path / "home", "migrate")
    assert ended.status == 2
    assert "store.url" in ended.err
