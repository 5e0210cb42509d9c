"""The journal: what counts as a record, what is torn, and what an append leaves behind."""

from __future__ import annotations

import errno
import json
import os
import threading
from collections.abc import Sequence
from pathlib import Path

import pytest

from mail4agent_core.note import files, journal, reach
from mail4agent_core.note.carry import carry, drain_carried
from mail4agent_core.note.channel import Channel
from mail4agent_core.note.faults import LedgerError, UnknownRunError
from mail4agent_core.note.journal import UNNUMBERED, Appender, read
from mail4agent_core.note.note import Note
from mail4agent_core.note.paths import RunPaths
from mail4agent_core.note.record import Record

from .records import START_MS, delivered, pipeline

LINE = (
    '{"v":2,"ts":"2026-09-19T10:00:00.000Z","stream":"host-1","seq":%d,"source":"pipeline",'
    '"kind":"note-shown","labels":{},"payload":{"text":"%s"},"artifacts":[]}'
)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Where a journal will be."""
    return RunPaths.create(tmp_path / "runs", "demo").journal


def fresh(stream: str, *, source: str = "pipeline") -> Record:
    """A record that is numbered when it is appended."""
    return Record(2, "2026-09-19T10:00:00.000Z", stream, UNNUMBERED, source, "note-shown")


def append(path: Path, *records: Record) -> Sequence[Record]:
    """Append as a process does that has read the whole journal."""
    return Appender(path).append(lambda _: records, 0)


def test_a_line_is_written_as_the_original_writes_it(path: Path) -> None:
    """The same keys in the same order, without a space, labels and payload and artifacts always."""
    append(path, pipeline("note-shown", 7, "build", {"text": "é\u2028"}, at_ms=START_MS))
    assert path.read_text("utf-8") == (
        '{"v":2,"ts":"2026-08-06T07:06:40.000Z","stream":"s","seq":7,"source":"pipeline","kind":"note-shown",'
        '"labels":{"run_id":"demo","node":"build"},"payload":{"text":"é\u2028"},"artifacts":[]}\n'
    )
    (record,) = read(path).records
    assert (record.node, record.payload["text"]) == ("build", "é\u2028")


@pytest.mark.promise("note.foreign-lines-are-passed-over")
@pytest.mark.parametrize(
    ("line", "texts"),
    [
        ("", []),
        ("not json", []),
        ("[1]", []),
        ('{"v":2}', []),
        (LINE.replace('"v":2', '"v":3') % (1, "a"), []),
        (LINE.replace('"seq":%d', '"seq":"%d"') % (1, "a"), []),
        (LINE.replace('"artifacts"', '"note_id":"x","artifacts"') % (1, "a"), []),
        (LINE.replace('"pipeline"', '"stranger"') % (1, "a"), []),
        (LINE.replace('"labels":{}', '"phase":"review","labels":{}') % (1, "a"), ["a"]),
        (LINE % (1, "first") + LINE % (2, "second"), ["second"]),
        ('{"v":2,"ts":"2026-' + LINE % (2, "behind a fragment"), ["behind a fragment"]),
        (LINE % (1, "a\u2028b\u0085c"), ["a\u2028b\u0085c"]),
        ('{"v":' * 300_000, []),
    ],
)
def test_a_line_is_a_record_or_is_passed_over_and_counted(path: Path, line: str, texts: list[str]) -> None:
    """Only the eight keys, known versions and sources; of two records on a line the second."""
    path.write_text(f"{line}\n{LINE % (9, 'last')}\n", "utf-8")
    found = read(path)
    assert [record.payload["text"] for record in found.records] == [*texts, "last"]
    assert found.unreadable == int(bool(line) and not texts)


@pytest.mark.promise("note.a-torn-line-is-reported-and-mended")
@pytest.mark.parametrize("tail", ['{"v":2,"ts":', LINE % (2, "whole but unended")])
def test_a_torn_last_line_is_reported_and_set_aside_by_the_next_append(path: Path, tail: str) -> None:
    """Reading names it and changes nothing; an append moves it beside the journal first."""
    whole = LINE % (1, "a") + "\n"
    path.write_text(whole + tail, "utf-8")
    found = read(path)
    assert found.torn is not None
    assert (found.torn.offset, found.torn.size) == (len(whole), len(tail))
    assert path.read_text("utf-8") == whole + tail

    appender = Appender(path)
    appender.append(lambda _: [fresh("host-1")], 0)
    assert [(torn.offset, torn.size) for torn in appender.mended] == [(len(whole), len(tail))]
    assert path.with_name("events.jsonl.torn").read_text("utf-8") == tail + "\n"
    again = read(path)
    assert ([record.seq for record in again.records], again.torn) == ([1, 2], None)


def test_a_stream_is_numbered_on_from_what_the_journal_has(path: Path) -> None:
    """A process id that is used again goes on; the pipeline begins at 0, a producer of turns at 1."""
    assert [record.seq for record in append(path, fresh("a"), fresh("a"), fresh("b"))] == [0, 1, 0]
    assert [record.seq for record in append(path, fresh("a"))] == [2]
    assert [record.seq for record in append(path, fresh("t", source="agentgraph"))] == [1]


@pytest.mark.promise("note.an-append-is-whole-or-nothing")
def test_two_writers_lose_nothing_and_tear_nothing(path: Path) -> None:
    """Records of several threads, each with a file of its own open, all arrive, numbered in order."""

    def write(stream: str) -> None:
        appender = Appender(path)
        for _ in range(25):
            appender.append(lambda _: [fresh(stream)], 0)

    threads = [threading.Thread(target=write, args=(f"w-{number}",)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    found = read(path)
    assert (found.unreadable, found.torn, len(found.records)) == (0, None, 100)
    for number in range(4):
        assert [r.seq for r in found.records if r.stream == f"w-{number}"] == list(range(25))


@pytest.mark.promise("note.an-append-is-whole-or-nothing")
@pytest.mark.parametrize("call", ["pwrite", "fdatasync"])
def test_a_full_disk_leaves_the_journal_as_it_was(
    path: Path, monkeypatch: pytest.MonkeyPatch, call: str
) -> None:
    """Half of the bytes fit, or they cannot be made durable: the refusal names the file, nothing is left."""
    append(path, fresh("a"))
    before = path.read_bytes()
    real = os.pwrite

    def no_room(handle: int, *rest: object) -> int:
        if call == "fdatasync" or real(handle, bytes(rest[0])[:10], int(str(rest[1]))) == 10:  # type: ignore[call-overload]
            raise OSError(errno.ENOSPC, "No space left on device")
        return 0

    monkeypatch.setattr(files.os, call, no_room)
    with pytest.raises(LedgerError, match=r"events\.jsonl: No space left on device"):
        append(path, fresh("a"))
    monkeypatch.undo()
    assert path.read_bytes() == before


def test_a_lock_that_is_held_is_waited_for_and_then_named(path: Path) -> None:
    """A writer that never lets go is told of by the file that it holds."""
    append(path, fresh("a"))
    with (
        files.opened(path, write=True) as holder,
        files.locked(holder, path),
        files.opened(path, write=True) as other,
    ):
        waiting = files.locked(other, path, secs=0.01)
        with pytest.raises(LedgerError, match=r"events\.jsonl: is locked"):
            waiting.__enter__()  # the entering is what fails


@pytest.mark.promise("note.links-in-a-run-are-not-followed")
def test_a_symbolic_link_is_followed_nowhere(tmp_path: Path) -> None:
    """Neither a run's folder nor its journal nor its notes may be a link."""
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    runs = tmp_path / "runs"
    paths = RunPaths.create(runs, "demo")
    (runs / "linked").symlink_to(elsewhere)
    with pytest.raises(UnknownRunError):
        RunPaths.of(runs, "linked")
    target = elsewhere / "secret"
    target.write_text("kept\n")
    paths.journal.symlink_to(target)
    with pytest.raises(LedgerError, match="symbolic link"):
        read(paths.journal)
    with pytest.raises(LedgerError, match="symbolic link"):
        append(paths.journal, fresh("a"))
    assert target.read_text() == "kept\n"
    (paths.folder / "notes").symlink_to(elsewhere)
    paths.channel.symlink_to(elsewhere)
    with pytest.raises(LedgerError, match=r"notes: is a symbolic link"):
        drain_carried(paths.folder, "build", None)
    with pytest.raises(LedgerError, match=r"notes: is no folder"):
        carry(paths.folder, "build", Note.of("both", "a"), now_ms=START_MS)
    with pytest.raises(LedgerError, match=r"channel: is a symbolic link"):
        Channel(paths).waiting()
    with pytest.raises(LedgerError, match=r"channel: is no folder"):
        Channel(paths).put("planner", [], [])
    assert [each.name for each in elsewhere.iterdir()] == ["secret"]


