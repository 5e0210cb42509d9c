"""Validators that judge and build nothing, for what is about to leave.

A contract type's own validator makes its objects, identifiers and wrappers, which is most of its cost. To
judge bytes none of them is needed, so they are left out of a copy of its schema; every rule stays.
"""

from typing import Any

from pydantic_core import CoreSchema, SchemaValidator

#: In the metadata of a function validator: it makes a value and holds no rule.
MAKES = {"mail4agent_makes": True}


def checker(schema: CoreSchema) -> SchemaValidator:
    """Return a validator with the rules of ``schema`` that makes no object of the contract."""
    return SchemaValidator(_judging(schema))


def _judging(node: Any) -> Any:
    if isinstance(node, list | tuple):
        return type(node)(map(_judging, node))  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]
    if not isinstance(node, dict):
        return node
    schema: dict[str, Any] = node  # pyright: ignore[reportUnknownVariableType]
    reference = schema.get("ref")
    while True:
        match schema.get("type"):
            case "json-or-python":
                inner = schema["json_schema"]
            case "function-before" | "function-after" if schema.get("metadata", {}).items() >= MAKES.items():
                inner = schema["schema"]
            case "model":
                inner = {**schema["schema"], "extra_behavior": schema["config"]["extra_fields_behavior"]}
            case _:
                break
        schema, reference = inner, inner.get("ref", reference)
    judged = {key: value if key == "function" else _judging(value) for key, value in schema.items()}
    judged.pop("serialization", None)
    return judged if reference is None else {**judged, "ref": reference}
