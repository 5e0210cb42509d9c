"""Leases and order: pure rules over the messages of one mailbox.

A lease that is over makes its message pending again with its attempts counted; after ``ATTEMPTS_MAX`` of them
it is set aside as dead. A moment further ahead than any lease lasts is one of a clock that has stepped since,
and is over too: a message never waits for a clock.
"""

import re
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta

from .message import Lease, Status, StoredMessage
from .times import LATEST_MS, text_of

ATTEMPTS_MAX = 5
LEASE_SECS_MAX = 86_400
#: The ids that have an order: the original's, and ours.
_ORDERED = re.compile(r"(?P<second>[0-9]{8}T[0-9]{6})-(?P<number>[0-9a-f]{8})(?:-[0-9a-f]{8})?\Z")
_SECOND = "%Y%m%dT%H%M%S"


def is_over(lease: Lease, now_ms: int) -> bool:
    """Whether nobody holds a message by this lease any more."""
    return not now_ms < lease.until_ms <= now_ms + LEASE_SECS_MAX * 1000


def settled(message: StoredMessage, now_ms: int) -> StoredMessage:
    """The message as it stands now: a lease that is over is taken from it."""
    if message.status != Status.LEASED:
        return message
    if message.lease is not None and not is_over(message.lease, now_ms):
        return message
    if message.attempts >= ATTEMPTS_MAX:
        return message.changed(status=Status.DEAD, lease=None, dead_at=text_of(now_ms))
    return message.changed(status=Status.PENDING, lease=None)


def handed(message: StoredMessage, session: str, now_ms: int, lease_ms: int | None) -> StoredMessage:
    """A pending message as a session has it: for as long as the lease lasts, or for good without one."""
    attempt = message.attempts + 1
    if lease_ms is None:
        return message.changed(
            status=Status.DELIVERED, delivered_at=text_of(now_ms), delivered_to=session, attempts=attempt
        )
    until_ms = min(now_ms + lease_ms, LATEST_MS)
    return message.changed(status=Status.LEASED, lease=Lease(session, until_ms, attempt), attempts=attempt)


def confirmed(message: StoredMessage, session: str, now_ms: int) -> StoredMessage | None:
    """A message that its holder has done with, None when the session does not hold it.

    A holder that is late is still the holder as long as nobody took the message from it.
    """
    if message.status == Status.DELIVERED and message.delivered_to == session:
        return message
    if message.status != Status.LEASED or message.lease is None or message.lease.session != session:
        return None
    return message.changed(
        status=Status.DELIVERED, lease=None, delivered_at=text_of(now_ms), delivered_to=session
    )


def next_id(ids: Iterable[str], now_ms: int, random: str) -> str:
    """An id that stands after all others of its mailbox, whatever the clock says. ``random`` is 8 digits."""
    now = datetime.fromtimestamp(min(now_ms, LATEST_MS) // 1000, UTC).strftime(_SECOND)
    second, number = now, 0
    for found in filter(None, map(_ORDERED.match, ids)):
        after = _after(found["second"], int(found["number"], 16))
        if after is not None:
            second, number = max((second, number), after)
    return f"{second}-{number:08x}-{random}"


def _after(second: str, number: int) -> tuple[str, int] | None:
    """The place behind another; None behind the last one that can be written, which then does not count."""
    if number < 0xFFFFFFFF:
        return second, number + 1
    try:
        moment = datetime.strptime(second, _SECOND).replace(tzinfo=UTC) + timedelta(seconds=1)
    except (ValueError, OverflowError):
        return None
    return moment.strftime(_SECOND), 0
