"""One run, written to: notes delivered, dispatches announced, turns taken in, presentations recorded.

Each method reads what others appended first, and no lock is held while a conversation is asked: an offer that
lasts as long as an agent's turn keeps nobody from writing. The presentations that turns show meanwhile are
found when the note is committed.
"""

from __future__ import annotations

import os
import socket
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import Any, Final

from mail4agent_api.errors import IdempotencyConflictError
from mail4agent_core.clock import Clock

from . import reach
from .carry import carry, drain_carried
from .composition import Composition
from .conversation import (
    Accepted,
    Conversations,
    Interrupted,
    JudgedWith,
    Offer,
    Queued,
    Undelivered,
    nobody,
    reached_by,
    sentence_of,
)
from .faults import NoteError, ReachesNobodyError, UnreadableRecordError
from .ids import new_note_id
from .instants import spelled
from .journal import UNNUMBERED, Appender
from .ledger import Ledger
from .paths import RunPaths
from .presentations import Shown
from .reach import Reached, ReachedWord
from .record import VERSION, Record
from .recorded import Delivery, RecordedNote
from .requests import Receipt, Request
from .turns import TurnOpened
from .words import Kind, Source

#: Who replies, where nobody else is named.
AUTHOR: Final = "planner"
_DONE: Final = "done"
_NO_MEMBER: Final = (
    "no dispatch of this node has reported a member yet, so there is no conversation to hand it to"
)


def stream_of_process() -> str:
    """The name of this process's stream, as the original makes it."""
    return f"{socket.gethostname()}-{os.getpid()}"


def unheard(_warning: str) -> None:
    """What is told to nobody."""


