"""The conformance vectors of the mail seam, as plain data."""

import base64
import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).resolve().parent.parent / "schemas" / "vectors" / "mail4agent"


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


def vectors() -> list[Vector]:
    """Every case of every file, in the order of the files."""
    out: list[Vector] = []
    for path in sorted(FOLDER.glob("*.json")):
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
