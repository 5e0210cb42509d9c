"""The conformance vectors of every seam, as plain data."""

import base64
import importlib
import json
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).resolve().parent.parent / "schemas" / "vectors"
#: The module of the wire package whose types a folder's vectors are of, where it has another name.
MODULES = {"mail4agent": "mail"}


@dataclass(frozen=True, slots=True)
class Vector:
    """One case: the bytes to decode as a type, and what must come of it."""

    type: str
    description: str
    valid: bool
    raw: bytes
    refusal: dict[str, Any] | None = None
    needs: tuple[str, ...] = ()
    differs: dict[str, str] = field(default_factory=dict)

    def __str__(self) -> str:
        return f"{self.type}: {self.description}"


def files() -> list[Path]:
    """Every file of vectors."""
    return sorted(FOLDER.glob("*/*.json"))


@cache
def contract_type(name: str) -> Any:
    """The generated type that a file's vectors are of."""
    (path,) = FOLDER.glob(f"*/{name}.json")
    return getattr(
        importlib.import_module(f"mail4agent_api.{MODULES.get(path.parent.name, path.parent.name)}"), name
    )


def vectors() -> list[Vector]:
    """Every case of every file, in the order of the files."""
    out: list[Vector] = []
    for path in files():
        document = json.loads(path.read_text("utf-8"))
        for case in document["cases"]:
            raw = (
                base64.b64decode(case["raw_base64"], validate=True)
                if "raw_base64" in case
                else json.dumps(case["data"], ensure_ascii=False).encode()
            )
            out.append(
                Vector(
                    document["type"],
                    case["description"],
                    case["valid"],
                    raw,
                    case.get("refusal"),
                    tuple(case.get("needs", ())),
                    case.get("differs", {}),
                )
            )
    return out