class NoteRun:
    """The notes of one run. Its methods may be called from several threads, and several processes may have
    the run open.
    """

    def __init__(
        self,
        paths: RunPaths,
        clock: Clock,
        *,
        conversations: Conversations = nobody,
        note_ids: Callable[[], str] = new_note_id,
        stream: str | None = None,
        warn: Callable[[str], None] = unheard,
    ) -> None:
        """Read the run. ``warn`` is told what was mended, and what a store could not take. Raises LedgerError."""
        self._paths = paths
        self._clock = clock
        self._conversations = conversations
        self._note_ids = note_ids
        self._stream = stream or stream_of_process()
        self._warn = warn
        self._appender = Appender(paths.journal)
        self._ledger = Ledger(paths)
        self._alone = threading.RLock()
        self._offering: set[tuple[str, str]] = set()
        self.refresh()

    @property
    def run(self) -> str:
        """The run's name."""
        return self._paths.run

    def refresh(self) -> Ledger:
        """The views, with what others appended. Raises LedgerError."""
        with self._alone:
            self._appender.follow(self._ledger.refresh())
            return self._ledger

    def recover(self) -> list[tuple[str, Shown]]:
        """Record the presentations that turns showed and no record tells of, because a writer was killed in
        between; returns them. Raises LedgerError.
        """
        return self._record_presentations(self.refresh().nodes)

    def begin(self, nodes: Sequence[str]) -> None:
        """Tell the run which nodes it has. Raises LedgerError."""
        tasks = [{"id": node} for node in nodes]
        self._append("run-started", None, {"plan": {"schema_version": 3, "name": self.run, "tasks": tasks}})

    def deliver(self, request: Request, *, author: str = AUTHOR) -> Receipt:
        """Deliver one note, and record what became of it.

        Raises ReachesNobodyError, UnknownNodeError, UnreadableRecordError, IdempotencyConflictError,
        LedgerError. A live offer lasts as long as the conversation takes to answer.
        """
        with self._alone:
            ledger = self.refresh()
            fold = ledger.fold(request.node)
            repeated = self._repeated(request)
            if repeated is not None:
                return repeated
            if not request.reach.attempts_a_live_turn and fold.status == _DONE:
                raise ReachesNobodyError(
                    request.node,
                    "the node is settled as done, so no dispatch follows that `deliver: next` could reach",
                )
            dispatched = fold.dispatches > 0
        note_id = request.note_id(self.run) or self._note_ids()
        offered_at = spelled(self._clock.now_ms())
        with self._held(request):
            reached = reach.CARRIED
            if request.reach.attempts_a_live_turn:
                conversation = self._conversations(request.node) if dispatched else None
                answer = None
                if conversation is not None:
                    answer = conversation.offer(Offer(self.run, request.node, note_id, request.note))
                reached = self._reached(request, answer, author)
            return self._commit(request, author, note_id, offered_at, reached)

    def _repeated(self, request: Request) -> Receipt | None:
        key = request.idempotency_key
        found = None if key is None else self._ledger.sent_under(request.node, key)
        if found is None:
            return None
        if found.request != request.digest:
            raise IdempotencyConflictError(idempotency_key=key or "")
        return self._receipt(request.node, found.note, repeated=True)

    @contextmanager
    def _held(self, request: Request) -> Iterator[None]:
        """Nobody else in this process offers a note under the same key meanwhile."""
        key = request.idempotency_key
        if key is None:
            yield
            return
        held = (request.node, key)
        with self._alone:
            if held in self._offering:
                raise IdempotencyConflictError(idempotency_key=key)
            self._offering.add(held)
        try:
            yield
        finally:
            with self._alone:
                self._offering.discard(held)

    def _reached(self, request: Request, answer: Accepted | Undelivered | None, author: str) -> Reached:
        """What a conversation's answer comes to; a note that reaches nobody is refused, on the record."""
        with self._alone:
            fold = self.refresh().fold(request.node)
        match answer:
            case None:
                why = _NO_MEMBER if not fold.dispatches else "nothing here runs its conversation"
            case Queued() | Interrupted() | JudgedWith():
                return reached_by(answer)
            case _:
                why = sentence_of(answer)
        if not request.reach.composes_forward:
            why = f"{why}; and `persist: false` composes it into no dispatch"
        elif fold.status == _DONE:
            why = f"{why}; and the node is settled as done, so no dispatch follows"
        else:
            return reach.CARRIED
        refusal = ReachesNobodyError(request.node, why)
        payload = {"author": author, "command": request.command(), "reason": str(refusal)}
        self._append(Kind.EDIT_REJECTED, None, payload)
        raise refusal

    def _commit(
        self, request: Request, author: str, note_id: str, offered_at: str, reached: Reached
    ) -> Receipt:
        node, note = request.node, request.note
        recorded = RecordedNote(note.addressee, note.text, reached, note.criterion, note_id)
        key = request.idempotency_key
        digest = None if key is None else request.digest
        operation = Delivery(node, recorded, offered_at, key, digest).json()
        payload = {
            "author": author,
            "command": request.command(),
            "operations": [operation],
            "operation_kinds": [operation["kind"]],
        }
        with self._alone:
            earlier: list[Receipt] = []

            def made() -> list[Record]:
                repeated = self._repeated(request)
                earlier.extend([] if repeated is None else [repeated])
                return [] if repeated else [self._record(Kind.EDIT_COMMITTED, None, payload)]

            self._append_made(made)
            if earlier:
                return earlier[0]
            if reached.word is ReachedWord.CARRIED:
                self._store(request, note_id)
            self._record_presentations((node,))
            return self._receipt(node, recorded)

    def _store(self, request: Request, note_id: str) -> None:
        """The journal says already that the note is carried, so a store that takes nothing loses nothing."""
        try:
            mended = carry(
                self._paths.folder,
                request.node,
                request.note,
                now_ms=self._clock.now_ms(),
                note_id=note_id,
            )
        except NoteError as failure:
            self._warn(str(failure))
        else:
            if mended:
                self._warn(f"a torn line of the carry store of node '{request.node}' was set aside")

    def _receipt(self, node: str, note: RecordedNote, *, repeated: bool = False) -> Receipt:
        fold = self._ledger.fold(node)
        return Receipt(node, note, fold.shown_to(note), fold.owed_to(note), repeated)

    def dispatch(
        self,
        node: str,
        *,
        continuation: bool = False,
        supersedes: Sequence[str] = (),
        fields: Mapping[str, Any] | None = None,
    ) -> Composition:
        """Announce a dispatch of a node, composed from both folds, and empty the node's carry store.

        ``fields`` are further keys of the record: ``persona``, ``attempts``, ``reason``. Raises
        UnreadableRecordError, UnknownNodeError, InvalidError for a store that cannot be read, LedgerError.
        """
        with self._alone:
            ledger = self.refresh()
            drain_carried(self._paths.folder, node, ledger.standing(node))
            composed: list[Composition] = []

            def made() -> list[Record]:
                composition = ledger.composition(node, continuation=continuation, supersedes=supersedes)
                composed.append(composition)
                attempt = {"attempt": ledger.fold(node).dispatches + 1}
                payload = {**(fields or {}), **attempt, **composition.payload()}
                return [self._record(Kind.NODE_DISPATCHED, node, payload)]

            self._append_made(made)
            return composed[0]

    def settle(self, node: str, status: str, **fields: Any) -> None:
        """Record that a node is settled, ``done`` or another status. Raises LedgerError."""
        self._append(Kind.NODE_SETTLED, node, {"status": status, **fields})

    def events(self, turns: Sequence[TurnOpened]) -> list[tuple[str, Shown]]:
        """Append turns, and record the presentations that they show; returns these with their nodes.

        Raises MalformedError, UnknownNodeError, LedgerError.
        """
        with self._alone:
            ledger = self.refresh()
            nodes = tuple(dict.fromkeys(turn.node for turn in turns))
            for node in nodes:
                with suppress(UnreadableRecordError):
                    ledger.fold(node)
            stream = f"{self._stream}-turns"
            now_ms = self._clock.now_ms()
            records = [turn.record(self.run, stream, now_ms) for turn in turns]
            self._append_made(lambda: records)
            return self._record_presentations(nodes)

    def _record_presentations(self, nodes: Sequence[str]) -> list[tuple[str, Shown]]:
        found: list[tuple[str, Shown]] = []

        def made() -> list[Record]:
            for node in nodes:
                # A node whose notes cannot be decided has none that could be shown.
                with suppress(UnreadableRecordError):
                    found.extend((node, shown) for shown in self._ledger.fold(node).unrecorded)
            return [self._record(Kind.NOTE_SHOWN, node, shown.payload()) for node, shown in found]

        with self._alone:
            self._append_made(made)
        return found

    def _append(self, kind: str, node: str | None, payload: Mapping[str, Any]) -> None:
        with self._alone:
            self._append_made(lambda: [self._record(kind, node, payload)])

    def _append_made(self, make: Callable[[], list[Record]]) -> None:
        """Append what is made of the views as they are under the journal's lock."""
        mended = len(self._appender.mended)
        before = self._ledger

        def made(found: Any) -> list[Record]:
            before.take(found)
            return make()

        self._appender.append(made, self._ledger.end)
        self._ledger.refresh()
        for torn in self._appender.mended[mended:]:
            self._warn(f"a torn line of {torn.size} bytes at {torn.offset} of the journal was set aside")

    def _record(self, kind: str, node: str | None, payload: Mapping[str, Any]) -> Record:
        labels = {"run_id": self.run} if node is None else {"run_id": self.run, "node": node}
        ts = spelled(self._clock.now_ms())
        return Record(VERSION, ts, self._stream, UNNUMBERED, Source.PIPELINE, kind, labels, payload)
