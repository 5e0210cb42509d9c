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
    SessionAccountMismatchError,
    SessionNotLiveError,
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
    ParticipantId,
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
    #: When the target session was last seen, if it was not live when it was looked up and is to be.
    not_live_since: int | None = None

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

    def owner(self) -> ParticipantId | None:
        """The account that the target session's id belongs to; asked when the target is not there."""
        ...

    def reply(self) -> Sight:
        """Whether the sender may read, or wrote, the message it replies to."""
        ...


def posting_of(
    sender: ParticipantAddress,
    request: SendRequest,
    message_id: MessageId,
    not_live_since: int | None = None,
) -> Posting:
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
        not_live_since=not_live_since,
    )


def judge(posting: Posting, facts: PostingFacts) -> Posted | None:
    """Return the answer that the posting's key has, None when it is to be stored, or raise the refusal.

    A sender whose account was removed since it proved itself is refused as its next request would be. A key
    is looked up first: a retry gets its first answer even when the target is gone by now. Whether a session
    is live was looked up before, because the system is not asked within a transaction.
    """
    if not facts.sender_exists():
        raise UnauthenticatedError
    if posting.key is not None and (prior := facts.prior()) is not None:
        if prior.content != posting.content:
            raise IdempotencyConflictError(idempotency_key=posting.key)
        return Posted(prior.message_id, fresh=False)
    target = facts.target()
    if target == "missing":
        raise _unknown(posting.to, facts)
    if target == "members":
        raise PermissionDeniedError(need=MEMBER)
    if posting.not_live_since is not None:
        assert isinstance(posting.to, SessionAddress)
        raise SessionNotLiveError(session=posting.to.session, last_seen_unix_ms=posting.not_live_since)
    if posting.reply_to is not None:
        match facts.reply():
            case "missing":
                raise UnknownMessageError(message_id=posting.reply_to)
            case "hidden":
                raise NotAddressedToYouError(message_id=posting.reply_to)
            case "seen":
                pass
    return None


def _unknown(address: Address, facts: PostingFacts) -> RefusalError:
    match address:
        case DirectAddress():
            return UnknownParticipantError(participant=address.participant)
        case SessionAddress():
            owner = facts.owner()
            if owner is None or owner == address.participant:
                return UnknownSessionError(session=address.session)
            return SessionAccountMismatchError(
                session=address.session, expected=owner, presented=address.participant
            )
        case RoomAddress():
            return UnknownRoomError(room=address.room)
