"""The folder of requests: files of the original, of this program, and of nobody."""

import json
import os
import stat
import time
from pathlib import Path
from typing import Any

import pytest

from mail4agent_api.errors import MalformedError, StoreUnavailableError, UnknownItemError
from mail4agent_core.files import Folder, FolderError
from mail4agent_core.frontdoor.listing import SETTLED_NS, Names
from mail4agent_core.frontdoor.quarantine import for_privileged_run
from mail4agent_core.frontdoor.record import Record, UnreadableError
from mail4agent_core.frontdoor.store import Frontdoor
from mail4agent_core.frontdoor.transitions import Actor

from .records import PROSE, attachment, extraction, original, placed, record

OLD = """{
  "seq": 7,
  "type_id": "meeting",
  "zebra": {"b": 1, "a": [2.50, null]},
  "state": "extracted",
  "created_at": "2026-08-06T00:00:00Z",
  "drained_at": "2026-08-06T01:00:00Z",
  "valid": true,
  "values": {"purpose": "talk", "story": "é “x”"},
  "free_text": ["story"],
  "extraction": {"reading": "r", "topic": "a talk", "later_key": 1},
  "apple": "kept"
}"""
NEW = {
    **original(seq=8, state="awaiting_me", extraction=extraction(), triage_session="sess-1"),
    "outbox": ["20260808T194158-1a2b3c4d"],
    "note": "n",
    "attachments": [{**attachment(), "path": "attachments/0000000008/cv.pdf", "later": True}],
}


@pytest.mark.promise("frontdoor.files-of-the-original-load")
def test_files_of_the_original_old_and_new_load_and_come_out_as_they_came_in(store: Frontdoor) -> None:
    """Unknown keys stay, at any depth, and every key keeps its place."""
    old = placed(store.root, OLD.encode(), name="0000000007-meeting.json")
    placed(store.root, NEW)
    assert [entry.seq for entry in store.listing().entries] == [7, 8]
    assert store.record(8).outbox == ("20260808T194158-1a2b3c4d",)
    assert store.record(8).raw == NEW
    store.move(7, Actor.PERSON, "closed", note="spam")
    after = json.loads(old.read_text("utf-8"))
    assert list(after) == [*json.loads(OLD), "note"]
    assert after == {**json.loads(OLD), "state": "closed", "note": "spam"}
    assert "é “x”" in old.read_text("utf-8")


@pytest.mark.promise("frontdoor.files-of-the-original-load")
def test_what_the_original_leaves_out_is_left_out(store: Frontdoor) -> None:
    """Its reader takes no null for a list."""
    store.write(record(note="n", outbox=["d-1"], extraction_error="e"))
    moved = store.record(1).changed(note=None, note_by_person=False, outbox=[], extraction_error=None)
    assert not {"note", "note_by_person", "outbox", "extraction_error"} & moved.raw.keys()


@pytest.mark.promise("frontdoor.files-of-the-original-load")
@pytest.mark.parametrize("gone", ["valid", "free_text", "attachments", "outbox", "extraction"])
def test_a_file_without_what_came_later_loads_closed(gone: str) -> None:
    """Not valid, all prose, nothing extracted."""
    held = Record.parsed(original(**{gone: ...}))
    assert for_privileged_run(held) is None
    assert held.valid is (gone != "valid")


