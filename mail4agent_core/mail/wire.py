"""Answers that are already encoded, and positions.

What the codec encoded once is joined and served as it is.
"""

from collections.abc import Callable, Iterable, Sequence, Sized
from dataclasses import dataclass
from typing import Generic, TypeVar

from pydantic import BaseModel

from mail4agent_api.codec import decode
from mail4agent_api.mail import InboxPage, MessageId, Position

T = TypeVar("T", bound=BaseModel)
V = TypeVar("V", bound=Sized)

#: Where a position's integer is cut: the upper bits are the millisecond, the lower ones count within it.
COUNT_BITS = 20
POSITION_MAX = 2**63 - 1
#: What a page holds besides its messages: its keys, and an unread count of ten digits.
ENVELOPE_BYTES = len(b'{"messages":[],"unread":}') + 10


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
    """An encoded inbox page that knows how many messages it holds, and what it covers (``Page.span``)."""

    count: int
    span: tuple[int, int] | None


def inbox_wire(messages: Sequence[bytes], unread: int, span: tuple[int, int] | None = None) -> InboxWire:
    """Join encoded messages into an inbox page."""
    raw = b'{"messages":[%b],"unread":%d}' % (b",".join(messages), unread)
    return InboxWire(InboxPage, raw, len(messages), span)


def cut(items: Iterable[V], limit: int, max_bytes: int, size: Callable[[V], int] = len) -> list[V]:
    """The first ``limit`` items, fewer when their page would pass ``max_bytes``, but at least one.

    No more is taken from ``items`` than it needs to tell.
    """
    kept: list[V] = []
    total = ENVELOPE_BYTES
    for item in items:
        total += size(item) + 1
        if kept and total > max_bytes:
            break
        kept.append(item)
        if len(kept) == limit:
            break
    return kept


def millisecond(pos: int) -> int:
    """The time of a position, in milliseconds since 1970-01-01 UTC."""
    return pos >> COUNT_BITS


def first_of(unix_ms: int) -> int:
    """The least position of a millisecond."""
    return min(unix_ms << COUNT_BITS, POSITION_MAX)


def next_pos(last: int, now_ms: int) -> int:
    """The position after ``last`` at a time.

    It never decreases, whatever the clock does, and its time is at least 1; a full millisecond runs on into
    the next. Raises OverflowError for a clock past the year 2248.
    """
    pos = max(last + 1, max(now_ms, 1) << COUNT_BITS)
    if pos >= POSITION_MAX:
        raise OverflowError("no position is left")
    return pos


def position(pos: int, message_id: MessageId) -> Position:
    """The wire form of a position."""
    return Position(created_at_unix_ms=millisecond(pos), message_id=message_id)
