"""A run that is written to: each disposition, keys, queues, restarts, and the record that is left."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from mail4agent_api.errors import IdempotencyConflictError, MalformedError, RefusalError
from mail4agent_core.clock import HandClock
from mail4agent_core.note import reach, reply
from mail4agent_core.note.carry import store_of, stored
from mail4agent_core.note.channel import Channel
from mail4agent_core.note.conversation import (
    Accepted,
    Conversation,
    ConversationCompleted,
    Interrupted,
    JudgedWith,
    MemberSettled,
    NoConversation,
    Offer,
    Queued,
    ScriptedConversation,
    Undelivered,
)
from mail4agent_core.note.driving import driving
from mail4agent_core.note.faults import (
    EnvelopeRefusedError,
    InvalidError,
    LedgerError,
    ReachesNobodyError,
    RunOwnedError,
    UnknownNodeError,
    UnknownRunError,
    UnreadableRecordError,
)
from mail4agent_core.note.instants import spelled
from mail4agent_core.note.journal import read
from mail4agent_core.note.note import Note
from mail4agent_core.note.owner import holder_of, owned
from mail4agent_core.note.paths import RunPaths
from mail4agent_core.note.reach import Reached
from mail4agent_core.note.requests import DeliveredQueued, DeliveredTo, Receipt, Request
from mail4agent_core.note.run import NoteRun
from mail4agent_core.note.turns import TurnOpened
from mail4agent_core.note.words import Deliver, Evidence, Party

BOUND_SECS = 20.0
W, J = Party.WORKER, Party.SUPERVISOR


@pytest.fixture
def clock() -> HandClock:
    """A clock that is turned by hand."""
    return HandClock(1_786_000_000_000)


@pytest.fixture
def paths(tmp_path: Path, clock: HandClock) -> RunPaths:
    """A run with two nodes."""
    paths = RunPaths.create(tmp_path / "runs", "demo")
    NoteRun(paths, clock).begin(["build", "docs"])
    return paths


def request(text: str = "stop", node: str = "build", **more: Any) -> Request:
    """A note for a node."""
    return Request.of(node, Note.of(more.pop("addressee", "both"), text, more.pop("criterion", None)), **more)


def kinds(paths: RunPaths) -> list[str]:
    """The kinds of the journal's records."""
    return [record.kind for record in read(paths.journal).records]


def run_with(paths: RunPaths, clock: HandClock, *answers: Accepted | Undelivered) -> NoteRun:
    """A run of which every node has been dispatched and has one conversation that answers so."""
    conversation = ScriptedConversation(answers)
    run = NoteRun(paths, clock, conversations=lambda _: conversation)
    for node in ("build", "docs"):
        run.dispatch(node)
    return run


def turn(run: NoteRun, clock: HandClock, party: Party, number: int, **more: Any) -> list[Evidence]:
    """A turn opens; the evidence of what it showed."""
    clock.step(1_000)
    opened = TurnOpened(
        more.pop("node", "build"),
        party,
        number,
        more.pop("instruction", "go on"),
        spelled(clock.now_ms()),
        **more,
    )
    return [shown.evidence for _, shown in run.events([opened])]


def test_a_node_whose_id_has_five_kilobytes_is_a_node(paths: RunPaths, clock: HandClock) -> None:
    """Its notes are delivered, stored, dispatched and shown like any other's; two such nodes never meet."""
    nodes = ["\u00e9" * 2_500, "\u00e9" * 2_499 + "\n"]
    run = NoteRun(paths, clock)
    run.begin(nodes)
    for node in nodes:
        run.deliver(request(f"for {node[-1]!r}", node=node, deliver="next"))
        assert [entry.text for entry in stored(paths.folder, node)] == [f"for {node[-1]!r}"]
        assert len(run.dispatch(node).carried) == 1
        assert turn(run, clock, W, 1, node=node) == [Evidence.OPENING_TASK]


