"""A disk that breaks under a daemon: what it takes and cannot keep, does not take, or takes late."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from mail4agent_core.mail.sqlite.verify import verify
from tests.faulty import FaultyDisk
from tests.process import DaemonProcess

pytestmark = pytest.mark.promise("store.broken-disk-is-named", "mail.acknowledged-send-is-durable")


class Place:
    """A daemon on a disk that can break, with a writer and a reader."""

    def __init__(self, folder: Path) -> None:
        self.disk = FaultyDisk(folder, folder / "home")
        self.daemon = DaemonProcess(folder / "home", environment=self.disk.environment).start()
        self._writer, self._reader = (self.daemon.register(name) for name in ("ada", "ben"))

    def send(self, subject: str, key: str | None = None) -> tuple[int, Any]:
        """Status, and the id or the kind of refusal, of one send from ada to ben."""
        to = {"kind": "direct", "participant": "ben"}
        letter = {"to": to, "subject": subject, "body": "x" * 3_000, "idempotency_key": key}
        status, answer = self.daemon.ask("mail.send", letter, secret=self._writer)
        return status, answer.get("message_id") or answer["kind"]

    @property
    def subjects(self) -> list[str]:
        """What ben has."""
        page = self.daemon.do("mail.inbox", {"limit": 256}, secret=self._reader)
        return [message["subject"] for message in page["messages"]]


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    """It, and what it held at the end is sound."""
    made = Place(tmp_path)
    try:
        yield made
        made.disk.mend()
        assert made.daemon.stop() == 0
        assert verify(made.daemon.database) == []
    finally:
        made.daemon.kill()


REFUSED = (503, "store_unavailable")


@pytest.mark.promise("store.refused-was-not-done")
def test_a_send_that_could_not_be_made_durable_is_not_there_after_a_crash(place: Place) -> None:
    """The disk had taken all of it but its promise to keep it: refused means that it never comes."""
    assert place.send("before")[0] == 200
    place.disk.fail_syncs()
    assert place.send("refused") == REFUSED
    place.daemon.kill()
    place.disk.mend()
    place.daemon.start()
    assert place.subjects == ["before"]
    assert place.disk.told.syncs_failed >= 1


@pytest.mark.parametrize("breaks", [FaultyDisk.fail_writes, FaultyDisk.fail_syncs])
def test_a_disk_that_fails_is_named_and_mail_goes_on_when_it_works(
    place: Place, breaks: Callable[[FaultyDisk], None]
) -> None:
    """Reads go on meanwhile; what was refused with a key is there once, when it is repeated."""
    assert place.send("before")[0] == 200
    breaks(place.disk)
    assert [place.send("again", "k"), place.send("refused")] == [REFUSED, REFUSED]
    assert place.subjects == ["before"]
    place.disk.mend()
    told = place.send("again", "k")
    assert told[0] == 200
    assert place.send("again", "k") == told
    assert place.subjects == ["before", "again"]


def test_a_slow_disk_holds_writes_up_and_no_reads(place: Place) -> None:
    """A send is answered after the disk has it; who reads meanwhile is answered at once, without it."""
    assert place.send("before")[0] == 200
    place.disk.slow_syncs(1.0)
    answers: list[tuple[int, Any]] = []
    sending = Thread(target=lambda: answers.append(place.send("late")))
    sending.start()
    while not place.disk.told.syncs_slowed:
        assert place.subjects == ["before"]
    assert place.subjects == ["before"]
    assert answers == []
    place.disk.mend()
    sending.join()
    assert answers[0][0] == 200
    assert place.subjects == ["before", "late"]