@pytest.mark.promise("frontdoor.whatever-lies-in-the-folder-is-harmless")
def test_whatever_lies_in_the_folder_is_named_and_passed_over(store: Frontdoor, tmp_path: Path) -> None:
    """Half-written, empty, huge, of another form, a folder, a link, a pipe; a temporary name is none."""
    placed(store.root, record(seq=5).raw)
    elsewhere = placed(tmp_path / "elsewhere", original(seq=6))
    bad: dict[str, bytes] = {
        "0000000010-half.json": json.dumps(original()).encode()[:80],
        "0000000011-empty.json": b"",
        "0000000012-array.json": b"[]",
        "0000000013-twice.json": b'{"seq": 1, "seq": 2}',
        "0000000014-nan.json": b'{"seq": NaN}',
        "0000000015-other.json": json.dumps(original(seq=14)).encode(),
        "0000000016-zero.json": json.dumps(original(seq=0)).encode(),
        "0000000017-text.json": json.dumps(original(seq="17")).encode(),
        "0000000018-deep.json": b"[" * 100_000,
    }
    for name, raw in bad.items():
        placed(store.root, raw, name=name)
    (store.root / "0000000020-huge.json").touch()
    os.truncate(store.root / "0000000020-huge.json", 9 * 1024 * 1024)
    (store.root / "0000000021-folder.json").mkdir()
    (store.root / "0000000022-link.json").symlink_to(elsewhere)
    os.mkfifo(store.root / "0000000023-pipe.json")
    placed(store.root, b"{", name=".0000000024-visit.json.0011223344556677.tmp")
    placed(store.root, b"hello", name="notes.txt")
    listing = store.listing()
    assert [entry.seq for entry in listing.entries] == [5]
    odd = {f"00000000{number}" for number in (20, 21, 22, 23)}
    assert {each.name.partition("-")[0] for each in listing.unreadable} == {n[:10] for n in bad} | odd
    assert all(each.reason and PROSE not in each.reason for each in listing.unreadable)
    assert listing.highest() == 23
    assert elsewhere.exists()
    with pytest.raises(UnknownItemError):
        store.record(22)


@pytest.mark.parametrize(
    "changes",
    [
        {"values": []}, {"values": ...}, {"state": 1}, {"valid": "yes"}, {"free_text": "story"},
        {"free_text": [1]}, {"extraction": {"topic": None}}, {"extraction": []}, {"outbox": [1]},
        {"attachments": {}}, {"attachments": [1]}, {"attachments": [{"field": "cv"}]}, {"seq": True},
        {"seq": 2**53}, {"seq": -1}, {"box_seq": "1"}, {"note": 1}, {"type_id": None},
        {"extraction": {"dates_mentioned": "x"}}, {"extraction": {"reads_like_instructions": "no"}},
    ],
)  # fmt: skip
def test_a_member_of_another_form_makes_a_file_unreadable(changes: dict[str, Any]) -> None:
    """As the original takes it."""
    with pytest.raises(UnreadableError):
        Record.parsed(original(**changes))


def test_a_request_is_read_again_only_when_its_file_changed(store: Frontdoor) -> None:
    """And what is gone is forgotten."""
    path = placed(store.root, original())
    first = store.listing().entries[0]
    assert store.listing().entries[0] is first
    placed(store.root, original(state="closed"))
    assert store.listing().entries[0].state == "closed"
    path.unlink()
    assert store.listing().entries == ()


def _aged(root: Path, *, secs: int) -> None:
    """Turn the folder's own time back; its change time stays, which only the clock of a test may outrun."""
    at = root.stat().st_mtime_ns - secs * 1_000_000_000
    os.utime(root, ns=(at, at))


