"""Write ``docs/operations.md``.

Every operation with its fields, bounds, refusals and an example that is a conformance vector.
"""

import json
from typing import Any

from bundle import references, vectors_of
from openapi import kinds_by_status, sentence

Json = Any
SOURCES = "schemas/operations.json and schemas/bundle/"
HEADER = f"<!-- Generated from {SOURCES} by tools/generate.py; do not edit. -->\n"
INTRODUCTION = """
# Operations

Every operation is one HTTP request: `POST` with a JSON object as its body, except where the table says `GET`.
A caller proves itself with `Authorization: Bearer <secret>`; no request has a field that names its sender. An
answer is the JSON object of the named type with status 200, or one refusal: a JSON object whose `kind` says
what is wrong, with the status of that kind.

Bounds of texts are bytes of UTF-8. An optional field may be left out or be `null`; a field with another
default may only be left out. A key that is not listed is refused.
"""
_RETRY = {
    "always": "yes, always",
    "key": "yes, with an idempotency key",
    "keys": "yes, when each message has an idempotency key",
    "never": "no",
}


def _anchor(title: str) -> str:
    return title.lower().replace(".", "").replace(" ", "-")


def _linked(name: str) -> str:
    """A link to the section of an object or a union. Every refusal is in one table."""
    return f"[{name}](#{'refusals' if name == 'Refusal' else 'type-' + _anchor(name)})"


def _shape(node: Json, definitions: dict[str, Json]) -> str:
    """What a field holds, in words, with its bounds."""
    if "$ref" in node:
        name = node["$ref"].rpartition("/")[2]
        target = definitions[name]
        if "oneOf" in target or target.get("type") == "object":
            return _linked(name)
        return f"{target['description']} (`{name}`)"
    if "anyOf" in node:
        return _shape(node["anyOf"][0], definitions)
    if "allOf" in node:
        return _shape(node["allOf"][0], definitions)
    if "const" in node:
        return f"`{json.dumps(node['const'])}`"
    if node["type"] == "array":
        low, high = node.get("minItems", 0), node.get("maxItems")
        number = f"{low} to {high}" if high is not None else "any number"
        return f"{number} of: {_shape(node['items'], definitions)}"
    return {"boolean": "true or false"}[node["type"]]


def _fields(name: str, definitions: dict[str, Json]) -> list[str]:
    definition = definitions[name]
    if not definition["properties"]:
        return ["An empty object."]
    lines = ["| field | | holds |", "| --- | --- | --- |"]
    for key, node in definition["properties"].items():
        if key in definition.get("required", []):
            need = "required"
        elif node.get("default") is None:
            need = "optional"
        else:
            need = f"default `{json.dumps(node['default'])}`"
        lines.append(f"| `{key}` | {need} | {_shape(node, definitions)} |")
    lines += [f"\n`{left}` must differ from `{right}`." for left, right in definition.get("x-notEqual", [])]
    lines += [
        f"\n`{left}` and `{right}` exclude each other." for left, right in definition.get("x-exclusive", [])
    ]
    return lines


def example(name: str) -> Json:
    """The first valid vector of a type, or None while it has none."""
    path = vectors_of(name)
    if not path.exists():
        return None
    return next(
        (
            case["data"]
            for case in json.loads(path.read_text("utf-8"))["cases"]
            if case["valid"] and "data" in case
        ),
        None,
    )


def _block(value: Json, language: str = "json") -> list[str]:
    return [f"```{language}", json.dumps(value, indent=2, ensure_ascii=False), "```", ""]


