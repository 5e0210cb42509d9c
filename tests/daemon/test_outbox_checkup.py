"""What doctor says of an outbox: what is in doubt, what is no draft, what waits for long."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from mail4agent_core.clock import SystemClock
from mail4agent_core.outbox import OutboxStore
from mail4agent_daemon.checkup import examine
from mail4agent_daemon.outbox_checkup import examined
from mail4agent_daemon.settings import load
from tests.core.outbox.office import Office, original, put

pytestmark = pytest.mark.promise("outbox.doctor-says-what-is-in-doubt")


def test_doctor_says_which_drafts_are_in_doubt_unreadable_or_have_waited_for_long(tmp_path: Path) -> None:
    """Each doubt by its id; neither a name that somebody chose nor a draft's text is said."""
    home = tmp_path / "home"
    home.mkdir(0o700)
    with OutboxStore.open(home / "outbox", clock=SystemClock()) as store:
        office = Office(store)
        office.stage()
        doubt = office.stage({"to": "a@x.org", "body": "PLANTED"})
        office.begin(doubt)
        office.releases.abandon(doubt.id)
        put(store.root, original(summary="PLANTED"))
        (store.root / "PLANTED.json").write_text("{")
        (store.root / "folder.json").mkdir()
        os.mkfifo(store.root / "pipe.json")
    found = [each for each in examine(load({}, home=home)) if each.check == "outbox"]
    assert [(each.state, each.text.replace(str(home), "~")) for each in found] == [
        ("bad", f"nobody knows whether draft {doubt.id} left; find out, then settle it"),
        ("bad", "3 files in ~/outbox are no drafts that can be read"),
        ("note", "1 drafts have waited for a person for more than 72 hours"),
    ]


def test_a_draft_that_somebody_is_releasing_is_in_no_doubt(tmp_path: Path) -> None:
    """Its lock is held, by whichever process; what was decided long ago waits for nobody."""
    with OutboxStore.open(tmp_path / "outbox", clock=SystemClock()) as store:
        office = Office(store)
        office.begin(office.stage())
        put(store.root, original(status="rejected"))
        assert list(examined(store.root)) == [("outbox", "good", "none of 2 drafts is in doubt or stuck")]


def test_doctor_makes_no_outbox_and_says_when_it_cannot_look(tmp_path: Path) -> None:
    """Where there is none it says nothing; a link is said to be one."""
    assert list(examined(tmp_path / "outbox")) == []
    assert not (tmp_path / "outbox").exists()
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "elsewhere")
    ((check, state, _),) = examined(tmp_path / "link")
    assert (check, state) == ("outbox", "bad")
