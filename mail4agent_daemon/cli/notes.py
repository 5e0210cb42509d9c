"""``note``: a correction to a node of a run, and what its record says.

These verbs work on the folder of runs, with no daemon between. Each ends with 0 when it did what it says,
with 1 when the note, the run or its record refuses, and with 2 when the command line cannot be carried out.
"""

from __future__ import annotations

import inspect
import json
import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from mail4agent_api import note as wire
from mail4agent_api.codec import decode, encode
from mail4agent_api.errors import MalformedError, RefusalError
from mail4agent_core.clock import SystemClock
from mail4agent_core.note import journal as journals
from mail4agent_core.note import wire as answers
from mail4agent_core.note.faults import (
    InvalidError,
    LedgerError,
    NoteError,
    ReachesNobodyError,
    UnknownNodeError,
    UnknownRunError,
)
from mail4agent_core.note.ids import keyed_note_id, new_note_id
from mail4agent_core.note.journal import Reading
from mail4agent_core.note.note import Note
from mail4agent_core.note.paths import RunPaths
from mail4agent_core.note.record import Record
from mail4agent_core.note.recorded import RecordedNote
from mail4agent_core.note.reply import TIMEOUT_SECS, submit
from mail4agent_core.note.requests import Receipt, Request
from mail4agent_core.note.run import NoteRun
from mail4agent_daemon.cli.bodies import Body, BodyFile, body_of
from mail4agent_daemon.cli.exits import Exit, json_of, sentence_of
from mail4agent_daemon.cli.output import OutputLostError, abandon_output, check_output, put
from mail4agent_daemon.cli.terminal import json_text, visible

_PANEL = "Folder and output"
#: How often ``watch`` looks for what was appended, in seconds.
LOOK_SECS = 0.1

Run = Annotated[str, typer.Argument(metavar="RUN", help="The run's name.")]
Node = Annotated[str, typer.Argument(metavar="NODE", help="The node's id.")]
Runs = Annotated[
    Path | None,
    typer.Option(
        "--runs",
        metavar="PATH",
        help="The folder of runs \\[runs in the data folder, M4A_HOME].",
        rich_help_panel=_PANEL,
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON, for programs.", rich_help_panel=_PANEL)]
After = Annotated[int, typer.Option("--after", min=0, help="Begin behind this place, in bytes.")]


def register(app: typer.Typer) -> None:
    """Add the verbs."""
    group = typer.Typer(
        no_args_is_help=True, help="A correction to a running node, and what its record says."
    )
    for function in (deliver, standing, events, journal, watch):
        group.command(function.__name__)(_ending(function))
    app.add_typer(group, name="note")


def deliver(
    run: Run,
    node: Node,
    text: Body = None,
    *,
    to: Annotated[
        Literal["worker", "supervisor", "both"],
        typer.Option("--to", help="Whose task it updates: worker, supervisor or both."),
    ],
    criterion: Annotated[
        str | None, typer.Option("--criterion", help="What the judge holds the work to besides.")
    ] = None,
    next_only: Annotated[
        bool, typer.Option("--next", help="Only the node's next dispatch, not the running turn.")
    ] = False,
    persist: Annotated[
        bool,
        typer.Option("--persist/--no-persist", help="Carry it to the next dispatch when no turn takes it."),
    ] = True,
    key: Annotated[
        str | None, typer.Option("--key", help="An idempotency key: a repeat delivers nothing more.")
    ] = None,
    secs: Annotated[
        float, typer.Option("--secs", min=0.05, max=3600, help="How long to wait for the run's driver.")
    ] = TIMEOUT_SECS,
    file: BodyFile = None,
    runs: Runs = None,
    as_json: AsJson = False,
) -> None:
    """Deliver one note to a node, and say what became of it."""
    note = Note.of(to, body_of(text, file), criterion)
    request = Request.of(
        node, note, deliver="next" if next_only else "live", persist=persist, idempotency_key=_key(key)
    )
    receipt = submit(_paths(runs, run), request, timeout_secs=secs)
    given = new_note_id() if key is None else keyed_note_id(run, node, key)
    if as_json:
        if receipt is None:
            _json(answers.queued(run, node, given))
        else:
            _json(answers.receipt(run, given, receipt))
    elif receipt is None:
        put("queued: whoever drives the run has not answered yet; do not send it again")
    else:
        put(_sentence(receipt))


def _key(key: str | None) -> str | None:
    """The contract's own check of a key. Raises MalformedError, TooLargeError."""
    if key is not None:
        asked = {"run": "r", "node": "n", "addressee": "both", "text": "t", "idempotency_key": key}
        decode(wire.NoteRequest, json.dumps(asked).encode())
    return key


def _sentence(receipt: Receipt) -> str:
    shown = " and ".join(receipt.shown_to) or "nobody yet"
    owed = " and ".join(receipt.owed_to) or "nobody"
    again = " (delivered before)" if receipt.repeated else ""
    return f"{receipt.reached.word}{again}: shown to {shown}, owed to {owed}"


def standing(run: Run, node: Node, *, runs: Runs = None, as_json: AsJson = False) -> None:
    """Print the notes that a node's current dispatch holds, and those that it still owes."""
    ledger = NoteRun(_paths(runs, run), SystemClock()).refresh()
    if as_json:
        _json(answers.standing(run, node, ledger))
        return
    fold = ledger.fold(node)
    rows = [
        (held.placement.value, "read" if held.read else "unread", held.note)
        for held in ledger.standing(node).held
    ]
    rows += [("owed", "unread", note) for note in fold.owed]
    rows += [("undecidable", "unread", note) for note in fold.undecidable]
    for place, state, note in rows:
        put("\t".join((place, state, *_fields(note))))


def _fields(note: RecordedNote) -> tuple[str, ...]:
    return (note.reached.word.value, note.addressee.value, visible(note.text).replace("\t", " "))


def events(
    run: Run,
    file: Annotated[
        Path | None,
        typer.Argument(metavar="FILE", help="Turns, one JSON object a line; - or nothing: standard input."),
    ] = None,
    *,
    runs: Runs = None,
    as_json: AsJson = False,
) -> None:
    """Append turns of a run's conversations, and print the presentations that they show."""
    paths = _paths(runs, run)
    named = _named(file)
    raw = body_of(None if named else "-", named)
    lines = [line for line in raw.split("\n") if line.strip()]
    turns = [decode(wire.TurnStarted, line.encode()) for line in lines]
    if not turns:
        raise MalformedError(field="events", reason="must hold at least one turn")
    shown = NoteRun(paths, SystemClock()).events(answers.turns_of(turns))
    if as_json:
        _json(answers.presentations(shown))
        return
    for node, each in shown:
        party = each.evidence.party.value
        put("\t".join((visible(node), party, str(each.turn), each.evidence.value, *_fields(each.note))))


def _named(file: Path | None) -> Path | None:
    if file is None or str(file) == "-":
        return None
    if not file.is_file():
        raise typer.BadParameter("is no file", param_hint="FILE")
    return file


def journal(
    run: Run,
    *,
    after: After = 0,
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, max=256, help="Records at most.")] = 100,
    runs: Runs = None,
    as_json: AsJson = False,
) -> None:
    """Print records of a run's journal, oldest first."""
    found = journals.stretch(_paths(runs, run).journal, after, limit)
    if as_json:
        _json(answers.journal(found))
        return
    for record in found.records:
        put(_row(record))
    for warning in _oddities(found):
        typer.echo(f"mail4agent: {warning}", err=True)


