"""Write the contract as TypeScript types. Own code, so that generating needs no Node.js.

Texts and numbers become aliases whose comment gives the bounds, the identifiers become branded types, unions
narrow by ``kind``, and what has a default may be left out. The types check no bound: that is for a validator
with the bundle, or for the daemon.
"""

import json
from typing import Any

Json = Any
SOURCES = "schemas/bundle/ and schemas/operations.json"
HEADER = f"// Generated from {SOURCES} by tools/generate.py; do not edit.\n"
BRAND = """
declare const brand: unique symbol;
/** Text of one identifier type: another identifier, or plain text, is not assignable to it. */
export type Branded<Name extends string> = string & { readonly [brand]: Name };
"""


def comment(text: str, indent: str = "") -> str:
    """A description as the comment of what follows it."""
    return f"{indent}/** {text[0].upper()}{text[1:]}{'' if text.endswith('.') else '.'} */\n"


def type_of(node: Json) -> str:
    """A schema node as a TypeScript type."""
    if "$ref" in node:
        return node["$ref"].rpartition("/")[2]
    if "anyOf" in node:
        return " | ".join(type_of(branch) for branch in node["anyOf"])
    if "oneOf" in node:
        return "".join(f"\n  | {type_of(branch)}" for branch in node["oneOf"])
    if "allOf" in node:
        return type_of(node["allOf"][0])
    if "const" in node:
        return json.dumps(node["const"])
    if "enum" in node:
        return " | ".join(json.dumps(value) for value in node["enum"])
    match node["type"]:
        case "array":
            return f"ReadonlyArray<{type_of(node['items'])}>"
        case "integer":
            return "number"
        case plain:
            return plain


def _default(node: Json) -> str:
    if node.get("default") is None:
        return ""
    return f" Default: {json.dumps(node['default'])}."


def _bounds(node: Json) -> str:
    low, high = node.get("minItems"), node.get("maxItems")
    if high is None:
        return ""
    return f" {low or 0} to {high} entries."


def _object(name: str, definition: Json) -> str:
    if definition["additionalProperties"] and not definition["properties"]:
        return f"export type {name} = Readonly<Record<string, unknown>>;\n"
    required = definition.get("required", [])
    lines = (
        [f"export interface {name} {{"]
        if definition["properties"]
        else [f"export type {name} = Record<string, never>;"]
    )
    for key, node in definition["properties"].items():
        remark = (_bounds(node) + _default(node)).strip()
        if remark:
            lines.append(comment(remark, "  ").rstrip("\n"))
        lines.append(f"  readonly {key}{'' if key in required else '?'}: {type_of(node)};")
    if definition["additionalProperties"]:
        lines.append("  readonly [member: string]: unknown;")
    return "\n".join([*lines, *(["}"] if definition["properties"] else [])]) + "\n"


def _operations(table: dict[str, Json]) -> str:
    lines = [
        comment("Each operation: its method and path, what it takes and gives, and how it may refuse").rstrip(
            "\n"
        ),
        "export interface Operations {",
    ]
    for row in table["operations"]:
        kinds = {*row["refusals"], *table["every"]} - (
            set() if row.get("authenticated", True) else {"unauthenticated"}
        )
        lines += [
            comment(row["summary"], "  ").rstrip("\n"),
            f"  readonly {json.dumps(row['name'])}: {{",
            f"    readonly method: {json.dumps(row['method'])};",
            f"    readonly path: {json.dumps(row['path'])};",
            f"    readonly request: {row['request'] or 'undefined'};",
            f"    readonly response: {row['response']};",
            f"    readonly refusal: RefusalOf<{' | '.join(json.dumps(kind) for kind in sorted(kinds))}>;",
            "  };",
        ]
    return "\n".join([*lines, "}\n"])


def declarations(definitions: dict[str, Json], table: dict[str, Json]) -> str:
    """The text of ``clients/typescript/src/types.ts``."""
    parts = [HEADER, BRAND.lstrip("\n")]
    for name, definition in definitions.items():
        text = comment(definition["description"])
        if definition.get("x-distinct"):
            text += f'export type {name} = Branded<"{name}">;\n'
        elif definition.get("type") == "object":
            text += _object(name, definition)
        else:
            text += f"export type {name} = {type_of(definition)};\n"
        parts.append(text)
    parts.append(
        comment("The kinds of refusal")
        + 'export type RefusalKind = Refusal["kind"];\n\n'
        + comment("The refusals of some kinds")
        + "export type RefusalOf<Kind extends RefusalKind> = Extract<Refusal, { readonly kind: Kind }>;\n"
    )
    parts.append(_operations(table))
    names = "".join(f"  readonly {name}: {name};\n" for name in definitions)
    parts.append(
        comment("Every type of the contract, by its name") + f"export interface Contract {{\n{names}}}\n"
    )
    return "\n".join(parts)
