"""Values that the tests of the wire package share."""

import pytest

from mail4agent_api.mail import DirectAddress, Message, MessageId, ParticipantId


@pytest.fixture
def message_id() -> MessageId:
    """A valid message id."""
    return MessageId("m4a_0123456789abcdef01234567")


@pytest.fixture
def alice() -> DirectAddress:
    """The address of an account."""
    return DirectAddress(participant=ParticipantId("alice"))


@pytest.fixture
def bob() -> DirectAddress:
    """The address of another account."""
    return DirectAddress(participant=ParticipantId("bob"))


@pytest.fixture
def message(message_id: MessageId, alice: DirectAddress, bob: DirectAddress) -> Message:
    """A valid message with nothing optional in it."""
    return Message(message_id=message_id, from_=alice, to=bob, subject="hi", body="hi", created_at_unix_ms=1)
