"""Build ``schemas/openapi.json``: OpenAPI 3.1 of the HTTP door, from the table of operations and the bundle.

Every operation states each status that it may answer with and, for a refusal, exactly the kinds of that
status. Custom keywords stay in the schemas; an OpenAPI tool that does not know them passes them over.
"""

from collections import defaultdict
from typing import Any

from bundle import map_references

Json = Any
#: Headers that go with a status, whichever operation answers.
_HEADERS = {
    "401": {"WWW-Authenticate": "the scheme to authenticate with"},
    "405": {"Allow": "the method that the path serves"},
    "429": {"Retry-After": "seconds to wait before trying again"},
    "503": {"Retry-After": "seconds to wait before trying again"},
}
_RETRY = {
    "always": "A repeat changes nothing more.",
    "key": "A repeat is safe when the request carries an idempotency key.",
    "keys": "A repeat is safe when each part carries an idempotency key.",
    "never": "Not to be repeated blindly.",
}


def local(reference: str) -> str:
    """A reference of the bundle as one of an OpenAPI document."""
    return reference.replace("#/$defs/", "#/components/schemas/")


def sentence(text: str) -> str:
    """A description as a sentence."""
    return text[0].upper() + text[1:] + ("" if text.endswith(".") else ".")


def kinds_by_status(
    row: dict[str, Json], every: list[str], definitions: dict[str, Json]
) -> dict[str, list[str]]:
    """The refusal kinds of a row by HTTP status.

    Without authentication there is nothing to be unauthenticated about.
    """
    mapping = definitions["Refusal"]["discriminator"]["mapping"]
    out: defaultdict[str, list[str]] = defaultdict(list)
    wanted = {*row["refusals"], *every} - (set() if row.get("authenticated", True) else {"unauthenticated"})
    for kind, reference in mapping.items():
        if kind in wanted:
            out[str(definitions[reference.rpartition("/")[2]]["x-httpStatus"])].append(kind)
    return dict(sorted(out.items()))


def _refusal_schema(kinds: list[str], definitions: dict[str, Json]) -> Json:
    mapping = {kind: local(definitions["Refusal"]["discriminator"]["mapping"][kind]) for kind in kinds}
    if len(kinds) == 1:
        return {"$ref": mapping[kinds[0]]}
    return {
        "oneOf": [{"$ref": ref} for ref in mapping.values()],
        "discriminator": {"propertyName": "kind", "mapping": mapping},
    }


def refusals(
    row: dict[str, Json], every: list[str], definitions: dict[str, Json], shared: dict[str, Json]
) -> dict[str, Json]:
    """References to the refusal responses of a row; the responses themselves are added to ``shared``."""
    out: dict[str, Json] = {}
    for status, kinds in kinds_by_status(row, every, definitions).items():
        name = f"Refused{status}-{'-'.join(kinds)}"
        means = "; ".join(
            f"{kind}: {definitions[_named(kind, definitions)]['description']}" for kind in kinds
        )
        response: dict[str, Json] = {
            "description": sentence(means),
            "content": {"application/json": {"schema": _refusal_schema(kinds, definitions)}},
        }
        if status in _HEADERS:
            response["headers"] = {
                header: {"description": meaning, "required": True, "schema": {"type": "string"}}
                for header, meaning in _HEADERS[status].items()
            }
        shared[name] = response
        out[status] = {"$ref": f"#/components/responses/{name}"}
    return out


def _named(kind: str, definitions: dict[str, Json]) -> str:
    return definitions["Refusal"]["discriminator"]["mapping"][kind].rpartition("/")[2]


def _description(row: dict[str, Json], definitions: dict[str, Json]) -> str:
    needs = row["capability"]
    parts = [
        sentence(row["summary"]),
        f"Answers with {row['response']}: {definitions[row['response']]['description']}.",
        f"Needs {' or '.join(needs)}."
        if needs
        else "Any valid caller may ask."
        if row.get("authenticated", True)
        else "Needs no credential.",
    ]
    if row["effect"] == "write":
        parts.append(_RETRY[row.get("retry", "never")])
    if row.get("lenient_body"):
        parts.append("The body may be left out.")
    return " ".join(parts)


def _operation(
    row: dict[str, Json], table: dict[str, Json], definitions: dict[str, Json], shared: dict[str, Json]
) -> Json:
    success: dict[str, Json] = {
        "description": sentence(definitions[row["response"]]["description"]),
        "content": {"application/json": {"schema": {"$ref": f"#/components/schemas/{row['response']}"}}},
    }
    if "links" in row:
        success["links"] = {
            target: {
                "operationId": target,
                "description": f"Use this answer in {target}.",
                "requestBody": {member: f"$response.body#{pointer}" for member, pointer in members.items()},
            }
            for target, members in row["links"].items()
        }
    out: dict[str, Json] = {
        "operationId": row["name"],
        "tags": [row["name"].partition(".")[0]],
        "summary": row["summary"],
        "description": _description(row, definitions),
        "security": [{"bearer": []}] if row.get("authenticated", True) else [],
    }
    if row["request"]:
        out["requestBody"] = {
            "required": not row.get("lenient_body", False),
            "content": {"application/json": {"schema": {"$ref": f"#/components/schemas/{row['request']}"}}},
        }
    out["responses"] = {"200": success, **refusals(row, table["every"], definitions, shared)}
    return out


def document(definitions: dict[str, Json], table: dict[str, Json]) -> dict[str, Json]:
    """The OpenAPI document."""
    responses: dict[str, Json] = {}
    paths: dict[str, Json] = defaultdict(dict)
    for row in table["operations"]:
        paths[row["path"]][row["method"].lower()] = _operation(row, table, definitions, responses)
    tags = {
        "mail": "What an agent does with its mail.",
        "mailbox": "What a person sees of the file mailboxes on this machine.",
        "note": "What a manager tells a running node, and what became of it.",
        "admin": "What an operator does with accounts, rooms and other people's mail.",
        "health": "Whether the daemon works.",
    }
    used = {row["name"].partition(".")[0] for row in table["operations"]}
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "mail4agent",
            "version": table["version"],
            "summary": "Durable mail between agents.",
            "description": "Generated from schemas/operations.json by tools/generate.py; do not edit. "
            "Every refusal, on any path, is one Refusal object.",
            "license": {"name": "MIT", "identifier": "MIT"},
        },
        "servers": [
            {"url": "http://127.0.0.1:18301", "description": "the daemon where it listens by default"}
        ],
        "tags": [{"name": name, "description": meaning} for name, meaning in tags.items() if name in used],
        "paths": dict(paths),
        "components": {
            "securitySchemes": {
                "bearer": {"type": "http", "scheme": "bearer", "description": "The account's secret."}
            },
            "responses": dict(sorted(responses.items())),
            "schemas": map_references(definitions, local),
        },
    }
