"""The box: a lease, rows past a number, files, deletion, and two keys that open their own paths only."""

import hashlib
import threading
from pathlib import Path

import pytest

from .house import House, house, serving
from .manifests import VISIT

PDF = b"%PDF-1.4\n1 0 obj\n%%EOF\n"


@pytest.mark.promise("intake.rows-leave-by-acknowledgement-alone")
def test_a_confirmed_submission_waits_until_it_is_acknowledged(open_house: House) -> None:
    """The row and its file are given as often as asked, then deleted with each other, and not before."""
    address = open_house.fresh()
    upload = open_house.confirmed("talk", {"email": address}).json["upload"]
    assert open_house.upload(upload, [("slides", "my talk.pdf", PDF)]).json["step"] == "queued"
    for _ in range(2):
        row = open_house.queued()[-1]
        assert (row["type_id"], row["type_version"], row["values"]) == ("talk", 1, {"email": address})
    (attached,) = row["attachments"]
    assert attached["filename"] == "my talk.pdf"
    assert attached["sha256"] == "sha256:" + hashlib.sha256(PDF).hexdigest()
    authorization = {"Authorization": f"Bearer {open_house.drain}"}
    assert open_house.ask("GET", f"/box/blob/{attached['blob']}", headers=authorization).body == PDF
    epoch = open_house.box("lease", {"holder": "home"}).json["epoch"]
    ack = {"holder": "home", "epoch": epoch, "seqs": [row["seq"]]}
    assert open_house.box("ack", ack).json == {"deleted": 1}
    assert open_house.box("ack", ack).json == {"deleted": 0}
    assert open_house.ask("GET", f"/box/blob/{attached['blob']}", headers=authorization).status == 404
    assert row["seq"] not in [each["seq"] for each in open_house.queued()]


@pytest.mark.promise("intake.one-drain-at-a-time")
def test_another_drain_is_refused_by_name_while_a_lease_is_held(open_house: House) -> None:
    """Lease, queue and ack say lease_held and for how long; once it is given back the other one gets it."""
    epoch = open_house.box("lease", {"holder": "home", "secs": 60}).json["epoch"]
    for path, value in (
        ("lease", {"holder": "other"}),
        ("queue", {"holder": "other"}),
        ("ack", {"holder": "other", "epoch": epoch, "seqs": [1]}),
    ):
        answer = open_house.box(path, value)
        assert (answer.status, answer.json["kind"]) == (409, "lease_held")
        assert 1 <= answer.json["retry_after_secs"] <= 61
    assert open_house.box("release", {"holder": "other"}).json == {"released": False}
    assert open_house.box("release", {"holder": "home"}).json == {"released": True}
    assert open_house.box("queue", {"holder": "home"}).json["kind"] == "lease_lost"
    assert open_house.box("lease", {"holder": "other"}).status == 200
    assert open_house.box("release", {"holder": "other"}).json == {"released": True}


def test_rows_are_given_past_a_number_so_that_a_bad_one_blocks_nothing(open_house: House) -> None:
    """The cursor passes over rows that stay, and each page says where it ended."""
    for _ in range(3):
        assert open_house.confirmed("visit", {"visitor_email": open_house.fresh()}).json["step"] == "queued"
    first, second, third = (row["seq"] for row in open_house.queued()[-3:])
    answer = open_house.box("queue", {"holder": "home", "after": first, "limit": 1}).json
    assert ([row["seq"] for row in answer["rows"]], answer["last"]) == ([second], second)
    assert [row["seq"] for row in open_house.queued(after=second)] == [third]
    assert open_house.box("queue", {"holder": "home", "after": third}).json["last"] == third


def test_a_waiting_drain_is_answered_when_a_row_comes(open_house: House) -> None:
    """The long poll ends with the row, and an empty one ends when its time is over."""
    last = max((row["seq"] for row in open_house.queued()), default=0)
    assert open_house.send("visit", {"visitor_email": open_house.fresh()}).status == 200
    token = open_house.mails.token()
    presser = threading.Thread(target=open_house.press, args=(f"/confirm/{token}",))
    presser.start()
    rows = open_house.queued(after=last, wait_secs=20)
    presser.join()
    assert [row["seq"] for row in rows] == [last + 1]


@pytest.mark.promise("intake.a-rebuilt-box-is-another-box")
def test_rows_of_another_epoch_are_neither_read_nor_deleted(open_house: House) -> None:
    """A drain that remembers another box is told so before anything is done."""
    open_house.box("lease", {"holder": "home"})
    for path, value in (("queue", {"after": 3}), ("ack", {"seqs": [1]})):
        answer = open_house.box(path, {"holder": "home", "epoch": "another", **value})
        assert (answer.status, answer.json["kind"]) == (409, "epoch_changed")


