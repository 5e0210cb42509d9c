"""``mail4agent note`` over a folder of runs, and the examples of docs/note.md."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from mail4agent_api import note as wire
from mail4agent_api.codec import decode
from mail4agent_core.clock import SystemClock
from mail4agent_core.note.driving import driving
from mail4agent_core.note.paths import RunPaths
from mail4agent_core.note.run import NoteRun
from mail4agent_daemon.cli import application

DOCS = Path(__file__).resolve().parents[2] / "docs"
BOUND_SECS = 60.0


@dataclass(frozen=True)
class Ran:
    """How a verb ended."""

    status: int
    out: str
    err: str

    def answer(self, kind: Any) -> Any:
        """The one object of the contract on standard output."""
        assert self.status == 0, self.err
        return decode(kind, self.out.encode())


Note = Callable[..., Ran]


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A data folder with a run of two nodes, one of them dispatched."""
    home = tmp_path / "home"
    run = NoteRun(RunPaths.create(home / "runs", "demo"), SystemClock())
    run.begin(["build", "docs"])
    run.dispatch("build")
    return home


@pytest.fixture
def note(home: Path) -> Note:
    """Run a verb of ``note``."""

    def run(*arguments: str, stdin: str | None = None) -> Ran:
        settings = {"M4A_HOME": str(home), "TERM": "dumb", "COLUMNS": "80"}
        result = CliRunner().invoke(
            application(), ["note", *arguments], input=stdin, env=settings, catch_exceptions=False
        )
        return Ran(result.exit_code, result.stdout, result.stderr)

    return run


@pytest.mark.promise("note.the-receipt-says-the-disposition")
def test_a_note_is_delivered_and_said(note: Note) -> None:
    """A person reads a sentence, a program the receipt; a key delivers once."""
    said = note("deliver", "demo", "build", "stop", "--to", "worker")
    assert said == Ran(0, "carried: shown to nobody yet, owed to worker and supervisor\n", "")
    for repeated in (False, True):
        receipt = note(
            "deliver", "demo", "docs", "-", "--to", "both", "--next", "--key", "k", "--json", stdin=" go\n"
        ).answer(wire.NoteReceipt)
        assert (receipt.delivered.reached.reached, receipt.repeated) == ("carried", repeated)
        assert (receipt.shown_to, receipt.owed_to) == ([], ["worker", "supervisor"])
    again = note("deliver", "demo", "docs", "other", "--to", "both", "--key", "k", "--json")
    assert (again.status, json.loads(again.err)["kind"]) == (1, "idempotency_conflict")


@pytest.mark.parametrize(
    ("arguments", "kind"),
    [
        (["deliver", "demo", "build", "a", "--to", "both", "--next", "--no-persist"], "reaches_nobody"),
        (["deliver", "none", "build", "a", "--to", "both", "--next", "--no-persist"], "reaches_nobody"),
        (["deliver", "demo", "docs", "a", "--to", "both", "--no-persist"], "reaches_nobody"),
        (["deliver", "demo", "elsewhere", "a", "--to", "both"], "unknown_node"),
        (["deliver", "none", "build", "a", "--to", "both"], "unknown_run"),
        (["deliver", "../home", "build", "a", "--to", "both"], "unknown_run"),
        (["deliver", "demo", "build", " ", "--to", "both"], "malformed"),
        (["deliver", "demo", "build", "x" * 16_385, "--to", "both"], "too_large"),
        (["deliver", "demo", "build", "a", "--to", "both", "--criterion", "a && b"], "malformed"),
        (["deliver", "demo", "build", "a", "--to", "both", "--key", "a b"], "malformed"),
        (["deliver", "demo", "x" * 8_193, "a", "--to", "both"], "malformed"),
        (["standing", "demo", "elsewhere"], "unknown_node"),
        (["events", "demo"], "malformed"),
        (["journal", "none"], "unknown_run"),
        (["watch", "."], "unknown_run"),
    ],
)
def test_what_is_refused_ends_with_one_and_one_object(note: Note, arguments: list[str], kind: str) -> None:
    """Standard output stays empty; the object on standard error names the kind."""
    ended = note(*arguments, "--json", stdin="")
    assert (ended.status, ended.out) == (1, "")
    assert json.loads(ended.err)["kind"] == kind
    sentence = note(*arguments, stdin="").err
    assert sentence.startswith("mail4agent: ")


def test_standing_tells_both_folds(note: Note, home: Path) -> None:
    """What stands, and what is owed across dispatches."""
    note("deliver", "demo", "build", "first\x1b[31m", "--to", "worker")
    NoteRun(RunPaths.of(home / "runs", "demo"), SystemClock()).dispatch("build")
    rows = note("standing", "demo", "build").out.splitlines()
    assert rows == [
        "composed\tread\tcarried\tworker\tfirst<U+001B>[31m",
        "owed\tunread\tcarried\tworker\tfirst<U+001B>[31m",
    ]
    answer = note("standing", "demo", "build", "--json").answer(wire.NoteStanding)
    assert [held.placement for held in answer.standing] == ["composed"]
    assert [owed.text for owed in answer.owed] == ["first\x1b[31m"]


