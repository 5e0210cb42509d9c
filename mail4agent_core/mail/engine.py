"""The mail engine: what a caller may do with mail, and what it gets.

It reads no clock, opens no file and knows no transport. Each method is one operation of the contract: it
takes the caller whom dispatch identified and the decoded request, and returns the response or raises a
refusal. Nothing read is consumed by reading.
"""

import contextlib
from collections.abc import Sequence

from mail4agent_api.codec import decode, encode
from mail4agent_api.errors import (
    NotAddressedToYouError,
    OverloadedError,
    PermissionDeniedError,
    RefusalError,
    StoreUnavailableError,
    UnauthenticatedError,
    UnknownMessageError,
    UnknownParticipantError,
    UnknownSessionError,
)
from mail4agent_api.mail import (
    Ack,
    AckManyRequest,
    AckManyResponse,
    AckOutcome,
    AckRecorded,
    AckRefused,
    AckRequest,
    AckResponse,
    Directory,
    DirectoryRequest,
    InboxRequest,
    IssuedSession,
    Message,
    MessageGetRequest,
    MessageId,
    Notice,
    ParticipantAddress,
    Position,
    RoomAddress,
    SearchPage,
    SearchRequest,
    SendManyRequest,
    SendManyResponse,
    SendRefused,
    SendRequest,
    SendResponse,
    SentPage,
    SentRequest,
    SessionAddress,
    SessionDeclared,
    SessionIssueRequest,
    Status,
    StatusRequest,
    ThreadPage,
    ThreadRequest,
    Told,
    ToldRequest,
    UnreadCount,
    UnreadCountRequest,
    WhoAmI,
    WhoAmIRequest,
)
from mail4agent_core.clock import Clock
from mail4agent_core.ids import Ids

from .directory import Listing, Standing, directory_wire, listing
from .identity import OPERATOR, READ, SEND, Caller
from .posting import Posted, Posting, Sight, posting_of
from .records import PageQuery, SearchQuery, Sent
from .sessions import LISTED_MAX, LISTED_MS, Sessions
from .store import MailStore, Registry
from .wire import InboxWire, Wire, inbox_wire
from .words import phrases_of

READERS = (READ, OPERATOR)
#: The most bytes of messages that a page without a bound of its own holds.
PAGE_MAX_BYTES = 1_048_576


