"""The codec: one strict reader, one writer that validates anew, and one refusal for one failure."""

import json
from typing import Any

import pytest

from mail4agent_api import mail
from mail4agent_api._wire import WireModel
from mail4agent_api.codec import decode, decode_value, encode
from mail4agent_api.errors import MalformedError, TooLargeError
from mail4agent_api.mail import (
    Address,
    DirectAddress,
    InboxRequest,
    Message,
    ParticipantId,
    Refusal,
    RoomAddress,
    SendRequest,
)

GOOD = b'{"to":{"kind":"direct","participant":"bob"},"subject":"s","body":"b"}'


def refusal(raw: bytes, kind: Any = SendRequest) -> MalformedError:
    """The refusal that bytes get, which must be one for the request as a whole."""
    with pytest.raises(MalformedError) as refused:
        decode(kind, raw)
    return refused.value


@pytest.mark.promise("api.json-is-read-strictly")
@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b" ",
        b"\xef\xbb\xbf" + GOOD,
        GOOD.decode().encode("utf-16"),
        GOOD.decode().encode("utf-32"),
        GOOD + GOOD,
        GOOD + b"\x00",
        GOOD[:-1],
        GOOD[:-1] + b",}",
        GOOD[:-1] + b',"x":NaN}',
        GOOD[:-1] + b',"x":Infinity}',
        GOOD[:-1] + b',"x":-Infinity}',
        GOOD[:-1] + b',"subject":"s"}',
        GOOD.replace(b'"participant":"bob"', b'"participant":"bob","participant":"bob"'),
        GOOD[:-1] + b',"s\\u0075bject":"s"}',
        GOOD.replace(b'"s"', b'"\\ud83d"'),
        GOOD.replace(b'"s"', b'"\\udc00\\ud800"'),
        GOOD.replace(b'"s"', b'"\xed\xa0\xbd"'),
        GOOD.replace(b'"s"', b'"\xff"'),
        GOOD.replace(b'"s"', b'"\xc0\xaf"'),
        GOOD.replace(b'"s"', b'"a\nb"'),
        GOOD[:-1] + b',"\\ud83d":1}',
        GOOD[:-1] + b',"x":01}',
        GOOD[:-1] + b',"x":.5}',
        GOOD[:-1] + b',"x":0x1}',
        b'{"limit":' + b"1" * 5000 + b"}",
        b"[" * 200 + b"]" * 200,
        b"[" * 100_000,
        b'{"a":' * 100_000,
        b"{'limit': 1}",
        b"// x\n" + GOOD,
    ],
)
def test_bytes_that_are_no_strict_json_are_malformed(raw: bytes) -> None:
    """The refusal is for the request as a whole and quotes nothing of it."""
    error = refusal(raw)
    assert error.refusal.field == "request"
    assert error.status == 400


@pytest.mark.promise("api.json-is-read-strictly")
def test_a_key_that_is_given_twice_is_named_as_the_reason_without_being_quoted() -> None:
    """The sentence says what is wrong, and no text of the sender enters it."""
    raw = b'{"Detected duplicate key": 1, "<b>evil</b>": 1, "<b>evil</b>": 2}'
    assert refusal(raw).refusal.reason == "has a key twice in one object"


def test_a_parser_message_is_not_mistaken_for_another_fault() -> None:
    """A key that reads like the parser's own words changes nothing about a text that is merely cut."""
    assert "twice" not in refusal(b'{"a": 1, "b').refusal.reason


@pytest.mark.parametrize("raw", [b"[]", b'"x"', b"1", b"null", b"true"])
def test_a_value_that_is_no_object_is_malformed(raw: bytes) -> None:
    """An operation takes an object and nothing else."""
    assert refusal(raw).refusal.field == "request"


