"""Requests: what may be left out, and what is bounded, clamped or refused."""

import json

import pytest

from mail4agent_api.bounds import INBOX_LIMIT_DEFAULT, INBOX_LIMIT_MAX, INBOX_WAIT_SECS_MAX
from mail4agent_api.codec import decode, decode_value, encode
from mail4agent_api.errors import MalformedError, TooLargeError
from mail4agent_api.mail import InboxRequest, SendRequest
from mail4agent_api.operations import OPERATIONS


@pytest.mark.promise("api.old-shapes-decode")
def test_inbox_request_defaults_limit_when_json_omits_it() -> None:
    """A page has its default length."""
    assert decode(InboxRequest, b'{"since_unix_ms": null}').limit == INBOX_LIMIT_DEFAULT


def test_inbox_request_rejects_limit_over_the_max() -> None:
    """A page past the greatest is too large."""
    with pytest.raises(TooLargeError) as refused:
        decode_value(InboxRequest, {"limit": INBOX_LIMIT_MAX + 1})
    refusal = refused.value.refusal
    assert (refusal.field, refusal.limit, refusal.actual) == ("limit", 256, 257)


def test_inbox_request_rejects_zero_limit() -> None:
    """A page of nothing is malformed."""
    with pytest.raises(MalformedError) as refused:
        decode_value(InboxRequest, {"limit": 0})
    assert refused.value.refusal.field == "limit"


def test_inbox_request_defaults_wait_secs_to_none_when_json_omits_it() -> None:
    """Without being asked to, nobody waits."""
    assert decode(InboxRequest, b'{"since_unix_ms": null}').wait_secs is None


def test_inbox_request_accepts_wait_secs_over_the_cap_without_refusing() -> None:
    """A longer wait is the daemon's to shorten, not the contract's to refuse."""
    assert decode_value(InboxRequest, {"wait_secs": INBOX_WAIT_SECS_MAX + 1}).wait_secs == 61


@pytest.mark.promise("api.old-shapes-decode")
def test_a_send_request_carrying_only_its_required_fields_decodes() -> None:
    """Every option may be absent."""
    request = decode(SendRequest, b'{"to":{"kind":"direct","participant":"bob"},"subject":"s","body":"b"}')
    assert (request.reply_to, request.correlation, request.idempotency_key) == (None, None, None)
    assert request.refs == []


@pytest.mark.promise("api.old-shapes-decode")
def test_an_inbox_request_carrying_nothing_decodes_with_the_default_limit() -> None:
    """An empty object asks for a page as usual."""
    request = decode(InboxRequest, b"{}")
    assert request.since_unix_ms is None
    assert request.limit == INBOX_LIMIT_DEFAULT


@pytest.mark.promise("api.old-shapes-decode")
def test_send_request_old_shape_without_idempotency_key_still_deserializes_and_validates() -> None:
    """A request from before the key has none, and encodes."""
    value = {
        "to": {"kind": "direct", "participant": "bob"},
        "subject": "hi",
        "body": "hi",
        "reply_to": None,
        "correlation": None,
    }
    request = decode_value(SendRequest, value)
    assert request.idempotency_key is None
    assert json.loads(encode(request)) == {**value, "refs": [], "idempotency_key": None, "allow_dead": False}


@pytest.mark.promise("api.no-request-has-a-sender")
def test_no_request_type_has_a_field_that_names_its_sender() -> None:
    """Not one request of the table has such a member, by its name on the wire or in Python."""
    senders = {"from", "from_", "sender", "reader", "author", "as", "on_behalf_of"}
    for operation in OPERATIONS.values():
        if operation.request is not None:
            names = operation.request.model_fields
            assert not {*names, *(field.alias for field in names.values())} & senders, operation.name


@pytest.mark.promise("api.no-request-has-a-sender", "api.unknown-keys-are-refused")
@pytest.mark.parametrize("key", ["from", "from_", "sender", "reader"])
def test_a_sender_in_a_request_is_an_unknown_key(key: str) -> None:
    """Naming a sender is refused, and the refusal says which key it was."""
    value = {
        "to": {"kind": "direct", "participant": "bob"},
        "subject": "s",
        "body": "b",
        key: {"kind": "direct", "participant": "eve"},
    }
    with pytest.raises(MalformedError) as refused:
        decode(SendRequest, json.dumps(value).encode())
    assert refused.value.refusal.field == "request"
    assert refused.value.refusal.reason.endswith(f"(at /{key})")
