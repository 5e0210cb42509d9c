"""Generate what follows from ``schemas/intake.operations.json``: the OpenAPI document of the intake, and
``mail4agent_api/intake_operations.py``, the same table for programs.
"""

import json
from collections import defaultdict
from typing import Any

import openapi
from bundle import SCHEMAS, imports, map_references, reached

Json = Any
HEADER = "# Generated from schemas/intake.operations.json by tools/generate.py; do not edit.\n"
_MODULE = '''
@dataclass(frozen=True, slots=True)
class IntakeOperation:
    """One path and method of the intake."""

    name: str
    method: Literal["GET", "POST"]
    #: With the parts that vary in braces, such as ``/box/blob/{blob}``.
    path: str
    summary: str
    #: The key that its caller needs; None: anybody may call.
    key: Literal["drain", "types"] | None
    #: The types of a JSON request and of a JSON answer, where there are such.
    request: type[WireModel] | None
    response: type[WireModel] | None
    #: Every refusal kind that it may answer with.
    refusals: tuple[str, ...]
'''


def table() -> dict[str, Json]:
    """The table as it stands."""
    return json.loads((SCHEMAS / "intake.operations.json").read_text("utf-8"))


def operations_module() -> str:
    """The text of ``mail4agent_api/intake_operations.py``, unformatted."""
    rows, every = table()["operations"], table()["every"]
    types = {row[side].get("application/json") for row in rows for side in ("request", "response")} - {None}
    lines = [
        HEADER,
        '"""The table of what the intake answers."""\n',
        "from collections.abc import Mapping",
        "from dataclasses import dataclass",
        "from types import MappingProxyType",
        "from typing import Literal\n",
        "from mail4agent_api._wire import WireModel",
        *imports(types),
        _MODULE,
        "INTAKE_OPERATIONS: Mapping[str, IntakeOperation] = MappingProxyType({",
    ]
    lines += [
        f"{row['name']!r}: IntakeOperation(name={row['name']!r}, method={row['method']!r}, "
        f"path={row['path']!r}, summary={row['summary']!r}, key={row['key']!r}, "
        f"request={row['request'].get('application/json')}, "
        f"response={row['response'].get('application/json')}, refusals={tuple(kinds(row, every))!r}),"
        for row in rows
    ]
    return "\n".join([*lines, "})\n"])


def kinds(row: dict[str, Json], every: list[str]) -> list[str]:
    """Every refusal kind of a row, those of its credential included."""
    return [*row["refusals"], *(["unauthenticated"] if row["key"] else []), *every]


def _media(side: dict[str, str | None]) -> dict[str, Json]:
    return {
        kind: {"schema": {"$ref": f"#/components/schemas/{name}"} if name else _opaque(kind)}
        for kind, name in side.items()
    }


def _opaque(kind: str) -> Json:
    """A body that is no JSON of the contract."""
    if kind in {"application/x-www-form-urlencoded", "multipart/form-data"}:
        return {"type": "object", "additionalProperties": {"type": "string"}}
    return {"type": "object" if kind == "application/schema+json" else "string"}


def document(definitions: dict[str, Json]) -> dict[str, Json]:
    """The OpenAPI document of the intake."""
    whole = table()
    responses: dict[str, Json] = {}
    paths: dict[str, Json] = defaultdict(dict)
    roots = {"Refusal"}
    for row in whole["operations"]:
        paths[row["path"]][row["method"].lower()] = _operation(row, whole, definitions, responses)
        roots |= {name for side in ("request", "response") for name in row[side].values() if name}
        roots |= set(row["parameters"].values())
    wanted = reached(roots, definitions)
    shown = {name: node for name, node in definitions.items() if name in wanted}
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "mail4agent intake",
            "version": whole["version"],
            "summary": "Forms for strangers, and the box in which they wait for home.",
            "description": "Generated from schemas/intake.operations.json by tools/generate.py; do not edit. "
            "A refusal is one Refusal object, and on the pages of people a page.",
            "license": {"name": "MIT", "identifier": "MIT"},
        },
        "servers": [{"url": "https://forms.example.org", "description": "wherever it is put"}],
        "paths": dict(paths),
        "components": {
            "securitySchemes": {
                key: {"type": "http", "scheme": "bearer", "description": f"The {key} key of the box."}
                for key in ("drain", "types")
            },
            "responses": {name: responses[name] for name in sorted(used(paths))},
            "schemas": map_references(shown, openapi.local),
        },
    }


def used(paths: dict[str, Json]) -> set[str]:
    """The shared responses that the paths refer to."""
    return {
        response["$ref"].rpartition("/")[2]
        for path in paths.values()
        for operation in path.values()
        for response in operation["responses"].values()
        if "$ref" in response
    }


def _operation(
    row: dict[str, Json], whole: dict[str, Json], definitions: dict[str, Json], shared: dict[str, Json]
) -> Json:
    refused = {"refusals": kinds(row, whole["every"]), "authenticated": bool(row["key"])}
    out: dict[str, Json] = {
        "operationId": row["name"],
        "summary": row["summary"],
        "security": [{row["key"]: []}] if row["key"] else [],
    }
    if row["parameters"]:
        out["parameters"] = [
            {
                "name": name,
                "in": "path",
                "required": True,
                "schema": {"$ref": f"#/components/schemas/{type_}"},
            }
            for name, type_ in row["parameters"].items()
        ]
    if row["request"]:
        out["requestBody"] = {"required": True, "content": _media(row["request"])}
    success = {"description": "Done.", "content": _media(row["response"])}
    out["responses"] = {"200": success, **openapi.refusals(refused, [], definitions, shared)}
    if row["key"] is None:
        for status, response in out["responses"].items():
            if status != "200":
                name = response["$ref"].rpartition("/")[2]
                paged = f"{name}-page"
                page = {"text/html": {"schema": {"type": "string"}}}
                shared[paged] = {**shared[name], "content": {**shared[name]["content"], **page}}
                out["responses"][status] = {"$ref": f"#/components/responses/{paged}"}
    return out
