"""Messages and their refs: bounds in bytes, control characters, and what may be absent."""

import json
from typing import Any

import pytest

from mail4agent_api.bounds import BODY_MAX_BYTES, REF_DIGEST_MAX_CHARS, REFS_MAX, SUBJECT_MAX_BYTES
from mail4agent_api.codec import decode, decode_value, encode
from mail4agent_api.errors import MalformedError, TooLargeError
from mail4agent_api.mail import DeliveryNotification, Message, MessageRef, SendRequest

TO = {"kind": "direct", "participant": "bob"}
EMOJI = "\U0001f600"


def request(**members: Any) -> SendRequest:
    """Decode a request to send that differs from a valid one in some members."""
    return decode_value(SendRequest, {"to": TO, "subject": "s", "body": "b", **members})


def changed(message: Message, **members: Any) -> bytes:
    """Encode a message that was changed past validation."""
    return encode(message.model_copy(update=members))


def test_subject_is_accepted_at_exactly_the_byte_limit() -> None:
    """The bound itself is allowed."""
    assert len(request(subject="a" * SUBJECT_MAX_BYTES).subject) == SUBJECT_MAX_BYTES


def test_subject_is_rejected_one_byte_over_the_limit() -> None:
    """One byte more is too large, and both numbers are told."""
    with pytest.raises(TooLargeError) as refused:
        request(subject="a" * (SUBJECT_MAX_BYTES + 1))
    refusal = refused.value.refusal
    assert (refusal.field, refusal.limit) == ("subject", SUBJECT_MAX_BYTES)
    assert refusal.actual == SUBJECT_MAX_BYTES + 1


def test_subject_byte_limit_counts_bytes_not_chars_for_multi_byte_utf8() -> None:
    """200 characters of four bytes are 800 bytes."""
    with pytest.raises(TooLargeError) as refused:
        request(subject=EMOJI * 200)
    assert (refused.value.refusal.field, refused.value.refusal.actual) == ("subject", 800)
    assert request(subject=EMOJI * 128).subject == EMOJI * 128


def test_body_is_accepted_at_exactly_the_byte_limit() -> None:
    """The bound itself is allowed."""
    assert len(request(body="a" * BODY_MAX_BYTES).body) == BODY_MAX_BYTES


def test_body_is_rejected_one_byte_over_the_limit() -> None:
    """One byte more is too large, and both numbers are told."""
    with pytest.raises(TooLargeError) as refused:
        request(body="a" * (BODY_MAX_BYTES + 1))
    refusal = refused.value.refusal
    assert (refusal.field, refusal.limit, refusal.actual) == ("body", BODY_MAX_BYTES, BODY_MAX_BYTES + 1)


def test_body_byte_limit_counts_bytes_not_chars_for_multi_byte_utf8() -> None:
    """20,000 characters of four bytes are past the bound although there are few of them."""
    with pytest.raises(TooLargeError) as refused:
        request(body=EMOJI * 20_000)
    assert refused.value.refusal.field == "body"


@pytest.mark.parametrize("code", [*range(0x20), 0x7F, *range(0x80, 0xA0)])
def test_every_control_character_is_refused_in_a_line(code: int) -> None:
    """C0, delete and C1, at the start, in the middle and at the end of a short and of a long text."""
    for text in (chr(code) + "a", "a" + chr(code) + "b", "a" + chr(code), "é" * 200 + chr(code)):
        with pytest.raises(MalformedError) as refused:
            request(subject=text)
        assert refused.value.refusal.field == "subject"


@pytest.mark.parametrize("code", [*range(0x20), 0x7F, *range(0x80, 0xA0)])
def test_of_the_control_characters_a_body_may_hold_line_feed_and_tab(code: int) -> None:
    """The others are malformed, also deep in a long body."""
    for text in ("a" + chr(code) + "b", "é\n" * 400 + chr(code), "a\n" * 400 + chr(code)):
        if chr(code) in "\n\t":
            assert request(body=text).body == text
        else:
            with pytest.raises(MalformedError) as refused:
                request(body=text)
            assert refused.value.refusal.field == "body"


