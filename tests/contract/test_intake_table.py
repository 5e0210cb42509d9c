"""The table of the intake, and the OpenAPI document that follows from it."""

import json
from typing import Any

import intake
import pytest
import schemathesis
from bundle import SCHEMAS, contract
from jsonschema import Draft202012Validator
from openapi_spec_validator import validate

from mail4agent_api.intake_operations import INTAKE_OPERATIONS

TABLE: dict[str, Any] = intake.table()
DOCUMENT: dict[str, Any] = json.loads((SCHEMAS / "intake.openapi.json").read_text("utf-8"))
DEFINITIONS = contract()


def test_the_table_of_the_intake_matches_its_schema_and_names_what_exists() -> None:
    """Types and refusals of every row are in the contract; names, paths and methods are not given twice."""
    schema = json.loads((SCHEMAS / "intake.operations.schema.json").read_text("utf-8"))
    Draft202012Validator.check_schema(schema)
    assert [error.message for error in Draft202012Validator(schema).iter_errors(TABLE)] == []
    known = set(DEFINITIONS["Refusal"]["discriminator"]["mapping"])
    rows = TABLE["operations"]
    assert (
        len({row["name"] for row in rows}) == len({(row["method"], row["path"]) for row in rows}) == len(rows)
    )
    for row in rows:
        types = {*row["request"].values(), *row["response"].values(), *row["parameters"].values()} - {None}
        assert types <= set(DEFINITIONS), row["name"]
        assert {*row["refusals"], *TABLE["every"]} <= known, row["name"]
        assert {f"{{{name}}}" for name in row["parameters"]} == {
            part for part in row["path"].split("/") if part.startswith("{")
        }, row["name"]
        assert (row["key"] is not None) is row["path"].startswith("/box/"), row["name"]


def test_the_document_of_the_intake_is_valid_openapi() -> None:
    """A validator of the OpenAPI project accepts it, and the fuzzer sees every row of the table."""
    validate(DOCUMENT)
    loaded = schemathesis.openapi.from_dict(DOCUMENT)
    found = {(result.ok().method.upper(), result.ok().path) for result in loaded.get_all_operations()}
    assert found == {(row.method, row.path) for row in INTAKE_OPERATIONS.values()}


@pytest.mark.parametrize("row", TABLE["operations"], ids=lambda row: row["name"])
def test_a_row_of_the_intake_states_exactly_its_refusals(row: dict[str, Any]) -> None:
    """By status, the kinds of the row and no others; a page beside each where people look."""
    described = DOCUMENT["paths"][row["path"]][row["method"].lower()]
    kinds: set[str] = set()
    for status, response in described["responses"].items():
        if status == "200":
            assert set(response["content"]) == set(row["response"])
            continue
        content = DOCUMENT["components"]["responses"][response["$ref"].rpartition("/")[2]]["content"]
        assert ("text/html" in content) is (row["key"] is None)
        schema = content["application/json"]["schema"]
        for branch in schema.get("oneOf", [schema]):
            definition = DEFINITIONS[branch["$ref"].rpartition("/")[2]]
            assert str(definition["x-httpStatus"]) == status
            kinds.add(definition["properties"]["kind"]["const"])
    assert kinds == set(INTAKE_OPERATIONS[row["name"]].refusals)