@pytest.mark.promise("note.the-receipt-says-the-disposition")
@pytest.mark.parametrize(
    ("answer", "reached", "shown", "still"),
    [
        (Queued(), reach.QUEUED, (), (W, J)),
        (Interrupted(W), reach.WORKER, (), (W, J)),
        (Interrupted(J), reach.SUPERVISOR, (J,), (W,)),
        (JudgedWith("green"), reach.judged_with("green"), (J,), ()),
        (NoConversation("gone"), reach.CARRIED, (), (W, J)),
        (MemberSettled("ended"), reach.CARRIED, (), (W, J)),
        (ConversationCompleted("passed"), reach.CARRIED, (), (W, J)),
    ],
)
def test_each_answer_of_a_conversation_is_recorded_and_said(  # noqa: PLR0917  # a row of the table
    paths: RunPaths,
    clock: HandClock,
    answer: Accepted | Undelivered,
    reached: Reached,
    shown: tuple[Party, ...],
    still: tuple[Party, ...],
) -> None:
    """The receipt says what became of the note, whom it was shown and whom it is still owed to."""
    receipt = run_with(paths, clock, answer).deliver(request(criterion="the flag parses"))
    assert (receipt.reached, receipt.shown_to, receipt.owed_to) == (reached, shown, still)
    record = read(paths.journal).records[-1]
    (operation,) = record.payload["operations"]
    assert record.labels == {"run_id": "demo"}
    assert record.payload["operation_kinds"] == ["note-delivered"]
    assert record.payload["command"] == request(criterion="the flag parses").command()
    assert {**operation, **reached.json()} == operation
    assert operation["note_id"] == receipt.note.note_id
    carried = [(entry.text, entry.note_id) for entry in stored(paths.folder, "build")]
    assert carried == ([("stop", receipt.note.note_id)] if reached is reach.CARRIED else [])


def test_a_note_for_the_next_dispatch_asks_no_conversation(paths: RunPaths, clock: HandClock) -> None:
    """``next`` is carried although a turn is live."""
    conversation = ScriptedConversation([Interrupted(W)])
    run = NoteRun(paths, clock, conversations=lambda _: conversation)
    run.dispatch("build")
    assert run.deliver(request(deliver="next")).reached is reach.CARRIED
    assert conversation.offers == []


@pytest.mark.promise("note.next-without-persist-is-refused-first")
def test_next_without_persist_is_refused_before_anything_is_read(tmp_path: Path) -> None:
    """The two fields alone decide: there is not even a run of that name."""
    with pytest.raises(ReachesNobodyError, match="reaches nobody whatever the run does"):
        reply.deliver_with(tmp_path / "none", "..", "b", Note.of("both", "a"), Deliver.NEXT, persist=False)
    with pytest.raises(UnknownRunError):
        reply.deliver_with(tmp_path / "none", "..", "b", Note.of("both", "a"), Deliver.NEXT, persist=True)


@pytest.mark.promise("note.reaching-nobody-is-refused")
def test_a_note_that_reaches_nobody_is_refused_on_the_record(paths: RunPaths, clock: HandClock) -> None:
    """Without ``persist`` a note that no turn took is refused, with the conversation's own sentence."""
    run = NoteRun(paths, clock)
    with pytest.raises(ReachesNobodyError, match="no dispatch of this node has reported a member yet"):
        run.deliver(request(persist=False))
    run = run_with(paths, clock, NoConversation("the worker is gone"))
    with pytest.raises(ReachesNobodyError, match=r"the worker is gone.*composes it into no dispatch"):
        run.deliver(request(persist=False))
    last = read(paths.journal).records[-1]
    assert (last.kind, last.payload["command"]["persist"]) == ("edit-rejected", False)
    assert last.payload["reason"].startswith("refused: note: node 'build': not delivered")
    assert stored(paths.folder, "build") == ()


@pytest.mark.promise("note.reaching-nobody-is-refused")
def test_a_node_that_is_done_has_no_next_dispatch(paths: RunPaths, clock: HandClock) -> None:
    """``next`` is refused at once; ``live`` asks the old conversation, and is refused when it is over."""
    run = run_with(paths, clock, ConversationCompleted("all green"), Interrupted(W))
    run.settle("build", "done")
    with pytest.raises(ReachesNobodyError, match="settled as done"):
        run.deliver(request(deliver="next"))
    with pytest.raises(ReachesNobodyError, match=r"all green.*settled as done"):
        run.deliver(request())
    assert run.deliver(request()).reached is reach.WORKER


