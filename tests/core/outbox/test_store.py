"""Files of the original, and whatever else may lie in the folder."""

import errno
import json
import os
from pathlib import Path
from typing import Any

import pytest

from mail4agent_api.errors import MalformedError, RefusalError, UnknownItemError
from mail4agent_core import files
from mail4agent_core.clock import HandClock
from mail4agent_core.files import Folder, FolderBusyError, FolderError
from mail4agent_core.outbox import OutboxKind, OutboxStore, UnreadableItemError
from mail4agent_core.outbox.item import FILE_MAX_BYTES, decoded
from mail4agent_core.outbox.listing import Row

from .office import ORIGINAL, PERSON, Office, original, put

#: The keys of form 2, after the original's.
SECOND = (
    "schema", "release", "attempts", "decided_by", "idempotency_key", "files", "staged_by", "sink", "sent_as",
    "superseded_by", "decided_at",
)  # fmt: skip


@pytest.mark.promise("outbox.files-of-the-original-load")
@pytest.mark.parametrize(
    "missing", [(), ("kind",), ("workspace", "kind", "taint"), ("session_id", "error", "reason")]
)
def test_a_file_of_the_original_loads_and_keeps_its_form_until_it_is_changed(
    store: OutboxStore, missing: tuple[str, ...]
) -> None:
    """Old and later; what it leaves out has the original's meaning, save taint."""
    path = put(store.root, original(**dict.fromkeys(missing, ...)))
    item = store.item("20260101T000000-0a1b2c3d")
    assert (item.kind, item.schema, item.files, item.attempts) == (OutboxKind.MESSAGE, None, (), 0)
    written = json.loads(item.encoded())
    assert tuple(written) == ORIGINAL
    value = json.loads(path.read_text("utf-8"))
    assert {key: written[key] for key in value} == value


@pytest.mark.promise("outbox.files-of-the-original-load")
def test_what_others_wrote_is_kept_in_its_order_through_a_change(office: Office, store: OutboxStore) -> None:
    """Behind ours; arguments in the order of their keys; null written out."""
    value = {
        "zebra": {"b": 1, "a": [2]},
        **original(args={"z": 1, "a": {"y": 2, "b": 3}}),
        "later": None,
        "apple": 1,
    }
    path = put(store.root, value)
    office.release(store.item("20260101"))
    written = json.loads(path.read_text("utf-8"))
    assert tuple(written) == (*ORIGINAL, *SECOND, "zebra", "later", "apple")
    assert (written["zebra"], written["later"], written["apple"]) == ({"b": 1, "a": [2]}, None, 1)
    assert list(written["zebra"]) == ["b", "a"]
    assert list(written["args"]) == ["a", "z"]
    assert list(written["args"]["a"]) == ["b", "y"]


@pytest.mark.promise("outbox.files-of-the-original-load")
def test_a_file_of_ours_has_the_originals_members_and_types_first(office: Office, store: OutboxStore) -> None:
    """Pretty, UTF-8, in the original's order, so that it and an editor read on."""
    item = office.stage({"to": "é@x.org", "body": "a\nb"})
    text = office.path(item).read_text("utf-8")
    assert text.startswith('{\n  "id": "')
    assert '"é@x.org"' in text
    assert tuple(json.loads(text)) == (*ORIGINAL, *SECOND)
    assert decoded(text.encode()) == item
    assert office.path(item).stat().st_mode & 0o777 == 0o600
    assert store.root.stat().st_mode & 0o777 == 0o700


@pytest.mark.promise("outbox.files-of-the-original-load")
def test_a_draft_that_is_being_released_is_not_pending_to_the_original(office: Office) -> None:
    """It asks for exactly one word before it acts."""
    item = office.stage()
    office.begin(item)
    assert json.loads(office.path(item).read_text())["status"] == "releasing"


