"""The published contract files that travel with the package.

Bundles, the OpenAPI document, the table of operations.
"""

import json
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any


def _published(name: str) -> Traversable:
    packaged = files("mail4agent_api").joinpath("schemas", name)
    if packaged.is_file() or packaged.is_dir():
        return packaged
    return Path(__file__).resolve().parent.parent / "schemas" / name


def published_text(name: str) -> str:
    """Return a contract file by its path under ``schemas/``, for example ``bundle/mail.bundle.json``.

    Raises FileNotFoundError for a name that is not published.
    """
    return _published(name).read_text("utf-8")


@cache
def seams() -> tuple[str, ...]:
    """Return the names of the seams that have a bundle, in the order of the alphabet."""
    found = (path.name.partition(".bundle.json") for path in _published("bundle").iterdir())
    return tuple(sorted(seam for seam, suffix, _ in found if suffix))


@cache
def definitions(seam: str | None = None) -> dict[str, Any]:
    """Return the definitions of a seam's bundle by name, or those of every seam, each name of one type."""
    if seam is not None:
        return json.loads(published_text(f"bundle/{seam}.bundle.json"))["$defs"]
    return {name: node for each in seams() for name, node in definitions(each).items()}
