"""What goes out: validated anew as the contract has it, whatever the value went through."""

import json
from typing import Any

import pytest
from pydantic import ValidationError

from mail4agent_api import codec
from mail4agent_api._wire import WireModel
from mail4agent_api.codec import decode, encode, parse
from mail4agent_api.errors import RefusalError
from mail4agent_api.mail import (
    DirectAddress,
    InboxPage,
    Message,
    MessageRef,
    ParticipantId,
    Refusal,
    RoomAddress,
    SendRequest,
    WhoAmI,
)
from tests.vectors import contract_type, vectors


def send_request() -> SendRequest:
    """A good request, new each time because the tests spoil it."""
    return SendRequest(to=DirectAddress(participant=ParticipantId("bob")), subject="s", body="b")


class Spy(SendRequest):
    """A request with a field that the contract does not have."""

    token: str = "secret"


class SpyAddress(DirectAddress):
    """An address with a field that the contract does not have."""

    token: str = "secret"


def with_attribute(name: str, value: object) -> SendRequest:
    """A request whose attribute was set past its being frozen."""
    request = send_request()
    object.__setattr__(request, name, value)
    return request


def with_member(name: str, value: object) -> SendRequest:
    """A request whose dictionary was edited."""
    request = send_request()
    request.__dict__[name] = value
    return request


def with_refs(*items: object) -> SendRequest:
    """A request whose list of refs was filled in place."""
    request = send_request()
    request.refs.extend(items)  # pyright: ignore[reportArgumentType]
    return request


def recursive() -> SendRequest:
    """A request that holds itself."""
    request = send_request()
    request.__dict__["to"] = request
    return request


@pytest.mark.promise("api.bounds-hold-both-ways")
@pytest.mark.parametrize(
    "value",
    [
        lambda: SendRequest.model_construct(to=send_request().to, subject="a" * 513, body="b"),
        lambda: SendRequest.model_construct(to=send_request().to, body="b"),
        lambda: SendRequest.model_construct(to="bob", subject="s", body="b"),
        lambda: SendRequest.model_construct(to=send_request().to, subject=7, body="b"),
        lambda: SendRequest.model_construct(
            to=DirectAddress.model_construct(participant="a b"), subject="s", body="b"
        ),
        lambda: SendRequest.model_construct(
            to=DirectAddress.model_construct(participant=str.__new__(ParticipantId, "a\n")),
            subject="s",
            body="b",
        ),
        lambda: object.__new__(SendRequest),
        lambda: with_attribute("subject", "a" * 513),
        lambda: with_attribute("subject", "\ud800"),
        lambda: with_attribute("body", None),
        lambda: with_member("subject", "a\nb"),
        lambda: with_member("subject", b"bytes"),
        lambda: with_refs(*[MessageRef(kind="a", locator="x")] * 9),
        lambda: with_refs("x"),
        lambda: with_refs(None),
        lambda: with_refs(MessageRef.model_construct(kind="a", locator="")),
        lambda: send_request().model_copy(update={"subject": "\u0007"}),
        lambda: send_request().model_copy(update={"to": RoomAddress.model_construct(room="a b")}),
        recursive,
    ],
)
def test_a_value_built_or_changed_past_validation_cannot_be_encoded(value: Any) -> None:
    """However it was built or spoilt, encoding refuses it, and its refusal encodes."""
    made = value()
    with pytest.raises(RefusalError) as refused:
        encode(made)
    assert refused.value.kind in {"malformed", "too_large"}
    assert decode(Refusal, encode(refused.value.refusal)) == refused.value.refusal


@pytest.mark.promise("api.bounds-hold-both-ways")
@pytest.mark.parametrize(
    "value",
    [
        lambda: with_attribute("token", "secret"),
        lambda: with_member("token", "secret"),
        lambda: send_request().model_copy(update={"token": "secret"}),
        lambda: send_request().model_copy(update={"to": SpyAddress(participant=ParticipantId("bob"))}),
        lambda: Spy(to=send_request().to, subject="s", body="b"),
    ],
)
def test_what_the_contract_does_not_have_does_not_come_out(value: Any) -> None:
    """An attribute, a member or a derived class's field of one's own is not written, at any depth."""
    assert encode(value()) == encode(send_request())


def test_the_judge_of_leaving_bytes_gives_every_vector_its_verdict() -> None:
    """It makes no objects but keeps every rule; only what no encoder writes is left to the reader."""
    wrong: list[str] = []
    for vector in vectors():
        entry = codec._entry(contract_type(vector.type))
        try:
            entry.checker.validate_json(vector.raw, strict=True, by_name=False)
        except ValidationError:
            accepted = False
        else:
            accepted = True
        # Floats for integers, a key twice in one object, and a tagged object without its own tag.
        unwritten = vector.differs.keys() & {"original", "jsonschema"} or vector.description in {
            text
            for tag in ("kind", *entry.tags)
            for text in (f"no {tag} is refused", f"one without {tag} is refused")
        }
        if accepted != vector.valid and not unwritten:
            wrong.append(str(vector))
    assert wrong == []


def test_what_is_no_object_of_the_contract_is_an_error_of_the_program() -> None:
    """Encoding a plain value is no refusal of anybody's input."""
    for value in (1, None, {"kind": "direct"}, ParticipantId("alice"), [send_request()]):
        with pytest.raises(TypeError):
            encode(value)  # pyright: ignore[reportArgumentType]


@pytest.mark.promise("api.answers-gain-no-keys")
def test_absent_options_are_written_as_null(message: Message) -> None:
    """Every key of a type is there, in the order of the contract."""
    assert list(json.loads(encode(message))) == [
        "message_id", "from", "to", "subject", "body", "reply_to", "correlation", "refs",
        "created_at_unix_ms",
    ]  # fmt: skip
    assert json.loads(encode(message))["correlation"] is None
    page = json.loads(encode(InboxPage(messages=[message], unread=1)))
    assert list(page) == ["messages", "unread"]
    whoami = encode(WhoAmI(address=message.to, rooms=[]))
    assert list(json.loads(whoami)) == ["address", "label", "rooms", "card"]


def test_text_goes_out_as_utf8_and_comes_back_the_same(message: Message) -> None:
    """Nothing is escaped that need not be, and nothing is lost."""
    text = 'Жук — 漢字 😀 \u2028 " \\ /'
    raw = encode(message.model_copy(update={"subject": text}))
    assert "漢字".encode() in raw
    assert decode(Message, raw).subject == text
    assert parse(raw)["subject"] == text


def test_contract_objects_do_not_change_and_are_equal_by_value() -> None:
    """Setting a member is an error, and two of the same content are the same."""
    request = send_request()
    with pytest.raises(Exception, match="frozen"):
        request.subject = "other"  # pyright: ignore[reportAttributeAccessIssue]
    assert request == send_request()
    assert isinstance(request, WireModel)