@pytest.mark.promise("api.unknown-keys-are-refused")
@pytest.mark.parametrize(
    ("key", "quoted"),
    [
        ("sbject", True),
        ("X-Evil_1.0", True),
        ("k" * 48, True),
        ("k" * 49, False),
        ("", False),
        ("a b", False),
        ("a/b", False),
        ("a\n", False),
        ("<script>", False),
        ("'; DROP TABLE messages; --", False),
        ("\u202eevil", False),
        ("\u0000", False),
    ],
)
def test_an_unknown_key_is_quoted_only_when_it_is_short_and_plain(key: str, quoted: bool) -> None:
    """Elsewhere the refusal says that there is one, at its place, and encodes."""
    for value, place in [
        ({**json.loads(GOOD), key: 1}, ""),
        ({**json.loads(GOOD), "to": {"kind": "room", "room": "r", key: 1}}, "/to"),
    ]:
        error = refusal(json.dumps(value).encode())
        assert error.refusal.field == "request"
        reason = error.refusal.reason
        if quoted:
            assert reason == f"has the unknown key {key} (at {place}/{key})"
        else:
            assert reason == "has an unknown key" + (f" (at {place})" if place else "")
        encode(error.refusal)


@pytest.mark.promise("api.one-failure-one-refusal")
@pytest.mark.parametrize(
    ("value", "field", "place"),
    [
        ({"subject": 1}, "subject", "/subject"),
        ({"to": "bob"}, "to", "/to"),
        ({"to": {"kind": "group"}}, "to", "/to/kind"),
        ({"to": {"kind": "direct"}}, "participant id", "/to/participant"),
        ({"to": {"kind": "direct", "participant": "a b"}}, "participant id", "/to/participant"),
        (
            {"refs": [{"kind": "a", "locator": "x"}, {"kind": "a b", "locator": "x"}]},
            "ref kind",
            "/refs/1/kind",
        ),
        ({"refs": [{"kind": "a", "locator": "\u0007"}]}, "ref locator", "/refs/0/locator"),
        ({"refs": [{"kind": "a", "locator": "x", "digest": "X"}]}, "ref digest", "/refs/0/digest"),
        ({"refs": [1]}, "refs", "/refs/0"),
        ({"refs": None}, "refs", "/refs"),
        ({"idempotency_key": ""}, "idempotency_key", "/idempotency_key"),
    ],
)
def test_a_refusal_names_the_label_and_the_place(value: dict[str, Any], field: str, place: str) -> None:
    """``field`` is what clients match on, and the reason ends with where it is."""
    error = refusal(json.dumps({**json.loads(GOOD), **value}).encode())
    assert error.refusal.field == field
    assert error.refusal.reason.endswith(f"(at {place})")
    assert encode(error.refusal) == json.dumps(error.refusal.model_dump(), separators=(",", ":")).encode()


@pytest.mark.promise("api.one-failure-one-refusal")
def test_a_value_with_many_faults_gets_one_refusal_with_no_more_keys() -> None:
    """The first fault is told, in the shape of its kind."""
    value = {"to": {"kind": "room", "room": "x" * 129}, "subject": "\u0007", "body": 7, "extra": 1}
    with pytest.raises(TooLargeError) as refused:
        decode(SendRequest, json.dumps(value).encode())
    assert json.loads(encode(refused.value.refusal)) == {
        "kind": "too_large",
        "field": "room id",
        "limit": 128,
        "actual": 129,
    }


@pytest.mark.parametrize(
    ("raw", "limit"),
    [(b"1.0", 1), (b"5e1", 50), (b"50.0", 50), (b"2.56e2", 256), (b"256.000", 256)],
)
def test_a_whole_number_may_be_written_as_a_float(raw: bytes, limit: int) -> None:
    """It is the integer, as JSON Schema says, and never comes out as a float."""
    request = decode(InboxRequest, b'{"limit": ' + raw + b"}")
    assert request.limit == limit
    assert type(request.limit) is int
    assert b'"limit":%d,' % limit in encode(request)