def test_a_node_that_the_run_has_not_is_named(paths: RunPaths, clock: HandClock) -> None:
    """Its refusal is short and comes before any other."""
    with pytest.raises(UnknownNodeError, match="note: no node 'elsewhere'"):
        NoteRun(paths, clock).deliver(request(node="elsewhere", persist=False))


@pytest.mark.promise("note.a-key-makes-one-note")
def test_a_key_that_is_used_again_delivers_nothing_more(paths: RunPaths, clock: HandClock) -> None:
    """The first receipt comes back; another note under the key is refused; without a key there are two."""
    run = run_with(paths, clock, Interrupted(W), Interrupted(J), Interrupted(W))
    first = run.deliver(request(idempotency_key="k"))
    again = NoteRun(paths, clock).deliver(request(idempotency_key="k"))
    assert (again.repeated, again.note, again.reached) == (True, first.note, reach.WORKER)
    with pytest.raises(IdempotencyConflictError):
        run.deliver(request("other", idempotency_key="k"))
    assert run.deliver(request(node="docs", idempotency_key="k")).reached is reach.SUPERVISOR
    twins = [run.deliver(request("twice")), run.deliver(request("twice"))]
    assert twins[0].note.note_id != twins[1].note.note_id


@pytest.mark.promise("note.a-key-makes-one-note")
def test_a_key_whose_record_names_no_digest_of_ours_is_refused(paths: RunPaths, clock: HandClock) -> None:
    """Whatever another program put in its place: it is not the digest of this request."""
    NoteRun(paths, clock).deliver(request(idempotency_key="k"))
    written = paths.journal.read_text("utf-8")
    digest = request(idempotency_key="k").digest
    assert digest in written
    paths.journal.write_text(written.replace(digest, "\u00e9" * 32), "utf-8")
    with pytest.raises(IdempotencyConflictError):
        NoteRun(paths, clock).deliver(request(idempotency_key="k"))


def test_a_key_that_is_being_offered_is_refused_meanwhile(paths: RunPaths, clock: HandClock) -> None:
    """The second of two at once is told so, and the key is free again after a refusal."""
    refused: list[Exception] = []
    runs: list[NoteRun] = []

    def meanwhile(_: Offer) -> None:
        try:
            runs[0].deliver(request(idempotency_key="k"))
        except IdempotencyConflictError as failure:
            refused.append(failure)

    conversation = ScriptedConversation([NoConversation("gone"), Interrupted(W)], meanwhile)
    runs.append(NoteRun(paths, clock, conversations=lambda _: conversation))
    runs[0].dispatch("build")
    with pytest.raises(ReachesNobodyError):
        runs[0].deliver(request(idempotency_key="k", persist=False))
    assert runs[0].deliver(request(idempotency_key="k", persist=False)).reached is reach.WORKER
    assert len(refused) == 2


@pytest.mark.promise("note.a-live-offer-blocks-no-writer")
def test_turns_go_on_while_a_note_is_offered_and_count_for_it(paths: RunPaths, clock: HandClock) -> None:
    """Others write while the conversation takes its time; a turn that opens meanwhile shows the note."""
    run: NoteRun

    def meanwhile(offer: Offer) -> None:
        writer = threading.Thread(
            target=turn,
            args=(run, clock, W, 3),
            kwargs={"origin": "delivered", "instruction": "- stop", "note_ids": [offer.note_id]},
        )
        writer.start()
        writer.join(BOUND_SECS)
        assert not writer.is_alive()
        assert run.deliver(request("beside", node="docs", deliver="next")).reached is reach.CARRIED

    conversation = ScriptedConversation([Interrupted(W)], meanwhile)
    run = NoteRun(paths, clock, conversations=lambda _: conversation)
    run.dispatch("build")
    receipt = run.deliver(request())
    assert (receipt.shown_to, receipt.owed_to) == ((W,), (J,))
    shown = read(paths.journal).records[-1]
    assert (shown.kind, shown.payload["turn"], shown.payload["evidence"]) == (
        "note-shown",
        3,
        "delivered-origin",
    )
    assert turn(run, clock, J, 3, note_ids=[receipt.note.note_id]) == [Evidence.ANSWERING_TURN]


