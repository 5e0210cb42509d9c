"""The family of refusals: one exception for each kind, one status, and every one of them encodes."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from mail4agent_api import errors, mail
from mail4agent_api.codec import decode, decode_value, encode
from mail4agent_api.errors import STATUS, MalformedError, RefusalError, TooLargeError, error_of
from mail4agent_api.mail import Malformed, Refusal
from mail4agent_api.operations import EVERY, OPERATIONS
from tests import oracle
from tests.vectors import contract_type

MAPPING = oracle.bundle()["$defs"]["Refusal"]["discriminator"]["mapping"]
#: What the contract fixes for each kind: status and members.
FAMILY = {
    "unknown_participant": (404, {"participant"}),
    "unknown_room": (404, {"room"}),
    "unknown_session": (404, {"session"}),
    "session_account_mismatch": (409, {"session", "expected", "presented"}),
    "unknown_message": (404, {"message_id"}),
    "not_addressed_to_you": (403, {"message_id"}),
    "permission_denied": (403, {"need"}),
    "malformed": (400, {"field", "reason"}),
    "too_large": (400, {"field", "limit", "actual"}),
    "store_unavailable": (503, {"operation"}),
    "unauthenticated": (401, set()),
    "attestation_failed": (401, {"reason"}),
    "forbidden_origin": (403, set()),
    "unknown_path": (404, set()),
    "unknown_item": (404, {"id"}),
    "method_not_allowed": (405, set()),
    "session_not_live": (409, {"session", "last_seen_unix_ms"}),
    "idempotency_conflict": (409, {"idempotency_key"}),
    "already_exists": (409, {"id"}),
    "id_retired": (409, {"id"}),
    "draft_changed": (409, {"id"}),
    "not_pending": (409, {"id", "status"}),
    "outcome_unknown": (409, {"id"}),
    "mailbox_full": (409, {"scope"}),
    "lease_held": (409, {"retry_after_secs"}),
    "lease_lost": (409, set()),
    "epoch_changed": (409, set()),
    "request_too_large": (413, {"limit"}),
    "unsupported_media_type": (415, set()),
    "forbidden_host": (421, set()),
    "rate_limited": (429, {"retry_after_secs"}),
    "overloaded": (503, {"retry_after_secs"}),
    "internal": (500, {"request_id"}),
}  # fmt: skip
ORIGINAL = list(FAMILY)[:10]


def test_the_family_is_closed_and_each_kind_has_its_status_and_members() -> None:
    """Kinds, statuses and members are those that the contract names, in the published bundle too."""
    assert dict(STATUS) == {kind: status for kind, (status, _) in FAMILY.items()}
    for kind, reference in MAPPING.items():
        definition = oracle.bundle()["$defs"][reference.rpartition("/")[2]]
        assert set(definition["properties"]) == {"kind", *FAMILY[kind][1]}, kind
        assert set(definition["required"]) == {"kind", *FAMILY[kind][1]}, kind


def test_the_original_family_keeps_its_kinds() -> None:
    """MailError is the ten kinds of the original, and decodes none of the added ones."""
    assert list(oracle.bundle()["$defs"]["MailError"]["discriminator"]["mapping"]) == ORIGINAL
    with pytest.raises(MalformedError):
        decode(mail.MailError, b'{"kind": "unauthenticated"}')


def example(kind: str) -> dict[str, object]:
    """A refusal of a kind, as a value."""
    values: dict[str, object] = {
        "participant": "alice", "room": "planning", "session": "s-7f3a0000", "expected": "alice",
        "presented": "bob", "message_id": "m4a_" + "0" * 24, "need": "mail:send", "field": "subject",
        "reason": "is missing", "limit": 512, "actual": 513, "operation": "send", "id": "x",
        "last_seen_unix_ms": 1, "idempotency_key": "k", "status": "released", "scope": "account",
        "retry_after_secs": 1, "request_id": "r1",
    }  # fmt: skip
    return {"kind": kind, **{member: values[member] for member in FAMILY[kind][1]}}


@pytest.mark.parametrize("kind", FAMILY)
def test_every_kind_is_an_exception_that_holds_its_wire_object(kind: str) -> None:
    """From the wire to the exception and back nothing changes, and one class catches it."""
    value = example(kind)
    refusal = decode_value(Refusal, value)
    error = error_of(refusal)
    assert isinstance(error, RefusalError)
    assert type(error).__name__ == "".join(word.capitalize() for word in kind.split("_")) + "Error"
    assert (error.kind, error.status, error.refusal) == (kind, FAMILY[kind][0], refusal)
    assert json.loads(encode(error.refusal)) == value
    members = {name: getattr(refusal, name) for name in FAMILY[kind][1]}
    built = getattr(errors, type(error).__name__)(**members)
    assert built.refusal == refusal
    assert str(built) == kind


def test_a_refusal_that_the_contract_does_not_allow_cannot_be_built() -> None:
    """A reason or a field past its bound is an error of the program that builds it."""
    with pytest.raises(ValidationError):
        MalformedError(field="x" * 65, reason="is missing")
    with pytest.raises(ValidationError):
        TooLargeError(field="x", limit=1, actual=2**64)
    with pytest.raises(ValidationError):
        Malformed(field="x", reason="two\nlines")


def test_every_operation_names_refusals_of_the_family() -> None:
    """The table speaks of no other kind, and each row can answer with those of every operation."""
    for operation in OPERATIONS.values():
        assert set(operation.refusals) <= set(FAMILY), operation.name
        assert set(EVERY) <= set(operation.refusals), operation.name
        assert len(operation.refusals) == len(set(operation.refusals)), operation.name


def refusal_of(attempt: Callable[[], object]) -> Any:
    """The refusal that an attempt gets, None where it succeeds."""
    try:
        attempt()
    except RefusalError as refused:
        return refused.refusal
    return None


JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)
KEYS = st.text(max_size=80) | st.sampled_from(
    ["to", "subject", "kind", "participant", "refs", "from", "limit"]
)


@given(
    st.sampled_from(sorted(oracle.bundle()["$defs"])),
    st.dictionaries(KEYS, JSON_VALUES, max_size=6) | JSON_VALUES,
)
def test_every_refusal_of_any_value_encodes(name: str, value: object) -> None:
    """Whatever comes in, the refusal itself is within the contract and holds no control character of it."""
    refusal = refusal_of(lambda: decode_value(contract_type(name), value))
    if refusal is not None:
        assert decode(Refusal, encode(refusal)) == refusal
        assert oracle.decodes("Refusal", encode(refusal))


@given(
    st.sampled_from(["SendRequest", "InboxRequest", "Message", "Directory"]),
    st.binary(max_size=60) | st.text(max_size=60).map(str.encode),
)
def test_every_refusal_of_any_bytes_encodes(name: str, raw: bytes) -> None:
    """Bytes that are no JSON, or JSON of something else, get one refusal that encodes."""
    refusal = refusal_of(lambda: decode(contract_type(name), raw))
    if refusal is not None:
        assert decode(Refusal, encode(refusal)) == refusal
