"""Join the schema files of one seam into one document with local references.

The bundle is what everything else is generated from, and what a consumer in another language takes as a
single file. The rules that it asserts (a definition's title is its name, names are unique over all files of
the seam, references stay inside) are those of ``schemas/README.md``.
"""

import json
from collections.abc import Callable
from pathlib import Path, PurePosixPath
from typing import Any

SCHEMAS = Path(__file__).resolve().parent.parent / "schemas"
#: Each seam's folders under ``schemas/``, those of shared definitions first.
SEAMS: dict[str, tuple[str, ...]] = {"mail": ("common", "mail4agent")}
HOST = "https://mail4agent.invalid/schemas/"

Json = Any


def map_references(node: Json, change: Callable[[str], str]) -> Json:
    """Rewrite every ``$ref`` and every discriminator mapping of a schema node."""
    if isinstance(node, list):
        return [map_references(item, change) for item in node]
    if not isinstance(node, dict):
        return node
    out: dict[str, Json] = {}
    for key, value in node.items():
        if key == "$ref" and isinstance(value, str):
            out[key] = change(value)
        elif key == "discriminator" and isinstance(value, dict):
            out[key] = {**value, "mapping": {tag: change(ref) for tag, ref in value["mapping"].items()}}
        else:
            out[key] = map_references(value, change)
    return out


def _localise(reference: str) -> str:
    name = PurePosixPath(reference.partition("#")[2]).name
    return f"#/$defs/{name}"


def bundle(seam: str) -> dict[str, Json]:
    """Return the seam's definitions as one JSON Schema 2020-12 document."""
    definitions: dict[str, Json] = {}
    for folder in SEAMS[seam]:
        for path in sorted((SCHEMAS / folder).glob("*.schema.json")):
            document = json.loads(path.read_text("utf-8"))
            where = path.relative_to(SCHEMAS).as_posix()
            if document["$id"] != HOST + where:
                raise ValueError(f"{where}: $id must be {HOST}{where}")
            for name, definition in document["$defs"].items():
                if definition.get("title") != name:
                    raise ValueError(f"{where}: the title of {name} must be its name")
                if name in definitions:
                    raise ValueError(f"{where}: {name} is defined twice in the seam {seam}")
                definitions[name] = map_references(definition, _localise)

    def check(reference: str) -> str:
        if reference.removeprefix("#/$defs/") not in definitions:
            raise ValueError(f"{reference} leaves the seam {seam}")
        return reference

    map_references(definitions, check)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"{HOST}bundle/{seam}.bundle.json",
        "$comment": "Generated from schemas/ by tools/generate.py; do not edit.",
        "$defs": definitions,
    }
