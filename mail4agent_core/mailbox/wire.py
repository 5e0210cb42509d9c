"""Messages as the contract shows them. A file may say anything where its program allowed it: what no value of
the contract can say is null, and a character that no text of the contract may hold is replaced.
"""

import re

from mail4agent_api.bounds import BODY_MAX_BYTES
from mail4agent_api.codec import decode_value
from mail4agent_api.errors import RefusalError
from mail4agent_api.mailbox import (
    MailboxEntry,
    MailboxLease,
    MailboxMessageId,
    MailboxSession,
    MailboxText,
    MailboxTime,
    ProducerName,
)

from .message import Status, StoredMessage
from .times import text_of

_ATTEMPTS_MAX = 1_000
_U32_MAX = 2**32 - 1
_STATUSES = frozenset(Status)
_FORBIDDEN = re.compile("[\u0000-\u0008\u000b-\u001f\u007f-\u009f]")


def entry_of(message: StoredMessage) -> MailboxEntry:
    """A message without its text; its taint is the one that counts."""
    lease = message.lease if message.status == Status.LEASED else None
    session = _session(lease.session) if lease is not None else None
    return MailboxEntry(
        id=MailboxMessageId(message.id),
        status=message.status if message.status in _STATUSES else "unknown",
        from_=ProducerName(message.from_),
        from_session=_session(message.from_session),
        to=ProducerName(message.to),
        reply_to=_id(message.reply_to),
        taint=message.effective_taint(),
        created_at=_time(message.created_at),
        delivered_at=_time(message.delivered_at),
        delivered_to=_session(message.delivered_to),
        dismissed_at=_time(message.dismissed_at),
        dead_at=_time(message.dead_at),
        lease=None
        if lease is None or session is None
        else MailboxLease(
            session=session,
            until=text_of(lease.until_ms),
            attempt=min(max(lease.attempt, 1), _ATTEMPTS_MAX),
        ),
        attempts=min(message.attempts, _U32_MAX),
        body_bytes=len(message.body.encode()),
    )


def text_with(message: StoredMessage) -> MailboxText:
    """A message with its text, as far as the contract's bound goes."""
    plain = _FORBIDDEN.sub("\ufffd", message.body)
    return MailboxText(
        entry=entry_of(message), body=plain.encode()[:BODY_MAX_BYTES].decode("utf-8", "ignore")
    )


def _id(text: str | None) -> MailboxMessageId | None:
    try:
        return None if text is None else MailboxMessageId(text)
    except RefusalError:
        return None


def _session(text: str | None) -> MailboxSession | None:
    try:
        return None if text is None else MailboxSession(text)
    except RefusalError:
        return None


def _time(text: str | None) -> str | None:
    try:
        return None if text is None else decode_value(MailboxTime, text)
    except RefusalError:
        return None
