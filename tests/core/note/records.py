"""Records of a journal as the original and its producers write them, short to say."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from mail4agent_core.note.instants import spelled
from mail4agent_core.note.presentations import Presentations, Shown, Turn
from mail4agent_core.note.reach import Reached
from mail4agent_core.note.record import Record
from mail4agent_core.note.recorded import Delivery, RecordedNote
from mail4agent_core.note.words import Addressee

START_MS = 1_786_000_000_000


def pipeline(
    kind: str,
    seq: int,
    node: str | None,
    payload: Mapping[str, Any],
    *,
    source: str = "pipeline",
    at_ms: int | None = None,
) -> Record:
    """A record of the run's own."""
    labels = {"run_id": "demo"} if node is None else {"run_id": "demo", "node": node}
    ts = spelled(START_MS + seq * 1000 if at_ms is None else at_ms)
    return Record(2, ts, "s", seq, source, kind, labels, payload)


def committed(seq: int, *operations: Mapping[str, Any], source: str = "pipeline") -> Record:
    """A committed edit: unlabelled, because it may touch several nodes."""
    return pipeline("edit-committed", seq, None, {"operations": list(operations)}, source=source)


def recorded(text: str, reached: Reached, **more: Any) -> RecordedNote:
    """A note for both parties."""
    return RecordedNote(more.pop("addressee", Addressee.BOTH), text, reached, **more)


def delivered(seq: int, node: str, text: str, reached: Reached, **more: Any) -> Record:
    """One committed note for the worker."""
    note = recorded(text, reached, addressee=Addressee.WORKER, **more)
    return committed(seq, Delivery(node, note).json())


def dispatched(seq: int, node: str, **payload: Any) -> Record:
    """A dispatch of a node."""
    return pipeline("node-dispatched", seq, node, payload)


def turn_record(  # noqa: PLR0917  # in the order in which a turn is told
    seq: int,
    at_ms: int,
    role: str,
    number: int,
    origin: str | None = None,
    instruction: str = "do it",
    *,
    node: str = "build",
    note_ids: Sequence[str] | None = None,
    member: str | None = None,
    **more: Any,
) -> Record:
    """A turn as its producer publishes it."""
    payload = {"turn": number, "role": role, "instruction": instruction, "started_at": spelled(at_ms), **more}
    if origin is not None:
        payload["origin"] = origin
    labels: dict[str, Any] = {"run_id": "demo", "node": node}
    if member is not None:
        labels["member"] = member
    if note_ids is not None:
        labels["note_ids"] = " ".join(note_ids)
    return Record(1, spelled(at_ms), "node-scope-1", seq, "agentgraph", "turn-started", labels, payload)


def observed(watch: Presentations, record: Record) -> tuple[Shown, ...]:
    """What a watch makes of a record."""
    turn = Turn.of(record)
    return () if turn is None else watch.observe(turn).shown
