"""A drain between a real box and a real home."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from mail4agent_daemon.drain.state import last_drain
from tests.daemon.intake.house import House, house, serving
from tests.daemon.intake.manifests import TALK, VISIT
from tests.process import served

from .home import Home, home_of

PDF = b"%PDF-1.7\n1 0 obj\n<<>>\nendobj\ntrailer\n<<>>\n%%EOF\n"


@pytest.fixture(scope="module")
def box(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    """A box with the types visit and talk."""
    with house(tmp_path_factory.mktemp("box") / "box", VISIT, TALK) as made:
        yield made


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Home]:
    """A home with the same types."""
    with home_of(tmp_path_factory.mktemp("drain"), VISIT, TALK) as made:
        yield made


def _visit(box: House, **values: object) -> None:
    """Have a visit in the queue."""
    answer = box.confirmed("visit", {"visitor_email": box.fresh(), **values})
    assert answer.json["step"] == "queued", answer.body


def _drained(home: Home, box: House, *flags: str) -> dict[str, int]:
    return home.drained(box.url, box.drain, *flags)


@pytest.mark.promise("drain.files-record-acknowledgement", "drain.brings-each-submission-home-once")
def test_a_submission_comes_home_with_its_file_and_leaves_the_box(home: Home, box: House) -> None:
    """Byte for byte, judged by the local type; the next drain finds nothing."""
    address = box.fresh()
    upload = box.confirmed("talk", {"email": address}).json["upload"]
    sent = box.upload(upload, [("slides", "talk.pdf", PDF)])
    assert sent.json["step"] == "queued", sent.body
    (row,) = box.queued(home.daemon.home.name)
    box.box("release", {"holder": home.daemon.home.name})

    looked = _drained(home, box, "--dry-run")
    assert (looked["drained"], looked["left"], looked["written"], looked["invalid"]) == (1, 1, 0, 0)
    tally = _drained(home, box)
    assert tally == {
        "drained": 1, "written": 1, "already_held": 0, "invalid": 0, "acknowledged": 1, "left": 0,
    }  # fmt: skip
    record = home.record_of(row["seq"])
    assert (record["valid"], record["reply_to"], record["type_version"]) == (True, address, 1)
    (attachment,) = record["attachments"]
    assert attachment["sha256"] == f"sha256:{hashlib.sha256(PDF).hexdigest()}"
    assert (home.daemon.home / "requests" / attachment["path"]).read_bytes() == PDF
    assert _drained(home, box)["drained"] == 0
    assert box.queued() == []
    box.box("release", {"holder": "home"})
    last = last_drain(home.daemon.home)
    assert last is not None
    assert last.left == 0


@pytest.mark.promise("drain.one-lease")
def test_a_second_drain_is_refused_until_the_first_is_done(home: Home, box: House) -> None:
    """It takes nothing in; a drain that ended left the lease free."""
    _visit(box)
    assert box.box("lease", {"holder": "elsewhere", "secs": 600}).status == 200
    held = home.run(box.url, box.drain)
    assert held.exit_code != 0
    assert json.loads(held.stderr)["kind"] == "lease_held"
    assert json.loads(held.stdout)["drained"] == 0
    assert box.box("release", {"holder": "elsewhere"}).json == {"released": True}
    assert _drained(home, box)["written"] == 1
    assert box.box("lease", {"holder": "elsewhere", "secs": 5}).status == 200
    assert box.box("release", {"holder": "elsewhere"}).json == {"released": True}


@pytest.mark.promise("drain.judges-by-the-version-that-was-filled-in")
def test_a_submission_that_waited_while_its_form_changed_is_held_against_its_own_version(
    home: Home, box: House
) -> None:
    """The later version forbids what the earlier allowed; both come home as good."""
    second = VISIT.replace("version = 1", "version = 2").replace("max_length = 500", "max_length = 9")
    story = {"purpose": "other", "story": "longer than nine characters"}
    _visit(box, **story)
    assert box.push(second).status == 200
    home.types.add(second.encode(), "toml")
    _visit(box, purpose="other", story="short")
    assert box.send("visit", {"visitor_email": box.fresh(), **story}).status == 400
    tally = _drained(home, box)
    assert (tally["written"], tally["invalid"], tally["left"]) == (2, 0, 0)
    assert [each["type_version"] for each in home.records()[-2:]] == [1, 2]


@pytest.mark.promise("drain.brings-each-submission-home-once")
def test_a_box_that_was_built_anew_loses_nothing_to_its_numbers(home: Home, tmp_path: Path) -> None:
    """It counts from one again, and home gives numbers of its own."""
    before = len(home.records())
    numbers = [each["seq"] for each in home.records()]
    with house(tmp_path / "box", VISIT) as first:
        _visit(first)
        assert _drained(home, first)["written"] == 1
        for path in first.folder.glob("*.sqlite3*"):
            path.unlink()
        first.process.terminate()
        first.process.wait(20)
        shutil.copytree(first.folder, tmp_path / "again")
        with serving(tmp_path / "again", first.mails, first.drain, first.types) as second:
            assert second.push(VISIT).status == 200
            _visit(second)
            tally = _drained(home, second)
            assert (tally["written"], tally["already_held"], tally["acknowledged"]) == (1, 0, 1)
    after = home.records()
    assert len(after) == before + 2
    assert [each["box_seq"] for each in after[-2:]] == [1, 1]
    assert after[-1]["box_epoch"] != after[-2]["box_epoch"]
    assert [each["seq"] for each in after[-2:]] == [max(numbers, default=0) + 1, max(numbers, default=0) + 2]


@pytest.mark.promise("drain.brings-each-submission-home-once")
def test_rows_that_home_cannot_take_now_stay_in_the_box(box: House, tmp_path: Path) -> None:
    """A daemon that is down, a right that is missing: nothing is acknowledged, and the next drain has all."""
    folder = tmp_path / "own"
    folder.mkdir()
    with home_of(folder, VISIT) as own:
        _visit(box)
        own.daemon.do("admin.participant.permit", {"id": "drain", "grant": [], "revoke": ["frontdoor:drain"]})
        refused = own.run(box.url, box.drain)
        assert (refused.exit_code != 0, json.loads(refused.stdout)["acknowledged"]) == (True, 0)
        own.daemon.kill()
        assert own.run(box.url, box.drain).exit_code != 0
        with served(own.daemon.home) as daemon:
            own.daemon.port = daemon.port
            daemon.do("admin.participant.permit", {"id": "drain", "grant": ["frontdoor:drain"], "revoke": []})
            assert _drained(own, box)["written"] == 1
        assert len(own.records()) == 1


@pytest.mark.promise("drain.its-key-is-kept")
def test_a_wrong_key_ends_a_drain_with_words_that_hold_none(home: Home, box: House) -> None:
    """Neither key is printed."""
    wrong = home.run(box.url, "m4a-wrong-key")
    assert wrong.exit_code != 0
    assert "unauthenticated" in wrong.stderr
    assert "m4a-wrong-key" not in wrong.output
    types = home.run(box.url, box.types)
    assert types.exit_code != 0
    assert box.types not in types.output