GOOD: dict[str, Any] = original()
BAD: dict[str, bytes] = {
    "empty": b"",
    "half": json.dumps(GOOD).encode()[:100],
    "no-json": b"{not json",
    "no-object": b"[]",
    "no-text": b"\xff\xfe",
    "twice": b'{"id": "twice", "id": "twice"}',
    "deep": b"[" * 5_000,
    "other-place": json.dumps(GOOD).encode(),
    "no-id": json.dumps({**GOOD, "id": None}).encode(),
    "kind": json.dumps({**GOOD, "id": "kind", "kind": "call"}).encode(),
    "status": json.dumps({**GOOD, "id": "status", "status": 1}).encode(),
    "no-args": json.dumps(
        {key: part for key, part in GOOD.items() if key != "args"} | {"id": "no-args"}
    ).encode(),
    "newer": json.dumps({**GOOD, "id": "newer", "schema": 3}).encode(),
    "schema": json.dumps({**GOOD, "id": "schema", "schema": "2"}).encode(),
    "release": json.dumps({**GOOD, "id": "release", "schema": 2, "release": []}).encode(),
    "attempts": json.dumps({**GOOD, "id": "attempts", "schema": 2, "attempts": -1}).encode(),
    "files": json.dumps({**GOOD, "id": "files", "schema": 2, "files": {}}).encode(),
    "file": json.dumps({**GOOD, "id": "file", "schema": 2, "files": [{"path": "../x"}]}).encode(),
    "huge": b"[" + b" " * FILE_MAX_BYTES + b"]",
    **{
        name: json.dumps({**GOOD, "id": name, member: {"to": [1, {"x": ["past"]}]}})
        .replace('"past"', "-1e999")
        .encode()
        for name, member in zip(
            ("past-1", "past-2", "past-3", "past-4"), ("args", "args_before", "zebra", "files"), strict=True
        )
    },
}


@pytest.mark.promise("outbox.hostile-files-harm-nothing")
@pytest.mark.parametrize("name", BAD)
def test_a_file_that_is_no_item_hides_no_other_and_is_left_alone(
    office: Office, store: OutboxStore, name: str
) -> None:
    """Counted, named to whoever must know, neither moved nor mended."""
    item = office.stage()
    path = store.root / f"{name}.json"
    path.write_bytes(BAD[name])
    assert ([each.id for each in store.items()], store.items_counting()[1]) == ([item.id], 1)
    assert ([row.id for row in store.rows().rows], store.rows().unreadable) == ([item.id], [f"{name}.json"])
    with pytest.raises(UnreadableItemError, match=f"{name}.json"):
        store.items_strict()
    with pytest.raises(UnreadableItemError):
        store.item_exact(name)
    assert path.read_bytes() == BAD[name]


@pytest.mark.promise("outbox.hostile-files-harm-nothing")
@pytest.mark.parametrize("kind", ["folder", "link", "dangling", "pipe", "loop"])
def test_what_is_named_like_a_draft_and_is_none_is_no_draft(
    office: Office, store: OutboxStore, tmp_path: Path, kind: str
) -> None:
    """A folder, a link to a draft elsewhere or to nothing, a pipe: listing ends and shows the rest."""
    item = office.stage()
    place = store.root / "20260101T000000-0a1b2c3d.json"
    (tmp_path / "elsewhere").mkdir()
    target = put(tmp_path / "elsewhere", original())
    match kind:
        case "folder":
            place.mkdir()
        case "link":
            place.symlink_to(target)
        case "dangling":
            place.symlink_to(tmp_path / "nothing")
        case "pipe":
            os.mkfifo(place)
        case _:
            place.symlink_to(place)
    assert [each.id for each in store.items()] == [item.id]
    assert [row.id for row in store.rows().rows] == [item.id]
    with pytest.raises(UnreadableItemError):
        office.releases.begin(place.stem, "sha256:" + "0" * 64, PERSON, None)
    assert office.release(item).status == "sent"
    assert json.loads(target.read_text()) == original()


@pytest.mark.promise("outbox.hostile-files-harm-nothing")
@pytest.mark.parametrize("prefix", ["", ".", "*", "../x", "a/b", "2\n", "\x00", "ü", "x" * 81])
def test_a_hostile_prefix_selects_nothing(office: Office, store: OutboxStore, prefix: str) -> None:
    """Not the only draft, either."""
    office.stage()
    with pytest.raises(RefusalError):
        store.item(prefix)


def test_a_prefix_selects_the_only_one_and_an_id_its_own(office: Office, store: OutboxStore) -> None:
    """Also where the id begins another's."""
    put(store.root, original(id="a1"))
    put(store.root, original(id="a12"))
    item = office.stage()
    assert store.item(item.id[:12]).id == item.id
    assert store.item("a1").id == "a1"
    with pytest.raises(MalformedError):
        store.item("a")
    with pytest.raises(UnknownItemError):
        store.item("b")


