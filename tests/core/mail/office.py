"""Engine and administration over one store, with short ways to say what a test does."""

from collections.abc import Iterable

from mail4agent_api.addresses import address_of, participant_of
from mail4agent_api.codec import encode
from mail4agent_api.mail import (
    Ack,
    AckManyRequest,
    AckRequest,
    Directory,
    DirectoryRequest,
    InboxOfRequest,
    InboxPage,
    InboxRequest,
    Message,
    MessageGetRequest,
    MessageId,
    MessagePurgeRequest,
    ParticipantId,
    ParticipantPurgeRequest,
    ParticipantRegistration,
    ParticipantRemoveRequest,
    Position,
    RoomCreateRequest,
    RoomId,
    RoomMemberRequest,
    RoomRemoveRequest,
    SearchRequest,
    SendRequest,
    SentMessage,
    SentRequest,
    SessionAddress,
    SessionId,
    ThreadRequest,
    ToldRequest,
    UnreadCountRequest,
)
from mail4agent_core.clock import HandClock
from mail4agent_core.ids import SeededIds
from mail4agent_core.mail.administration import Administration
from mail4agent_core.mail.engine import MailEngine
from mail4agent_core.mail.identity import OPERATOR, READ, SEND, Caller, account_caller
from mail4agent_core.mail.listeners import ListenerDesk
from mail4agent_core.mail.process import ProcessId
from mail4agent_core.mail.sessions import Sessions
from mail4agent_core.mail.store import MailStore

DAY_MS = 86_400_000
SESSION = SessionId("s-00000001")
OTHER_SESSION = SessionId("s-00000002")
NOWHERE = MessageId("m4a_" + "0" * 24)


def position(message: Message) -> Position:
    """Where a message stands."""
    return Position(created_at_unix_ms=message.created_at_unix_ms, message_id=message.message_id)


def subjects(messages: Iterable[Message]) -> list[str]:
    """What tests tell messages apart by."""
    return [message.subject for message in messages]


async def _nobody(port: int) -> None:
    """Whose a port is: nobody's."""


