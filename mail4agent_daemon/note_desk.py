"""The operations of the note seam, over the folder of runs in the daemon's data folder.

The engine is a synchronous library that waits for locks and disks, so each call is a thread's, a few at a
time. What it tells a person of files and records stays here: a stranger gets the contract's refusals alone.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Final, TypeVar

from mail4agent_api import note as wire
from mail4agent_api.errors import (
    MalformedError,
    NotPendingError,
    StoreUnavailableError,
    UnknownItemError,
)
from mail4agent_core.clock import Clock
from mail4agent_core.mail.identity import Caller
from mail4agent_core.note import wire as answers
from mail4agent_core.note.faults import NoteError, ReachesNobodyError, UnknownNodeError, UnknownRunError
from mail4agent_core.note.ids import keyed_note_id, new_note_id
from mail4agent_core.note.journal import stretch
from mail4agent_core.note.paths import RunPaths
from mail4agent_core.note.reply import submit
from mail4agent_core.note.run import NoteRun

#: Calls at a time; further ones wait.
CALLS_MAX: Final = 4
#: Seconds that a run's driver is waited for before the receipt says that the note is queued.
DRIVER_SECS: Final = 10.0
#: Bytes of a journal that one answer is made of.
STRETCH_BYTES: Final = 1 << 20
_ID_MAX_BYTES: Final = 128

T = TypeVar("T")


class NoteDesk:
    """Each method is the operation of its name. Raises RefusalError."""

    def __init__(self, runs: Path, clock: Clock) -> None:
        self._runs = runs
        self._clock = clock
        self._seats = asyncio.Semaphore(CALLS_MAX)

    async def deliver(self, _caller: Caller, request: wire.NoteRequest) -> wire.NoteReceipt:
        """Deliver a note. The daemon runs no conversation: what no driver takes is carried, or refused."""

        def act() -> wire.NoteReceipt:
            asked = answers.request_of(request)
            given = keyed_note_id(request.run, request.node, request.idempotency_key or "")
            receipt = submit(self._paths(request.run), asked, clock=self._clock, timeout_secs=DRIVER_SECS)
            if receipt is not None:
                return answers.receipt(request.run, new_note_id(), receipt)
            unkeyed = request.idempotency_key is None
            return answers.queued(request.run, request.node, new_note_id() if unkeyed else given)

        return await self._done("note.deliver", act)

    async def standing(self, _caller: Caller, request: wire.NoteStandingRequest) -> wire.NoteStanding:
        """Both folds of a node."""

        def act() -> wire.NoteStanding:
            ledger = NoteRun(self._paths(request.run), self._clock).refresh()
            return answers.standing(request.run, request.node, ledger)

        return await self._done("note.standing", act)

    async def events(self, _caller: Caller, request: wire.NoteEventsRequest) -> wire.NotePresentations:
        """Append turns, all or none."""

        def act() -> wire.NotePresentations:
            run = NoteRun(self._paths(request.run), self._clock)
            return answers.presentations(run.events(answers.turns_of(request.events)))

        return await self._done("note.events", act)

    async def journal(self, _caller: Caller, request: wire.NoteJournalRequest) -> wire.NoteJournal:
        """A stretch of a journal."""

        def act() -> wire.NoteJournal:
            path = self._paths(request.run).journal
            return answers.journal(stretch(path, request.after, request.limit, STRETCH_BYTES))

        return await self._done("note.journal", act)

    async def runs(self, _caller: Caller, request: wire.NoteRunsRequest) -> wire.NoteRuns:
        """A page of the runs."""

        def act() -> wire.NoteRuns:
            every = RunPaths.every(self._runs)
            rest = [each for each in every if request.after is None or each.run > request.after]
            return wire.NoteRuns(runs=[_run(each) for each in rest[: request.limit]], total=len(every))

        return await self._done("note.runs", act)

    def _paths(self, run: str) -> RunPaths:
        return RunPaths.of(self._runs, run)

    async def _done(self, operation: str, act: Callable[[], T]) -> T:
        async with self._seats:
            try:
                return await asyncio.to_thread(act)
            except UnknownRunError as failure:
                refusal: Exception = UnknownItemError(id=failure.run)
            except UnknownNodeError as failure:
                refusal = UnknownItemError(id=_item(failure.node))
            except ReachesNobodyError as failure:
                refusal = _nobody(failure)
            except NoteError:
                refusal = StoreUnavailableError(operation=operation)
        raise refusal


def _nobody(failure: ReachesNobodyError) -> Exception:
    if failure.by_its_fields:
        return MalformedError(
            field="persist", reason="must be true where deliver is next; the note would reach nobody"
        )
    return NotPendingError(id=_item(failure.node), status="reaches nobody")


def _run(paths: RunPaths) -> wire.NoteRun:
    """A run as it is listed; one without a journal has an empty one, as old as its folder."""
    size = 0
    try:
        found = paths.journal.lstat()
        size = found.st_size
    except FileNotFoundError:
        found = paths.folder.lstat()
    return wire.NoteRun(
        run=paths.run, journal_bytes=size, changed_at_unix_ms=max(found.st_mtime_ns // 1_000_000, 0)
    )


def _item(node: str) -> str:
    """A node as the id of an item; one that does not fit is named by its kind."""
    fits = len(node.encode()) <= _ID_MAX_BYTES and node.isprintable()
    return node if fits else "node"
