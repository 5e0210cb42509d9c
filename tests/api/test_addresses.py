"""Addresses: the tagged object on the wire, and the text form that people write."""

import json

import pytest

from mail4agent_api.addresses import account_of, address_of, participant_of, text_of
from mail4agent_api.codec import decode, decode_value, encode
from mail4agent_api.errors import MalformedError
from mail4agent_api.mail import (
    Ack,
    Address,
    DirectAddress,
    Message,
    MessageId,
    ParticipantId,
    RoomAddress,
    RoomId,
    SendResponse,
    SessionAddress,
    SessionId,
)

DIRECT = DirectAddress(participant=ParticipantId("claude"))
SESSION = SessionAddress(participant=ParticipantId("claude"), session=SessionId("s-7f3a0000"))
ROOM = RoomAddress(room=RoomId("room-1"))


@pytest.mark.parametrize(
    ("address", "value"),
    [
        (DIRECT, {"kind": "direct", "participant": "claude"}),
        (SESSION, {"kind": "session", "participant": "claude", "session": "s-7f3a0000"}),
        (ROOM, {"kind": "room", "room": "room-1"}),
    ],
)
def test_address_serialises_to_the_tagged_kind_form_and_round_trips(
    address: Address, value: dict[str, str]
) -> None:
    """Each kind has its own object, and decodes to what it was."""
    raw = encode(address)
    assert json.loads(raw) == value
    assert decode(Address, raw) == address


@pytest.mark.parametrize(
    ("address", "text"), [(DIRECT, "claude"), (SESSION, "claude/s-7f3a0000"), (ROOM, "#room-1")]
)
def test_address_display_and_from_str_use_the_familiar_shape(address: Address, text: str) -> None:
    """The text form of each kind reads back as the address."""
    assert text_of(address) == text
    assert address_of(text) == address


@pytest.mark.parametrize(
    ("text", "field"),
    [
        ("", "participant id"),
        ("#", "room id"),
        ("##room", "room id"),
        ("a/b", "session id"),
        ("a/s-7f3a0000/x", "session id"),
        ("/s-7f3a0000", "participant id"),
        ("a b", "participant id"),
        ("alice\n", "participant id"),
    ],
)
def test_a_text_that_is_no_address_is_refused_by_the_id_that_is_wrong(text: str, field: str) -> None:
    """The refusal names which part of the text is no id."""
    with pytest.raises(MalformedError) as refused:
        address_of(text)
    assert refused.value.refusal.field == field


def test_a_room_is_no_participant_in_text_either() -> None:
    """Where someone is meant, the text of a room is refused."""
    assert participant_of("claude/s-7f3a0000") == SESSION
    with pytest.raises(MalformedError):
        participant_of("#room-1")


def test_address_account_names_the_owning_account_and_none_for_a_room() -> None:
    """An account and its sessions have an account, a room has none."""
    assert account_of(DIRECT) == "claude"
    assert account_of(SESSION) == "claude"
    assert account_of(ROOM) is None


@pytest.mark.parametrize(
    ("kind", "field", "value"),
    [
        (
            Message,
            "from",
            {"to": {"kind": "room", "room": "r"}, "subject": "", "body": "", "created_at_unix_ms": 1},
        ),
        (Ack, "reader", {"acked_at_unix_ms": 1}),
        (SendResponse, "from", {}),
    ],
)
def test_message_and_ack_and_send_response_refuse_a_room_as_the_participant_address(
    kind: type[Message], field: str, value: dict[str, object], message_id: MessageId
) -> None:
    """Nobody sends from a room or acknowledges as one."""
    room = {"kind": "room", "room": "room-1"}
    with pytest.raises(MalformedError) as refused:
        decode_value(kind, {"message_id": message_id, **value, field: room})
    assert refused.value.refusal.field == field


def test_a_room_put_in_as_the_sender_afterwards_is_refused_on_encoding(message: Message) -> None:
    """Encoding holds the same rule for a value that was changed past validation."""
    changed = message.model_copy(update={"from_": ROOM})
    with pytest.raises(MalformedError) as refused:
        encode(changed)
    assert refused.value.refusal.field == "from"
