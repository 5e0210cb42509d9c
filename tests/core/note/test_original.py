"""The original program and this package over one run directory: each reads what the other wrote.

The program is installed by name into a folder of the test's own. In CI that must work; elsewhere, where no
package index answers, these tests say that they were left out.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from mail4agent_core.clock import SystemClock
from mail4agent_core.note import reach
from mail4agent_core.note.carry import stored
from mail4agent_core.note.conversation import Interrupted, JudgedWith, NoConversation, ScriptedConversation
from mail4agent_core.note.driving import driving
from mail4agent_core.note.faults import ReachesNobodyError
from mail4agent_core.note.instants import spelled
from mail4agent_core.note.journal import read
from mail4agent_core.note.note import Note
from mail4agent_core.note.owner import holder_of
from mail4agent_core.note.paths import RunPaths
from mail4agent_core.note.reply import envelope_json, submit
from mail4agent_core.note.requests import Request
from mail4agent_core.note.run import NoteRun
from mail4agent_core.note.turns import TurnOpened
from mail4agent_core.note.words import Party

from .test_note import REFUSED, TAKEN

NAME, VERSION = "onepipeline-cli", "0.38.1"
INSTALL_SECS, BOUND_SECS = 100, 30

Ask = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture(scope="session")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The original program."""
    folder = tmp_path_factory.mktemp("original")
    command = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--no-input", "--quiet", "install"]
    command += ["--no-deps", "--target", str(folder), f"{NAME}=={VERSION}"]
    try:
        subprocess.run(command, check=True, capture_output=True, timeout=INSTALL_SECS)
    except (subprocess.CalledProcessError, subprocess.TimeoutExpired) as failure:
        if os.environ.get("CI") == "true":
            pytest.fail(f"{NAME} {VERSION} cannot be installed: {failure}")
        pytest.skip(f"{NAME} {VERSION} cannot be installed here")
    return folder / "bin" / "onepipeline"


@pytest.fixture
def paths(tmp_path: Path) -> RunPaths:
    """A run with two nodes, written by this package."""
    paths = RunPaths.create(tmp_path / "runs", "ours")
    NoteRun(paths, SystemClock()).begin(["build", "v1.2 docs"])
    return paths


@pytest.fixture
def ask(program: Path, paths: RunPaths, tmp_path: Path) -> Ask:
    """Run the original program over our folder of runs."""
    home = tmp_path / "home"
    home.mkdir()
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(home),
        "ONEPIPELINE_RUNS_DIR": str(tmp_path / "runs"),
    }

    def ask(*arguments: str, text: str = "", **more: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [str(program), *arguments],
            input=text,
            env={**environment, **more},
            cwd=home,
            capture_output=True,
            text=True,
            timeout=BOUND_SECS,
            check=False,
        )

    return ask


def request(text: str, node: str = "build", **more: Any) -> Request:
    """A note for a node."""
    return Request.of(node, Note.of("worker", text, more.pop("criterion", None)), **more)


def reply(ask: Ask, *requests: Request, **more: str) -> subprocess.CompletedProcess[str]:
    """Send notes with the original's own ``reply``."""
    return ask("reply", "ours", text=json.dumps(envelope_json(requests)), **more)


def lived(paths: RunPaths) -> None:
    """Everything that this package writes into a run."""
    clock = SystemClock()
    conversation = ScriptedConversation(
        [Interrupted(Party.WORKER), JudgedWith("green"), NoConversation("gone")]
    )
    run = NoteRun(paths, clock, conversations=lambda _: conversation)
    run.deliver(request("carried first", criterion="the flag parses", deliver="next", idempotency_key="k"))
    run.dispatch("build", fields={"persona": "engineer"})
    receipt = run.deliver(request("live"))
    for party, origin in ((Party.WORKER, "delivered"), (Party.SUPERVISOR, None)):
        now = spelled(clock.now_ms())
        run.events([TurnOpened("build", party, 1, "go on", now, origin, [receipt.note.note_id or ""])])
    run.deliver(request("judged"))
    run.deliver(request("carried later"))
    with pytest.raises(ReachesNobodyError, match="script is over"):
        run.deliver(request("refused", persist=False))
    run.dispatch("build", continuation=True, fields={"attempts": 3, "reason": "again"})
    run.settle("build", "failed", outcome="no-agent-progress")


