"""Every vector through the Python client: requests as fields on their way out, answers and refusals on their
way in.
"""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import httpx2
import pytest

from mail4agent_api.codec import decode, parse
from mail4agent_api.errors import MalformedError, RefusalError
from mail4agent_api.operations import OPERATIONS, Operation
from mail4agent_client import AnswerInvalidError, RetryPolicy, SyncMailClient
from tests.vectors import Vector, contract_type, vectors

BY_TYPE: defaultdict[str, list[Vector]] = defaultdict(list)
for _vector in vectors():
    BY_TYPE[_vector.type].append(_vector)
ROWS = list(OPERATIONS.values())
#: A request without members has no fields to get wrong.
ASKING = [row for row in ROWS if row.request is not None and row.request.model_fields]
#: Members for which the client also takes a text or a message, in place of the tagged object.
COMFORTS = ("to", "target", "address", "after", "before")
ONCE = RetryPolicy(attempts=1)


class Wire(httpx2.BaseTransport):
    """A transport that keeps what was sent and answers with given bytes."""

    def __init__(self, status: int, body: bytes) -> None:
        self.status = status
        self.body = body
        self.sent: list[bytes] = []

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        """Answer one request."""
        self.sent.append(request.read())
        return httpx2.Response(self.status, content=self.body)


def call(row: Operation, wire: Wire, *arguments: Any, **fields: Any) -> Any:
    """Carry out an operation with a client over a wire."""
    with SyncMailClient("http://127.0.0.1", token="t" * 64, transport=wire, retries=ONCE) as client:
        name = row.name.removeprefix("mail.").replace(".", "_")
        return getattr(client, name)(*arguments, **fields)


def example(name: str) -> bytes:
    """The first valid instance of a type."""
    return next(vector.raw for vector in BY_TYPE[name] if vector.valid)


def fields_of(vector: Vector) -> dict[str, Any] | None:
    """The vector as keyword arguments; None for one about bytes, or about what the client takes besides."""
    try:
        value = parse(vector.raw)
    except MalformedError:
        return None
    if not isinstance(value, dict) or not value or not all(map(str.isidentifier, value)):
        return None
    return None if any(isinstance(value.get(name), str) for name in COMFORTS) else value


@pytest.mark.promise("api.consumers-agree-on-vectors")
@pytest.mark.parametrize("row", ASKING, ids=lambda row: row.name)
def test_every_request_vector_gets_its_verdict_before_anything_is_sent(row: Operation) -> None:
    """A valid one is sent as it is, an invalid one gets the refusal that it names and is not sent."""
    assert row.request is not None
    kind, answer = row.request, example(row.response.__name__)
    wrong: list[str] = []
    for vector in BY_TYPE[kind.__name__]:
        fields = fields_of(vector)
        if fields is None:
            continue
        wire = Wire(200, answer)
        try:
            call(row, wire, **fields)
        except RefusalError as refused:
            got = refused.refusal.model_dump(exclude={"reason"})
            fine = got == vector.refusal and not wire.sent
        else:
            fine = vector.valid and [decode(kind, body) for body in wire.sent] == [decode(kind, vector.raw)]
        wrong += [] if fine else [str(vector)]
    assert wrong == []


@pytest.mark.promise("api.consumers-agree-on-vectors")
@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_every_answer_vector_gets_its_verdict(row: Operation) -> None:
    """A valid answer is returned as it decodes, and any other is named as no answer of the contract."""
    kind = row.response
    arguments = [] if row.request is None else [decode(row.request, example(row.request.__name__))]
    wrong: list[str] = []
    for vector in BY_TYPE[kind.__name__]:
        try:
            got = call(row, Wire(200, vector.raw), *arguments)
        except AnswerInvalidError:
            fine = not vector.valid
        else:
            fine = vector.valid and got == decode(kind, vector.raw)
        wrong += [] if fine else [str(vector)]
    assert wrong == []


@pytest.mark.promise("api.consumers-agree-on-vectors")
def test_every_refusal_vector_is_raised_or_named_as_no_answer() -> None:
    """A valid refusal is raised as itself, and any other is named as no answer of the contract."""
    wrong: list[str] = []
    for vector in BY_TYPE["Refusal"]:
        try:
            call(OPERATIONS["mail.whoami"], Wire(400, vector.raw))
        except RefusalError as refused:
            fine = vector.valid and refused.refusal == decode(contract_type("Refusal"), vector.raw)
        except AnswerInvalidError:
            fine = not vector.valid
        else:
            fine = False
        wrong += [] if fine else [str(vector)]
    assert wrong == []
