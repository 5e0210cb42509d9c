"""The operations of the outbox seam, over the folder of drafts in the daemon's data folder.

The engine is a synchronous library that waits for locks and disks, so each call is a thread's, a few at a
time. A release goes on when its client hangs up: what became of a draft never hangs on who waits for the
answer. It is one task with its own bound, and the stop of the daemon gives it a few seconds.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, TypeVar

from mail4agent_api import outbox as wire
from mail4agent_api.addresses import text_of
from mail4agent_api.errors import (
    MalformedError,
    OutcomeUnknownError,
    PermissionDeniedError,
    RefusalError,
    StoreUnavailableError,
    UnknownItemError,
)
from mail4agent_api.mail import SessionAddress, Taint
from mail4agent_core.clock import Clock
from mail4agent_core.files import FolderError
from mail4agent_core.mail.identity import Caller
from mail4agent_core.outbox.canonical import checked_args
from mail4agent_core.outbox.decisions import Decisions, account_of
from mail4agent_core.outbox.digest import digest_of
from mail4agent_core.outbox.item import OutboxItem, OutboxKind, Status
from mail4agent_core.outbox.listing import Row
from mail4agent_core.outbox.outcome import WritingTally
from mail4agent_core.outbox.release import Delivered, NotSent, Outcome, Releases, Unknown
from mail4agent_core.outbox.review import one_line
from mail4agent_core.outbox.shown import shown_line
from mail4agent_core.outbox.sink import NotSentError, Outgoing, Sink, sink_text
from mail4agent_core.outbox.staging import Briefed, NobodyBriefed, staged_taint
from mail4agent_core.outbox.store import Operation, OutboxStore, UnreadableItemError
from mail4agent_core.outbox.wire import draft_of, entry_of, for_its_stager

from .log import Log
from .sinks.far_side import UnknownOutcomeError

#: Calls at a time; further ones wait.
CALLS_MAX: Final = 4
#: Seconds that a sink has for one draft.
DELIVER_SECS: Final = 120.0
#: Seconds that a stop gives to releases in flight.
STOP_SECS: Final = 5.0
REVIEW: Final = "outbox:review"
STAMP: Final = "outbox:stamp"
_WAITING: Final = frozenset({Status.PENDING, Status.RELEASING})
_U32_MAX: Final = 2**32 - 1

T = TypeVar("T")
#: Told of a draft whenever something was decided about it.
Decided = Callable[[str], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class _Open:
    """The outbox, once somebody needed it."""

    store: OutboxStore
    releases: Releases
    decisions: Decisions


class OutboxDesk:
    """Each method is the operation of its name. Raises RefusalError."""

    def __init__(
        self,
        root: Path,
        clock: Clock,
        log: Log,
        *,
        sinks: Mapping[str, Sink],
        publishes: Collection[str] = (),
        briefed: Briefed | None = None,
        workspaces: Sequence[Path] = (),
        decided: Decided | None = None,
        deliver_secs: float = DELIVER_SECS,
    ) -> None:
        """``sinks`` by the names of the tools, ``publishes`` those of them whose drafts are publications;
        ``workspaces`` are the folders below which drafts may send files. Raises ValueError for a publication
        whose sink carries no files: nobody could read what leaves.
        """
        bare = sorted(tool for tool in publishes if tool in sinks and not sinks[tool].file_args)
        if bare:
            raise ValueError(f"publications whose sinks carry no files: {', '.join(bare)}")
        self._root = root
        self._clock = clock
        self._log = log
        self._sinks = dict(sinks)
        self._publishes = frozenset(publishes)
        self._briefed = briefed or NobodyBriefed()
        self._workspaces = tuple(workspaces)
        self._decided = decided
        self._deliver_secs = deliver_secs
        self._seats = asyncio.Semaphore(CALLS_MAX)
        self._opening = asyncio.Lock()
        self._opened: _Open | None = None
        self._carrying: set[asyncio.Task[OutboxItem]] = set()

    # What an agent asks

    async def stage(self, caller: Caller, request: wire.OutboxStageRequest) -> wire.OutboxStaged:
        """Stage a draft as the caller."""
        return await self._stage("outbox.stage", caller, str(request.tool), request)

    async def supersede(self, caller: Caller, request: wire.OutboxSupersedeRequest) -> wire.OutboxStaged:
        """Stage a draft in the place of one of the caller's own.

        The successor is written first: a stop in between leaves two drafts to read, and never none.
        """
        id_, own, by = str(request.id), str(caller.account), text_of(caller.address)

        def find(outbox: _Open) -> OutboxItem:
            item = outbox.store.existing(id_)
            if account_of(item.staged_by) != own:
                raise UnknownItemError(id=id_)
            # A retry under the key finds it superseded already.
            if item.status != Status.SUPERSEDED or request.idempotency_key is None:
                outbox.decisions.supersedable(id_, own)
            return item

        earlier = await self._act("outbox.supersede", find)
        staged = await self._stage("outbox.supersede", caller, earlier.tool, request)

        def replace(outbox: _Open) -> OutboxItem:
            try:
                return outbox.decisions.supersede(id_, str(staged.id), by, own)
            except RefusalError:
                # Decided meanwhile. Nobody waits for a second draft of what may have left already.
                if not staged.repeated:
                    with suppress(RefusalError):
                        outbox.decisions.withdraw(str(staged.id), by, own)
                raise

        await self._act("outbox.supersede", replace)
        await self._tell(id_)
        return staged

    async def _stage(
        self,
        operation: Operation,
        caller: Caller,
        tool: str,
        request: wire.OutboxStageRequest | wire.OutboxSupersedeRequest,
    ) -> wire.OutboxStaged:
        sink = self._sink_of(tool)
        args = _plain(request.args)
        sink.accept(args)
        by, address = text_of(caller.address), caller.address
        taint = staged_taint(_stamped(caller, request.taint), briefed=self._briefed.has(by))
        kind = OutboxKind.PUBLISH if tool in self._publishes else OutboxKind.MESSAGE
        session = str(address.session) if isinstance(address, SessionAddress) else None

        def act(outbox: _Open) -> tuple[OutboxItem, bool]:
            return outbox.store.staged(
                tool, kind, args, taint, session, request.workspace, staged_by=by,
                idempotency_key=request.idempotency_key, file_args=sink.file_args, sink=sink_text(sink),
                roots=self._workspaces,
            )  # fmt: skip

        item, repeated = await self._act(operation, act)
        return wire.OutboxStaged(
            id=wire.OutboxId(item.id),
            digest=wire.DraftDigest(self._digest(item)),
            summary=one_line(shown_line(item.summary), 512),
            status=Status(item.status).value,
            repeated=repeated,
        )

    async def list(self, caller: Caller, request: wire.OutboxListRequest) -> wire.OutboxList:
        """The caller's own drafts, or everybody's for a reviewer; without more, those that wait."""
        own = _own(caller)

        def act(outbox: _Open) -> wire.OutboxList:
            found = outbox.store.rows()
            wanted = [row for row in found.rows if _is_wanted(row, request, own)]
            after = request.after
            page = wanted if after is None else [row for row in wanted if row.id > after]
            drafts = [entry_of(row, in_flight=_in_flight(outbox, row)) for row in page[: request.limit]]
            return wire.OutboxList(
                drafts=drafts if own is None else list(map(for_its_stager, drafts)),
                total=len(wanted),
                unreadable=len(found.unreadable) if own is None else 0,
            )

        if not await self._exists():
            return wire.OutboxList(drafts=[], total=0, unreadable=0)
        return await self._act("outbox.list", act)

    async def get(self, caller: Caller, request: wire.OutboxGetRequest) -> wire.OutboxDraft:
        """A whole draft."""
        own, id_ = _own(caller), str(request.id)

        def act(outbox: _Open) -> wire.OutboxDraft:
            item = outbox.store.existing(id_)
            if own is not None and account_of(item.staged_by) != own:
                raise UnknownItemError(id=id_)
            draft = self._draft(outbox, item)
            return draft if own is None else draft.model_copy(update={"entry": for_its_stager(draft.entry)})

        if not await self._exists():
            raise UnknownItemError(id=id_)
        return await self._act("outbox.get", act)

    async def withdraw(self, caller: Caller, request: wire.OutboxWithdrawRequest) -> wire.OutboxEntry:
        """Take back a draft of the caller's own; a reviewer any."""
        id_, by, own = str(request.id), text_of(caller.address), _own(caller)
        item = await self._act(
            "outbox.withdraw", lambda outbox: outbox.decisions.withdraw(id_, by, own, request.reason)
        )
        await self._tell(id_)
        entry = entry_of(Row.of(item), in_flight=False)
        return entry if own is None else for_its_stager(entry)

    # What a reviewer decides

    async def edit(self, caller: Caller, request: wire.OutboxEditRequest) -> wire.OutboxDraft:
        """Give a draft other arguments."""
        id_, digest, by = str(request.id), str(request.digest), text_of(caller.address)
        args = _plain(request.args)

        def act(outbox: _Open) -> wire.OutboxDraft:
            sink = self._sink_of(outbox.store.existing(id_).tool)
            sink.accept(args)
            return self._draft(
                outbox, outbox.decisions.edit(id_, digest, args, by, sink_text(sink), sink.file_args)
            )

        answer = await self._act("outbox.edit", act)
        await self._tell(id_)
        return answer

    async def reject(self, caller: Caller, request: wire.OutboxRejectRequest) -> wire.OutboxRejected:
        """Reject drafts; one that cannot be stops no other."""
        by, outcomes = text_of(caller.address), list[wire.RejectOutcome]()
        for draft in request.drafts:
            try:
                await self._act("outbox.reject", self._rejection(draft, request.reason, by))
            except RefusalError as failure:
                outcomes.append(wire.DraftKept(id=draft.id, refusal=failure.refusal))
            else:
                outcomes.append(wire.DraftRejected(id=draft.id))
                await self._tell(str(draft.id))
        return wire.OutboxRejected(outcomes=outcomes)

    def _rejection(self, draft: wire.DraftNamed, reason: str, by: str) -> Callable[[_Open], OutboxItem]:
        def act(outbox: _Open) -> OutboxItem:
            sink = self._sinks.get(outbox.store.existing(str(draft.id)).tool)
            return outbox.decisions.reject(
                str(draft.id), str(draft.digest), reason, by, None if sink is None else sink_text(sink)
            )

        return act

    async def settle(self, caller: Caller, request: wire.OutboxSettleRequest) -> wire.OutboxEntry:
        """Record what a person found out."""
        id_, by = str(request.id), text_of(caller.address)
        item = await self._act(
            "outbox.settle", lambda outbox: outbox.releases.settle(id_, sent=request.sent, by=by)
        )
        await self._tell(id_)
        return entry_of(Row.of(item), in_flight=False)

    async def tally(self, caller: Caller, request: wire.OutboxTallyRequest) -> wire.OutboxTally:  # noqa: ARG002
        """How the drafting has been going."""
        tally = WritingTally()
        if await self._exists():
            found = await self._act("outbox.tally", lambda outbox: outbox.store.rows())
            tally = WritingTally.of(found.rows)
        rate = tally.unchanged_rate()
        return wire.OutboxTally(
            unchanged=tally.unchanged,
            edited=tally.edited,
            sent=tally.sent(),
            unchanged_permille=None if rate is None else int(rate * 1000),
        )

    async def release(self, caller: Caller, request: wire.OutboxReleaseRequest) -> wire.OutboxReleased:
        """Let a draft leave as it was read.

        Raises OutcomeUnknownError when nobody can say whether it did.
        """
        id_, digest, by = str(request.id), str(request.digest), text_of(caller.address)
        task = asyncio.create_task(self._carry(id_, digest, by))
        self._carrying.add(task)
        task.add_done_callback(self._carried)
        # The client may hang up now: the task goes on, and is held by the set.
        item = await asyncio.shield(task)
        if item.status == Status.RELEASING:
            raise OutcomeUnknownError(id=id_)
        return wire.OutboxReleased(
            id=request.id,
            sent=item.status == Status.SENT,
            status=Status(item.status).value,
            attempts=min(item.attempts, _U32_MAX),
            sent_as=item.sent_as,
            error=item.error,
        )

    def _carried(self, task: asyncio.Task[OutboxItem]) -> None:
        self._carrying.discard(task)
        if not task.cancelled():
            # Looked at, so that one whose client is gone is not reported as forgotten.
            task.exception()

    async def _carry(self, id_: str, digest: str, by: str) -> OutboxItem:
        """Begin, deliver, finish."""

        def begin(outbox: _Open) -> tuple[Outgoing, Sink]:
            item = outbox.store.existing(id_)
            sink = self._sink_of(item.tool)
            if item.status == Status.PENDING:
                # A file that another program wrote was never staged here. The digest covers the arguments.
                sink.accept(checked_args(item.args))
            return outbox.releases.begin(id_, digest, by, sink_text(sink)), sink

        outgoing, sink = await self._act("outbox.release", begin)
        try:
            outcome = await self._deliver(sink, outgoing)
        except asyncio.CancelledError:
            # The daemon stops: the intent stays open, and a person settles it.
            assert self._opened is not None
            self._opened.releases.abandon(id_)
            raise
        item = await self._act("outbox.release", lambda outbox: outbox.releases.finish(outgoing, outcome))
        await self._tell(id_)
        return item

    async def _deliver(self, sink: Sink, outgoing: Outgoing) -> Outcome:
        try:
            async with asyncio.timeout(self._deliver_secs):
                return Delivered(await sink.deliver(outgoing))
        except NotSentError as failure:
            return NotSent(failure.reason)
        except UnknownOutcomeError as failure:
            return Unknown(f"{failure}; whether the draft left is unknown")
        except TimeoutError:
            return Unknown("the sink took too long; whether the draft left is unknown")
        except Exception as failure:  # noqa: BLE001  # whatever a sink fails with, the draft may have left
            self._log.failed("outbox_sink_failed", failure)
            return Unknown("the sink failed; whether the draft left is unknown")

    async def close(self) -> None:
        """Give releases in flight a few seconds, then leave their intents open."""
        carrying = set(self._carrying)
        if carrying:
            _, late = await asyncio.wait(carrying, timeout=STOP_SECS)
            for task in late:
                task.cancel()
            await asyncio.gather(*late, return_exceptions=True)
        if self._opened is not None:
            self._opened.store.close()
            self._opened = None

    # The way to the engine

    def _sink_of(self, tool: str) -> Sink:
        sink = self._sinks.get(tool)
        if sink is None:
            raise MalformedError(field="tool", reason="must be a tool that the daemon's settings give a sink")
        return sink

    def _digest(self, item: OutboxItem) -> str:
        sink = self._sinks.get(item.tool)
        return digest_of(item, None if sink is None else sink_text(sink))

    def _draft(self, outbox: _Open, item: OutboxItem) -> wire.OutboxDraft:
        sink = self._sinks.get(item.tool)
        return draft_of(
            item,
            self._digest(item),
            None if sink is None else sink_text(sink),
            in_flight=outbox.store.in_flight(item.id),
            intact=outbox.store.copies.are_as_recorded(item.id, item.files),
        )

    async def _tell(self, id_: str) -> None:
        if self._decided is not None:
            try:
                await self._decided(id_)
            except Exception as failure:  # noqa: BLE001  # the decision is on disk, whoever hears of it or not
                self._log.failed("outbox_decision_not_told", failure)

    async def _exists(self) -> bool:
        """Whether there is an outbox: to look makes none."""
        return self._opened is not None or await asyncio.to_thread(self._root.is_dir)

    async def _act(self, operation: Operation, act: Callable[[_Open], T]) -> T:
        async with self._seats:
            try:
                outbox = await self._outbox()
                return await asyncio.to_thread(act, outbox)
            except (FolderError, UnreadableItemError) as failure:
                self._log.failed("outbox_unusable", failure)
                refusal = StoreUnavailableError(operation=operation)
        raise refusal

    async def _outbox(self) -> _Open:
        async with self._opening:
            if self._opened is None:
                store = await asyncio.to_thread(OutboxStore.open, self._root, clock=self._clock)
                self._opened = _Open(store, Releases(store), Decisions(store))
            return self._opened


def _own(caller: Caller) -> str | None:
    """The account whose drafts alone the caller may see; None for a reviewer."""
    return None if caller.may([REVIEW]) else str(caller.account)


def _stamped(caller: Caller, taint: wire.StampedTaint | None) -> Taint | None:
    """What a harness says of the conversation. Nobody else is asked. Raises PermissionDeniedError."""
    if taint is None:
        return None
    if not caller.may([STAMP]):
        raise PermissionDeniedError(need=STAMP)
    return Taint(private=taint.private, untrusted=taint.untrusted)


def _plain(args: wire.DraftArguments) -> dict[str, Any]:
    return dict(args.model_extra or {})


def _is_wanted(row: Row, request: wire.OutboxListRequest, own: str | None) -> bool:
    if own is not None and account_of(row.staged_by) != own:
        return False
    if request.kind is not None and row.kind != request.kind:
        return False
    if request.tool is not None and row.tool != request.tool:
        return False
    if request.status is not None:
        return row.status == request.status
    return request.all or row.status in _WAITING


def _in_flight(outbox: _Open, row: Row) -> bool:
    return row.status == Status.RELEASING and outbox.store.in_flight(row.id)