@pytest.mark.promise("note.presentations-survive-a-restart")
def test_a_writer_that_is_killed_between_turn_and_record_loses_no_presentation(
    paths: RunPaths, clock: HandClock
) -> None:
    """The next one finds what the turn showed in the journal, records it once, and goes on watching."""
    run = run_with(paths, clock, Interrupted(W))
    receipt = run.deliver(request())
    assert turn(run, clock, W, 2, origin="delivered", note_ids=[receipt.note.note_id])
    lines = paths.journal.read_bytes().splitlines(keepends=True)
    paths.journal.write_bytes(b"".join(lines[:-1]))
    next_run = NoteRun(paths, clock)
    assert [(node, shown.evidence) for node, shown in next_run.recover()] == [
        ("build", Evidence.DELIVERED_ORIGIN)
    ]
    assert next_run.recover() == []
    assert kinds(paths).count("note-shown") == 1
    assert turn(next_run, clock, J, 2, note_ids=[receipt.note.note_id]) == [Evidence.ANSWERING_TURN]


@pytest.mark.promise("note.the-journal-rebuilds-every-view")
def test_the_journal_alone_rebuilds_every_view(paths: RunPaths, clock: HandClock, tmp_path: Path) -> None:
    """A copy of the journal in an empty folder tells the same of every node and composes the same."""
    run = run_with(paths, clock, Interrupted(W), NoConversation("gone"), Queued(), JudgedWith("green"))
    receipts = [run.deliver(request(f"note {n}", node="build" if n % 2 else "docs")) for n in range(4)]
    turn(run, clock, W, 2, origin="delivered", note_ids=[receipts[0].note.note_id], node="docs")
    run.dispatch("build", continuation=True, fields={"persona": "engineer"})
    turn(run, clock, W, 1, origin="task", note_ids=[r.note.note_id for r in receipts])
    other = RunPaths.create(tmp_path / "copied", "demo")
    other.journal.write_bytes(paths.journal.read_bytes())
    before, after = run.refresh(), NoteRun(other, clock).refresh()
    assert before.nodes == after.nodes
    for node in before.nodes:
        assert before.standing(node) == after.standing(node)
        ours, theirs = before.fold(node), after.fold(node)
        assert (ours.owed, ours.undecidable, ours.shown) == (theirs.owed, theirs.undecidable, theirs.shown)
        assert ours.watch.watched() == theirs.watch.watched()
        assert before.composition(node) == after.composition(node)


@pytest.mark.promise("note.a-note-is-spent-by-who-saw-it")
def test_a_dispatch_carries_what_is_owed_until_a_turn_shows_it(paths: RunPaths, clock: HandClock) -> None:
    """A dispatch that dies before a turn spends nothing: the next one carries the note again."""
    run = NoteRun(paths, clock)
    receipt = run.deliver(request("carry me", deliver="next"))
    assert [entry.text for entry in stored(paths.folder, "build")] == ["carry me"]
    for attempt in (1, 2, 3):
        composition = run.dispatch("build")
        assert composition.carried == (receipt.note,)
        assert read(paths.journal).records[-1].payload["attempt"] == attempt
    assert stored(paths.folder, "build") == ()
    assert turn(run, clock, W, 1, origin="task", note_ids=[receipt.note.note_id]) == [Evidence.OPENING_TASK]
    composition = run.dispatch("build")
    assert (composition.carried, composition.spent) == ((), (receipt.note,))


@pytest.mark.promise("note.a-carry-store-decides-nothing")
def test_a_store_that_takes_nothing_loses_no_note(paths: RunPaths, clock: HandClock) -> None:
    """The note is on the record, so the receipt says carried and the fault is told apart from it."""
    (paths.folder / "notes").mkdir()
    store_of(paths.folder, "build").write_text("junk\n")
    warned: list[str] = []
    run = NoteRun(paths, clock, warn=warned.append)
    assert run.deliver(request(deliver="next")).reached is reach.CARRIED
    assert "node 'build'" in warned[0]
    assert [note.text for note in run.refresh().fold("build").owed] == ["stop"]
    with pytest.raises(InvalidError, match="node 'build'"):
        run.dispatch("build")