@pytest.mark.promise("intake.keys-open-their-own-paths")
@pytest.mark.parametrize("path", ["lease", "release", "queue", "ack", "types/push", "types/list"])
def test_a_key_opens_its_own_paths_only(open_house: House, path: str) -> None:
    """The other key, a wrong one and none are refused alike."""
    other = open_house.drain if path.startswith("types/") else open_house.types
    for key in (other, "0" * 64):
        answer = open_house.box(path, {}, key)
        assert (answer.status, answer.json["kind"]) == (401, "unauthenticated")
    assert open_house.ask("POST", f"/box/{path}", b"{}").status == 401


@pytest.mark.promise("intake.keys-open-their-own-paths")
def test_wrong_keys_do_not_keep_home_from_its_box(tmp_path: Path) -> None:
    """Whoever guesses is told to wait; a right key is believed from the same address all the same."""
    with house(tmp_path / "box", VISIT, wrong_keys_per_hour=3) as made:
        for key in ("0" * 64, made.types, "m4a_" + "0" * 64):
            assert made.box("queue", {"holder": "home"}, key).status == 401
        refused = made.box("queue", {"holder": "home"}, "0" * 64)
        assert (refused.status, refused.json["kind"]) == (429, "rate_limited")
        assert made.queued() == []
        assert made.box("types/list", {}, made.types).status == 200


@pytest.mark.promise("intake.a-version-is-one-text")
def test_a_changed_type_needs_a_greater_version(open_house: House) -> None:
    """The same text again changes nothing; another text, or a lower version, is refused."""
    manifest = VISIT.replace('"visit"', '"versions"').replace("version = 1", "version = 2")
    assert open_house.push(manifest).json["repeated"] is False
    assert open_house.push(manifest).json["repeated"] is True
    refused = open_house.push(manifest.replace("garden", "park"))
    assert (refused.status, refused.json) == (409, {"kind": "already_exists", "id": "versions@2"})
    lower = open_house.push(manifest.replace("version = 2", "version = 1"))
    assert (lower.status, lower.json["field"]) == (400, "version")
    assert open_house.push("id = 3").status == 400
    assert (
        open_house.push(
            manifest.replace("visitor_email", "v", 1).replace("version = 2", "version = 3")
        ).status
        == 400
    )


def test_what_was_sent_under_an_older_version_is_still_confirmed(open_house: House) -> None:
    """The version stays in the box for as long as something waits that names it."""
    manifest = VISIT.replace('"visit"', '"older"')
    assert open_house.push(manifest).status == 200
    assert open_house.send("older", {"visitor_email": open_house.fresh()}).status == 200
    token = open_house.mails.token()
    assert (
        open_house.push(manifest.replace("version = 1", "version = 2").replace("garden", "park")).status
        == 200
    )
    versions = [
        (each["version"], each["current"])
        for each in open_house.box("types/list", {}, open_house.types).json["types"]
        if each["id"] == "older"
    ]
    assert versions == [(1, False), (2, True)]
    assert open_house.press(f"/confirm/{token}").json["step"] == "queued"
    row = open_house.queued()[-1]
    assert (row["type_id"], row["type_version"]) == ("older", 1)


@pytest.mark.promise("intake.nothing-on-the-disk-opens-anything")
def test_a_stolen_folder_has_no_key_and_no_link(tmp_path: Path) -> None:
    """No byte of it is a key or a token, sent or unsent, and what was acknowledged is gone from it."""
    folder = tmp_path / "box"
    secret = "the words that nobody may find"
    with house(folder, VISIT.replace("required = true\nshow_when", "show_when")) as made:
        story = {"visitor_email": "ada@example.net", "purpose": "other", "story": secret}
        tokens = []
        assert made.send("visit", story).status == 200
        tokens.append(made.mails.token())
        assert made.send("visit", {**story, "visitor_email": "ben@example.net"}).status == 200
        tokens.append(made.mails.token())
        stolen = b"".join(path.read_bytes() for path in folder.iterdir())
        assert secret.encode() in stolen
        for hidden in (made.drain, made.types, *tokens):
            assert hidden.encode() not in stolen
        for key in (made.drain, made.types):
            assert bytes.fromhex(key) not in stolen
        for token in tokens:
            assert made.press(f"/confirm/{token}").json["step"] == "queued"
        seqs = [row["seq"] for row in made.queued()]
        epoch = made.box("lease", {"holder": "home"}).json["epoch"]
        assert made.box("ack", {"holder": "home", "epoch": epoch, "seqs": seqs}).json == {"deleted": 2}
        emptied = b"".join(path.read_bytes() for path in folder.iterdir())
        assert secret.encode() not in emptied
        mails, drain, types = made.mails, made.drain, made.types
    # Closed, the log is part of the file.
    left = b"".join(path.read_bytes() for path in folder.iterdir())
    assert secret.encode() not in left
    assert b"ada@example.net" not in left
    with serving(folder, mails, drain, types) as again:
        assert again.box("lease", {"holder": "home"}).json["epoch"] == epoch
        assert again.queued() == []