def _row(record: Record) -> str:
    gist = json.dumps(record.payload, ensure_ascii=False)
    return "\t".join(map(visible, (record.ts, record.kind, record.node or "-", gist)))


def _oddities(found: Reading) -> Iterator[str]:
    if found.unreadable:
        yield f"{found.unreadable} lines hold no record"
    if found.torn is not None:
        yield f"the last line is torn: {found.torn.size} bytes at {found.torn.offset}"


def watch(
    run: Run,
    *,
    after: Annotated[
        int | None, typer.Option("--after", min=0, help="Begin behind this place, in bytes.")
    ] = None,
    count: Annotated[int | None, typer.Option("--count", min=1, help="End after so many records.")] = None,
    secs: Annotated[
        float | None, typer.Option("--secs", min=0, help="End after so many seconds without a record.")
    ] = None,
    runs: Runs = None,
    as_json: AsJson = False,
) -> Exit:
    """Print what is appended to a run's journal, one record a line, until interrupted."""
    path = _paths(runs, run).journal
    place = after if after is not None else journals.read(path).end
    left, quiet_since = count, time.monotonic()
    while left is None or left > 0:
        found = journals.stretch(path, place, 256 if left is None else min(256, left))
        place = found.end
        for record in found.records:
            made = answers.envelope(record)
            put(_row(record) if not as_json or made is None else json_text(encode(made)))
        if found.records:
            left = None if left is None else left - len(found.records)
            quiet_since = time.monotonic()
        elif secs is not None and time.monotonic() - quiet_since >= secs:
            return Exit.NOTHING
        else:
            time.sleep(LOOK_SECS)
    return Exit.OK


def _paths(runs: Path | None, run: str) -> RunPaths:
    from mail4agent_daemon.settings import home_of

    return RunPaths.of(home_of(os.environ) / "runs" if runs is None else runs, run)


def _json(value: Any) -> None:
    put(json_text(encode(value)))


_KINDS: dict[type[NoteError], str] = {
    ReachesNobodyError: "reaches_nobody",
    UnknownRunError: "unknown_run",
    UnknownNodeError: "unknown_node",
    InvalidError: "unreadable",
    LedgerError: "ledger_failed",
}


def _ending(function: Callable[..., Exit | None]) -> Callable[..., None]:
    """The verb with one way to end: a status, and one sentence or JSON object that says why."""

    def run(**given: Any) -> None:
        as_json: bool = given["as_json"]
        try:
            check_output()
            status = function(**given) or Exit.OK
        except RefusalError as refusal:
            typer.echo(json_of(refusal) if as_json else f"mail4agent: {sentence_of(refusal)}", err=True)
            status = Exit.REFUSED
        except NoteError as failure:
            kind = next((name for error, name in _KINDS.items() if isinstance(failure, error)), "refused")
            typer.echo(_failure(kind, str(failure), as_json=as_json), err=True)
            status = Exit.REFUSED
        except OutputLostError as failure:
            abandon_output()
            typer.echo(_failure(failure.kind, str(failure), as_json=as_json), err=True)
            status = Exit.OUTPUT_LOST
        except KeyboardInterrupt:
            status = Exit.INTERRUPTED
        except BrokenPipeError:
            abandon_output()
            status = Exit.PIPE_CLOSED
        raise typer.Exit(status)

    parameters = [
        each.replace(kind=inspect.Parameter.KEYWORD_ONLY)
        for each in inspect.signature(function, eval_str=True).parameters.values()
    ]
    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {each.name: each.annotation for each in parameters}
    run.__doc__ = function.__doc__
    return run


def _failure(kind: str, message: str, *, as_json: bool) -> str:
    if as_json:
        return json_text(json.dumps({"kind": kind, "message": message}).encode())
    return f"mail4agent: {visible(message)}"