@pytest.fixture
def listings(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """One entry for each time that a folder's names were listed."""
    seen: list[int] = []
    names = Folder.names

    def counted(self: Folder) -> list[str]:
        seen.append(1)
        return names(self)

    monkeypatch.setattr(Folder, "names", counted)
    return seen


def test_names_are_listed_once_while_the_folder_stays_as_it_is(tmp_path: Path, listings: list[int]) -> None:
    """What another program adds, doubles, renames and takes away is seen by the next look."""
    clock = time.time_ns() + 3_600_000_000_000
    names = Names(lambda: clock)
    with Folder.opened(tmp_path / "requests") as folder:
        one = placed(folder.path, original())
        assert [names.of(folder, seq) for seq in (1, 2, 1)] == [[one.name], [], [one.name]]
        assert len(listings) == 1
        _aged(folder.path, secs=7)
        double = placed(folder.path, original(), name="0000000001-other.json")
        assert sorted(names.of(folder, 1)) == sorted([one.name, double.name])
        one.rename(folder.path / "0000000002-meeting.json")
        _aged(folder.path, secs=9)
        assert names.of(folder, 1) == [double.name]
        double.unlink()
        plain = placed(folder.path, original(), name="plain.json")
        _aged(folder.path, secs=11)
        assert [names.of(folder, seq) for seq in (1, 2)] == [
            [plain.name],
            ["0000000002-meeting.json", plain.name],
        ]


def test_names_of_a_folder_that_changed_just_now_are_not_kept(tmp_path: Path, listings: list[int]) -> None:
    """A coarse clock gives a second change the time of the first."""
    with Folder.opened(tmp_path / "requests") as folder:
        placed(folder.path, original())
        now = folder.own_state()[2] + SETTLED_NS - 1
        names = Names(lambda: now)
        for _ in range(2):
            names.of(folder, 1)
        assert len(listings) == 2


def test_a_number_that_a_second_file_takes_is_refused_whatever_was_kept(store: Frontdoor) -> None:
    """Also when the names were read before."""
    placed(store.root, original())
    assert store.record(1).seq == 1
    placed(store.root, original(), name="0000000001-other.json")
    with pytest.raises(MalformedError):
        store.record(1)


@pytest.mark.promise("frontdoor.files-are-private")
def test_files_are_private_and_a_rewrite_keeps_them_so(store: Frontdoor) -> None:
    """0600 in a folder of 0700, and nothing is left of writing."""
    path = placed(store.root, original())
    path.chmod(0o644)
    store.move(1, Actor.PERSON, "closed")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert sorted(each.name for each in store.root.iterdir()) == [".lock", path.name]


def test_a_number_that_is_read_as_infinity_is_not_read(store: Frontdoor) -> None:
    """It could not be shown, nor written back."""
    placed(
        store.root,
        json.dumps(original(values={"a": 1})).encode().replace(b": 1}", b": 1e400}"),
        name="odd.json",
    )
    with pytest.raises(UnknownItemError):
        store.record(1)


def test_a_request_is_written_where_it_was_found(store: Frontdoor) -> None:
    """Its type is no path, whatever it says."""
    placed(store.root, original(type_id="../../escape"), name="odd.json")
    store.move(1, Actor.PERSON, "closed")
    assert sorted(each.name for each in store.root.iterdir()) == [".lock", "odd.json"]


def test_a_number_that_json_has_not_is_not_written(store: Frontdoor) -> None:
    """It would come back as null."""
    with pytest.raises(MalformedError):
        store.write(record(values={"a": float("inf")}))
    assert store.listing().entries == ()


@pytest.mark.promise("frontdoor.a-late-write-undoes-no-decision")
def test_a_lock_that_somebody_holds_is_waited_for_a_while_and_nothing_is_changed(store: Frontdoor) -> None:
    """The refusal says that the store cannot be had."""
    store.write(record())
    with Folder.opened(store.root) as other, other.locked(), pytest.raises(StoreUnavailableError):
        store.move(1, Actor.PERSON, "closed")
    assert store.record(1).state == "drained"


def test_a_root_that_is_a_link_is_refused(tmp_path: Path) -> None:
    """Whoever planted it would choose what is read."""
    (tmp_path / "there").mkdir()
    (tmp_path / "requests").symlink_to(tmp_path / "there")
    with pytest.raises(FolderError):
        Frontdoor.open(tmp_path / "requests")


def test_looking_for_a_root_makes_none(tmp_path: Path) -> None:
    """A reader leaves nothing behind."""
    with pytest.raises(FileNotFoundError):
        Frontdoor.open(tmp_path / "requests", make=False)
    assert not (tmp_path / "requests").exists()
