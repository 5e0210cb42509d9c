"""Write the definitions of every bundle as plain data for the TypeScript package's checker.

JSON Schema in a shorter form: references are names, a nullable node says so, a union is a map from tag to
name, and what restricts nothing is left out. A keyword that the checker does not know is an error here, so
that none is dropped in silence.
"""

import json
from typing import Any

from typescript import HEADER

Json = Any
#: Keywords that are taken over, and their names there.
KEPT = {
    "type": "type",
    "const": "const",
    "enum": "enum",
    "pattern": "pattern",
    "minLength": "minLength",
    "maxLength": "maxLength",
    "x-maxUtf8Bytes": "maxUtf8Bytes",
    "minimum": "minimum",
    "maximum": "maximum",
    "minItems": "minItems",
    "maxItems": "maxItems",
    "required": "required",
    "x-notEqual": "notEqual",
    "x-exclusive": "exclusive",
    "x-label": "label",
}
#: Keywords that restrict nothing, or that are said by another one.
LEFT = {"title", "default", "x-distinct", "x-declared", "x-byType", "x-httpStatus"}
#: Nodes of these kinds are described in refusals.
DESCRIBED = ("string", "integer")
#: The greatest integer that a JavaScript number tells from its neighbours.
SAFE = 2**53 - 1
#: Stands beside a pattern for readers whose ``$`` also matches before a line feed. JavaScript's does
#: not.
NO_LINE_FEED = {"pattern": "\\n"}


def _name(reference: str) -> str:
    return reference.rpartition("/")[2]


def short(node: Json) -> Json:
    """One node in the short form. Raises ValueError for a keyword that the checker does not know."""
    out: dict[str, Json] = {}
    for keyword, value in node.items():
        match keyword:
            case "$ref":
                out["ref"] = _name(value)
            case "allOf" if len(value) == 1:
                out = {**short(value[0]), **out}
            case "anyOf" if len(value) == 2 and value[1] == {"type": "null"}:
                out = {**short(value[0]), **out, "nullable": True}
            case "anyOf" if len(value) == 2 and "x-byType" in node:
                out["text"], out["members"] = map(short, value)
            case "oneOf":
                tag, mapping = (node["discriminator"][key] for key in ("propertyName", "mapping"))
                out["tag"] = tag
                out["kinds"] = {kind: _name(reference) for kind, reference in mapping.items()}
            case "properties":
                out["properties"] = {name: short(member) for name, member in value.items()}
            case "items":
                out["items"] = short(value)
            case "additionalProperties":
                out |= {"open": True} if value else {}
            case "maximum" if value > SAFE:
                pass
            case "description":
                if node.get("type") in DESCRIBED or "oneOf" in node or "x-byType" in node:
                    out["description"] = value
            case "not" if value == NO_LINE_FEED or "x-exclusive" in node:
                pass
            case "discriminator" if "oneOf" in node:
                pass
            case _ if keyword in KEPT:
                out[KEPT[keyword]] = value
            case _ if keyword not in LEFT:
                raise ValueError(f"the checker of clients/typescript does not know {keyword}: {value!r}")
    return out


def definitions_module(definitions: dict[str, Json], table: dict[str, Json]) -> str:
    """The text of ``clients/typescript/src/definitions.ts``: every definition, and every refusal's status."""
    mapping = definitions["Refusal"]["discriminator"]["mapping"]
    statuses = {kind: definitions[_name(reference)]["x-httpStatus"] for kind, reference in mapping.items()}
    lines = [
        HEADER,
        'import type { Definition } from "./checker.js";',
        'import type { Contract, RefusalKind } from "./types.js";\n',
        "/** The version of the contract. */",
        f"export const CONTRACT_VERSION = {json.dumps(table['version'])};\n",
        "/** The HTTP status of each kind of refusal. */",
        "export const STATUS: Readonly<Record<RefusalKind, number>> = {",
        *(f"  {kind}: {status}," for kind, status in statuses.items()),
        "};\n",
        "/** Every definition of the contract, by its name. */",
        "export const DEFINITIONS: Readonly<Record<keyof Contract, Definition>> = {",
        *(f"  {name}: {json.dumps(short(node))}," for name, node in definitions.items()),
        "};",
    ]
    return "\n".join(lines) + "\n"
