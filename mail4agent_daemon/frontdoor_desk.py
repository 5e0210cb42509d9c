"""The operations of the front door, over the folder of requests in the daemon's data folder.

The engine is a synchronous library that waits for locks and disks, so each call is a thread's, a few at a
time. One extraction runs at a time: a model is slow, and what waits for it is on disk anyway. No prose is
logged, and none is in a refusal.
"""

from __future__ import annotations

import asyncio
import base64
import binascii
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from threading import Thread
from typing import Final, TypeVar, cast

from mail4agent_api import frontdoor as wire
from mail4agent_api.addresses import text_of
from mail4agent_api.errors import (
    AlreadyExistsError,
    MalformedError,
    NotPendingError,
    RefusalError,
    StoreUnavailableError,
    UnknownItemError,
)
from mail4agent_api.mail import SessionAddress
from mail4agent_core.files import FolderError
from mail4agent_core.frontdoor import wire as answers
from mail4agent_core.frontdoor.briefed import Briefed
from mail4agent_core.frontdoor.drafts import UNDECIDED, Drafts
from mail4agent_core.frontdoor.extracted import Extraction, faults
from mail4agent_core.frontdoor.hand_over import ExtractionError, Extractor, Unread
from mail4agent_core.frontdoor.ingest import ingest
from mail4agent_core.frontdoor.quarantine import Reader
from mail4agent_core.frontdoor.reconcile import reconcile, successors
from mail4agent_core.frontdoor.record import Record
from mail4agent_core.frontdoor.states import AWAITING_ME, CLOSED, EXTRACTED, NEEDS_INFO, TRIAGED
from mail4agent_core.frontdoor.store import Frontdoor, not_pending
from mail4agent_core.frontdoor.submission import Submission
from mail4agent_core.frontdoor.transitions import Actor, extractable, reopened
from mail4agent_core.frontdoor.types import Types
from mail4agent_core.mail.identity import Caller

from .log import Log

#: Calls at a time; further ones wait.
CALLS_MAX: Final = 4
#: What a refusal names where there is no model to read prose.
NO_MODEL: Final = "model"

T = TypeVar("T")


