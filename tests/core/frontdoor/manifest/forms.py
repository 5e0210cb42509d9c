"""Manifests that the tests of request types are about."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from mail4agent_core.frontdoor.manifest import Form, read_manifest

EXAMPLES = Path(__file__).resolve().parents[4] / "mail4agent_daemon" / "starters"
DIGEST = f"sha256:{'ab' * 32}"
CHOICES = [{"value": "tour", "label": "A tour"}, {"value": "other", "label": "Other"}]


def field(kind: str, name: str = "one", **given: Any) -> dict[str, Any]:
    """One field, with what its kind needs."""
    needed: dict[str, Any] = {"text": {"max_length": 80}, "long_text": {"max_length": 500}}.get(kind, {})
    if kind in {"select", "multi_select"}:
        needed = {"options": CHOICES}
    return {"kind": kind, "name": name, "label": name.title(), **needed, **given}


def manifest(*fields: dict[str, Any], **given: Any) -> dict[str, Any]:
    """A manifest of these fields."""
    return {"id": "visit", "version": 1, "title": "Visit the garden", "fields": list(fields), **given}


def form(*fields: dict[str, Any], **given: Any) -> Form:
    """The form of these fields."""
    return Form(read_manifest(json.dumps(manifest(*fields, **given)).encode(), "json"))


def measured(**given: Any) -> dict[str, Any]:
    """What was measured of a file."""
    whole = {"filename": "plan.pdf", "size": 10, "sha256": DIGEST, "content_type": "application/pdf"}
    return {**whole, **given}
