"""Every operation is a method of both clients, and the vectors' bounds hold in them."""

from __future__ import annotations

import inspect
import json
from typing import Any

import pytest

from mail4agent_api.codec import parse
from mail4agent_api.errors import MalformedError, RefusalError
from mail4agent_api.operations import OPERATIONS, Operation
from mail4agent_client.methods import AsyncMethods, SyncMethods
from tests.vectors import Vector, vectors

EXAMPLES: dict[str, bytes] = {}
for _vector in vectors():
    if _vector.valid:
        EXAMPLES.setdefault(_vector.type, _vector.raw)
ROWS = list(OPERATIONS.values())


def _fields(vector: Vector) -> dict[str, Any] | None:
    """The vector as arguments; None for one about bytes, or about a text where the client takes the text
    form.
    """
    try:
        value = parse(vector.raw)
    except MalformedError:
        return None
    return value if isinstance(value, dict) and not isinstance(value.get("to"), str) else None


SENDS = [each for each in vectors() if each.type == "SendRequest" and _fields(each) is not None]


def _method(row: Operation) -> str:
    return row.name.removeprefix("mail.").replace(".", "_")


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_every_operation_is_a_method_that_takes_its_request_and_returns_its_response(
    ask: Any, scripted: Any, row: Operation
) -> None:
    """Method, path, body and answer are those of the row."""
    scripted.answer(200, EXAMPLES[row.response.__name__])
    arguments = []
    if row.request is not None:
        fields = json.loads(EXAMPLES[row.request.__name__])
        arguments = [row.request.model_validate_json(json.dumps(fields))]
    answer = ask(scripted.url, lambda client: getattr(client, _method(row))(*arguments))
    assert type(answer) is row.response
    (request,) = scripted.seen
    assert (request.method, request.path) == (row.method, row.path)
    if row.request is not None:
        assert row.request.model_validate_json(request.body) == arguments[0]


def test_there_is_no_method_beside_the_operations() -> None:
    """A method that no row has would be an operation that the daemon does not serve."""
    wanted = {_method(row) for row in ROWS}
    for kind in (AsyncMethods, SyncMethods):
        names = {name for name, _ in inspect.getmembers(kind, inspect.isfunction) if not name.startswith("_")}
        assert names == wanted


def test_every_method_says_what_it_raises() -> None:
    """The refusals of a row are in its docstring."""
    for row in ROWS:
        documentation = inspect.getdoc(getattr(SyncMethods, _method(row))) or ""
        assert row.summary in documentation
        own = set(row.refusals) - set(OPERATIONS["health"].refusals)
        for kind in own:
            assert "".join(word.capitalize() for word in kind.split("_")) + "Error" in documentation


@pytest.mark.parametrize("vector", SENDS, ids=str)
def test_the_fields_of_a_send_get_what_the_vectors_say(ask: Any, scripted: Any, vector: Vector) -> None:
    """A message of each bound is sent; one past it gets the vector's refusal without being sent."""
    fields = _fields(vector)
    scripted.answer(200, EXAMPLES["SendResponse"])
    if vector.valid:
        ask(scripted.url, lambda client: client.send(**fields))
        assert len(scripted.seen) == 1
        return
    with pytest.raises(RefusalError) as caught:
        ask(scripted.url, lambda client: client.send(**fields))
    refusal = caught.value.refusal.model_dump()
    assert vector.refusal is not None
    assert {name: refusal[name] for name in vector.refusal} == vector.refusal
    assert scripted.seen == []