@pytest.mark.promise("outbox.hostile-files-harm-nothing")
def test_a_root_that_is_a_link_is_refused_and_looking_makes_none(tmp_path: Path) -> None:
    """And what somebody left unfinished is no draft and is swept by the next writer."""
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    with pytest.raises(FolderError):
        OutboxStore.open(tmp_path / "link")
    assert OutboxStore.open_existing(tmp_path / "none") is None
    assert not (tmp_path / "none").exists()
    with OutboxStore.open(tmp_path / "real") as store:
        (tmp_path / "real" / ".x.json.0.tmp").write_text("{")
        assert store.items() == []
        Office(store).stage()
        assert not (tmp_path / "real" / ".x.json.0.tmp").exists()


def test_a_look_at_a_root_leaves_its_mode(tmp_path: Path) -> None:
    """Only who may write there makes it private."""
    root = tmp_path / "shared"
    root.mkdir(0o750)
    looked = OutboxStore.open_existing(root)
    assert looked is not None
    looked.close()
    assert root.stat().st_mode & 0o777 == 0o750
    with OutboxStore.open(root):
        assert root.stat().st_mode & 0o777 == 0o700


def test_who_holds_the_lock_too_long_is_named(store: OutboxStore) -> None:
    """The wait is bounded, and nothing was changed."""
    with (
        OutboxStore.open(store.root, lock_secs=0.0) as other,
        store.locked(),
        pytest.raises(FolderBusyError, match=str(os.getpid())),
    ):
        Office(other).stage()
    assert store.items() == []


@pytest.mark.promise("outbox.lists-stay-fast-and-right")
def test_the_next_list_has_what_another_program_wrote(
    office: Office, store: OutboxStore, clock: HandClock
) -> None:
    """A change, a new file, one that is gone, one that is spoilt and one that is mended."""
    items = [office.stage() for _ in range(3)]
    assert [row.status for row in store.rows().rows] == ["pending"] * 3
    with OutboxStore.open(store.root, clock=clock) as other:
        Office(other).reject(items[0])
    office.path(items[1]).unlink()
    office.path(items[2]).write_text("{")
    put(store.root, original())
    found = store.rows()
    assert [(row.id, row.status) for row in found.rows] == [
        (items[0].id, "rejected"),
        ("20260101T000000-0a1b2c3d", "pending"),
    ]
    assert len(found.unreadable) == 1
    office.path(items[2]).write_bytes(items[2].encoded())
    assert len(store.rows().rows) == 3


@pytest.mark.promise("outbox.lists-stay-fast-and-right")
def test_a_list_shows_of_a_file_what_its_item_would(office: Office, store: OutboxStore) -> None:
    """A decided one, one of the original, and one of it with keys that are ours elsewhere."""
    office.reject(office.stage())
    office.release(office.edit(office.stage(), {"to": "b@x.org", "body": "Other."}))
    put(store.root, original(status="sent"))
    foreign = {"attempts": 7, "decided_by": "x", "staged_by": 1, "superseded_by": [], "schema": None}
    put(store.root, original(id="20260102T000000-0a1b2c3d", **foreign))
    assert store.rows().unreadable == []
    assert store.rows().rows == [Row.of(item) for item in store.items()]
    assert store.rows().rows[-1].decided_by is None


@pytest.mark.promise("outbox.lists-stay-fast-and-right")
def test_an_unchanged_file_is_not_read_again(
    office: Office, store: OutboxStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A list of what did not change costs a look at each name."""
    items = [office.stage() for _ in range(3)]
    first = store.rows()
    read: list[str] = []
    real = Folder.read_with_state

    def counted(folder: Folder, name: str, most: int) -> Any:
        read.append(name)
        return real(folder, name, most)

    monkeypatch.setattr(Folder, "read_with_state", counted)
    assert store.rows() == first
    office.store.write(items[1].changed(summary="other"))
    assert [row.summary for row in store.rows().rows][1] == "other"
    assert read == [f"{items[1].id}.json"]


def test_a_list_shows_what_it_can_while_one_file_cannot_be_read(
    office: Office, store: OutboxStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An error of the disk on one file breaks no list."""
    items = [office.stage() for _ in range(2)]
    opened = files.regular

    def failing(name: str, folder: int) -> tuple[int, os.stat_result] | None:
        if name.startswith(items[0].id):
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        return opened(name, folder)

    monkeypatch.setattr(files, "regular", failing)
    assert [row.id for row in store.rows().rows] == [items[1].id]
    assert [item.id for item in store.items()] == [items[1].id]
