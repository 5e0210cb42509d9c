"""One run, written to: notes delivered, dispatches announced, turns taken in, presentations recorded.

Each method reads what others appended first, and no lock is held while a conversation is asked: an offer that
lasts as long as an agent's turn keeps nobody from writing. The presentations that turns show meanwhile are
found when the note is committed.
"""

from __future__ import annotations

import hmac
import os
import socket
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final

from mail4agent_api.errors import IdempotencyConflictError, RefusalError
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
from .faults import EnvelopeRefusedError, NoteError, ReachesNobodyError, UnreadableRecordError
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


@dataclass(frozen=True, slots=True)
class _Decided:
    """A note of which it is known what becomes of it, and that is not on the record yet."""

    request: Request
    note_id: str
    offered_at: str
    reached: Reached
    #: Where the run has the note already.
    receipt: Receipt | None = None


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
        """Read the run. ``warn`` is told what was mended and what a store could not take.

        Raises LedgerError.
        """
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
            self._ledger.refresh(self._appender.follow)
            return self._ledger

    def recover(self) -> list[tuple[str, Shown]]:
        """Record the presentations that turns showed and no record tells of, because a writer was killed in
        between; returns them. Raises LedgerError.
        """
        return self._record_presentations(self.refresh().nodes)

    def begin(self, nodes: Sequence[str], *, persona: str = "worker") -> None:
        """Tell the run which nodes it has. Raises LedgerError."""
        # The original refuses to drive a node whose persona and task it is not told.
        tasks = [{"id": node, "title": node, "task": node, "persona": persona} for node in nodes]
        self._append("run-started", None, {"plan": {"schema_version": 3, "name": self.run, "tasks": tasks}})

    def deliver(self, request: Request, *, author: str = AUTHOR) -> Receipt:
        """Deliver one note, and record what became of it.

        Raises ReachesNobodyError, UnknownNodeError, UnreadableRecordError, IdempotencyConflictError,
        LedgerError. A live offer lasts as long as the conversation takes to answer.
        """
        return self.deliver_all((request,), author=author)[0]

    def deliver_all(self, requests: Sequence[Request], *, author: str = AUTHOR) -> list[Receipt]:
        """Deliver the notes of one envelope, all or none of them recorded.

        Every note is looked over before the first is offered, and after a refusal none is. Raises as
        ``deliver``; an EnvelopeRefusedError where there is more than one note, which says the one that was
        refused and those that a conversation had read by then: sending them again repeats those.
        """
        decided: list[_Decided] = []
        index = 0
        try:
            for index, request in enumerate(requests):  # noqa: B007  # the place of a failure
                self._look_over(request)
            for index, request in enumerate(requests):  # noqa: B007  # the same
                decided.append(self._decide(request, author))  # what there is counts
        except (NoteError, RefusalError) as failure:
            if len(requests) == 1:
                raise
            read = [place for place, each in enumerate(decided) if each.reached.a_conversation_read_it]
            raise EnvelopeRefusedError(index, read, failure) from failure
        finally:
            # A key is let go where its note is not committed below.
            if len(decided) < len(requests):
                self._let_go(decided)
        try:
            return [each.receipt or self._commit(each, author) for each in decided]
        finally:
            self._let_go(decided)

    def _look_over(self, request: Request) -> None:
        """Refuse what the record alone decides."""
        with self._alone:
            fold = self.refresh().fold(request.node)
            if request.reach.attempts_a_live_turn or fold.status != _DONE:
                return
        raise ReachesNobodyError(
            request.node,
            "the node is settled as done, so no dispatch follows that `deliver: next` could reach",
        )

    def _decide(self, request: Request, author: str) -> _Decided:
        """Offer a note where that is to be done, and find what becomes of it."""
        with self._alone:
            fold = self.refresh().fold(request.node)
            repeated = self._repeated(request)
            dispatched = fold.dispatches > 0
            note_id = request.note_id(self.run) or self._note_ids()
            offered_at = spelled(self._clock.now_ms())
            if repeated is not None:
                return _Decided(request, note_id, offered_at, repeated.reached, repeated)
            self._hold(request)
        try:
            reached = reach.CARRIED
            if request.reach.attempts_a_live_turn:
                conversation = self._conversations(request.node) if dispatched else None
                answer = None
                if conversation is not None:
                    answer = conversation.offer(Offer(self.run, request.node, note_id, request.note))
                reached = self._reached(request, answer, author)
        except BaseException:
            self._let_go((_Decided(request, note_id, offered_at, reach.CARRIED),))
            raise
        return _Decided(request, note_id, offered_at, reached)

    def _repeated(self, request: Request) -> Receipt | None:
        key = request.idempotency_key
        found = None if key is None else self._ledger.sent_under(request.node, key)
        if found is None:
            return None
        if not hmac.compare_digest((found.request or "").encode("utf-8", "replace"), request.digest.encode()):
            raise IdempotencyConflictError(idempotency_key=key or "")
        return self.receipt(request.node, found.note, repeated=True)

    def _hold(self, request: Request) -> None:
        """Nobody else in this process offers a note under the same key meanwhile."""
        if request.idempotency_key is not None:
            held = (request.node, request.idempotency_key)
            if held in self._offering:
                raise IdempotencyConflictError(idempotency_key=request.idempotency_key)
            self._offering.add(held)

    def _let_go(self, decided: Sequence[_Decided]) -> None:
        with self._alone:
            for each in decided:
                if each.receipt is None and each.request.idempotency_key is not None:
                    self._offering.discard((each.request.node, each.request.idempotency_key))

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

    def _commit(self, decided: _Decided, author: str) -> Receipt:
        request, note_id, offered_at, reached = (
            decided.request,
            decided.note_id,
            decided.offered_at,
            decided.reached,
        )
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
            return self.receipt(node, recorded)

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

    def receipt(self, node: str, note: RecordedNote, *, repeated: bool = False) -> Receipt:
        """What the record says of a note now."""
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