@pytest.mark.parametrize("raw", [b"1.5", b"true", b'"1"', b"null", b"[]", b"1e400", b"-1e400", b"0.0", b"-1"])
def test_what_is_no_whole_number_in_range_is_malformed(raw: bytes) -> None:
    """No text, no truth value and no overflow is taken for a number."""
    error = refusal(b'{"limit": ' + raw + b"}", InboxRequest)
    assert error.refusal.field == "limit"


def test_a_number_past_64_bits_is_malformed_because_a_refusal_could_not_hold_it() -> None:
    """Up to 2^64-1 the refusal tells the number."""
    with pytest.raises(TooLargeError) as refused:
        decode(InboxRequest, b'{"limit": %d}' % (2**64 - 1))
    assert refused.value.refusal.actual == 2**64 - 1
    assert refusal(b'{"limit": %d}' % 2**64, InboxRequest).refusal.field == "limit"
    assert refusal(b'{"since_unix_ms": %d}' % 10**30, InboxRequest).refusal.field == "since_unix_ms"


def test_a_tag_is_required_on_the_wire_although_it_has_a_default_in_python() -> None:
    """A branch that is decoded by itself needs its kind too."""
    assert DirectAddress(participant=ParticipantId("a")).kind == "direct"
    error = refusal(b'{"participant": "a"}', DirectAddress)
    assert (error.refusal.field, error.refusal.reason) == ("kind", "is missing (at /kind)")


def test_the_python_name_of_a_member_is_no_name_on_the_wire(message: Message) -> None:
    """``from_`` is how Python must spell it, and only Python."""
    raw = encode(message)
    assert refusal(raw.replace(b'"from"', b'"from_"'), Message).refusal.field in {"from", "request"}


def test_two_members_that_exclude_each_other_are_refused_together() -> None:
    """After and before cannot both be asked for."""
    position = {"created_at_unix_ms": 1, "message_id": "m4a_" + "0" * 24}
    assert decode_value(InboxRequest, {"after": position, "before": None}).before is None
    with pytest.raises(MalformedError) as refused:
        decode_value(InboxRequest, {"after": position, "before": position})
    assert refused.value.refusal.field == "before"


@pytest.mark.parametrize(
    "value",
    [
        {1: 2},
        {None: 1},
        {("a",): 1},
        {"\ud800": 1},
        {"thread": "\ud800"},
        [],
        "x",
        None,
        7,
        object(),
        {"limit": object()},
    ],
)
def test_a_parsed_value_that_is_no_json_is_malformed(value: object) -> None:
    """Whatever a form or a configuration file gave, the answer is a refusal."""
    with pytest.raises(MalformedError) as refused:
        decode_value(InboxRequest, value)
    encode(refused.value.refusal)


def test_a_union_decodes_to_the_branch_of_its_kind() -> None:
    """Decoding by the name of a union gives the branch, typed."""
    address = decode(Address, b'{"kind": "room", "room": "planning"}')
    assert isinstance(address, RoomAddress)
    refused = decode(Refusal, b'{"kind": "overloaded", "retry_after_secs": 2}')
    assert refused.kind == "overloaded"


@pytest.mark.parametrize("depth", [0, 1])
def test_a_crowd_of_unknown_keys_is_refused_without_a_look_at_each(depth: int):
    """One refusal for a hundred thousand unknown keys, and no list of them is made."""
    crowd = json.dumps({f"k{number}": 0 for number in range(100_000)})
    raw = (crowd if depth == 0 else f'{{"messages": [{crowd}]}}').encode()
    with pytest.raises(MalformedError) as caught:
        decode(mail.SendManyRequest, raw)
    assert caught.value.refusal == mail.Malformed(
        field="request", reason="has an object with more keys than any may have"
    )


def test_no_object_of_the_contract_has_as_many_keys_as_are_let_through():
    """The bound on keys refuses nothing that is valid."""
    kinds = [kind for kind in vars(mail).values() if isinstance(kind, type) and issubclass(kind, WireModel)]
    assert max(len(kind.model_fields) for kind in kinds) <= 64
