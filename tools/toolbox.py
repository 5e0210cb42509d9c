"""Write ``schemas/tools.json``: the tools of the MCP door, as a client is shown them.

An input schema is the request type out of its bundle with every reference written out, so that a client needs
nothing else to read it. What only the contract's own consumers read is left out: titles, keywords of our own,
the guard against Python's reading of ``$``, and ``null`` as a default. Nothing that an argument may hold is
added or changed.
"""

from typing import Any

Json = Any
SOURCES = "schemas/operations.json and schemas/bundle/"
COMMENT = f"Generated from {SOURCES} by tools/generate.py; do not edit."
#: Stands beside each pattern that must hold to the very end of a text.
_GUARD = {"pattern": "\\n"}
_LEFT_OUT = {"title", "discriminator"}


def input_schema(name: str, definitions: dict[str, Json]) -> Json:
    """The schema of a tool's arguments: one object, self-contained."""
    schema = _written_out({"$ref": f"#/$defs/{name}"}, definitions)
    schema.pop("description", None)
    return schema


def _written_out(node: Json, definitions: dict[str, Json]) -> Json:
    if "$ref" in node:
        return _written_out(definitions[node["$ref"].rpartition("/")[2]], definitions) | _said(node)
    if "allOf" in node:
        (inner,) = node["allOf"]
        return _written_out(inner, definitions) | _said(node)
    out: dict[str, Json] = {}
    for key, value in node.items():
        if key in _LEFT_OUT or key.startswith("x-") or (key == "not" and value == _GUARD):
            continue
        if key == "default" and value is None:
            continue
        if key == "properties":
            out[key] = {member: _written_out(inner, definitions) for member, inner in value.items()}
        elif key in {"anyOf", "oneOf"}:
            out[key] = [_written_out(inner, definitions) for inner in value]
            if "description" in node:
                # A member says what it is for; what it must look like, its branch still says by its keywords.
                out[key][0].pop("description", None)
        elif key == "items":
            out[key] = _written_out(value, definitions)
        else:
            out[key] = value
    return out


def _said(node: Json) -> Json:
    """What a member says besides what it refers to."""
    return {key: node[key] for key in ("description", "default") if node.get(key) is not None}


def document(definitions: dict[str, Json], table: dict[str, Json]) -> Json:
    """The document, its tools in the order of the table."""
    rows = [row for row in table["operations"] if "tool" in row]
    return {"$comment": COMMENT, "tools": [_tool(row, definitions) for row in rows]}


def _tool(row: Json, definitions: dict[str, Json]) -> Json:
    tool = row["tool"]
    out: dict[str, Json] = {
        "operation": row["name"],
        "capability": tool.get("capability", row["capability"]),
        "name": tool["name"],
        "description": tool["description"],
        "inputSchema": input_schema(tool["request"], definitions),
        "annotations": {"readOnlyHint": row["effect"] == "read"},
    }
    if tool.get("always_load"):
        out["_meta"] = {"anthropic/alwaysLoad": True}
    return out
