"""The four identifiers: made from text, checked when made, and none accepted where another is meant."""

import copy
import pickle

import pytest
from pydantic import ValidationError

from mail4agent_api.bounds import (
    MESSAGE_ID_HEX_LEN,
    MESSAGE_ID_PREFIX,
    SELECTOR_MAX_BYTES,
    SESSION_ID_HEX_MAX_CHARS,
    SESSION_ID_HEX_MIN_CHARS,
    SESSION_ID_PREFIX,
)
from mail4agent_api.codec import decode, decode_value
from mail4agent_api.errors import MalformedError, TooLargeError
from mail4agent_api.mail import (
    AckRequest,
    DirectAddress,
    MessageId,
    ParticipantId,
    RoomAddress,
    RoomId,
    SessionAddress,
    SessionId,
)

VALID_MESSAGE_ID = "m4a_0123456789abcdef01234567"


def test_message_id_round_trips_through_display_from_str_and_serde() -> None:
    """The text of an id is the id, on the wire too."""
    message_id = MessageId(VALID_MESSAGE_ID)
    assert str(message_id) == VALID_MESSAGE_ID
    assert message_id == VALID_MESSAGE_ID
    decoded = decode(MessageId, f'"{VALID_MESSAGE_ID}"'.encode())
    assert decoded == message_id
    assert type(decoded) is MessageId


def test_message_id_rejects_wrong_prefix() -> None:
    """Another prefix is malformed."""
    with pytest.raises(MalformedError) as refused:
        MessageId("wrong_0123456789abcdef01234567")
    assert refused.value.refusal.field == "message id"


def test_message_id_rejects_short_body() -> None:
    """Too few digits are malformed."""
    with pytest.raises(MalformedError) as refused:
        MessageId("m4a_0123456789abcdef")
    assert refused.value.refusal.field == "message id"


def test_message_id_rejects_long_body() -> None:
    """Too many digits are malformed as well: the width is fixed, so there is no bound to be past."""
    with pytest.raises(MalformedError) as refused:
        MessageId(MESSAGE_ID_PREFIX + "0" * (MESSAGE_ID_HEX_LEN + 1))
    assert refused.value.refusal.field == "message id"


def test_message_id_rejects_non_hex_body() -> None:
    """A letter past f is malformed."""
    with pytest.raises(MalformedError) as refused:
        MessageId("m4a_0123456789abcdef0123456g")
    assert refused.value.refusal.field == "message id"


def test_participant_id_rejects_empty() -> None:
    """Nothing is no id."""
    with pytest.raises(MalformedError) as refused:
        ParticipantId("")
    assert refused.value.refusal.field == "participant id"


def test_participant_id_rejects_129_bytes() -> None:
    """One byte past the bound is too large, and both numbers are told."""
    with pytest.raises(TooLargeError) as refused:
        ParticipantId("a" * 129)
    refusal = refused.value.refusal
    assert (refusal.field, refusal.limit, refusal.actual) == ("participant id", SELECTOR_MAX_BYTES, 129)


def test_participant_id_accepts_exactly_128_bytes() -> None:
    """The bound itself is allowed."""
    assert len(ParticipantId("a" * SELECTOR_MAX_BYTES)) == SELECTOR_MAX_BYTES


def test_participant_id_rejects_non_ascii() -> None:
    """A letter beyond ASCII is malformed."""
    with pytest.raises(MalformedError) as refused:
        ParticipantId("héllo")
    assert refused.value.refusal.field == "participant id"


def test_participant_id_is_refused_for_its_bytes_before_its_characters() -> None:
    """65 letters of two bytes are past 128 bytes, and that is what is said."""
    with pytest.raises(TooLargeError) as refused:
        ParticipantId("é" * 65)
    assert refused.value.refusal.actual == 130


@pytest.mark.parametrize("value", ["a/b", "a b"])
def test_participant_id_rejects_disallowed_characters(value: str) -> None:
    """Whatever would make an address ambiguous is malformed."""
    with pytest.raises(MalformedError) as refused:
        ParticipantId(value)
    assert refused.value.refusal.field == "participant id"


def test_room_id_and_participant_id_are_distinct_types() -> None:
    """They may have the same text, but neither is taken for the other."""
    room, participant = RoomId("shared-name"), ParticipantId("shared-name")
    assert str(room) == str(participant)
    assert not isinstance(room, ParticipantId)
    with pytest.raises(ValidationError):
        DirectAddress(participant=room)  # pyright: ignore[reportArgumentType]


def test_session_id_round_trips_and_rejects_a_short_body() -> None:
    """A session id has a least number of digits and its prefix."""
    assert str(SessionId("s-7f3a0000")) == "s-7f3a0000"
    for text in ("s-abc", "wrong-7f3a0000"):
        with pytest.raises(MalformedError) as refused:
            SessionId(text)
        assert refused.value.refusal.field == "session id"


def test_session_id_takes_every_width_between_its_bounds() -> None:
    """The least and the greatest number of digits are allowed, one less and one more are malformed."""
    for width in (SESSION_ID_HEX_MIN_CHARS, SESSION_ID_HEX_MAX_CHARS):
        assert SessionId(SESSION_ID_PREFIX + "a" * width).endswith("a" * width)
    for width in (SESSION_ID_HEX_MIN_CHARS - 1, SESSION_ID_HEX_MAX_CHARS + 1):
        with pytest.raises(MalformedError):
            SessionId(SESSION_ID_PREFIX + "a" * width)


@pytest.mark.parametrize("kind", [MessageId, SessionId, ParticipantId, RoomId])
@pytest.mark.parametrize("value", [None, 7, True, b"alice", ["alice"], "abc\n", "\ud800"])
def test_no_id_is_made_of_what_is_no_such_text(kind: type[ParticipantId], value: object) -> None:
    """Other values, a line feed at the end and a lone surrogate are malformed under the id's own label."""
    with pytest.raises(MalformedError) as refused:
        kind(value)  # pyright: ignore[reportArgumentType]
    assert refused.value.refusal.field == kind.LABEL


@pytest.mark.parametrize("kind", [SessionId, ParticipantId, MessageId])
def test_no_id_is_made_of_another_id(kind: type[ParticipantId]) -> None:
    """An id of another type is refused even where its text would do."""
    with pytest.raises(MalformedError):
        kind(RoomId("planning"))


def test_an_id_of_another_type_is_refused_in_a_parsed_value() -> None:
    """The codec keeps the types apart for values that were made in Python."""
    with pytest.raises(MalformedError) as refused:
        decode_value(DirectAddress, {"kind": "direct", "participant": RoomId("planning")})
    assert refused.value.refusal.field == "participant id"
    assert decode_value(RoomAddress, {"kind": "room", "room": RoomId("planning")}).room == "planning"


def test_ids_survive_copying_and_pickling() -> None:
    """A copy has the same type and text."""
    address = SessionAddress(participant=ParticipantId("alice"), session=SessionId("s-7f3a0000"))
    for made in (copy.copy(address), copy.deepcopy(address), pickle.loads(pickle.dumps(address))):
        assert made == address
        assert type(made.session) is SessionId


def test_an_id_has_no_attributes_of_its_own() -> None:
    """Nothing can be hung on an id, so it stays as small and as fixed as text."""
    with pytest.raises(AttributeError):
        ParticipantId("alice").note = "x"  # pyright: ignore[reportAttributeAccessIssue]


def test_decoded_ids_are_of_their_types() -> None:
    """Decoding gives the id types, not plain text."""
    request = decode(AckRequest, f'{{"message_id": "{VALID_MESSAGE_ID}"}}'.encode())
    assert type(request.message_id) is MessageId
