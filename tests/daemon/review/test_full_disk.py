"""A disk that is really full under the daemon before and during a release."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.daemon.disk import Filler, small_disk

from .conftest import Office, opened

pytestmark = pytest.mark.promise("outbox.a-full-disk-sends-nothing")


@pytest.fixture
def cramped(tmp_path: Path) -> Iterator[Office]:
    """An office on a small disk of its own."""
    with small_disk(tmp_path / "disk", "8m") as disk, opened(disk) as office:
        yield office


def filler_of(office: Office) -> Filler:
    """What fills the disk of an office."""
    return Filler(office.folder, office.daemon.pid)


def release(office: Office, draft: dict[str, str]) -> tuple[int, str]:
    """Rosa releases what she was shown: the status, and the kind of the refusal or what became of it."""
    status, answer = office.daemon.ask(
        "outbox.release", {"id": draft["id"], "digest": draft["digest"]}, secret=office.rosa
    )
    return status, answer["kind"] if status != 200 else answer["status"]


def test_a_release_on_a_full_disk_sends_nothing_and_works_once_there_is_room(cramped: Office) -> None:
    """The intent has no room, so that the mail server hears nothing; the draft waits on as it was."""
    draft = cramped.stage()
    filler = filler_of(cramped)
    filler.fill()
    assert release(cramped, draft) == (503, "store_unavailable")
    assert cramped.get(draft["id"])["entry"]["status"] == "pending"
    assert cramped.inbox.messages == []
    filler.free()
    assert release(cramped, draft) == (200, "sent")
    assert len(cramped.inbox.messages) == 1


def test_a_disk_that_fills_while_the_mail_leaves_makes_a_doubt_and_no_second_mail(cramped: Office) -> None:
    """That it left cannot be written down: it is shown as in doubt, also after a restart, until settled."""
    draft = cramped.stage()
    filler = filler_of(cramped)
    cramped.inbox.meanwhile = filler.fill
    status, kind = release(cramped, draft)
    assert (status, kind) in {(503, "store_unavailable"), (409, "outcome_unknown")}
    cramped.inbox.meanwhile = bool
    assert cramped.get(draft["id"])["entry"]["outcome_unknown"]
    filler.free()
    assert release(cramped, draft) == (409, "outcome_unknown")
    cramped.daemon.kill()
    cramped.daemon.start()
    assert cramped.get(draft["id"])["entry"]["outcome_unknown"]
    assert release(cramped, draft) == (409, "outcome_unknown")
    assert len(cramped.inbox.messages) == 1
    settled = cramped.daemon.do("outbox.settle", {"id": draft["id"], "sent": True}, secret=cramped.rosa)
    assert settled["status"] == "sent"
