"""What the mail engine needs of a store. Every store passes the same contract tests.

Words: a *box* is where a message stands: an account's, a session's or a room's, named by the text form of
its address. A *reader* is an exact address. A reader's boxes are its own, for a session its account's too,
and those of the rooms that its account is in now; a removed account has none. A *pos* is a message's place in
the order of commits (``wire.next_pos``): a number of the store's, never shown.
"""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Protocol, TypeVar

from mail4agent_api.errors import RefusalError
from mail4agent_api.mail import (
    Ack,
    AttestationPolicy,
    AuditEntry,
    ListenerState,
    MessageId,
    ParticipantAddress,
    ParticipantId,
    Position,
    RoomId,
    SessionAddress,
)

from .audit import Deed
from .doorbells import Doorbell, DoorbellStore
from .flow import FlowCounts
from .posting import Posted, Posting, Sight
from .records import Account, Page, PageQuery, Room, RoomPosting, SearchQuery, Seen, Sent, Swept, Telling
from .session import SessionRegistry

T = TypeVar("T")

#: Told the text addresses of the boxes that a commit changed, and of the accounts whose rights it changed.
Listener = Callable[[frozenset[str]], None]


class Registry(Protocol):
    """Accounts and rooms within one transaction. Its calls do what they say; the rules are the engine's."""

    @property
    def sessions(self) -> SessionRegistry:
        """The sessions of the accounts."""
        ...

    def account(self, account: ParticipantId) -> Account | None:
        """An account, removed or not."""
        ...

    def holding(self, digest: bytes) -> Account | None:
        """The account whose secret has this digest."""
        ...

    def accounts(self, after: ParticipantId | None, limit: int | None) -> list[Account]:
        """Accounts by id, the removed ones included."""
        ...

    def live_operators(self) -> int:
        """How many accounts hold mail:operator and a secret."""
        ...

    def add_account(  # noqa: PLR0917  # what an account is made of
        self,
        account: ParticipantId,
        label: str | None,
        digest: bytes,
        capabilities: frozenset[str],
        now: int,
        attestation: AttestationPolicy = "inherit",
    ) -> None:
        """Register an account whose id is free."""
        ...

    def set_secret(self, account: ParticipantId, digest: bytes | None, now: int) -> None:
        """Replace or kill a secret; the credentials of the account's issued sessions end with the old one."""
        ...

    def set_attestation(self, account: ParticipantId, attestation: AttestationPolicy) -> None:
        """Replace what an account asks of the processes that act for it."""
        ...

    def set_capabilities(self, account: ParticipantId, capabilities: frozenset[str]) -> None:
        """Replace what an account may do."""
        ...

    def retire(self, account: ParticipantId, now: int) -> None:
        """Remove an account: its secret, the credentials of its sessions and its memberships go, its id and
        mail stay.
        """
        ...

    def erase(self, account: ParticipantId) -> int:
        """Delete an account with its sessions, free its id and give its boxes up; return how many messages
        stood in them.

        ``sweep`` deletes those. What the account sent to others stays theirs.
        """
        ...

    def knows(self, session: SessionAddress) -> bool:
        """Whether a session was met."""
        ...

    def has_room(self, room: RoomId) -> bool:
        """Whether a room is there."""
        ...

    def room_ids(self) -> list[RoomId]:
        """Every room's id, in order."""
        ...

    def room(self, room: RoomId) -> Room | None:
        """A room."""
        ...

    def rooms(self, after: RoomId | None, limit: int | None) -> list[Room]:
        """Rooms by id."""
        ...

    def add_room(self, room: RoomId, posting: RoomPosting, now: int) -> None:
        """Create a room whose id is free."""
        ...

    def erase_room(self, room: RoomId) -> None:
        """Delete a room and give its box up; ``sweep`` deletes its messages."""
        ...

    def members(self, room: RoomId, after: ParticipantId | None, limit: int | None) -> list[ParticipantId]:
        """The accounts in a room by id."""
        ...

    def rooms_of(self, account: ParticipantId) -> list[RoomId]:
        """The rooms that an account is in, by id."""
        ...

    def join(self, room: RoomId, account: ParticipantId) -> None:
        """Put an account into a room. What stands there already is readable and not unread.

        A repeat changes nothing.
        """
        ...

    def leave(self, room: RoomId, account: ParticipantId) -> None:
        """Take an account out of a room; it reads none of it from now on."""
        ...

    def erase_message(self, message_id: MessageId) -> bool:
        """Delete one message; False when there is none."""
        ...

    def record(self, deed: Deed) -> None:
        """Add a deed to the audit under the next number; past ``audit.ENTRIES_MAX`` the oldest goes."""
        ...

    def audit(self, before: int | None, limit: int) -> list[AuditEntry]:
        """Entries with a number below ``before``, the newest first."""
        ...

    def expire_audit(self, before: int, limit: int) -> int:
        """Delete up to ``limit`` entries older than a time; return how many."""
        ...

    def listeners_of(self, account: ParticipantId) -> list[Doorbell]:
        """An account's listener, then those of its sessions by address."""
        ...

    def listeners(self, state: ListenerState, after: str | None, limit: int) -> list[Doorbell]:
        """The listeners of a state behind an owner, by their owners as text addresses."""
        ...

    def listener_count(self, state: ListenerState) -> int:
        """How many listeners are of a state."""
        ...

    def retry_listener(self, owner: ParticipantAddress) -> None:
        """Take an owner's listener for one that was just set: it is tried at once. None there: nothing."""
        ...

    def set_listener(self, owner: ParticipantAddress, url: str, key: str | None, uid: int | None) -> None:
        """Have an owner's listener told of the mail that comes from now on.

        One that is there keeps its counts and what waits for it, which is due at once. ``retire`` and
        ``erase`` end the listeners of an account and its sessions.
        """
        ...

    def drop_listener(self, owner: ParticipantAddress) -> None:
        """End an owner's listener with what waits for it. A repeat changes nothing."""
        ...


