"""What a store is asked for and what it gives: accounts, rooms, queries, pages. Values without behaviour."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from mail4agent_api.mail import Ack, AttestationPolicy, MessageId, ParticipantId, Position, RoomId

from .posting import Sight

#: Who may post to a room: anybody who may send, or its members.
RoomPosting = Literal["open", "members"]

#: How many acknowledgements are listed with a sent message.
ACKS_SHOWN = 64
#: The most bytes that an encoded acknowledgement takes with its comma, and the keys around a sent message.
ACK_BYTES = 352
SENT_BYTES = 96


@dataclass(frozen=True, slots=True)
class Account:
    """A registered account, removed ones included. Times are Unix milliseconds."""

    id: ParticipantId
    label: str | None
    capabilities: frozenset[str]
    created_at: int
    secret_issued_at: int | None
    removed_at: int | None
    attestation: AttestationPolicy = "inherit"


@dataclass(frozen=True, slots=True)
class Room:
    """A room with its counts."""

    id: RoomId
    posting: RoomPosting
    members: int
    messages: int
    created_at: int


@dataclass(frozen=True, slots=True)
class PageQuery:
    """Which of a reader's messages, and how many.

    ``since_unix_ms`` is inclusive, the positions are exclusive. A position whose message the store does not
    know counts as the edge of its millisecond: repeat rather than miss. ``max_bytes`` bounds the encoded
    page.
    """

    limit: int
    max_bytes: int = 1_048_576
    newest_first: bool = False
    since_unix_ms: int | None = None
    after: Position | None = None
    before: Position | None = None
    unread_only: bool = False
    thread: MessageId | None = None
    sent_by: ParticipantId | None = None
    room: RoomId | None = None
    correlation: str | None = None

    def span(self, low: int, positions: Sequence[int], *, whole: bool) -> tuple[int, int] | None:
        """What a page covers that stands past ``low`` and holds messages at ``positions``; ``whole``: there
        are no more.
        """
        filters = (self.thread, self.sent_by, self.room, self.correlation)
        if not positions or any(part is not None for part in filters) or self.before is not None:
            return None
        if not self.newest_first:
            return low, positions[-1]
        return (low if whole else positions[-1] - 1), positions[0]

    @property
    def combines(self) -> bool:
        """Whether it has two filters or more: what is looked through is then not bounded by the page."""
        filters = (self.thread, self.sent_by, self.correlation)
        return sum(part is not None for part in filters) + self.unread_only > 1


@dataclass(frozen=True, slots=True)
class SearchQuery:
    """Phrases of one word or more (``words.phrases_of``) that must all occur; newest first."""

    phrases: tuple[tuple[str, ...], ...]
    limit: int
    before: Position | None = None
    room: RoomId | None = None
    sent_by: ParticipantId | None = None


@dataclass(frozen=True, slots=True)
class Page:
    """Encoded messages, and the reader's unread count at the same moment."""

    messages: tuple[bytes, ...]
    unread: int
    #: Of the reader's unread messages past the first position, up to the second, the page holds every one.
    span: tuple[int, int] | None = None


@dataclass(frozen=True, slots=True)
class Seen:
    """An encoded message, and what the reader has to do with it."""

    sight: Sight
    wire: bytes = b""


@dataclass(frozen=True, slots=True)
class Sent:
    """A sent message, its first ``ACKS_SHOWN`` acknowledgements, their number, and whether nobody can read
    it.
    """

    wire: bytes
    acks: tuple[Ack, ...]
    acknowledged: int
    undeliverable: bool

    def __len__(self) -> int:
        """The bytes that its encoding takes at most."""
        return len(self.wire) + SENT_BYTES + ACK_BYTES * len(self.acks)


@dataclass(frozen=True, slots=True)
class Telling:
    """Encoded messages that a reader is told of, whether more stand after them, and, of the same moment, its
    unread count and the newest position that it can read.
    """

    messages: tuple[bytes, ...]
    more: bool
    unread: int
    newest: Position | None


@dataclass(frozen=True, slots=True)
class Swept:
    """What one step of upkeep removed, and where the next one goes on (None: it is done)."""

    messages: int
    keys: int
    resume: int | None