def test_a_torn_journal_is_mended_by_the_next_note_and_told(paths: RunPaths, clock: HandClock) -> None:
    """Nothing that was recorded is lost, and the warning says where the torn line was."""
    with paths.journal.open("ab") as handle:
        handle.write(b'{"v":2,"ts"')
    warned: list[str] = []
    NoteRun(paths, clock, warn=warned.append).deliver(request(deliver="next"))
    assert "a torn line of 11 bytes at" in warned[0]
    assert kinds(paths) == ["run-started", "edit-committed"]


def test_a_commit_that_cannot_be_read_stops_the_nodes_it_may_be_of(paths: RunPaths, clock: HandClock) -> None:
    """A node that is told of later is stopped too; turns of it are still taken in."""
    run = run_with(paths, clock, Interrupted(W))
    line = '{"v":2,"ts":"2026-09-19T10:00:00.000Z","stream":"x","seq":0,"source":"pipeline","kind":"%s",%s}\n'
    with paths.journal.open("a") as handle:
        handle.write(line % ("edit-committed", '"payload":{"operations":[{"kind":"from-the-future"}]}'))
        handle.write(line % ("node-ready", '"labels":{"node":"later"}'))
    for node in ("build", "later"):
        with pytest.raises(UnreadableRecordError):
            run.deliver(request(node=node))
    assert turn(run, clock, W, 1) == []
    assert kinds(paths)[-1] == "turn-started"


@pytest.mark.promise("note.one-writer-drives-a-run")
def test_a_run_has_one_driver_and_a_dead_one_is_replaced(paths: RunPaths, clock: HandClock) -> None:
    """The holder is named; a process that is gone, or another with its id, holds nothing."""
    with owned(paths, now_ms=clock.now_ms()):
        holder = holder_of(paths)
        assert holder is not None
        assert holder.is_ours
        again = owned(paths, now_ms=clock.now_ms())
        with pytest.raises(RunOwnedError, match="is driven by process"):
            again.__enter__()  # the entering is what fails
        written = json.loads(paths.owner.read_text())
    assert holder_of(paths) is None
    for changed in ({"pid": 2**22 + 1}, {"started": "linux-proc-stat:1"}):
        paths.owner.write_text(json.dumps({**written, **changed}))
        assert holder_of(paths) is None
        with owned(paths, now_ms=clock.now_ms()):
            assert holder_of(paths) is not None
    paths.owner.write_text(json.dumps({**written, "host": "elsewhere"}))
    assert str(holder_of(paths)).endswith("on elsewhere (mail4agent)")
    for raw in ("{}", '{"pid":2147483648,"host":"h"}', json.dumps({**written, "pid": 10**30})):
        paths.owner.write_text(raw)
        with pytest.raises(LedgerError, match="names nobody"):
            holder_of(paths)


@pytest.mark.promise("note.a-queued-note-is-durable")
@pytest.mark.parametrize("commands", ["[1]", "[null,[]]", '["note"]', "[{}]"])
def test_an_envelope_of_no_commands_is_refused_and_hinders_no_other(
    paths: RunPaths, clock: HandClock, commands: str
) -> None:
    """Another program wrote it; it gets its outcome, and the note behind it is delivered."""
    channel = Channel(paths)
    channel.put("planner", [], [])
    with (paths.channel / "commands.jsonl").open("a") as queue:
        queue.write(f'{{"id":7,"author":"planner","commands":{commands}}}\n')
    channel.put("planner", [request().command()], ["k", "one too many"])
    with driving(paths, clock) as driver:
        while driver.step():
            assert driver.settle(BOUND_SECS)
    assert [outcome.applied for outcome in sorted(channel.outcomes(), key=lambda each: each.number)] == [
        True, False, True,
    ]  # fmt: skip
    assert [operation_text(r) for r in read(paths.journal).records if r.kind == "edit-committed"] == ["stop"]


@pytest.mark.promise("note.a-queued-note-is-durable")
def test_a_note_is_queued_for_whoever_drives_and_says_so_in_time(paths: RunPaths, clock: HandClock) -> None:
    """Without an answer it is queued, not lost: the driver's next step delivers it once."""
    pauses: list[float] = []
    with driving(paths, clock) as driver:
        answer = reply.submit(paths, request(), clock=clock, timeout_secs=0.2, pause=pauses.append)
        assert answer is None
        assert len(pauses) == 4
        assert kinds(paths).count("edit-committed") == 0
        driver.step()
        assert driver.settle(BOUND_SECS)
        assert driver.step() == 0
    assert [operation_text(r) for r in read(paths.journal).records if r.kind == "edit-committed"] == ["stop"]
    assert Channel(paths).waiting() == []


