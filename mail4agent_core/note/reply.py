"""The reply envelope, and one way to submit a note: by this process where nothing drives the run, else
through the queue of whoever does.

No envelope is composed by hand: the library's call and the envelope's ``note`` are one delivery, so the two
cannot come to mean different things.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final

from mail4agent_api.codec import decode
from mail4agent_api.errors import MalformedError, RefusalError
from mail4agent_api.note import ReplyEnvelope
from mail4agent_core.clock import Clock, SystemClock

from .channel import Channel, Outcome, Queued
from .conversation import Conversations, nobody
from .faults import EnvelopeRefusedError, NoteError, ReachesNobodyError, RunOwnedError
from .note import Note
from .owner import holder_of, owned
from .paths import RunPaths
from .record import json_line
from .requests import Delivered, DeliveredQueued, DeliveredTo, Receipt, Request
from .run import AUTHOR, NoteRun
from .words import Deliver

#: The version that is written; 2 is read as it.
ENVELOPE_VERSION: Final = 3
_READ: Final = (2, 3)
#: Seconds that a driver's answer is waited for.
TIMEOUT_SECS: Final = 30.0
_POLL_SECS: Final = 0.05


def envelope_of(raw: bytes) -> tuple[str, list[Request]]:
    """Who replies, and the notes of an envelope. Raises MalformedError, TooLargeError, ReachesNobodyError.

    A verdict in it is another seam's and is left alone.
    """
    envelope = decode(ReplyEnvelope, raw)
    if envelope.commands and envelope.version not in _READ:
        raise MalformedError(
            field="version",
            reason=f"must be {ENVELOPE_VERSION} as soon as there are commands; 2 is read as it",
        )
    if not envelope.author[0].isalpha():
        raise MalformedError(field="author", reason="must begin with a lower-case letter")
    requests = [
        Request.of(
            command.id,
            Note.of(command.addressee, command.text, command.criterion),
            deliver=command.deliver,
            persist=command.persist,
        )
        for command in envelope.commands
    ]
    return envelope.author, requests


def envelope_json(requests: Sequence[Request], *, author: str = AUTHOR) -> dict[str, Any]:
    """An envelope of notes; what equals its default is left out."""
    written: dict[str, Any] = {"version": ENVELOPE_VERSION}
    if author != AUTHOR:
        written["author"] = author
    return {**written, "commands": [request.command() for request in requests]}


def deliver(runs: Path, run: str, node: str, note: Note) -> Delivered:
    """Deliver a note at the defaults: the running turn, else the node's next dispatch.

    Raises as ``submit``.
    """
    return deliver_with(runs, run, node, note, Deliver.LIVE, persist=True)


def deliver_with(
    runs: Path, run: str, node: str, note: Note, deliver: Deliver, *, persist: bool
) -> Delivered:
    """The same, with both axes named."""
    # What the fields alone decide is refused before the run is looked for.
    request = Request.of(node, note, deliver=deliver, persist=persist)
    receipt = submit(RunPaths.of(runs, run), request)
    return DeliveredQueued() if receipt is None else DeliveredTo(receipt.reached)


def submit(
    paths: RunPaths,
    request: Request,
    *,
    author: str = AUTHOR,
    clock: Clock | None = None,
    conversations: Conversations = nobody,
    timeout_secs: float = TIMEOUT_SECS,
    pause: Callable[[float], None] = time.sleep,
) -> Receipt | None:
    """Submit one note; None when its driver has not answered in time. It is then still queued.

    Raises ReachesNobodyError, UnknownNodeError, UnreadableRecordError, IdempotencyConflictError, LedgerError.
    """
    clock = clock or SystemClock()
    try:
        with owned(paths, now_ms=clock.now_ms()):
            return NoteRun(paths, clock, conversations=conversations).deliver(request, author=author)
    except RunOwnedError:
        pass
    channel = Channel(paths)
    known = NoteRun(paths, clock)
    # What would be refused anyway is not queued; a repeated key is answered from the record.
    known.refresh().fold(request.node)
    key = request.idempotency_key or f"queue-{secrets.token_hex(12)}"
    number = channel.put(author, [request.command()], [key])
    for _ in range(max(1, round(timeout_secs / _POLL_SECS))):
        outcome = channel.outcome(number)
        if outcome is None and holder_of(paths) is None:
            # The driver is gone: whoever waits for it takes its place.
            reconcile_alone(paths, clock, conversations)
            outcome = channel.outcome(number)
        if outcome is not None:
            return _result(known, request, key, outcome)
        pause(_POLL_SECS)
    return None


def reconcile_alone(paths: RunPaths, clock: Clock, conversations: Conversations) -> None:
    """Reconcile what is queued where nobody drives the run; nothing where somebody does."""
    try:
        with owned(paths, now_ms=clock.now_ms()):
            reconcile(NoteRun(paths, clock, conversations=conversations), Channel(paths))
    except RunOwnedError:
        return


def reconcile(run: NoteRun, channel: Channel) -> int:
    """Deliver every envelope that waits, in order, and tell what became of it; returns how many."""
    waiting = channel.waiting()
    for queued in waiting:
        channel.answer(queued, reconciled(run, queued))
    return len(waiting)


def reconciled(run: NoteRun, queued: Queued) -> Outcome:
    """Deliver one envelope. What it is refused with is in its outcome. Raises LedgerError."""
    count = len(queued.commands)
    try:
        requests = [_request(queued, index) for index in range(count)]
        run.deliver_all(requests, author=queued.author)
    except EnvelopeRefusedError as failure:
        words = ["delivered" if index in failure.read else "validated" for index in range(count)]
        words[failure.index] = "refused"
        return Outcome(queued.number, False, tuple(words), str(failure))
    except (NoteError, RefusalError) as failure:
        return Outcome(queued.number, False, ("refused",) * count, _said(failure))
    return Outcome(queued.number, True, ("applied",) * count)


def _said(failure: NoteError | RefusalError) -> str:
    if isinstance(failure, MalformedError):
        return f"refused: note: {failure.refusal.field} {failure.refusal.reason}"
    return str(failure)


def _request(queued: Queued, index: int) -> Request:
    """One command, read again through the envelope's own type. Raises MalformedError and its like."""
    raw = json_line({"version": ENVELOPE_VERSION, "commands": [queued.commands[index]]})
    _, (request,) = envelope_of(raw)
    if queued.keys is None:
        return request
    return Request.of(
        request.node,
        request.note,
        deliver=request.deliver,
        persist=request.persist,
        idempotency_key=queued.keys[index],
    )


def _result(known: NoteRun, request: Request, key: str, outcome: Outcome) -> Receipt:
    if not outcome.applied:
        raise ReachesNobodyError(request.node, outcome.reason or "the driver refused it")
    ledger = known.refresh()
    delivery = ledger.sent_under(request.node, key)
    if delivery is not None:
        return known.receipt(request.node, delivery.note)
    # A driver of the original records no key: the last note of this text is what it answers for.
    held = [each for each in ledger.standing(request.node).notes() if each.text == request.note.text]
    if not held:
        raise ReachesNobodyError(
            request.node, "the driver says that it is applied, and the run has no record"
        )
    return known.receipt(request.node, held[-1])