def test_turns_are_appended_and_their_presentations_said(note: Note, home: Path, tmp_path: Path) -> None:
    """From standard input or a file, one object a line; a turn that is none changes nothing."""
    receipt = note("deliver", "demo", "build", "stop", "--to", "worker", "--json").answer(wire.NoteReceipt)
    NoteRun(RunPaths.of(home / "runs", "demo"), SystemClock()).dispatch("build")
    turn = {
        "node": "build",
        "member": "worker",
        "turn": 1,
        "role": "assistant",
        "instruction": "do",
        "started_at": "2100-01-01T00:00:00.000Z",
        "note_ids": [receipt.note_id],
    }
    shown = note("events", "demo", "--json", stdin=json.dumps(turn)).answer(wire.NotePresentations)
    assert [(p.node, p.shown.evidence, p.shown.turn) for p in shown.presentations] == [
        ("build", "opening-task", 1)
    ]
    turns = tmp_path / "turns.jsonl"
    turns.write_text(json.dumps({**turn, "role": "user"}) + "\n" + json.dumps({**turn, "role": "system"}))
    assert note("events", "demo", str(turns)).out == (
        "build\tsupervisor\t1\tanswering-turn\tcarried\tworker\tstop\n"
    )
    before = (home / "runs" / "demo" / "events.jsonl").read_bytes()
    assert note("events", "demo", stdin=json.dumps({**turn, "turn": -1})).status == 1
    assert note("events", "demo", str(tmp_path / "none")).status == 2
    assert (home / "runs" / "demo" / "events.jsonl").read_bytes() == before


@pytest.mark.promise("note.a-torn-line-is-reported-and-mended")
def test_a_journal_is_read_in_stretches_and_its_faults_are_told(note: Note, home: Path) -> None:
    """Each answer says where the next begins; lines that are no records, and a torn one, are counted."""
    with (home / "runs" / "demo" / "events.jsonl").open("a") as handle:
        handle.write('no record\n{"v":2')
    first = note("journal", "demo", "-n", "1", "--json").answer(wire.NoteJournal)
    assert [(r.kind, r.seq) for r in first.records] == [("run-started", 0)]
    rest = note("journal", "demo", "--after", str(first.next), "--json").answer(wire.NoteJournal)
    assert [record.kind for record in rest.records] == ["node-dispatched"]
    assert (rest.unreadable, rest.torn_bytes) == (1, 6)
    told = note("journal", "demo")
    assert [line.split("\t")[1] for line in told.out.splitlines()] == ["run-started", "node-dispatched"]
    assert "1 lines hold no record" in told.err
    assert "the last line is torn: 6 bytes at" in told.err


def test_watch_prints_what_is_appended_and_ends_when_told(note: Note, home: Path) -> None:
    """Records as they come, as lines or as JSON; 5 when nothing came in time."""
    assert note("watch", "demo", "--secs", "0").status == 5
    all_of_it = note("watch", "demo", "--after", "0", "--count", "2")
    assert [line.split("\t")[1] for line in all_of_it.out.splitlines()] == ["run-started", "node-dispatched"]
    paths = RunPaths.of(home / "runs", "demo")
    end = str(paths.journal.stat().st_size)
    run = NoteRun(paths, SystemClock())
    writer = threading.Thread(target=run.settle, args=("build", "done"))
    writer.start()
    seen = note("watch", "demo", "--after", end, "--count", "1", "--secs", "30", "--json")
    writer.join(BOUND_SECS)
    assert seen.answer(wire.JournalEnvelope).kind == "node-settled"


@pytest.mark.promise("note.a-queued-note-is-durable")
def test_a_note_whose_driver_is_busy_is_said_to_be_queued(note: Note, home: Path) -> None:
    """The status is 0 and the sentence says not to send it again; the receipt says queued."""
    with driving(RunPaths.of(home / "runs", "demo"), SystemClock()) as driver:
        told = note("deliver", "demo", "build", "a", "--to", "both", "--secs", "0.05")
        assert (told.status, told.out.split(":")[0]) == (0, "queued")
        receipt = note(
            "deliver", "demo", "build", "b", "--to", "both", "--secs", "0.05", "--key", "k", "--json"
        ).answer(wire.NoteReceipt)
        assert receipt.delivered.kind == "queued"
        while driver.step():
            assert driver.settle(BOUND_SECS)
    answer = note("standing", "demo", "build", "--json").answer(wire.NoteStanding)
    assert [owed.text for owed in answer.owed] == ["a", "b"]
    assert answer.owed[1].note_id == receipt.note_id


def blocks(language: str) -> list[str]:
    """The examples of the page."""
    page = (DOCS / "note.md").read_text("utf-8")
    return re.findall(rf"^```{language}\n(.*?)^```$", page, re.DOTALL | re.MULTILINE)


@pytest.mark.promise("note.the-worked-example-is-true")
def test_the_pages_examples_run_as_printed(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The commands end well, and the program prints what the page says that it prints."""
    script = tmp_path / "bin" / "mail4agent"
    script.parent.mkdir()
    script.write_text(
        f'#!/bin/sh\nexec "{sys.executable}" -c "from mail4agent_daemon.cli import main; main()" "$@"\n'
    )
    script.chmod(0o755)
    environment = {
        **os.environ,
        "PATH": f"{script.parent}{os.pathsep}{os.environ['PATH']}",
        "M4A_HOME": str(home),
    }
    monkeypatch.chdir(tmp_path)
    (program,) = blocks("python")
    exec(compile(program, "note.md", "exec"), {"__name__": "__main__"})
    assert capsys.readouterr().out.splitlines() == [
        "## Manager notes",
        "worker, owed to worker and supervisor",
        "build delivered-origin worker",
        "['Keep the old flag working.']",
    ]
    command = ["bash", "-euo", "pipefail", "-c", "\n".join(blocks("sh"))]
    ended = subprocess.run(command, capture_output=True, timeout=BOUND_SECS, env=environment, check=False)
    assert ended.returncode == 0, ended.stderr.decode()
