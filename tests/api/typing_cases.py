"""What a type checker must make of the wire package.

A line that ends in ``# error`` is a planted mistake; every other line is right.
"""

from typing import assert_type

from mail4agent_api._wire import Declared
from mail4agent_api.addresses import account_of
from mail4agent_api.codec import decode, encode
from mail4agent_api.errors import MalformedError, RefusalError, TooLargeError, UnknownRoomError
from mail4agent_api.mail import (
    AckRequest,
    Address,
    DirectAddress,
    InboxRequest,
    Malformed,
    Message,
    MessageId,
    ParticipantId,
    Refusal,
    RoomAddress,
    RoomId,
    SendRequest,
    SessionAddress,
    SessionCorroborated,
    SessionId,
)

participant = ParticipantId("alice")
room = RoomId("planning")
message_id = MessageId("m4a_0123456789abcdef01234567")
address = DirectAddress(participant=participant)
counts: dict[ParticipantId, int] = {participant: 1}


def right(message: Message, raw: bytes, card: SessionCorroborated, refused: RefusalError) -> None:
    """Uses that must pass."""
    assert_type(decode(SendRequest, raw), SendRequest)
    assert_type(decode(Address, raw), DirectAddress | SessionAddress | RoomAddress)
    assert_type(decode(MessageId, raw), MessageId)
    assert_type(encode(message), bytes)
    assert_type(message.from_, DirectAddress | SessionAddress)
    assert_type(card.model, Declared[str] | None)
    assert_type(account_of(address), ParticipantId | None)
    text: str = message.message_id
    SendRequest(to=RoomAddress(room=room), subject=text, body="b")
    InboxRequest()
    match refused:
        case MalformedError():
            assert_type(refused.refusal, Malformed)
        case TooLargeError():
            assert_type(refused.refusal.limit, int)
        case _:
            pass
    raise UnknownRoomError(room=room)


def wrong(message: Message, card: SessionCorroborated, refusal: Refusal) -> None:
    """Planted mistakes."""
    DirectAddress(participant=room)  # error
    DirectAddress(participant="alice")  # error
    AckRequest(message_id=participant)  # error
    SessionAddress(participant=participant, session=message_id)  # error
    SendRequest(to=address, subject="s")  # error
    SendRequest(to=address, subject="s", body="b", sender=address)  # error
    message.model_copy().from_ = RoomAddress(room=room)  # error
    session: SessionId = message.message_id  # noqa: F841 # error
    counts[room]  # error
    if card.model is not None:
        card.model.upper()  # error
        model: str = card.model  # noqa: F841 # error
    secs: int = refusal.retry_after_secs  # noqa: F841 # error
    raise UnknownRoomError(room=participant)  # error
