"""The published contract files that travel with the package.

Bundles, the OpenAPI document, the table of operations.
"""

import json
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any


def published_text(name: str) -> str:
    """Return a contract file by its path under ``schemas/``, for example ``bundle/mail.bundle.json``.

    Raises FileNotFoundError for a name that is not published.
    """
    packaged = files("mail4agent_api").joinpath("schemas", name)
    if packaged.is_file():
        return packaged.read_text("utf-8")
    return (Path(__file__).resolve().parent.parent / "schemas" / name).read_text("utf-8")


@cache
def definitions(seam: str) -> dict[str, Any]:
    """Return the definitions of a seam's bundle, by name."""
    return json.loads(published_text(f"bundle/{seam}.bundle.json"))["$defs"]