class MailEngine:
    """The operations of the mail seam over one store."""

    def __init__(self, store: MailStore, clock: Clock, ids: Ids, sessions: Sessions) -> None:
        self._store = store
        self._clock = clock
        self._ids = ids
        self._sessions = sessions

    async def send(self, caller: Caller, request: SendRequest) -> SendResponse:
        """Post one message. With a key, a repeat gets the first answer and changes nothing."""
        caller.needs((SEND,))
        (outcome,) = await self._store.post(await self._postings(caller, [request]))
        if isinstance(outcome, RefusalError):
            raise outcome
        return SendResponse(message_id=outcome.message_id, from_=caller.address)

    async def send_many(self, caller: Caller, request: SendManyRequest) -> Wire[SendManyResponse]:
        """Post messages in one commit; each has its own outcome."""
        caller.needs((SEND,))
        outcomes = await self._store.post(await self._postings(caller, request.messages))
        sender = encode(caller.address)
        joined = b",".join([_send_outcome(sender, outcome) for outcome in outcomes])
        return Wire(SendManyResponse, b'{"outcomes":[%b]}' % joined)

    async def _postings(self, caller: Caller, requests: Sequence[SendRequest]) -> list[Posting]:
        wanted = [each.to for each in requests if isinstance(each.to, SessionAddress) and not each.allow_dead]
        silent = await self._sessions.not_live(wanted) if wanted else {}
        return [
            posting_of(
                caller.address,
                each,
                self._ids.message_id(),
                silent.get(each.to) if isinstance(each.to, SessionAddress) and not each.allow_dead else None,
            )
            for each in requests
        ]

    async def inbox(self, caller: Caller, request: InboxRequest) -> InboxWire:
        """One page of the caller's boxes as they are now. Waiting for mail is the daemon's part."""
        caller.needs(READERS)
        page = await self._store.page(caller.address, page_query(request))
        return inbox_wire(page.messages, page.unread, page.span)

    async def shown(self, caller: Caller, page: InboxWire) -> None:
        """Take what a page has shown as told: no hook announces what its agent has read by itself.

        A page is no less read when the store cannot note it.
        """
        if page.span is not None:
            with contextlib.suppress(StoreUnavailableError, OverloadedError):
                await self._store.shown(caller.address, page.span)

    async def ack(self, caller: Caller, request: AckRequest) -> AckResponse:
        """Acknowledge one message; a repeat gets the first acknowledgement."""
        caller.needs(READERS)
        outcome = (await self._store.acknowledge(caller.address, [request.message_id]))[0]
        if isinstance(outcome, Ack):
            return AckResponse(ack=outcome)
        raise _unseen(request.message_id, outcome)

    async def ack_many(self, caller: Caller, request: AckManyRequest) -> AckManyResponse:
        """Acknowledge messages in one commit; each has its own outcome."""
        caller.needs(READERS)
        outcomes = await self._store.acknowledge(caller.address, request.message_ids)
        return AckManyResponse(
            outcomes=[
                _ack_outcome(each, outcome)
                for each, outcome in zip(request.message_ids, outcomes, strict=True)
            ]
        )

    async def get(self, caller: Caller, request: MessageGetRequest) -> Wire[Message]:
        """One message that the caller may read or wrote."""
        caller.needs(READERS)
        seen = await self._store.message(caller.address, request.message_id)
        if seen.sight != "seen":
            raise _unseen(request.message_id, seen.sight)
        return Wire(Message, seen.wire)

    async def unread(self, caller: Caller, request: UnreadCountRequest) -> UnreadCount:
        """The unread count of oneself, of one's own account, or for an operator of anyone."""
        caller.needs(READERS)
        target = request.target
        own_account = not isinstance(target, SessionAddress) and target.participant == caller.account
        if target != caller.address and not own_account:
            if OPERATOR not in caller.capabilities:
                raise PermissionDeniedError(need=OPERATOR)
            await require_reader(self._store, target)
        return UnreadCount(target=target, unread=await self._store.unread(target))

    async def thread(self, caller: Caller, request: ThreadRequest) -> Wire[ThreadPage]:
        """The thread of a message that the caller may read or wrote, as far as it may read or wrote it."""
        caller.needs(READERS)
        seen = await self._store.message(caller.address, request.message_id)
        if seen.sight != "seen":
            raise _unseen(request.message_id, seen.sight)
        messages = await self._store.thread(
            caller.address, request.message_id, request.after, request.limit, PAGE_MAX_BYTES
        )
        return Wire(ThreadPage, _messages(messages))

    async def search(self, caller: Caller, request: SearchRequest) -> Wire[SearchPage]:
        """The caller's messages that hold every word and phrase of the query, newest first."""
        caller.needs(READERS)
        query = SearchQuery(
            phrases_of(request.query), request.limit, request.before, request.room, request.sent_by
        )
        messages = await self._store.search(caller.address, query, PAGE_MAX_BYTES) if query.phrases else []
        return Wire(SearchPage, _messages(messages))

    async def sent(self, caller: Caller, request: SentRequest) -> Wire[SentPage]:
        """What the caller's exact address sent and who acknowledged it, newest first."""
        caller.needs(READERS)
        rows = await self._store.sent(caller.address, request.before, request.limit, PAGE_MAX_BYTES)
        return Wire(SentPage, b'{"sent":[%b]}' % b",".join(map(_sent, rows)))

    async def whoami(self, caller: Caller, request: WhoAmIRequest) -> WhoAmI:  # noqa: ARG002  # an empty object
        """The caller's own address, label and rooms, and its card when it is a session."""

        def query(registry: Registry) -> WhoAmI:
            account = registry.account(caller.account)
            if account is None or account.removed_at is not None:
                raise UnauthenticatedError
            address = caller.address
            session = registry.sessions.get(address.session) if isinstance(address, SessionAddress) else None
            return WhoAmI(
                address=address,
                label=account.label,
                rooms=registry.rooms_of(caller.account),
                card=session.card if session is not None and session.address == address else None,
            )

        return await self._store.look(query)

    async def status(self, caller: Caller, request: StatusRequest) -> Status:
        """Replace what the calling session says about itself."""
        declared = SessionDeclared(working_on=request.working_on, role=request.role, parent=request.parent)
        return Status(card=await self._sessions.declare(caller, declared))

    async def session(
        self,
        caller: Caller,
        request: SessionIssueRequest,  # noqa: ARG002  # likewise
        presented: bytes | None = None,
    ) -> IssuedSession:
        """Issue a session credential for the caller's account, whose secret has the digest ``presented``."""
        return await self._sessions.issue(caller, presented)

    async def directory(self, caller: Caller, request: DirectoryRequest) -> Wire[Directory]:  # noqa: ARG002  # likewise
        """Every registered account with its sessions, and every room, from the caller's point of view.

        A session that died more than a day ago is left out, and so are those of an account past 256 alive
        and 256 dead.
        """
        caller.needs(READERS)
        dead_after = self._clock.now_ms() - LISTED_MS

        def query(registry: Registry) -> Listing:
            return listing(registry, registry.rooms_of(caller.account), dead_after, LISTED_MAX)

        found = await self._store.survey(caller.account, query)
        living = await self._sessions.living(found.sessions)
        standings = [
            Standing(each, self._sessions.last_seen(each), lives)
            for each, lives in zip(found.sessions, living, strict=True)
        ]
        return directory_wire(found, standings)

    async def told(self, caller: Caller, request: ToldRequest) -> Told:
        """The oldest unread messages that the caller was not told of, each once: they are told by this."""
        caller.needs(READERS)
        telling = await self._store.tell(caller.address, request.limit)
        return Told(
            unread=telling.unread,
            messages=[_notice(wire) for wire in telling.messages],
            more=telling.more,
            newest=telling.newest,
        )

    async def boxes(self, caller: Caller) -> frozenset[str]:
        """The text addresses to wait on for the caller's mail."""
        caller.needs(READERS)
        return await self._store.boxes(caller.address)

    async def newest(self, caller: Caller) -> Position | None:
        """The newest position that the caller can read."""
        caller.needs(READERS)
        return await self._store.newest(caller.address)

    async def stands_after(self, caller: Caller, after: Position | None) -> bool:
        """Whether a readable message that is not the caller's own stands after a position."""
        caller.needs(READERS)
        return await self._store.stands_after(caller.address, after)

    async def unread_count(self, caller: Caller) -> int:
        """The caller's own unread count."""
        caller.needs(READERS)
        return await self._store.unread(caller.address)