@pytest.mark.parametrize("text", ["\u00a0", "\u00ad", "«°»", "\u2028\u2029", "\ufeff", "\U0010ffff", "~ !"])
def test_what_only_looks_like_a_control_character_is_accepted(text: str) -> None:
    """Only category Cc is refused: no-break spaces, separators and format characters pass."""
    assert request(subject=text, body=text * 200).subject == text


def test_message_rejects_reply_to_referencing_its_own_message_id(message: Message) -> None:
    """A message is no answer to itself."""
    with pytest.raises(MalformedError) as refused:
        changed(message, reply_to=message.message_id)
    assert refused.value.refusal.field == "reply_to"


def refs(count: int) -> list[dict[str, str]]:
    """As many refs as asked for."""
    return [{"kind": "note", "locator": f"loc-{index}"} for index in range(count)]


def test_message_rejects_more_refs_than_the_bound() -> None:
    """One ref too many is too large, and both numbers are told."""
    with pytest.raises(TooLargeError) as refused:
        request(refs=refs(REFS_MAX + 1))
    refusal = refused.value.refusal
    assert (refusal.field, refusal.limit, refusal.actual) == ("refs", REFS_MAX, REFS_MAX + 1)


def test_message_accepts_exactly_refs_max_refs(message: Message) -> None:
    """The bound itself is allowed, in a request and in a message."""
    made = request(refs=refs(REFS_MAX)).refs
    assert len(made) == REFS_MAX
    assert len(decode(Message, changed(message, refs=made)).refs) == REFS_MAX


@pytest.mark.promise("api.old-shapes-decode")
def test_message_json_without_refs_key_still_deserializes(message: Message) -> None:
    """A message from before refs has none, and is valid in every other way."""
    value = json.loads(encode(message))
    del value["refs"]
    decoded = decode(Message, json.dumps(value).encode())
    assert decoded.refs == []
    assert decoded == message


def test_a_message_from_before_time_is_refused() -> None:
    """Zero is no time."""
    with pytest.raises(MalformedError) as refused:
        decode_value(
            Message,
            {
                "message_id": "m4a_" + "0" * 24, "from": TO, "to": TO, "subject": "", "body": "",
                "created_at_unix_ms": 0,
            },
        )  # fmt: skip
    assert refused.value.refusal.field == "created_at_unix_ms"


def ref(digest: str) -> MessageRef:
    """Decode a ref with a digest."""
    return decode_value(MessageRef, {"kind": "note", "locator": "loc", "digest": digest})


def test_message_ref_rejects_more_than_the_digest_bound() -> None:
    """A digest has a ceiling, whichever hash made it."""
    with pytest.raises(TooLargeError) as refused:
        ref("a" * (REF_DIGEST_MAX_CHARS + 1))
    assert refused.value.refusal.field == "ref digest"
    assert ref("a" * REF_DIGEST_MAX_CHARS).digest == "a" * REF_DIGEST_MAX_CHARS


def test_message_ref_rejects_non_hex_digest() -> None:
    """A digest is lower-case hexadecimal."""
    with pytest.raises(MalformedError) as refused:
        ref("not-hex")
    assert refused.value.refusal.field == "ref digest"


def test_delivery_notification_round_trips_and_never_carries_a_subject_or_body_field(
    message: Message,
) -> None:
    """A doorbell says which letter came, not what is in it."""
    notification = DeliveryNotification(
        account=message.to.participant, to=message.to, message_id=message.message_id, from_=message.from_
    )
    raw = encode(notification)
    assert not json.loads(raw).keys() & {"subject", "body"}
    assert decode(DeliveryNotification, raw) == notification
    with pytest.raises(MalformedError):
        decode(DeliveryNotification, raw[:-1] + b',"subject":"hi"}')