@pytest.mark.promise("note.links-in-a-run-are-not-followed")
@pytest.mark.parametrize("name", ["", ".", "..", "a/b", "../demo", "a b", "x" * 129, "a\n", "é"])
def test_a_run_is_named_by_one_plain_segment(tmp_path: Path, name: str) -> None:
    """Whatever could lead out of the folder of runs is no run."""
    with pytest.raises(UnknownRunError):
        RunPaths.create(tmp_path, name)


def test_a_run_with_dots_in_its_name_is_one(tmp_path: Path) -> None:
    """Dots are letters of a name like others."""
    assert RunPaths.create(tmp_path, "v1.2..3").folder == tmp_path / "v1.2..3"
    assert json.loads((tmp_path / "v1.2..3" / "launch.json").read_text()) == {"run_id": "v1.2..3"}


def test_what_is_no_regular_file_is_no_journal(tmp_path: Path) -> None:
    """A pipe in its place is refused at once instead of waited on."""
    paths = RunPaths.create(tmp_path, "demo")
    os.mkfifo(paths.journal)
    with pytest.raises(LedgerError, match="no regular file"):
        read(paths.journal)


def test_a_line_that_is_too_long_to_read_is_paged_past(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It counts as unreadable, or as torn where it does not end, and what stands behind it is read."""
    monkeypatch.setattr(journal, "LINE_MAX_BYTES", 1_000)
    path.write_bytes(b"x" * 5_000 + b"\n" + (LINE % (1, "behind")).encode() + b"\n" + b"y" * 5_000)
    first = journal.stretch(path, 0, 10, 100)
    assert (first.records, first.end, first.unreadable, first.torn) == ((), 5_001, 1, None)
    second = journal.stretch(path, first.end, 10, 200)
    assert [record.payload["text"] for record in second.records] == ["behind"]
    last = journal.stretch(path, second.end, 10, 100)
    assert (last.end, last.torn) == (second.end, journal.Torn(second.end, 5_000))


@pytest.mark.parametrize("step", [1, 7, 100, 1 << 20])
def test_a_journal_reads_the_same_in_stretches(
    path: Path, step: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The records in order, the lines that hold none, the torn tail, and where the next reading begins."""
    lines = [(LINE % (number, "é" * number)).encode() for number in range(9)]
    path.write_bytes(b"\n".join((*lines, b"no record", b"", b'{"v":2,"torn')))
    monkeypatch.setattr(journal, "STEP_BYTES", step)
    whole, found = read(path), list(journal.readings(path))
    assert tuple(record for each in found for record in each.records) == whole.records
    assert sum(each.unreadable for each in found) == whole.unreadable == 1
    assert (found[-1].end, found[-1].torn) == (whole.end, whole.torn)


def test_a_line_past_the_bound_is_not_written(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A record that no reader would take is refused whole."""
    monkeypatch.setattr(journal, "LINE_MAX_BYTES", 200)
    with pytest.raises(LedgerError, match="no line of more than 200 bytes"):
        append(path, delivered(1, "build", "x" * 200, reach.WORKER))
    assert read(path).records == ()
