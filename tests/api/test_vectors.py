"""The codec gives every conformance vector its stated verdict and refusal."""

from collections import defaultdict

import pytest

from mail4agent_api._wire import WireModel
from mail4agent_api.codec import decode, decode_value, encode, parse
from mail4agent_api.errors import RefusalError
from tests.vectors import Vector, contract_type, vectors

BY_TYPE: defaultdict[str, list[Vector]] = defaultdict(list)
for _vector in vectors():
    BY_TYPE[_vector.type].append(_vector)


def verdict(vector: Vector) -> dict[str, object] | None:
    """The refusal that the codec gives, its reason left out; None for what decodes."""
    try:
        decode(contract_type(vector.type), vector.raw)
    except RefusalError as refused:
        return refused.refusal.model_dump(exclude={"reason"})
    return None


@pytest.mark.promise("api.consumers-agree-on-vectors", "api.one-failure-one-refusal")
@pytest.mark.parametrize("name", sorted(BY_TYPE))
def test_every_vector_of_a_type_gets_its_verdict(name: str) -> None:
    """Valid ones decode, and each invalid one gets the refusal that it names."""
    wrong = {v.description: verdict(v) for v in BY_TYPE[name] if verdict(v) != v.refusal}
    assert wrong == {}


@pytest.mark.promise("api.bounds-hold-both-ways")
def test_what_decodes_encodes_to_what_decodes_to_the_same() -> None:
    """Every valid object survives a round trip, and absent options come out as null or their default."""
    for vector in vectors():
        value = decode(contract_type(vector.type), vector.raw) if vector.valid else None
        if isinstance(value, WireModel):
            raw = encode(value)
            assert decode(type(value), raw) == value, str(vector)
            assert encode(decode_value(type(value), parse(raw))) == raw, str(vector)
