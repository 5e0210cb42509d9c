"""The vectors themselves: well formed, worded alike, and leaving no type and no bound of the contract out."""

import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from tests import oracle
from tests.vectors import FOLDER, Vector, files, vectors

SCHEMA = json.loads((FOLDER / "vectors.schema.json").read_text("utf-8"))
FILES = files()
#: "X does Y": what it is, then one of these, and nothing after it.
WORDING = re.compile(r"[A-Za-z0-9\"][^\n]* (decodes?|(is|are) refused)\Z")
COUNTED = re.compile(r"\^(?P<prefix>[A-Za-z0-9_-]*)\[[^\]]+\]\{(?P<least>[0-9]+)(?:,(?P<most>[0-9]+))?\}\$\Z")

Definition = dict[str, Any]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_file_matches_the_schema_of_vectors(path: Path) -> None:
    """A file holds the cases of the type that it is named after, and nothing unknown to its schema."""
    document = json.loads(path.read_text("utf-8"))
    assert [e.message for e in Draft202012Validator(SCHEMA).iter_errors(document)] == []
    assert document["type"] == path.stem


def test_descriptions_are_worded_alike_and_tell_the_verdict() -> None:
    """A description says what a case is and what becomes of it, once in its file."""
    every = vectors()
    assert [str(v) for v in every if not WORDING.match(v.description) or "should" in v.description] == []
    assert [str(v) for v in every if v.description.endswith("refused") == v.valid] == []
    assert [k for k, n in Counter((v.type, v.description) for v in every).items() if n > 1] == []


def test_there_are_enough_and_most_are_invalid() -> None:
    """At least 200 cases, at least half of them invalid, and both kinds for every type of every seam."""
    every = vectors()
    invalid = [v for v in every if not v.valid]
    assert len(every) >= 200
    assert len(invalid) * 2 >= len(every)
    types = set(oracle.bundle()["$defs"])
    assert {v.type for v in every if v.valid} == types
    assert {v.type for v in invalid} == types


def test_refusals_name_labels_of_the_contract() -> None:
    """Every field that a vector expects is a label, the name of a property, or the request itself."""
    labels = {"request"}
    for definition in oracle.bundle()["$defs"].values():
        for node in (definition, *definition.get("properties", {}).values()):
            labels |= {node["x-label"]} if "x-label" in node else set()
        labels |= set(definition.get("properties", {}))
    assert [str(v) for v in vectors() if v.refusal and v.refusal["field"] not in labels] == []


def bounds(definition: Definition) -> Iterator[tuple[tuple[str, ...], str, int]]:
    """Place, keyword and limit of every bound that a definition sets itself."""
    nodes = {(): definition, **{(key,): node for key, node in definition.get("properties", {}).items()}}
    for place, node in nodes.items():
        for keyword in (
            "maxLength",
            "x-maxUtf8Bytes",
            "minLength",
            "minimum",
            "maximum",
            "minItems",
            "maxItems",
        ):
            if keyword in node and node[keyword] != 0:
                yield place, keyword, node[keyword]
        if "pattern" in node and (found := COUNTED.match(node["pattern"])) and "maxLength" not in node:
            yield place, "minLength", len(found["prefix"]) + int(found["least"])
            yield place, "maxLength", len(found["prefix"]) + int(found["most"] or found["least"])


def size(keyword: str, value: Any) -> int | None:
    """What a keyword measures of a value, None for a value that it says nothing about."""
    match value:
        case str() if keyword == "x-maxUtf8Bytes":
            return len(value.encode())
        case str() if keyword.endswith("Length"):
            return len(value)
        case list() if keyword.endswith("Items"):
            return len(value)
        case int() if keyword in {"minimum", "maximum"} and not isinstance(value, bool):
            return value
        case _:
            return None


def parsed(vector: Vector) -> Any:
    """A vector's value, None where its bytes are no strict JSON."""
    try:
        return oracle.parse(vector.raw)
    except oracle.NotStrictJsonError:
        return None


def at(place: tuple[str, ...], value: Any) -> Any:
    """The part of a value at a place, None where it has none."""
    for step in place:
        value = value.get(step) if isinstance(value, dict) else None
    return value


def test_every_bound_has_a_vector_at_it_and_one_past_it() -> None:
    """Computed from the bundle: the last value that is allowed and the first that is not are both there."""
    by_type: defaultdict[str, list[tuple[bool, Any]]] = defaultdict(list)
    for vector in vectors():
        by_type[vector.type].append((vector.valid, parsed(vector)))
    gaps: list[str] = []
    for name, definition in oracle.bundle()["$defs"].items():
        for place, keyword, limit in bounds(definition):
            past = limit - 1 if keyword.startswith("min") else limit + 1
            sizes = [(valid, size(keyword, at(place, value))) for valid, value in by_type[name]]
            gaps += [f"{name}{place} {keyword}: nothing at {limit}"] if (True, limit) not in sizes else []
            gaps += [f"{name}{place} {keyword}: nothing at {past}"] if (False, past) not in sizes else []
    assert gaps == []


def test_every_other_rule_has_a_vector_that_breaks_it() -> None:
    """Required members, closed objects, enumerations, tags and cross-field rules are each broken once."""
    by_type: defaultdict[str, list[Any]] = defaultdict(list)
    for vector in vectors():
        if not vector.valid:
            by_type[vector.type].append(parsed(vector))
    gaps: list[str] = []
    for name, definition in oracle.bundle()["$defs"].items():
        objects = [value for value in by_type[name] if isinstance(value, dict)]
        gaps += [
            f"{name} lacks a case without {k}"
            for k in definition.get("required", [])
            if all(k in o for o in objects)
        ]
        if definition.get("type") == "object" and not definition["additionalProperties"]:
            known = definition["properties"].keys()
            gaps += [] if any(o.keys() - known for o in objects) else [f"{name} lacks an unknown key"]
        for key, node in definition.get("properties", {}).items():
            if "const" in node and not any(o.get(key, node["const"]) != node["const"] for o in objects):
                gaps.append(f"{name} lacks another {key}")
        for left, right in definition.get("x-notEqual", []):
            gaps += (
                []
                if any(o.get(left) and o.get(left) == o.get(right) for o in objects)
                else [f"{name}: {left} = {right}"]
            )
        for left, right in definition.get("x-exclusive", []):
            gaps += (
                [] if any(o.get(left) and o.get(right) for o in objects) else [f"{name}: {left} and {right}"]
            )
        if "enum" in definition and not any(
            isinstance(v, str) and v not in definition["enum"] for v in by_type[name]
        ):
            gaps.append(f"{name} lacks another value")
        if "oneOf" in definition:
            tag, kinds = (definition["discriminator"][key] for key in ("propertyName", "mapping"))
            gaps += [] if any(o.get(tag) not in kinds for o in objects) else [f"{name} lacks another kind"]
    assert gaps == []