def _section(row: dict[str, Json], definitions: dict[str, Json]) -> list[str]:
    needs = " or ".join(f"`{need}`" for need in row["capability"]) or (
        "a valid caller" if row.get("authenticated", True) else "no credential"
    )
    lines = [
        f"## {row['name']}",
        "",
        sentence(row["summary"]),
        "",
        f"`{row['method']} {row['path']}` · needs {needs}",
    ]
    if row["effect"] == "write":
        lines[-1] += f" · may be repeated after a lost answer: {_RETRY[row.get('retry', 'never')]}"
    if row.get("lenient_body"):
        lines[-1] += " · the body may be left out"
    if row["request"]:
        lines += [
            "",
            f"Takes {row['request']}: {definitions[row['request']]['description']}.",
            "",
            *_fields(row["request"], definitions),
            "",
        ]
        lines += _block(value) if (value := example(row["request"])) is not None else []
    if "tool" in row:
        tool = row["tool"]
        lines += [
            "",
            (
                f"The MCP tool `{tool['name']}` takes {_linked(tool['request'])} and "
                f"gives {_linked(tool['result'])}."
            ),
        ]
    lines += [
        "",
        f"Gives {_linked(row['response'])}: {definitions[row['response']]['description']}.",
        "",
    ]
    lines += _block(value) if (value := example(row["response"])) is not None else []
    own = kinds_by_status({**row, "authenticated": False}, [], definitions)
    if own:
        lines += [
            "Refusals of its own: "
            + "; ".join(
                f"{status} " + ", ".join(f"`{kind}`" for kind in kinds) for status, kinds in own.items()
            )
            + ".",
            "",
        ]
    return lines


def _types(definitions: dict[str, Json], table: dict[str, Json]) -> list[str]:
    """Objects and unions that are not shown with the one operation that takes them."""
    requests = {row["request"] for row in table["operations"]} - set(references(list(definitions.values())))
    requests -= {row["tool"]["request"] for row in table["operations"] if "tool" in row}
    refusals = {ref.rpartition("/")[2] for ref in definitions["Refusal"]["discriminator"]["mapping"].values()}
    lines = ["# Types", ""]
    for name, definition in sorted(definitions.items()):
        if name in requests | refusals | {"Refusal", "MailError"}:
            continue
        if "oneOf" in definition:
            mapping = definition["discriminator"]["mapping"]
            content = ["One of, by `kind`:", ""]
            content += [f"- `{kind}`: {_linked(ref.rpartition('/')[2])}" for kind, ref in mapping.items()]
        elif definition.get("type") == "object":
            content = _fields(name, definitions)
        else:
            continue
        lines += [f"## Type {name}", "", sentence(definition["description"]), "", *content, ""]
    return lines


def _refusals(definitions: dict[str, Json], table: dict[str, Json]) -> list[str]:
    lines = ["# Refusals", "", "| status | kind | besides kind | means |", "| --- | --- | --- | --- |"]
    rows: list[tuple[int, str]] = []
    for kind, reference in definitions["Refusal"]["discriminator"]["mapping"].items():
        definition = definitions[reference.rpartition("/")[2]]
        fields = ", ".join(f"`{key}`" for key in definition["properties"] if key != "kind")
        rows.append(
            (
                definition["x-httpStatus"],
                f"| {definition['x-httpStatus']} | `{kind}` | {fields} | {definition['description']} |",
            )
        )
    lines += [row for _, row in sorted(rows, key=lambda pair: pair[0])]
    lines += [
        "",
        "Any operation may answer with: " + ", ".join(f"`{kind}`" for kind in table["every"]) + ".",
        "",
    ]
    lines += [
        "`Refusal` is the union of all of them, `MailError` that of the ten that the original daemon has:",
        "",
    ]
    lines += [
        "- " + ", ".join(f"`{kind}`" for kind in definitions["MailError"]["discriminator"]["mapping"]) + ".",
        "",
    ]
    return lines


def page(definitions: dict[str, Json], table: dict[str, Json]) -> str:
    """The text of ``docs/operations.md``."""
    lines = [
        HEADER,
        INTRODUCTION.strip(),
        "",
        f"This page is of version {table['version']} of the contract.",
        "",
    ]
    lines += ["| operation | request | what it does | needs |", "| --- | --- | --- | --- |"]
    for row in table["operations"]:
        needs = " or ".join(f"`{need}`" for need in row["capability"]) or (
            "a valid caller" if row.get("authenticated", True) else "no credential"
        )
        lines.append(
            f"| [{row['name']}](#{_anchor(row['name'])}) | `{row['method']} {row['path']}` "
            f"| {row['summary']} | {needs} |"
        )
    lines.append("")
    for row in table["operations"]:
        lines += _section(row, definitions)
    lines += [*_types(definitions, table), *_refusals(definitions, table)]
    text = "\n".join(lines)
    while "\n\n\n" in text:
        text = text.replace("\n\n\n", "\n\n")
    return text.rstrip("\n") + "\n"
