"""The OpenAPI document: valid, complete, and exact about what each operation may answer."""

import json
from pathlib import Path
from typing import Any

import pytest
import schemathesis
from openapi_spec_validator import validate

from mail4agent_api.errors import STATUS
from mail4agent_api.operations import OPERATIONS, Operation
from tests import oracle

DOCUMENT: dict[str, Any] = json.loads(
    (Path(__file__).resolve().parents[2] / "schemas" / "openapi.json").read_text("utf-8")
)


def described(operation: Operation) -> dict[str, Any]:
    """What the document says of an operation."""
    return DOCUMENT["paths"][operation.path][operation.method.lower()]


def kinds(response: dict[str, Any]) -> set[str]:
    """The refusal kinds that a response of the document may have."""
    name = response["$ref"].removeprefix("#/components/responses/")
    schema = DOCUMENT["components"]["responses"][name]["content"]["application/json"]["schema"]
    branches = schema.get("oneOf", [schema])
    schemas = DOCUMENT["components"]["schemas"]
    return {schemas[branch["$ref"].rpartition("/")[2]]["properties"]["kind"]["const"] for branch in branches}


def test_the_document_is_valid_openapi() -> None:
    """A validator of the OpenAPI project accepts it."""
    validate(DOCUMENT)


def test_schemathesis_loads_every_operation() -> None:
    """The fuzzer sees each operation of the table, and none besides."""
    loaded = schemathesis.openapi.from_dict(DOCUMENT)
    found = {(result.ok().method.upper(), result.ok().path) for result in loaded.get_all_operations()}
    assert found == {(operation.method, operation.path) for operation in OPERATIONS.values()}


def test_schemas_are_those_of_the_bundle() -> None:
    """Every definition is a component, and differs from the bundle in nothing but where references point."""
    text = json.dumps(DOCUMENT["components"]["schemas"]).replace("#/components/schemas/", "#/$defs/")
    assert json.loads(text) == oracle.bundle()["$defs"]


@pytest.mark.parametrize("operation", OPERATIONS.values(), ids=lambda operation: operation.name)
def test_an_operation_states_its_types_and_exactly_its_refusals(operation: Operation) -> None:
    """Request, answer, credential and, by status, the kinds of its row."""
    found = described(operation)
    assert found["operationId"] == operation.name
    assert found["description"].startswith(operation.summary.rstrip("."))
    assert found["security"] == ([{"bearer": []}] if operation.authenticated else [])
    answer = found["responses"]["200"]["content"]["application/json"]["schema"]
    assert answer == {"$ref": f"#/components/schemas/{operation.response.__name__}"}
    if operation.request is None:
        assert "requestBody" not in found
    else:
        body = found["requestBody"]
        assert body["required"] is not operation.lenient_body
        schema = body["content"]["application/json"]["schema"]
        assert schema == {"$ref": f"#/components/schemas/{operation.request.__name__}"}
    refusals = {status: kinds(response) for status, response in found["responses"].items() if status != "200"}
    expected: dict[str, set[str]] = {}
    for kind in operation.refusals:
        if operation.authenticated or kind != "unauthenticated":
            expected.setdefault(str(STATUS[kind]), set()).add(kind)
    assert refusals == expected


@pytest.mark.parametrize(
    ("status", "header"),
    [("401", "WWW-Authenticate"), ("405", "Allow"), ("429", "Retry-After"), ("503", "Retry-After")],
)
def test_statuses_that_come_with_a_header_say_so(status: str, header: str) -> None:
    """Whichever operation answers with the status, the header is required."""
    responses = DOCUMENT["components"]["responses"]
    found = [response for name, response in responses.items() if name.startswith(f"Refused{status}")]
    assert found
    assert all(response["headers"][header]["required"] is True for response in found)


def test_a_sent_message_links_to_what_can_be_done_with_it() -> None:
    """The id in the answer of a send is what get, ack and thread take."""
    links = described(OPERATIONS["mail.send"])["responses"]["200"]["links"]
    assert {name: link["requestBody"] for name, link in links.items()} == {
        name: {"message_id": "$response.body#/message_id"} for name in ("mail.get", "mail.ack", "mail.thread")
    }
