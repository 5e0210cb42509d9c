"""The rules of posting, for every store: what is posted, what must be known of it, and the verdict.

A posting is judged inside the transaction that stores it, so that what it was judged by still holds when
it is committed.
"""

import hashlib
from dataclasses import dataclass
from typing import Literal, Protocol

from mail4agent_api.codec import encode
from mail4agent_api.errors import (
    IdempotencyConflictError,
    NotAddressedToYouError,
    PermissionDeniedError,
    RefusalError,
    UnauthenticatedError,
    UnknownMessageError,
    UnknownParticipantError,
    UnknownRoomError,
    UnknownSessionError,
)
from mail4agent_api.mail import (
    Address,
    DirectAddress,
    Message,
    MessageId,
    ParticipantAddress,
    RoomAddress,
    SendRequest,
    SessionAddress,
)

_ID = b'{"message_id":"'
_STAMP = b'"created_at_unix_ms":'
#: What a caller lacks who posts to a members' room from outside.
MEMBER = "room:member"


@dataclass(frozen=True, slots=True)
class Posting:
    """One message on its way into a store."""

    sender: ParticipantAddress
    to: Address
    message_id: MessageId
    reply_to: MessageId | None
    correlation: str | None
    key: str | None
    #: SHA-256 of everything that the idempotency key names.
    content: bytes
    #: The message's encoding up to the value of its last member, the time.
    head: bytes

    def wire(self, created_at_unix_ms: int) -> bytes:
        """The message's encoding, posted at a time."""
        return b"%b%d}" % (self.head, created_at_unix_ms)


@dataclass(frozen=True, slots=True)
class Prior:
    """What an idempotency key stands for."""

    message_id: MessageId
    content: bytes


@dataclass(frozen=True, slots=True)
class Posted:
    """The answer to a posting. A repeat is not fresh: it wakes nobody."""

    message_id: MessageId
    fresh: bool


Sight = Literal["missing", "hidden", "seen"]


class PostingFacts(Protocol):
    """What a store knows of one posting, asked for as needed within the transaction."""

    def sender_exists(self) -> bool:
        """Whether the sender's account is registered now."""
        ...

    def prior(self) -> Prior | None:
        """What the sender's exact address used this key for."""
        ...

    def target(self) -> Literal["missing", "open", "members", "member"]:
        """The target: not there; anybody may post; only members may; or the sender is one of them."""
        ...

    def reply(self) -> Sight:
        """Whether the sender may read, or wrote, the message it replies to."""
        ...


def posting_of(sender: ParticipantAddress, request: SendRequest, message_id: MessageId) -> Posting:
    """Prepare a posting. Raises what encoding raises for a request that was changed past validation.

    The content that a key names is read from the message's own encoding, whose shape never changes, so that a
    retry is the same after an upgrade that gave requests more options.
    """
    # Nothing is validated here, because encoding validates all of it.
    message = Message.model_construct(
        message_id=message_id,
        from_=sender,
        to=request.to,
        subject=request.subject,
        body=request.body,
        reply_to=request.reply_to,
        correlation=request.correlation,
        refs=request.refs,
        created_at_unix_ms=1,
    )
    head = encode(message)[:-2]
    start = len(_ID) + len(message_id) + 1
    assert head.startswith(_ID), "the id is a message's first member"
    assert head.endswith(_STAMP), "the time is a message's last member"
    content = hashlib.sha256(memoryview(head)[start:]).digest()
    return Posting(
        sender=sender,
        to=request.to,
        message_id=message_id,
        reply_to=request.reply_to,
        correlation=request.correlation,
        key=request.idempotency_key,
        content=content,
        head=head,
    )


def judge(posting: Posting, facts: PostingFacts) -> Posted | None:
    """Return the answer that the posting's key has, None when it is to be stored, or raise the refusal.

    A sender whose account was removed since it proved itself is refused as its next request would be. A key
    is looked up first: a retry gets its first answer even when the target is gone by now.
    """
    if not facts.sender_exists():
        raise UnauthenticatedError
    if posting.key is not None and (prior := facts.prior()) is not None:
        if prior.content != posting.content:
            raise IdempotencyConflictError(idempotency_key=posting.key)
        return Posted(prior.message_id, fresh=False)
    target = facts.target()
    if target == "missing":
        raise _unknown(posting.to)
    if target == "members":
        raise PermissionDeniedError(need=MEMBER)
    if posting.reply_to is not None:
        match facts.reply():
            case "missing":
                raise UnknownMessageError(message_id=posting.reply_to)
            case "hidden":
                raise NotAddressedToYouError(message_id=posting.reply_to)
            case "seen":
                pass
    return None


def _unknown(address: Address) -> RefusalError:
    match address:
        case DirectAddress():
            return UnknownParticipantError(participant=address.participant)
        case SessionAddress():
            return UnknownSessionError(session=address.session)
        case RoomAddress():
            return UnknownRoomError(room=address.room)
