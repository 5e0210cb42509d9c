"""The carry store: its names, its format, and how it mends itself."""

from __future__ import annotations

import hashlib
import os
import threading
from pathlib import Path

import pytest

from mail4agent_core.note import carry as carrying
from mail4agent_core.note.carry import carry, drain_carried, escaped, store_name, store_of, stored
from mail4agent_core.note.faults import InvalidError
from mail4agent_core.note.note import Note
from mail4agent_core.note.paths import RunPaths
from mail4agent_core.note.words import Addressee

from .records import START_MS

HEADER = '{"schema_version":1,"kind":"onemessagebus-carry-store"}\n'
ENTRY = (
    '{"ts":"2026-09-19T10:00:00.000Z","schema":"agent.note@1","message":{"addressee":"worker","text":"%s"}}\n'
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The folder of a run."""
    return RunPaths.create(tmp_path, "demo").folder


def put(folder: Path, node: str, text: str, note_id: str | None = None) -> bool:
    """Carry a note."""
    return carry(folder, node, Note.of("worker", text), now_ms=START_MS, note_id=note_id)


def test_a_store_is_written_as_the_original_writes_it(folder: Path) -> None:
    """A header, then one object a line; our id stands inside the message alone."""
    put(folder, "v1.2/x y", "start", "note_0123456789abcdef01234567")
    store = folder / "notes" / "v1%2E2%2Fx%20y.carried.jsonl"
    assert store.read_text("utf-8") == HEADER + (
        '{"ts":"2026-08-06T07:06:40.000Z","schema":"agent.note@1","message":{"addressee":"worker",'
        '"text":"start","note_id":"note_0123456789abcdef01234567"}}\n'
    )


@pytest.mark.promise("note.stores-written-by-the-original-load")
def test_a_store_written_by_hand_in_the_originals_shape_loads(folder: Path) -> None:
    """Members in any order, and an unknown one inside the message."""
    (folder / "notes").mkdir()
    (folder / "notes" / "build.carried.jsonl").write_text(
        '{"kind": "onemessagebus-carry-store", "schema_version": 1}\n'
        + ENTRY % "first"
        + '{"message":{"text":" second ","addressee":"both","criterion":"kept","extra":1},'
        '"schema":"agent.note@1","ts":"2026-09-19T10:00:01.000Z"}\n'
    )
    assert [(entry.addressee, entry.text, entry.criterion) for entry in stored(folder, "build")] == [
        (Addressee.WORKER, "first", None),
        (Addressee.BOTH, "second", "kept"),
    ]
    put(folder, "build", "third")
    assert [entry.text for entry in stored(folder, "build")] == ["first", "second", "third"]


@pytest.mark.promise("note.a-carry-store-mends-itself")
def test_a_torn_last_line_is_set_aside_and_told(folder: Path) -> None:
    """The next note is taken, what was torn lies beside the store, and the caller hears of it."""
    put(folder, "build", "first")
    store = store_of(folder, "build")
    with store.open("a") as handle:
        handle.write('{"ts":"2026-')
    assert [entry.text for entry in stored(folder, "build")] == ["first"]
    assert put(folder, "build", "second") is True
    assert put(folder, "build", "third") is False
    assert [entry.text for entry in stored(folder, "build")] == ["first", "second", "third"]
    assert store.with_name("build.carried.jsonl.torn").read_text() == '{"ts":"2026-\n'


@pytest.mark.promise("note.a-carry-store-mends-itself")
@pytest.mark.parametrize("begun", ["", HEADER[:20], HEADER[:-1], HEADER])
def test_a_store_whose_maker_died_is_made_again(folder: Path, begun: str) -> None:
    """However much of the header was written, the note goes in; no hard link is needed to make one."""
    (folder / "notes").mkdir()
    (folder / "notes" / "build.carried.jsonl").write_text(begun)
    put(folder, "build", "first")
    assert [entry.text for entry in stored(folder, "build")] == ["first"]


def test_making_a_store_makes_no_hard_link(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file system without links takes notes."""

    def refused(*_: object, **__: object) -> None:
        raise OSError("no links here")

    monkeypatch.setattr(os, "link", refused)
    put(folder, "build", "first")
    assert [entry.text for entry in stored(folder, "build")] == ["first"]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("not a carry store\n", "not a carry store"),
        (HEADER.replace("1,", "2,"), "not a carry store"),
        (HEADER + "{}\n", "record 1"),
        (HEADER + ENTRY % "a" + "nothing\n", "record 2 is no JSON"),
        (HEADER + ENTRY.replace("10:00:00", "24:00:00") % "a", "record 1 has no time"),
        (HEADER + ENTRY.replace("note@1", "note@2") % "a", "record 1 holds no note"),
        (HEADER + ENTRY % " ", "record 1 holds no note"),
    ],
)
def test_a_file_that_is_no_store_is_refused_and_left(folder: Path, content: str, said: str) -> None:
    """Neither carried into nor drained; the refusal names node, file and record."""
    (folder / "notes").mkdir()
    store = folder / "notes" / "build.carried.jsonl"
    store.write_text(content)
    with pytest.raises(InvalidError, match=said):
        put(folder, "build", "first")
    with pytest.raises(InvalidError, match="node 'build'"):
        drain_carried(folder, "build", None)
    with pytest.raises(InvalidError, match=said):
        stored(folder, "build")
    assert store.read_text() == content


