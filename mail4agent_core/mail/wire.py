"""Answers that are already encoded. What the codec encoded once is joined and served as it is."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from mail4agent_api.codec import decode
from mail4agent_api.mail import InboxPage, MessageId, Position
from pydantic import BaseModel

T = TypeVar("T", bound=BaseModel)

#: Where a position's integer is cut: the upper bits are the millisecond, the lower ones count within it.
COUNT_BITS = 20
POSITION_MAX = 2**63 - 1


@dataclass(frozen=True, slots=True)
class Wire(Generic[T]):
    """The JSON of a contract object, as the codec encoded it."""

    kind: type[T]
    raw: bytes

    def value(self) -> T:
        """Decode it."""
        return decode(self.kind, self.raw)


@dataclass(frozen=True, slots=True)
class InboxWire(Wire[InboxPage]):
    """An encoded inbox page that knows how many messages it holds."""

    count: int


def inbox_wire(messages: Sequence[bytes], unread: int) -> InboxWire:
    """Join encoded messages into an inbox page."""
    return InboxWire(InboxPage, b'{"messages":[%b],"unread":%d}' % (b",".join(messages), unread), len(messages))


def millisecond(pos: int) -> int:
    """The time of a position, in milliseconds since 1970-01-01 UTC."""
    return pos >> COUNT_BITS


def first_of(unix_ms: int) -> int:
    """The least position of a millisecond."""
    return min(unix_ms << COUNT_BITS, POSITION_MAX)


def next_pos(last: int, now_ms: int) -> int:
    """The position after ``last`` at a time. It never decreases, whatever the clock does; a full millisecond runs on into the next."""
    return max(last + 1, now_ms << COUNT_BITS)


def position(pos: int, message_id: MessageId) -> Position:
    """The wire form of a position."""
    return Position(created_at_unix_ms=millisecond(pos), message_id=message_id)