def page_query(request: InboxRequest) -> PageQuery:
    """What an inbox request asks of the store."""
    return PageQuery(
        limit=request.limit,
        max_bytes=request.max_bytes,
        newest_first=request.order == "newest",
        since_unix_ms=request.since_unix_ms,
        after=request.after,
        before=request.before,
        unread_only=request.unread_only,
        thread=request.thread,
        sent_by=request.sent_by,
        room=request.room,
        correlation=request.correlation,
    )


async def require_reader(store: MailStore, address: ParticipantAddress) -> None:
    """Raise UnknownParticipantError or UnknownSessionError unless the address may have mail to read."""

    def query(registry: Registry) -> RefusalError | None:
        account = registry.account(address.participant)
        if account is None or account.removed_at is not None:
            return UnknownParticipantError(participant=address.participant)
        if isinstance(address, SessionAddress) and not registry.knows(address):
            return UnknownSessionError(session=address.session)
        return None

    refusal = await store.look(query)
    if refusal is not None:
        raise refusal


def _sent(row: Sent) -> bytes:
    acks = b",".join(map(encode, row.acks))
    undeliverable = b"true" if row.undeliverable else b"false"
    return b'{"message":%b,"acks":[%b],"acknowledged":%d,"undeliverable":%b}' % (
        row.wire,
        acks,
        row.acknowledged,
        undeliverable,
    )


def _messages(wires: Sequence[bytes]) -> bytes:
    return b'{"messages":[%b]}' % b",".join(wires)


def _notice(wire: bytes) -> Notice:
    message = decode(Message, wire)
    return Notice(
        message_id=message.message_id,
        from_=message.from_,
        room=message.to.room if isinstance(message.to, RoomAddress) else None,
        subject=message.subject,
        created_at_unix_ms=message.created_at_unix_ms,
    )


def _unseen(message_id: MessageId, sight: Sight) -> RefusalError:
    if sight == "missing":
        return UnknownMessageError(message_id=message_id)
    return NotAddressedToYouError(message_id=message_id)


def _send_outcome(sender: bytes, outcome: Posted | RefusalError) -> bytes:
    if isinstance(outcome, RefusalError):
        return encode(SendRefused(refusal=outcome.refusal))
    return b'{"kind":"sent","message_id":"%b","from":%b}' % (outcome.message_id.encode(), sender)


def _ack_outcome(message_id: MessageId, outcome: Ack | Sight) -> AckOutcome:
    if isinstance(outcome, Ack):
        return AckRecorded(ack=outcome)
    return AckRefused(message_id=message_id, refusal=_unseen(message_id, outcome).refusal)
