"""A disk that runs full under a daemon: named refusals, nothing lost, and it goes on by itself."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from mail4agent_core.mail.sqlite.verify import verify

from .disk import Filler, small_disk
from .running import Daemon, running

pytestmark = pytest.mark.promise("store.broken-disk-is-named")

LONG = "x" * 60_000


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Path]:
    """A small disk."""
    with small_disk(tmp_path / "disk", "4m") as disk:
        yield disk


def posted(daemon: Daemon, body: str = "b", **more: object) -> tuple[int, str]:
    """Status and message id, or kind of refusal, of one send from ada to ben."""
    to = {"kind": "direct", "participant": "ben"}
    answer = daemon.post("/mail/send", {"to": to, "subject": "s", "body": body, **more}, "ada")
    return answer.status, answer.json.get("message_id") or answer.kind


def ids(daemon: Daemon) -> list[str]:
    """All that ben has."""
    return [message["message_id"] for message in daemon.inbox("ben", limit=256, max_bytes=16_777_216)]


def test_a_full_disk_refuses_writes_by_name_and_loses_nothing(place: Path) -> None:
    """What was acknowledged is there, what was refused is not, reads go on, and with room so do writes."""
    with running(place / "home", "--no-socket") as daemon:
        daemon.add("ada")
        daemon.add("ben")
        accepted = [posted(daemon, idempotency_key=f"k{number}")[1] for number in range(3)]
        filler = Filler(place, daemon.process.pid)
        filler.fill()
        # What the journal has room for within its pages is taken; then nothing is.
        for _ in range(100):
            status, told = posted(daemon, LONG)
            if status != 200:
                break
            accepted.append(told)
        assert (status, told) == (503, "store_unavailable")
        refused = daemon.post("/admin/participant", {"id": "new", "may_send": True, "may_read": True})
        assert (refused.status, refused.json.get("kind")) in ((200, None), (503, "store_unavailable"))
        health = daemon.get("/health")
        assert (health.status, health.json.get("kind")) in ((200, None), (503, "store_unavailable"))
        assert ids(daemon) == accepted
        assert posted(daemon, idempotency_key="k0") in ((200, accepted[0]), (503, "store_unavailable"))
        assert ids(daemon) == accepted
        filler.free()
        status, told = posted(daemon, LONG)
        assert status == 200
        accepted.append(told)
        assert ids(daemon) == accepted
        assert daemon.get("/health").status == 200
        assert daemon.stop() == 0
        assert "the store failed in" in daemon.log_file.read_text()
        assert LONG[:100] not in daemon.log_file.read_text()
    assert verify(daemon.home / "mail.sqlite3") == []
    with running(place / "home", "--no-socket") as again:
        again.keys.update(daemon.keys)
        assert ids(again) == accepted


def test_a_daemon_that_is_killed_on_a_full_disk_starts_when_there_is_room(place: Path) -> None:
    """What was acknowledged before is there after the restart."""
    with running(place / "home", "--no-socket") as daemon:
        daemon.add("ada")
        daemon.add("ben")
        filler = Filler(place, daemon.process.pid)
        accepted = [posted(daemon)[1]]
        filler.fill()
        while (outcome := posted(daemon, LONG))[0] == 200:
            accepted.append(outcome[1])
        daemon.process.kill()
        daemon.process.wait()
    Filler(place).free()
    with running(place / "home", "--no-socket") as again:
        again.keys.update(daemon.keys)
        assert ids(again) == accepted
        assert again.stop() == 0
    assert verify(place / "home" / "mail.sqlite3") == []
