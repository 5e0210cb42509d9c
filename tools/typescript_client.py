"""Write the table of operations and the methods of the TypeScript client, one for each row."""

import json
from typing import Any

from client import method_name
from typescript import HEADER, comment, type_of

Json = Any
#: What a definition looks like in a request of the client, and what turns that into the definition.
COMFORTS = {
    "Address": ("Address | string", "address"),
    "ParticipantAddress": ("ParticipantAddress | string", "participant"),
    "Position": ("Position | Message", "position"),
}
SCALARS = {"string": "string", "integer": "number", "boolean": "boolean"}

OPERATION = """/** One row of the table of operations. */
export interface Operation {
  readonly method: "GET" | "POST";
  readonly path: string;
  readonly authenticated: boolean;
  readonly request: keyof Contract | null;
  readonly response: keyof Contract;
  readonly effect: "read" | "write";
  /** When a lost answer may be asked for again. */
  readonly retry: "always" | "key" | "keys" | "never";
  /** Seconds that the daemon holds it when it is not told for how long; null: it does not wait. */
  readonly waitSecs: number | null;
}
"""

HEAD = """/** What every call may be given besides its request. */
export interface CallOptions {
  /** Ends the call; it then rejects with the signal's reason. */
  readonly signal?: AbortSignal;
}

/** Every operation as a method: from its request to its response. */
export abstract class Methods {
  protected abstract ask<Name extends keyof Operations>(
    operation: Name,
    request: unknown,
    options: CallOptions | undefined,
  ): Promise<Operations[Name]["response"]>;
"""


def _wait_secs(row: Json, definitions: dict[str, Json]) -> int | None:
    """Seconds that the daemon holds a request which does not say; None for one that does not wait."""
    members = definitions[row["request"]]["properties"] if row["request"] else {}
    return members["wait_secs"].get("default") or 0 if "wait_secs" in members else None


def operations_module(definitions: dict[str, Json], table: dict[str, Json]) -> str:
    """The text of ``clients/typescript/src/operations.ts``."""
    lines = [
        HEADER,
        'import type { Contract, Operations } from "./types.js";\n',
        OPERATION,
        "/** Every operation, by its name. */",
        "export const OPERATIONS: Readonly<Record<keyof Operations, Operation>> = {",
    ]
    for row in table["operations"]:
        fields = {key: row[key] for key in ("method", "path", "request", "response", "effect")}
        fields |= {"authenticated": row.get("authenticated", True), "retry": row.get("retry", "never")}
        fields["waitSecs"] = _wait_secs(row, definitions)
        lines.append(f"  {json.dumps(row['name'])}: {json.dumps(fields)},")
    return "\n".join([*lines, "};\n"])


def _hint(node: Json, definitions: dict[str, Json]) -> tuple[str, str | None]:
    """The type of a member as a caller gives it, and its converter."""
    if "anyOf" in node and "x-byType" not in node:
        inner, converter = _hint(node["anyOf"][0], definitions)
        return f"{inner} | null", converter
    if "allOf" in node:
        return _hint(node["allOf"][0], definitions)
    if node.get("type") == "array":
        return f"ReadonlyArray<{_hint(node['items'], definitions)[0]}>", None
    if "$ref" not in node:
        return type_of(node), None
    name = node["$ref"].rpartition("/")[2]
    if name in COMFORTS:
        return COMFORTS[name]
    definition = definitions[name]
    if "enum" not in definition and definition.get("type") in SCALARS:
        return SCALARS[definition["type"]], None
    return name, None


def _fields(row: Json, definitions: dict[str, Json]) -> tuple[str, dict[str, str]]:
    """The interface of what a method takes, and the converters of its members."""
    definition = definitions[row["request"]]
    required = definition.get("required", ())
    converters: dict[str, str] = {}
    lines: list[str] = []
    for name, node in definition["properties"].items():
        hint, converter = _hint(node, definitions)
        if converter is not None:
            converters[name] = converter
        given = hint if name in required else f"{hint} | undefined"
        lines.append(f"  readonly {name}{'' if name in required else '?'}: {given};")
    title = fields_name(row["name"])
    head = comment(f"What ``{row['name']}`` takes: {definition['description']}").replace("``", "`")
    if not lines:
        return f"{head}export type {title} = Record<string, never>;\n", converters
    return "\n".join([f"{head}export interface {title} {{", *lines, "}\n"]), converters


def camel_name(operation: str) -> str:
    """The method of an operation: ``mail.send_many`` is ``sendMany``."""
    first, *others = method_name(operation).split("_")
    return first + "".join(word.capitalize() for word in others)


def fields_name(operation: str) -> str:
    """The name of what an operation's method takes: ``mail.send_many`` takes ``SendManyFields``."""
    name = camel_name(operation)
    return f"{name[0].upper()}{name[1:]}Fields"


def _method(row: Json, converters: dict[str, str], *, optional: bool) -> str:
    name, kinds = row["name"], ", ".join(row["refusals"])
    text = "\n   *\n   * Refusals of its own: ".join([row["summary"], *([kinds + "."] if kinds else [])])
    if row["request"] is None:
        takes, given = "", "undefined"
    else:
        takes = f"fields: {fields_name(name)}{' = {}' if optional else ''}, "
        changed = "".join(f", {key}: {value}(fields.{key})" for key, value in converters.items())
        given = f"{{ ...fields{changed} }}" if changed else "fields"
    return f"""
  /**
   * {text}
   */
  async {camel_name(name)}({takes}options?: CallOptions): Promise<{row["response"]}> {{
    return this.ask({json.dumps(name)}, {given}, options);
  }}
"""


def methods_module(definitions: dict[str, Json], table: dict[str, Json]) -> str:
    """The text of ``clients/typescript/src/methods.ts``."""
    interfaces: list[str] = []
    methods: list[str] = []
    for row in table["operations"]:
        converters: dict[str, str] = {}
        optional = False
        if row["request"] is not None:
            text, converters = _fields(row, definitions)
            interfaces.append(text)
            optional = not definitions[row["request"]].get("required")
        methods.append(_method(row, converters, optional=optional))
    used = "".join([*interfaces, *methods])
    types = [name for name in definitions if _mentions(used, name)]
    return "\n".join(
        [
            HEADER,
            'import { address, participant, position } from "./addresses.js";',
            "import type {",
            *(f"  {name}," for name in sorted([*types, "Operations"])),
            '} from "./types.js";\n',
            *interfaces,
            HEAD.rstrip("\n"),
            *(method.rstrip("\n") for method in methods),
            "}\n",
        ]
    )


def _mentions(text: str, name: str) -> bool:
    return any(f"{before}{name}{after}" in text for before in ": <(|" for after in ">;, |)[")