class FrontdoorDesk:
    """Each method is the operation of its name. Raises RefusalError."""

    def __init__(
        self,
        root: Path,
        log: Log,
        *,
        types: Types,
        drafts: Drafts,
        briefed: Briefed,
        extractor: Extractor | None = None,
    ) -> None:
        self._root = root
        self._log = log
        self._types = types
        self._drafts = drafts
        self._briefed = briefed
        self._extractor = extractor
        self._seats = asyncio.Semaphore(CALLS_MAX)
        self._reading = asyncio.Lock()
        self._triaging = asyncio.Lock()
        self._opening = asyncio.Lock()
        self._store: Frontdoor | None = None
        self._tasks: set[asyncio.Task[wire.FrontdoorExtracted]] = set()

    async def ingest(self, _caller: Caller, request: wire.FrontdoorIngestRequest) -> wire.FrontdoorReceipt:
        """Take in one submission."""

        def act(store: Frontdoor) -> wire.FrontdoorReceipt:
            files = _files(request.files)
            submission = Submission.of(str(request.box_epoch), answers.submitted(request.record), files)
            return answers.receipt_of(ingest(store, submission))

        return await self._act("frontdoor.ingest", act)

    async def list(self, _caller: Caller, request: wire.FrontdoorListRequest) -> wire.FrontdoorList:
        """A page of requests, as the outbox has left them."""

        def act(store: Frontdoor) -> wire.FrontdoorList:
            self._settle(store)
            return answers.list_of(store.listing(), request, self._types)

        return await self._act("frontdoor.list", act)

    async def get(self, _caller: Caller, request: wire.FrontdoorGetRequest) -> wire.FrontdoorItem:
        """One request whole: the only operation that serves prose."""

        def act(store: Frontdoor) -> wire.FrontdoorItem:
            record = store.record(request.seq)
            return answers.item_of(record, self._types(record.type_id, record.type_version))

        return await self._act("frontdoor.get", act)

    async def next(self, caller: Caller, request: wire.FrontdoorNextRequest) -> wire.FrontdoorBriefs:
        """Briefs, and their reader marked before it has them."""

        def act(store: Frontdoor) -> wire.FrontdoorBriefs:
            self._settle(store)
            briefs, withheld = self._briefs(store, request.limit)
            if briefs:
                self._briefed.mark(text_of(caller.address))
            return wire.FrontdoorBriefs(briefs=briefs, withheld=withheld)

        return await self._act("frontdoor.next", act)

    def _briefs(self, store: Frontdoor, limit: int) -> tuple[list[wire.FrontdoorBrief], int]:
        briefs: list[wire.FrontdoorBrief] = []
        withheld = 0
        listing = store.listing()
        for entry in listing.entries:
            if entry.state != EXTRACTED or len(briefs) == limit:
                continue
            brief = None
            if entry.seq not in listing.duplicates:
                # One file that went or broke meanwhile withholds no other.
                with suppress(UnknownItemError):
                    record = store.loaded(entry)
                    type_ = self._types(record.type_id, record.type_version)
                    brief = None if type_ is None else answers.brief_of(record, type_)
            if brief is None:
                withheld += 1
            else:
                briefs.append(brief)
        return briefs, withheld

    async def extract(
        self, _caller: Caller, request: wire.FrontdoorExtractRequest
    ) -> wire.FrontdoorExtracted:
        """Have prose read, one request after the other.

        What was begun is finished and kept when its client hangs up.
        """
        task = asyncio.create_task(self._extract_each(request))
        self._tasks.add(task)
        task.add_done_callback(self._done)
        return await asyncio.shield(task)

    def _done(self, task: asyncio.Task[wire.FrontdoorExtracted]) -> None:
        self._tasks.discard(task)
        if not task.cancelled():
            # Looked at, so that one whose client is gone is not reported as forgotten.
            task.exception()

    async def _extract_each(self, request: wire.FrontdoorExtractRequest) -> wire.FrontdoorExtracted:
        moved: list[wire.FrontdoorMoved] = []
        async with self._reading:
            for seq in await self._act("frontdoor.extract", lambda store: _wanted(store, request)):
                if len(moved) == request.limit:
                    break
                try:
                    moved.append(await self._extract(seq, retry=request.retry))
                except (NotPendingError, UnknownItemError) as refusal:
                    # Of several, one that somebody moved meanwhile, or whose file broke, stops no other.
                    if request.seq is not None or _is_no_model(refusal):
                        raise
        left = await self._act("frontdoor.extract", lambda store: len(store.waiting_for_extraction()))
        return wire.FrontdoorExtracted(moved=moved, left=left)

    async def _extract(self, seq: int, *, retry: bool) -> wire.FrontdoorMoved:
        unread = await self._act(
            "frontdoor.extract", lambda store: store.claim_for_extraction(seq, retry=retry)
        )
        made = await self._made(unread)
        after = await self._act("frontdoor.extract", lambda store: store.record_extraction(unread, made))
        return answers.extracted_of(unread, after)

    async def _made(self, unread: Unread) -> Extraction | ExtractionError:
        if not unread.prose:
            return Extraction()
        extractor = self._extractor
        if extractor is None:
            raise UnknownItemError(id=NO_MODEL)
        try:
            made = await _threaded(lambda: extractor(unread.prose))
        except ExtractionError as failure:
            return failure
        except Exception as failure:  # noqa: BLE001  # whatever reads the prose, its text stays out of the log
            self._log.failed("frontdoor_extractor_failed", failure)
            return ExtractionError("the extractor failed")
        texts = (text for _, text in unread.prose.open(Reader.EXTRACTOR))
        found = faults(made, texts)
        return ExtractionError("; ".join(found)) if found else made

    async def triaged(self, caller: Caller, request: wire.FrontdoorTriagedRequest) -> wire.FrontdoorMoved:
        """Take a run's word for what it staged, each draft of it looked up."""
        ids = list(dict.fromkeys(str(draft) for draft in request.drafts))
        session = session_of(caller)

        def act(store: Frontdoor) -> wire.FrontdoorMoved:
            before = store.record(request.seq)
            if _is_repeat(before, session, ids):
                return answers.moved_of(before, before)
            if before.state != EXTRACTED:
                raise not_pending(before)
            self._check_drafts(store, request.seq, ids, text_of(caller.address))
            outbox = [*before.outbox, *(id_ for id_ in ids if id_ not in before.outbox)]
            return answers.moved_of(
                *store.move(
                    request.seq,
                    Actor.RUN,
                    AWAITING_ME if ids else TRIAGED,
                    read=before.state,
                    triage_session=session,
                    outbox=outbox,
                )
            )

        # One after the other: two of them could each find a draft on no request, and take it.
        async with self._triaging:
            return await self._act("frontdoor.triaged", act)

    def _check_drafts(self, store: Frontdoor, seq: int, ids: list[str], address: str) -> None:
        entries = store.listing().entries if ids else ()
        owners = {id_: entry.seq for entry in entries for id_ in entry.outbox}
        # What stands in the place of a request's draft is that request's too.
        owners |= {
            successor: entry.seq
            for entry in entries
            if entry.state == AWAITING_ME
            for id_ in entry.outbox
            for successor in successors(id_, self._drafts)
        }
        for id_ in ids:
            fate = self._drafts.look(id_)
            # Of another's draft nothing is said, not even that it is there.
            if fate is None or fate.staged_by != address:
                raise UnknownItemError(id=id_)
            if fate.status not in UNDECIDED:
                raise NotPendingError(id=id_, status=fate.status)
            if owners.get(id_, seq) != seq:
                raise AlreadyExistsError(id=id_)

    async def needs_info(
        self, _caller: Caller, request: wire.FrontdoorNeedsInfoRequest
    ) -> wire.FrontdoorMoved:
        """Park a request; its note is what is asked of the sender."""
        return await self._decide("frontdoor.needs_info", request.seq, lambda _: NEEDS_INFO, request.note)

    async def close(self, _caller: Caller, request: wire.FrontdoorCloseRequest) -> wire.FrontdoorMoved:
        """Close a request."""
        return await self._decide("frontdoor.close", request.seq, lambda _: CLOSED, request.reason)

    async def reopen(self, _caller: Caller, request: wire.FrontdoorReopenRequest) -> wire.FrontdoorMoved:
        """Take a request up again, where it has an extraction with it."""
        return await self._decide(
            "frontdoor.reopen",
            request.seq,
            lambda record: reopened(extracted=record.extraction is not None),
            None,
        )

    async def _decide(
        self, operation: str, seq: int, to: Callable[[Record], str], note: str | None
    ) -> wire.FrontdoorMoved:
        def act(store: Frontdoor) -> wire.FrontdoorMoved:
            return answers.moved_of(*store.move(seq, Actor.PERSON, to, note=note, note_by_person=False))

        return await self._act(operation, act)

    async def reconcile(
        self, _caller: Caller, _request: wire.FrontdoorReconcileRequest
    ) -> wire.FrontdoorReconciled:
        """Move what the outbox has settled."""
        return await self._act(
            "frontdoor.reconcile", lambda store: answers.reconciled_of(reconcile(store, self._drafts))
        )

    async def decided(self, _draft_id: str) -> None:
        """A draft was decided: whoever is told so moves the request that waits for it."""
        if await asyncio.to_thread(self._root.is_dir):
            await self._act("frontdoor.reconcile", lambda store: reconcile(store, self._drafts))

    def _settle(self, store: Frontdoor) -> None:
        """Before a look: a state that is only right after somebody remembered a verb is one nobody trusts."""
        try:
            reconcile(store, self._drafts)
        except StoreUnavailableError as failure:
            # The requests can be shown all the same, as they were.
            self._log.failed("frontdoor_not_reconciled", failure)

    async def shut(self) -> None:
        """Give up what is being extracted, which stays as it was, and let the folder go."""
        tasks = set(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        if self._store is not None:
            self._store.close()
            self._store = None

    async def _act(self, operation: str, act: Callable[[Frontdoor], T]) -> T:
        async with self._seats:
            try:
                store = await self._opened()
                return await asyncio.to_thread(act, store)
            except FolderError as failure:
                self._log.failed("frontdoor_unusable", failure)
                refusal: RefusalError = StoreUnavailableError(operation=operation)
        raise refusal

    async def _opened(self) -> Frontdoor:
        async with self._opening:
            if self._store is None:
                self._store = await asyncio.to_thread(Frontdoor.open, self._root, types=self._types)
            return self._store


async def _threaded(work: Callable[[], T]) -> T:
    """Run what may take minutes in a thread that no stop of the daemon waits for."""
    loop = asyncio.get_running_loop()
    future: asyncio.Future[T] = loop.create_future()

    def keep(made: T | None, failure: Exception | None) -> None:
        if future.cancelled():
            return
        if failure is not None:
            future.set_exception(failure)
        else:
            future.set_result(cast("T", made))

    def run() -> None:
        made: T | None = None
        failed: Exception | None = None
        try:
            made = work()
        except Exception as failure:  # noqa: BLE001  # handed over to who waits
            failed = failure
        # A loop that is closed has nobody who waits.
        with suppress(RuntimeError):
            loop.call_soon_threadsafe(keep, made, failed)

    Thread(target=run, name="frontdoor-extractor", daemon=True).start()
    return await future


def session_of(caller: Caller) -> str:
    """The session of a caller, as the outbox names it on what the caller stages; its account without one."""
    address = caller.address
    return str(address.session) if isinstance(address, SessionAddress) else str(caller.account)


def _wanted(store: Frontdoor, request: wire.FrontdoorExtractRequest) -> list[int]:
    if request.seq is not None:
        record = store.record(request.seq)
        if not record.valid or not extractable(record.state, retry=request.retry):
            raise not_pending(record)
        return [record.seq]
    return store.waiting_for_extraction(retry=request.retry)


def _is_no_model(refusal: NotPendingError | UnknownItemError) -> bool:
    return isinstance(refusal, UnknownItemError) and refusal.refusal.id == NO_MODEL


def _is_repeat(record: Record, session: str, ids: list[str]) -> bool:
    """Whether a run says again what it said already: an answer was lost on the way."""
    return (
        record.state == (AWAITING_ME if ids else TRIAGED)
        and record.triage_session == session
        and set(ids) <= set(record.outbox)
    )


def _files(files: list[wire.IngestedFile]) -> dict[str, bytes]:
    out: dict[str, bytes] = {}
    for field, raw in _decoded(files):
        if field in out:
            raise MalformedError(field="files", reason="must be one a field")
        out[field] = raw
    return out


def _decoded(files: list[wire.IngestedFile]) -> Iterator[tuple[str, bytes]]:
    for file in files:
        text = "".join(str(chunk) for chunk in file.data)
        try:
            raw = base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
        except binascii.Error:
            raw = None
        if raw is None:
            raise MalformedError(field="data", reason="must be base64url without padding")
        yield str(file.field), raw
