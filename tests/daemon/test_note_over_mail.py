"""Notes end to end with nothing else installed: worker and judge are processes that share mail and a run."""

from __future__ import annotations

import json
import select
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from mail4agent_client import SyncMailClient
from mail4agent_core.clock import SystemClock
from mail4agent_core.note import reach
from mail4agent_core.note.faults import ReachesNobodyError
from mail4agent_core.note.note import Note
from mail4agent_core.note.over_mail import MailConversation, MailParty, correlation_of
from mail4agent_core.note.paths import RunPaths
from mail4agent_core.note.reach import Reached
from mail4agent_core.note.requests import Request
from mail4agent_core.note.run import NoteRun
from mail4agent_core.note.words import Party
from mail4agent_daemon.conversing import ClientMail
from tests.process import BOUND_SECS, DaemonProcess, served

ROOT = Path(__file__).resolve().parents[2]
W, J = Party.WORKER, Party.SUPERVISOR


@dataclass
class Stage:
    """A daemon, a run, and accounts for the driver and both parties."""

    daemon: DaemonProcess
    folder: Path
    live: Party | None = None
    answer_secs: int = 20

    @property
    def url(self) -> str:
        """Where the daemon is."""
        return f"http://127.0.0.1:{self.daemon.port}"

    @property
    def runs(self) -> Path:
        """The folder of runs."""
        return self.folder / "runs"

    def key(self, name: str) -> Path:
        """The file of an account's secret."""
        return self.folder / f"{name}.key"

    @contextmanager
    def party(self, party: Party, *steps: list[Any]) -> Iterator[Actor]:
        """A party in a process of its own, ready at the beginning of the block."""
        task = {
            "party": party.value,
            "url": self.url,
            "key": str(self.key(party.value)),
            "runs": str(self.runs),
            "steps": steps,
        }
        command = [sys.executable, "-m", "tests.daemon.note_party", json.dumps(task)]
        with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, bufsize=0) as process:
            try:
                actor = Actor(process)
                assert actor.line() == "ready"
                yield actor
            finally:
                process.kill()

    @contextmanager
    def run(self) -> Iterator[NoteRun]:
        """The run as its driver has it, its node's conversation over mail."""
        with SyncMailClient(self.url, token_file=self.key("driver")) as client:
            conversation = MailConversation(
                ClientMail(client), "worker", "supervisor", lambda: self.live, self.answer_secs
            )
            yield NoteRun(
                RunPaths.create(self.runs, "demo"), SystemClock(), conversations=lambda _: conversation
            )


@dataclass
class Actor:
    """A running party."""

    process: subprocess.Popen[bytes]
    buffer: bytes = b""

    def line(self) -> str:
        """The next line that it says. Raises AssertionError when none comes in time."""
        assert self.process.stdout is not None
        while b"\n" not in self.buffer:
            assert select.select([self.process.stdout], [], [], BOUND_SECS)[0], "the party says nothing"
            more = self.process.stdout.read(4096)
            assert more, "the party has ended"
            self.buffer += more
        line, _, self.buffer = self.buffer.partition(b"\n")
        return line.decode()

    def said(self) -> Any:
        """The next line as JSON."""
        return json.loads(self.line())


@pytest.fixture(scope="module")
def daemon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DaemonProcess]:
    """One daemon for the module."""
    with served(tmp_path_factory.mktemp("note") / "home") as daemon:
        for name in ("driver", "worker", "supervisor", "stranger"):
            path = daemon.home.with_name(f"{name}.key")
            path.write_text(daemon.register(name))
            path.chmod(0o600)
        yield daemon


@pytest.fixture
def stage(daemon: DaemonProcess, tmp_path: Path) -> Stage:
    """A run of one node that has been dispatched."""
    for name in ("driver", "worker", "supervisor", "stranger"):
        path = tmp_path / f"{name}.key"
        path.write_text(daemon.home.with_name(f"{name}.key").read_text())
        path.chmod(0o600)
    stage = Stage(daemon, tmp_path)
    with stage.run() as run:
        run.begin(["build"])
        run.dispatch("build", fields={"persona": "engineer"})
    return stage


def request(text: str = "keep the old flag working", **more: Any) -> Request:
    """A note for both parties."""
    return Request.of("build", Note.of("both", text), **more)