def operation_text(record: Any) -> str:
    """The text of the note that a commit delivered."""
    return record.payload["operations"][0]["text"]


def stepping(step: Callable[[], object]) -> Callable[[float], None]:
    """A pause in which the driver works."""

    def pause(_: float) -> None:
        step()

    return pause


@pytest.mark.promise("note.a-queued-note-is-durable")
def test_a_driver_answers_a_queued_note_with_what_became_of_it(paths: RunPaths, clock: HandClock) -> None:
    """The receipt is the one that the driver recorded; a repeat comes from the record, a refusal is told."""
    conversation: Conversation = ScriptedConversation([Interrupted(J), NoConversation("gone")])
    with driving(paths, clock, conversations=lambda _: conversation) as driver:
        driver.run.dispatch("build")

        def submit(asked: Request) -> Receipt | None:
            return reply.submit(
                paths, asked, clock=clock, pause=stepping(lambda: (driver.step(), driver.settle(BOUND_SECS)))
            )

        receipt = submit(request(idempotency_key="k"))
        assert receipt is not None
        assert (receipt.reached, receipt.shown_to) == (reach.SUPERVISOR, (J,))
        again = submit(request(idempotency_key="k"))
        assert again is not None
        assert again.note == receipt.note
        with pytest.raises(ReachesNobodyError, match="gone"):
            submit(request(persist=False))
        with pytest.raises(UnknownNodeError):
            submit(request(node="elsewhere"))


def test_a_note_whose_driver_dies_is_delivered_by_who_waits_for_it(paths: RunPaths, clock: HandClock) -> None:
    """The one who waits takes the run over and reconciles the queue."""
    held = owned(paths, now_ms=clock.now_ms())
    held.__enter__()  # let go of while the note waits
    pauses = iter([lambda: held.__exit__(None, None, None)])
    receipt = reply.submit(paths, request(), clock=clock, pause=lambda _: next(pauses)())
    assert receipt is not None
    assert receipt.reached == reach.CARRIED