@pytest.mark.promise("note.the-original-reads-our-runs")
def test_the_original_reads_every_record_that_we_write(ask: Ask, paths: RunPaths) -> None:
    """Its views tell of each record and fold the nodes' states; its checkpoint counts every line as read."""
    lived(paths)
    shown = ask("monitor", "ours")
    assert shown.returncode == 0, shown.stderr
    records = read(paths.journal).records
    kinds = [record.kind for record in records]
    for kind in ("run-started", "edit-committed", "node-dispatched", "note-shown", "edit-rejected"):
        assert shown.stdout.count(f" {kind}") >= kinds.count(kind), kind
    results = ask("results", "ours")
    assert "build" in results.stdout
    assert "failed" in results.stdout
    assert reply(ask, request("one more", node="v1.2 docs", deliver="next")).returncode == 0
    coverage = json.loads((paths.folder / "checkpoint.json").read_text())["coverage"]
    # It covers all but those of the last instant, which others may still join.
    assert coverage["records"] == sum(record.ts < records[-1].ts for record in records)
    assert [last for stream, last in coverage["streams"].items() if stream.endswith("-turns")] == [2]


@pytest.mark.promise("note.the-original-reads-our-runs")
def test_a_note_of_the_originals_reply_is_read_back(ask: Ask, paths: RunPaths) -> None:
    """It goes into the journal and into the store that our own note is in, and our dispatch carries both."""
    lived(paths)
    submit(paths, request("ours", node="v1.2 docs", criterion="the outline is kept"))
    sent = reply(ask, request("theirs", node="v1.2 docs"))
    assert (sent.returncode, sent.stderr) == (0, "")
    assert json.loads(sent.stdout)["state"] == "applied"
    assert [entry.text for entry in stored(paths.folder, "v1.2 docs")] == ["ours", "theirs"]
    run = NoteRun(paths, SystemClock())
    ledger = run.refresh()
    assert [note.text for note in ledger.standing("v1.2 docs").carried()] == ["ours", "theirs"]
    assert [note.text for note in ledger.fold("v1.2 docs").owed] == ["ours", "theirs"]
    assert [note.text for note in run.dispatch("v1.2 docs").carried] == ["ours", "theirs"]
    refused = reply(ask, request("nobody", node="v1.2 docs", persist=False))
    assert refused.returncode == 2
    assert read(paths.journal).records[-1].source == "pipeline"


@pytest.mark.promise("note.the-original-reads-our-runs")
def test_the_originals_reply_waits_for_our_driver_and_is_answered(ask: Ask, paths: RunPaths) -> None:
    """It finds our owner, queues, and reads our outcome: applied, or refused with the reason."""
    conversation = ScriptedConversation([Interrupted(Party.SUPERVISOR), NoConversation("gone")])
    with driving(paths, SystemClock(), conversations=lambda _: conversation) as driver:
        driver.run.dispatch("build", fields={"persona": "engineer"})
        ended, stop = threading.Event(), threading.Event()

        def step() -> None:
            while not stop.wait(0.02):
                driver.step()
            ended.set()

        threading.Thread(target=step).start()
        try:
            applied = reply(ask, request("take this"))
            refused = reply(ask, request("and this", persist=False))
        finally:
            stop.set()
            assert ended.wait(BOUND_SECS)
    assert applied.returncode == 0, applied.stderr
    assert json.loads(applied.stdout)["state"] == "applied"
    assert refused.returncode == 2
    assert "gone" in refused.stderr
    assert [note.text for note in NoteRun(paths, SystemClock()).refresh().standing("build").read()] == [
        "take this"
    ]
    assert holder_of(paths) is None


@pytest.mark.promise("note.the-original-reads-our-runs")
def test_a_note_that_the_original_queued_is_delivered_by_our_next_driver(ask: Ask, paths: RunPaths) -> None:
    """Its ``reply`` gave up waiting; whoever drives the run next finds the envelope."""
    with driving(paths, SystemClock()) as driver:
        sent = reply(ask, request("later"), ONEPIPELINE_REPLY_TIMEOUT_SECONDS="1")
        assert json.loads(sent.stdout)["state"] == "queued"
        driver.step()
        assert driver.settle(BOUND_SECS)
    (note,) = NoteRun(paths, SystemClock()).refresh().fold("build").owed
    assert (note.text, note.reached) == ("later", reach.CARRIED)


@pytest.mark.promise("note.a-criterion-keeps-eight-rules")
def test_the_original_takes_and_refuses_the_same_criteria(ask: Ask) -> None:
    """Each criterion of our own tests is put to it; one that it takes fails later, for its unknown node."""

    def takes(criterion: str) -> bool:
        command = {"op": "note", "id": "nowhere", "addressee": "both", "text": "t", "criterion": criterion}
        said = ask("reply", "ours", text=json.dumps({"version": 3, "commands": [command]})).stderr
        assert ("was refused" in said) != ("no node" in said), said
        return "no node" in said

    assert [text for text in TAKEN if not takes(text)] == []
    assert [text for texts in REFUSED.values() for text in texts if takes(text)] == []
