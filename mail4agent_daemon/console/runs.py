"""Runs and their journals: a timeline with which note was shown to whom, and what a node still owes."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import urlencode

from mail4agent_api.errors import MalformedError
from mail4agent_api.note import JournalEnvelope, NoteJournal, NoteRuns, NoteStanding

from .reply import Reply
from .visit import PATH, Route, Screen, Visit

RUNS: Final = f"{PATH}/runs"
LISTED: Final = 100
#: Records of one page of a journal, and characters of one record that are shown.
RECORDS: Final = 50
RECORD_MAX: Final = 16_384
_TEXT_MAX: Final = 2_000


@dataclass(frozen=True, slots=True)
class Event:
    """A record of a journal: what it says of notes in words, and all of it as JSON."""

    record: JournalEnvelope
    node: str
    sentences: tuple[tuple[str, str], ...]
    whole: str
    cut: bool


async def listing(visit: Visit) -> Reply:
    """A page of the runs."""
    after = visit.query.get("after") or None
    found: NoteRuns = await visit.ask("note.runs", {"after": after, "limit": LISTED})
    more = f"?{urlencode({'after': found.runs[-1].run})}" if len(found.runs) == LISTED else None
    return await visit.page(
        "runs.html", here="runs", title="Runs", runs=found.runs, total=found.total, more=more
    )


async def timeline(visit: Visit) -> Reply:
    """A stretch of a journal."""
    run = visit.parts["run"]
    after = visit.query.get("after", "0")
    if not (after.isascii() and after.isdigit() and len(after) < 20):
        raise MalformedError(field="after", reason="must be a place in the journal, a whole number")
    found: NoteJournal = await visit.ask("note.journal", {"run": run, "after": int(after), "limit": RECORDS})
    events = [_event(record) for record in found.records]
    more = f"?{urlencode({'after': found.next})}" if found.records and found.next > int(after) else None
    return await visit.page(
        "run.html",
        here="runs",
        title=f"Run {run}",
        run=run,
        events=events,
        found=found,
        more=more,
        nodes=sorted({event.node for event in events if event.node}),
    )


async def node(visit: Visit) -> Reply:
    """Which notes stand for a node, which it owes, and which no turn could decide."""
    run, name = visit.parts["run"], visit.query.get("node", "")
    found: NoteStanding = await visit.ask("note.standing", {"run": run, "node": name})
    return await visit.page(
        "node.html", here="runs", title=f"Notes of {run}", run=run, node=name, found=found
    )


def _event(record: JournalEnvelope) -> Event:
    held = record.model_dump(mode="json")
    payload: Any = held["payload"]
    whole = json.dumps(payload, ensure_ascii=False, indent=1)
    node = str(_of(held["labels"], "node") or _of(payload, "node") or "")
    return Event(
        record, node, tuple(_sentences(record.kind, payload)), whole[:RECORD_MAX], len(whole) > RECORD_MAX
    )


def _sentences(kind: str, payload: Any) -> list[tuple[str, str]]:
    """What a record says of notes: words of ours, then a text of theirs."""
    if kind == "note-shown":
        party, turn = _of(payload, "party"), _of(payload, "turn")
        return [(f"shown to the {_word(party)} in turn {_word(turn)}", _text(payload))]
    operations = _of(payload, "operations")
    if kind != "edit-committed" or not isinstance(operations, list):
        return []
    return [
        (f"note to {_whom(_of(each, 'addressee'))}, {_word(_of(each, 'reached'))}", _text(each))
        for each in operations[:RECORDS]
        if _of(each, "kind") == "note-delivered"
    ]


def _text(value: Any) -> str:
    text = _of(value, "text")
    return text[:_TEXT_MAX] if isinstance(text, str) else ""


def _word(value: Any) -> str:
    """A word of a journal that others may have written."""
    return str(value)[:40] if isinstance(value, str | int) else "?"


def _whom(value: Any) -> str:
    return "both" if value == "both" else f"the {_word(value)}"


def _of(value: Any, name: str) -> Any:
    return value.get(name) if isinstance(value, dict) else None


SCREEN: Final = Screen(
    "runs",
    "Runs",
    RUNS,
    (
        Route("GET", RUNS, listing),
        Route("GET", f"{RUNS}/{{run}}", timeline),
        Route("GET", f"{RUNS}/{{run}}/node", node),
    ),
)
