"""Messages as a person thinks of them: a text to somebody, an answer to a message.

Each carries an idempotency key, so that sending is safe to repeat.
"""

from __future__ import annotations

import secrets
from collections.abc import Sequence

from mail4agent_api.codec import decode_value
from mail4agent_api.mail import Address, Message, MessageRef, ParticipantAddress, RoomAddress, SendRequest
from mail4agent_client.arguments import address

#: What an answer's subject starts with, once.
ANSWER_PREFIX = "Re: "


def idempotency_key() -> str:
    """A key that no other message has."""
    return secrets.token_hex(16)


def letter(
    to: Address | str,
    subject: str,
    body: str,
    *,
    reply_to: str | None = None,
    correlation: str | None = None,
    refs: Sequence[MessageRef] = (),
    key: str | None = None,
    allow_dead: bool = False,
) -> SendRequest:
    """One message, with a new idempotency key unless one is given. Raises MalformedError or TooLargeError."""
    return decode_value(
        SendRequest,
        {
            "to": address(to),
            "subject": subject,
            "body": body,
            "reply_to": reply_to,
            "correlation": correlation,
            "refs": list(refs),
            "idempotency_key": idempotency_key() if key is None else key,
            "allow_dead": allow_dead,
        },
    )


def answer(
    message: Message,
    body: str,
    *,
    to: Address | str | None = None,
    subject: str | None = None,
    own: ParticipantAddress | None = None,
    refs: Sequence[MessageRef] = (),
    key: str | None = None,
) -> SendRequest:
    """An answer to a message: to its room or else its author, or where an own message (``own`` is the caller)
    went.

    The subject is the message's behind ``Re: ``, cut to the bound of a subject, and the correlation is the
    message's.
    """
    if to is None:
        to = message.to if isinstance(message.to, RoomAddress) or message.from_ == own else message.from_
    if subject is None:
        subject = (
            message.subject if message.subject.startswith(ANSWER_PREFIX) else ANSWER_PREFIX + message.subject
        )
        subject = _cut(subject, 512)
    return letter(
        to, subject, body, reply_to=message.message_id, correlation=message.correlation, refs=refs, key=key
    )


def _cut(text: str, limit: int) -> str:
    """At most ``limit`` bytes of UTF-8, ending on a whole character."""
    return text.encode()[:limit].decode("utf-8", "ignore")