@pytest.mark.promise("note.parties-are-reached-over-mail")
@pytest.mark.parametrize(
    ("live", "answer", "reached", "shown", "still"),
    [
        (W, "worker", reach.WORKER, (), (W, J)),
        (J, "supervisor", reach.SUPERVISOR, (J,), (W,)),
        (J, "judged-with", reach.judged_with("both suites are green"), (J,), ()),
        (None, "queued", reach.QUEUED, (), (W, J)),
    ],
)
def test_each_party_takes_a_note_and_its_turns_show_it(  # noqa: PLR0917  # a row of the table
    stage: Stage,
    live: Party | None,
    answer: str,
    reached: Reached,
    shown: tuple[Party, ...],
    still: tuple[Party, ...],
) -> None:
    """The live party answers by mail; then each party that is owed the note opens a turn with it."""
    stage.live = live
    with stage.run() as run, stage.party(live or W, [answer]) as party:
        receipt = run.deliver(request())
        assert party.said() == ["keep the old flag working"]
    assert (receipt.reached, receipt.shown_to, receipt.owed_to) == (reached, shown, still)
    note_id = receipt.note.note_id
    if W in still:
        with stage.party(W, ["open", 2, "delivered", [note_id]]) as worker:
            assert worker.said() == ["delivered-origin"]
    if J in still:
        with stage.party(J, ["open", 2, None, [note_id]]) as judge:
            assert judge.said() == ["answering-turn"]
    with stage.run() as run:
        fold = run.refresh().fold("build")
        assert fold.owed_to(receipt.note) == ()
        assert set(fold.shown_to(receipt.note)) == {*shown, *still}


@pytest.mark.promise("note.parties-are-reached-over-mail")
def test_a_note_that_nobody_takes_is_carried_and_shown_by_the_next_dispatch(stage: Stage) -> None:
    """It is withdrawn before it is recorded, so a party that comes late takes nothing; the task says it."""
    stage.answer_secs = 1
    with stage.run() as run:
        receipt = run.deliver(request())
        assert receipt.reached is reach.CARRIED
        composition = run.dispatch("build")
        assert composition.carried == (receipt.note,)
    with SyncMailClient(stage.url, token_file=stage.key("worker")) as client:
        assert MailParty(ClientMail(client), "demo", "build", "driver").offers() == []
    with stage.party(W, ["open", 1, "task", [receipt.note.note_id]]) as worker:
        assert worker.said() == ["opening-task"]
    with stage.party(J, ["open", 1, None, [receipt.note.note_id]]) as judge:
        assert judge.said() == ["answering-turn"]


def test_a_party_that_refuses_leaves_the_note_to_the_next_dispatch(stage: Stage) -> None:
    """Its reason is the refusal's where the note may not be carried."""
    with stage.run() as run, stage.party(W, ["gone"], ["gone"]) as worker:
        assert run.deliver(request()).reached is reach.CARRIED
        worker.line()
        with pytest.raises(ReachesNobodyError, match="the turn has ended"):
            run.deliver(request(persist=False))


@pytest.mark.promise("note.a-key-makes-one-note")
def test_a_driver_that_dies_before_it_recorded_an_answer_finds_it_again(stage: Stage) -> None:
    """The note goes out once under its key, and the answer that was given stands."""
    stage.live = W
    with stage.run() as run, stage.party(W, ["worker"]) as worker:
        first = run.deliver(request(idempotency_key="k"))
        assert worker.said() == ["keep the old flag working"]
    # The record is lost, the mail is not.
    lines = RunPaths.of(stage.runs, "demo").journal.read_bytes().splitlines(keepends=True)
    RunPaths.of(stage.runs, "demo").journal.write_bytes(b"".join(lines[:2]))
    with stage.run() as run:
        again = run.deliver(request(idempotency_key="k"))
    assert (again.repeated, again.reached, again.note.note_id) == (False, reach.WORKER, first.note.note_id)


def test_a_stranger_neither_answers_nor_offers(stage: Stage) -> None:
    """Only the party that was asked answers, and only the driver's notes are taken."""
    correlation = correlation_of("demo", "build")
    with (
        SyncMailClient(stage.url, token_file=stage.key("stranger")) as client,
        SyncMailClient(stage.url, token_file=stage.key("worker")) as worker,
    ):
        stranger = ClientMail(client)
        stranger.post("worker", "note", "{}", correlation=correlation, key="offer")
        party = MailParty(ClientMail(worker), "demo", "build", "driver")
        assert party.offers() == []
        with SyncMailClient(stage.url, token_file=stage.key("driver")) as driver:
            mail = ClientMail(driver)
            posted = mail.post("worker", "note", "no offer", correlation=correlation, key="bad")
            assert party.offers() == []
            assert mail.page(correlation=correlation, thread=posted) == []