class MailStore(DoorbellStore, Protocol):
    """Durable mail.

    A write has been committed to disk when its call returns; any call may raise StoreUnavailableError.
    A read that is not bounded by its page (filters, search, sent, survey) raises OverloadedError when it
    takes too long or its account has too many of them waiting.
    """

    def subscribe(self, listener: Listener) -> None:
        """Have commits told, on the event loop, after they are durable."""
        ...

    async def authenticate(self, digest: bytes) -> Account | None:
        """The account that a secret's digest belongs to."""
        ...

    async def post(self, postings: Sequence[Posting]) -> list[Posted | RefusalError]:
        """Judge and store postings in order, in one commit; each has its own outcome."""
        ...

    async def acknowledge(
        self, reader: ParticipantAddress, message_ids: Sequence[MessageId]
    ) -> list[Ack | Sight]:
        """Acknowledge in order, in one commit: the acknowledgement on record, or why there is none.

        Raises UnauthenticatedError when the reader's account is not registered any more.
        """
        ...

    async def page(self, reader: ParticipantAddress, query: PageQuery) -> Page:
        """One page of a reader's boxes with its unread count."""
        ...

    async def unread(self, reader: ParticipantAddress) -> int:
        """How many readable messages, not its own, a reader has not acknowledged."""
        ...

    async def message(self, reader: ParticipantAddress, message_id: MessageId) -> Seen:
        """One message that the reader may read or wrote."""
        ...

    async def thread(
        self,
        reader: ParticipantAddress,
        message_id: MessageId,
        after: Position | None,
        limit: int,
        max_bytes: int,
    ) -> list[bytes]:
        """The messages of a message's thread that the reader may read or wrote, oldest first."""
        ...

    async def search(self, reader: ParticipantAddress, query: SearchQuery, max_bytes: int) -> list[bytes]:
        """The reader's messages that hold every phrase, newest first.

        All that was committed before the call is found.
        """
        ...

    async def sent(
        self, sender: ParticipantAddress, before: Position | None, limit: int, max_bytes: int
    ) -> list[Sent]:
        """What an exact address sent, newest first. Acknowledgements count towards ``max_bytes``."""
        ...

    async def flow(self, account: ParticipantId, since_ms: int, limit: int) -> FlowCounts:
        """Who wrote most from the slot of a time on (``flow.SLOT_MS``), at most a week back, on an account's
        share: by number, then by sender and target.

        Accounts and rooms that were erased, and sessions that were forgotten, are not in it.
        """
        ...

    async def newest(self, reader: ParticipantAddress) -> Position | None:
        """The newest position in a reader's boxes."""
        ...

    async def stands_after(self, reader: ParticipantAddress, after: Position | None) -> bool:
        """Whether a message that is not the reader's own stands after a position in its boxes."""
        ...

    async def tell(self, reader: ParticipantAddress, limit: int) -> Telling:
        """Tell a reader of the oldest unread messages past those that it was told of; they are told by this.

        Nothing is written when there are none, save the first time. Raises UnauthenticatedError when the
        reader's account is not registered any more.
        """
        ...

    async def shown(self, reader: ParticipantAddress, span: tuple[int, int]) -> None:
        """Take what a page has shown (``Page.span``) as told, where it goes on from what was told before.

        A reader that never asked to be told is left alone, and costs no write.
        """
        ...

    async def meet(self, session: SessionAddress) -> None:
        """Take note of a session at its first contact: it starts where its account stands.

        All that any address of the account has acknowledged counts as acknowledged for it; later
        acknowledgements are its own. A repeat changes nothing, nor does a session of no registered account.
        """
        ...

    async def boxes(self, reader: ParticipantAddress) -> frozenset[str]:
        """The text addresses of a reader's boxes, for waiting on them."""
        ...

    async def change(self, command: Callable[[Registry], T]) -> T:
        """Run a command on the registry in one transaction; what it raises undoes it."""
        ...

    async def look(self, query: Callable[[Registry], T]) -> T:
        """Run a query on the registry that touches a page of rows at most; it must not change it."""
        ...

    async def survey(self, account: ParticipantId, query: Callable[[Registry], T]) -> T:
        """Run any other query on the registry, on the account's share of what such queries may take."""
        ...

    async def sweep(
        self, settled_before: int | None, keys_before: int, resume: int, idle_before: int = 0
    ) -> Swept:
        """One bounded step of upkeep from ``resume`` (0 to begin).

        Deletes messages that were settled before ``settled_before`` (None: none for that reason), idempotency
        keys and counts of the flow older than ``keys_before``, and the messages of boxes that were given up.
        A session that died before ``settled_before`` is forgotten with its box, and so is one without mail
        that died before ``idle_before``; what it sent and acknowledged goes on to count.

        Account mail is settled once any address of the account acknowledged it, session mail once that
        session did, room mail once each present member account did. What an account sent itself, or found in
        a room when it joined, is settled for it from the message's own time, unless one of its addresses
        acknowledged it later. Mail that waits for somebody stays, and so does the mail of a room without
        members.
        """
        ...

    async def remember(self, name: str, value: int | None) -> int | None:
        """Keep a number under a name (None: only read it); return what stands there now."""
        ...

    async def backup(self, target: Path) -> None:
        """Write a consistent copy of the live store to a new file. Raises FileExistsError when it exists."""
        ...

    async def close(self) -> None:
        """Finish accepted writes and let go of the store."""
        ...