@pytest.mark.promise("note.store-names-are-injective")
def test_a_name_is_the_originals_up_to_200_bytes_and_a_digest_past_it() -> None:
    """At the bound the escaped id, one byte past it the cut one; ids of 5 KB never meet."""
    at, past = "n" * (200 - len(".carried.jsonl")), "n" * (201 - len(".carried.jsonl"))
    assert store_name(at) == f"{at}.carried.jsonl"
    digest = hashlib.sha256(past.encode()).hexdigest()[:16]
    assert store_name(past) == f"{'n' * 150}~{digest}.carried.jsonl"
    ids = ["x" * 5_000, "x" * 4_999 + "y", "x" * 4_999 + "Y", "x" * 150 + "~" + "0" * 16, "~", "%7E", ""]
    assert len({store_name(node) for node in ids}) == len(ids)
    assert max(len(store_name(node)) for node in ids) <= 200
    assert escaped("a.b/%") == "a%2Eb%2F%25"


@pytest.mark.promise("note.store-names-are-injective")
def test_case_is_told_apart_where_the_folder_does_not(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ids that differ in case alone have stores of their own on every disk."""
    names = {store_name(node, folds_case=True).lower() for node in ("build", "Build", "BUILD")}
    assert len(names) == 3
    assert store_name("build", folds_case=True) == "build.carried.jsonl"
    monkeypatch.setattr(carrying, "_folds_case", lambda _: True)
    put(folder, "Build", "upper")
    put(folder, "build", "lower")
    assert [entry.text for entry in stored(folder, "Build")] == ["upper"]
    assert [entry.text for entry in stored(folder, "build")] == ["lower"]


@pytest.mark.promise("note.store-names-are-injective")
def test_a_store_of_the_originals_name_is_found_first(folder: Path) -> None:
    """A long id that the original gave a store keeps it."""
    node = "n" * 220
    (folder / "notes").mkdir()
    (folder / "notes" / f"{node}.carried.jsonl").write_text(HEADER + ENTRY % "kept")
    assert [entry.text for entry in stored(folder, node)] == ["kept"]


def test_writers_at_once_lose_nothing_and_keep_their_order(folder: Path) -> None:
    """Every note of four writers is there once, each writer's in its order, until a drain takes all."""

    def write(number: int) -> None:
        for turn in range(10):
            put(folder, "build", f"{number}-{turn}")

    threads = [threading.Thread(target=write, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    texts = [entry.text for entry in stored(folder, "build")]
    assert len(texts) == 40
    for number in range(4):
        assert [text for text in texts if text[0] == str(number)] == [f"{number}-{n}" for n in range(10)]
    drain_carried(folder, "build", None)
    assert store_of(folder, "build").read_text() == HEADER
