"""The operations of the note seam over HTTP: what they answer, who may, and what no refusal tells."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from mail4agent_client import SyncMailClient
from mail4agent_core.clock import SystemClock
from mail4agent_core.note.driving import driving
from mail4agent_core.note.paths import RunPaths
from mail4agent_daemon import note_desk
from tests.process import DaemonProcess, served

NOTE = {"run": "demo", "node": "build", "addressee": "both", "text": " keep the old flag "}


@pytest.fixture(scope="module")
def daemon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DaemonProcess]:
    """A daemon with a run, and an account that may do all that there is to notes."""
    with served(tmp_path_factory.mktemp("notes") / "home") as daemon:
        daemon.register("manager")
        daemon.open_run("manager")
        yield daemon


@pytest.fixture
def secret(daemon: DaemonProcess) -> str:
    """A new secret of the account."""
    return daemon.do("admin.participant.rotate", {"id": "manager"})["secret"]


@pytest.mark.promise("note.operations-answer-what-the-library-does")
def test_a_note_goes_through_the_door_and_its_turns_show_it(daemon: DaemonProcess, secret: str) -> None:
    """Delivered, standing, owed, shown by a turn of the next dispatch, and in the journal, by the client."""
    with SyncMailClient(f"http://127.0.0.1:{daemon.port}", token=secret) as client:
        first = client.note_deliver(**NOTE, idempotency_key="k")
        again = client.note_deliver(**NOTE, idempotency_key="k")
        assert (first.delivered.kind, first.owed_to) == ("to", ["worker", "supervisor"])
        assert (again.note_id, again.repeated) == (first.note_id, True)
        held = client.note_standing(run="demo", node="build")
        assert [each.note.text for each in held.standing] == ["keep the old flag"]
        assert [each.note_id for each in held.owed] == [first.note_id]
        turn: dict[str, Any] = {
            "node": "build",
            "member": "worker",
            "turn": 1,
            "role": "assistant",
            "instruction": "go on",
            "started_at": "2100-01-01T00:00:00.000Z",
            "note_ids": [first.note_id],
        }
        shown = daemon.do("note.events", {"run": "demo", "events": [turn]}, secret=secret)["presentations"]
        assert [(each["node"], each["shown"]["evidence"]) for each in shown] == [
            ("build", "instruction-text")
        ]
        assert client.note_standing(run="demo", node="build").owed == []
        page = client.note_journal(run="demo", limit=2)
        rest = client.note_journal(run="demo", after=page.next)
        kinds = [record.kind for record in (*page.records, *rest.records)]
        assert kinds == ["run-started", "node-dispatched", "edit-committed", "turn-started", "note-shown"]


@pytest.mark.parametrize(
    ("operation", "body", "status", "refusal"),
    [
        ("note.deliver", {**NOTE, "run": "none"}, 404, {"kind": "unknown_item", "id": "none"}),
        ("note.deliver", {**NOTE, "run": ".."}, 404, {"kind": "unknown_item", "id": ".."}),
        ("note.deliver", {**NOTE, "node": "x\n"}, 404, {"kind": "unknown_item", "id": "node"}),
        (
            "note.deliver",
            {**NOTE, "persist": False},
            409,
            {"kind": "not_pending", "id": "build", "status": "reaches nobody"},
        ),
        ("note.standing", {"run": "demo", "node": "none"}, 404, {"kind": "unknown_item", "id": "none"}),
        ("note.journal", {"run": "none"}, 404, {"kind": "unknown_item", "id": "none"}),
    ],
)
def test_what_cannot_be_done_is_refused_by_name(  # noqa: PLR0917  # a row of the table
    daemon: DaemonProcess, secret: str, operation: str, body: Any, status: int, refusal: Any
) -> None:
    """No refusal carries a path or another program's words."""
    assert daemon.ask(operation, body, secret=secret) == (status, refusal)


@pytest.mark.promise("note.next-without-persist-is-refused-first")
def test_two_fields_that_reach_nobody_are_malformed_whatever_the_run(
    daemon: DaemonProcess, secret: str
) -> None:
    """Before the run is looked for."""
    body = {**NOTE, "run": "none", "deliver": "next", "persist": False}
    status, refusal = daemon.ask("note.deliver", body, secret=secret)
    assert (status, refusal["kind"], refusal["field"]) == (400, "malformed", "persist")


def test_a_record_that_cannot_be_read_is_told_without_its_words(daemon: DaemonProcess, secret: str) -> None:
    """The store is unavailable, and the answer says of which operation."""
    paths = RunPaths.create(daemon.home / "runs", "broken")
    paths.journal.write_text(
        '{"v":2,"ts":"2026-09-19T10:00:00.000Z","stream":"x","seq":0,"source":"pipeline",'
        '"kind":"edit-committed","labels":{"node":"build"},"payload":{"operations":"secret words"}}\n'
    )
    asked = daemon.ask("note.standing", {"run": "broken", "node": "build"}, secret=secret)
    assert asked == (503, {"kind": "store_unavailable", "operation": "note.standing"})


@pytest.mark.promise("note.operations-need-their-capability")
def test_each_operation_needs_its_own_capability(daemon: DaemonProcess) -> None:
    """Whoever may only read delivers nothing and produces nothing."""
    secret = daemon.register("reader")
    daemon.do("admin.participant.permit", {"id": "reader", "grant": ["note:read"], "revoke": []})
    assert daemon.ask("note.journal", {"run": "demo"}, secret=secret)[0] == 200
    for operation, need in (("note.deliver", "note:deliver"), ("note.events", "note:produce")):
        assert daemon.ask(operation, {}, secret=secret) == (403, {"kind": "permission_denied", "need": need})


@pytest.mark.promise("note.a-queued-note-is-durable")
def test_a_note_for_a_run_that_is_driven_is_queued(
    daemon: DaemonProcess, secret: str, tmp_path: Path
) -> None:
    """The driver is this process; its step answers what the daemon waits for, or finds it later."""
    paths = RunPaths.of(daemon.home / "runs", "demo")
    assert note_desk.DRIVER_SECS <= 10
    with driving(paths, SystemClock()) as driver:
        receipt = daemon.do("note.deliver", {**NOTE, "text": "queued", "idempotency_key": "q"}, secret=secret)
        assert receipt["delivered"] == {"kind": "queued"}
        driver.step()
        assert driver.settle(20)
    again = daemon.do("note.deliver", {**NOTE, "text": "queued", "idempotency_key": "q"}, secret=secret)
    assert (again["repeated"], again["note_id"]) == (True, receipt["note_id"])