class Office:
    """One store with what works over it. Addresses are given in their text form."""

    def __init__(self, store: MailStore, clock: HandClock, seed: int = 0) -> None:
        self.store = store
        self.clock = clock
        ids = SeededIds(seed)
        #: The processes that run, and the readers that wait.
        self.running: set[ProcessId] = set()
        self.parked: set[str] = set()
        self.sessions = Sessions(
            store, clock, ids, alive=self.running.__contains__, parked=self.parked.__contains__
        )
        self.engine = MailEngine(store, clock, ids, self.sessions)
        self.administration = Administration(store, clock, ids, keep_days=180)
        self.listeners = ListenerDesk(store, clock, own_port=None, port_owner=_nobody)
        #: Whoever administers; no account of the store.
        self.operator = account_caller(ParticipantId("root"), (OPERATOR,))

    async def account(
        self,
        name: str,
        *,
        send: bool = True,
        read: bool = True,
        operator: bool = False,
        label: str | None = None,
    ) -> Caller:
        """Register an account."""
        request = ParticipantRegistration(
            id=ParticipantId(name), label=label, may_send=send, may_read=read, operator=operator
        )
        await self.administration.participant(self.operator, request)
        held = {SEND: send, READ: read, OPERATOR: operator}
        return account_caller(ParticipantId(name), (right for right, given in held.items() if given))

    async def accounts(self, *names: str) -> list[Caller]:
        """Register accounts that may send and read."""
        return [await self.account(name) for name in names]

    async def session(self, account: Caller, session: SessionId = SESSION) -> Caller:
        """A session of an account at its first contact."""
        address = SessionAddress(participant=account.account, session=session)
        await self.store.meet(address)
        return Caller(address, account.capabilities)

    async def remove(self, account: str) -> None:
        """Remove an account."""
        request = ParticipantRemoveRequest(id=ParticipantId(account))
        await self.administration.participant_remove(self.operator, request)

    async def purge(self, account: str) -> int:
        """Purge a removed account; how many messages that deleted."""
        request = ParticipantPurgeRequest(id=ParticipantId(account))
        return (await self.administration.participant_purge(self.operator, request)).messages

    async def room(self, name: str, *members: Caller, posting: str = "open") -> None:
        """Create a room with members."""
        request = RoomCreateRequest.model_validate({"id": name, "posting": posting})
        await self.administration.room(self.operator, request)
        for member in members:
            await self.join(name, member)

    async def remove_room(self, name: str) -> None:
        """Remove a room."""
        await self.administration.room_remove(self.operator, RoomRemoveRequest(room=RoomId(name)))

    async def join(self, room: str, member: Caller) -> None:
        """Put an account into a room."""
        request = RoomMemberRequest(room=RoomId(room), participant=member.account)
        await self.administration.room_member_add(self.operator, request)

    async def leave(self, room: str, member: Caller) -> None:
        """Take an account out of a room."""
        request = RoomMemberRequest(room=RoomId(room), participant=member.account)
        await self.administration.room_member_remove(self.operator, request)

    async def send(
        self,
        sender: Caller,
        to: str,
        subject: str = "note",
        body: str = "text",
        *,
        reply_to: MessageId | None = None,
        correlation: str | None = None,
        key: str | None = None,
        allow_dead: bool = False,
    ) -> MessageId:
        """Send one message."""
        request = SendRequest(
            to=address_of(to),
            subject=subject,
            body=body,
            reply_to=reply_to,
            correlation=correlation,
            idempotency_key=key,
            allow_dead=allow_dead,
        )
        return (await self.engine.send(sender, request)).message_id

    async def inbox(self, reader: Caller, **fields: object) -> InboxPage:
        """A page; the fields are those of the request, with ids and positions as they are."""
        page = await self.engine.inbox(reader, InboxRequest(**fields))  # pyright: ignore[reportArgumentType]
        value = page.value()
        assert page.count == len(value.messages)
        return value

    async def subjects(self, reader: Caller, **fields: object) -> list[str]:
        """The subjects of a page."""
        return subjects((await self.inbox(reader, **fields)).messages)

    async def walk(self, reader: Caller, limit: int = 2, **fields: object) -> list[str]:
        """The subjects of all pages, each asked for after the last message of the one before."""
        found: list[str] = []
        after: Position | None = None
        while True:
            page = await self.inbox(reader, limit=limit, after=after, **fields)
            if not page.messages:
                return found
            found += subjects(page.messages)
            after = position(page.messages[-1])

    async def walk_back(self, reader: Caller, limit: int = 2, **fields: object) -> list[str]:
        """The subjects of all pages from the newest back."""
        found: list[str] = []
        before: Position | None = None
        while True:
            page = await self.inbox(reader, limit=limit, before=before, order="newest", **fields)
            if not page.messages:
                return found
            found += subjects(page.messages)
            before = position(page.messages[-1])

    async def ack(self, reader: Caller, message_id: MessageId) -> Ack:
        """Acknowledge one message."""
        return (await self.engine.ack(reader, AckRequest(message_id=message_id))).ack

    async def ack_many(self, reader: Caller, *message_ids: MessageId) -> list[str]:
        """Acknowledge messages; what became of each: acked, or the kind of refusal."""
        request = AckManyRequest(message_ids=list(message_ids))
        outcomes = (await self.engine.ack_many(reader, request)).outcomes
        return [each.kind if each.kind == "acked" else each.refusal.kind for each in outcomes]

    async def unread(self, reader: Caller, target: str | None = None) -> int:
        """An unread count; one's own unless a target is named."""
        address = reader.address if target is None else participant_of(target)
        return (await self.engine.unread(reader, UnreadCountRequest(target=address))).unread

    async def tell(self, reader: Caller, **fields: object) -> list[str]:
        """The subjects of what a reader is told of."""
        request = ToldRequest(**fields)  # pyright: ignore[reportArgumentType]
        return [notice.subject for notice in (await self.engine.told(reader, request)).messages]

    async def get(self, reader: Caller, message_id: MessageId) -> Message:
        """One message."""
        return (await self.engine.get(reader, MessageGetRequest(message_id=message_id))).value()

    async def thread(self, reader: Caller, message_id: MessageId, **fields: object) -> list[str]:
        """The subjects of a thread's page."""
        request = ThreadRequest(message_id=message_id, **fields)  # pyright: ignore[reportArgumentType]
        return subjects((await self.engine.thread(reader, request)).value().messages)

    async def search(self, reader: Caller, query: str, **fields: object) -> list[str]:
        """The subjects of what a search finds."""
        request = SearchRequest(query=query, **fields)  # pyright: ignore[reportArgumentType]
        return subjects((await self.engine.search(reader, request)).value().messages)

    async def directory(self, reader: Caller) -> Directory:
        """The directory, as the codec would have encoded it."""
        wire = await self.engine.directory(reader, DirectoryRequest())
        directory = wire.value()
        assert wire.raw == encode(directory)
        return directory

    async def sent(self, sender: Caller, **fields: object) -> list[SentMessage]:
        """A page of what an address sent."""
        request = SentRequest(**fields)  # pyright: ignore[reportArgumentType]
        return (await self.engine.sent(sender, request)).value().sent

    async def inbox_of(self, caller: Caller, address: str, **fields: object) -> InboxPage:
        """A page of somebody's inbox, as an operator sees it."""
        request = InboxOfRequest(address=participant_of(address), **fields)  # pyright: ignore[reportArgumentType]
        return (await self.administration.inbox(caller, request)).value()

    async def purge_message(self, message_id: MessageId) -> None:
        """Delete one message."""
        request = MessagePurgeRequest(message_id=message_id)
        await self.administration.message_purge(self.operator, request)

    def told(self) -> list[frozenset[str]]:
        """What commits tell from now on."""
        heard: list[frozenset[str]] = []
        self.store.subscribe(heard.append)
        return heard