def test_the_call_of_the_seed_answers_to_or_queued(
    paths: RunPaths, clock: HandClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """``queued`` of a delivery is a driver's silence; ``queued`` of a disposition is another thing."""
    runs = paths.folder.parent
    assert reply.deliver(runs, "demo", "build", Note.of("both", "a")) == DeliveredTo(reach.CARRIED)
    monkeypatch.setattr(reply, "submit", lambda *_: None)
    assert reply.deliver(runs, "demo", "build", Note.of("both", "a")) == DeliveredQueued()


@pytest.mark.promise("note.an-envelope-is-all-or-nothing")
def test_an_envelope_with_one_refused_note_records_none(paths: RunPaths, clock: HandClock) -> None:
    """What the record decides is found before the first offer; what a conversation read by then is told."""
    run = run_with(paths, clock, Interrupted(W), NoConversation("gone"))
    with pytest.raises(EnvelopeRefusedError) as refused:
        run.deliver_all([request("a"), request("b", node="elsewhere")])
    assert (refused.value.index, refused.value.read) == (1, ())
    with pytest.raises(EnvelopeRefusedError) as refused:
        run.deliver_all([request("a"), request("b", persist=False), request("c")])
    assert (refused.value.index, refused.value.read) == (1, (0,))
    assert "edit-committed" not in kinds(paths)
    run = run_with(paths, clock, Interrupted(W), Queued())
    assert [r.reached for r in run.deliver_all([request("a"), request("b")])] == [reach.WORKER, reach.QUEUED]


def test_a_queued_envelope_is_answered_command_by_command(paths: RunPaths, clock: HandClock) -> None:
    """One that is refused names the command; one of another program is read through the envelope's type."""
    channel = Channel(paths)
    good, bad = request("a").command(), {**request("b").command(), "persist": False}
    channel.put("planner", [good, bad, good], ["k1", "k2", "k3"])
    with (paths.channel / "commands.jsonl").open("a") as queue:
        queue.write(
            '{"id":7,"author":"planner","commands":[{"op":"drop","id":"build"}]}\nnot json\n{"id":8}\n'
        )
    run = run_with(paths, clock, Interrupted(W), NoConversation("gone"))
    assert reply.reconcile(run, channel) == 2
    first, second = channel.outcomes()
    assert (first.applied, first.results) == (False, ("delivered", "refused", "validated"))
    assert (second.number, second.results) == (7, ("refused",))
    assert second.reason is not None
    assert "refused: note: " in second.reason
    assert reply.reconcile(run, channel) == 0


@pytest.mark.promise("note.envelopes-of-two-versions-are-read")
def test_an_envelope_of_version_2_or_3_is_read() -> None:
    """Version 2 is read as 3; what equals its default is left out again."""
    command = {"op": "note", "id": "build", "addressee": "both", "text": " a ", "deliver": "live"}
    for version in (2, 3):
        author, requests = reply.envelope_of(
            json.dumps({"version": version, "author": "monitor", "commands": [command]}).encode()
        )
        assert (author, requests) == ("monitor", [request("a")])
    assert reply.envelope_json(requests, author="monitor") == {
        "version": 3,
        "author": "monitor",
        "commands": [{"op": "note", "id": "build", "addressee": "both", "text": "a"}],
    }
    assert reply.envelope_of(b'{"version":9,"completion":true,"message":"m"}') == ("planner", [])
    assert reply.envelope_json([request(deliver="next")])["commands"][0]["deliver"] == "next"


@pytest.mark.promise("note.envelopes-of-two-versions-are-read")
@pytest.mark.parametrize(
    ("changed", "field"),
    [
        ({"version": None}, "version"),
        ({"version": 1}, "version"),
        ({"version": 4}, "version"),
        ({"author": "1a"}, "author"),
        ({"author": "Planner"}, "author"),
        ({"extra": 1}, "request"),
        ({"commands": [{"op": "context", "id": "build", "note": "a"}]}, "commands"),
        (
            {"commands": [{"op": "note", "id": "build", "addressee": "both", "text": "a", "note": 1}]},
            "request",
        ),
        ({"commands": [{"op": "note", "id": "build", "text": "a"}]}, "addressee"),
        ({"commands": [{"op": "note", "id": "build", "addressee": "both", "text": " "}]}, "text"),
        (
            {"commands": [{"op": "note", "id": "b", "addressee": "both", "text": "a", "deliver": "auto"}]},
            "deliver",
        ),
        (
            {
                "commands": [
                    {"op": "note", "id": "b", "addressee": "both", "text": "a", "criterion": "a && b"}
                ]
            },
            "criterion",
        ),
    ],
)
def test_an_envelope_that_is_none_is_refused_by_its_field(changed: dict[str, Any], field: str) -> None:
    """The version is named as soon as there are commands; unknown keys and commands are refused."""
    good = {"version": 3, "commands": [{"op": "note", "id": "build", "addressee": "both", "text": "a"}]}
    with pytest.raises(RefusalError) as refused:
        reply.envelope_of(json.dumps({**good, **changed}).encode())
    assert isinstance(refused.value, MalformedError)
    assert refused.value.refusal.field == field


def test_a_turn_is_recorded_as_its_producer_writes_it(paths: RunPaths, clock: HandClock) -> None:
    """Its instruction is cut at 4,096 bytes on a whole character, and its notes stand among the labels."""
    run = run_with(paths, clock)
    turn(run, clock, W, 1, origin="task", instruction="é" * 2_049, note_ids=["note_" + "0" * 24])
    record = read(paths.journal).records[-1]
    assert (record.v, record.source, record.seq) == (1, "agentgraph", 1)
    assert record.labels["note_ids"] == "note_" + "0" * 24
    assert (record.payload["instruction"], record.payload["instruction_truncated"]) == ("é" * 2_048, True)
    for broken in ({"origin": "x"}, {"note_ids": ["x"]}):
        with pytest.raises(MalformedError):
            turn(run, clock, W, 1, **broken)
    bad = TurnOpened("build", W, 1, "a", "yesterday")
    with pytest.raises(MalformedError):
        run.events([bad])
