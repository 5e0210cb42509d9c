"""The page on request types is true."""

from __future__ import annotations

import contextlib
import io
import re
from pathlib import Path

import pytest

from mail4agent_core.frontdoor.manifest import Form, read_manifest

ROOT = Path(__file__).resolve().parents[4]
PAGE = (ROOT / "docs" / "request-types.md").read_text("utf-8")


def block(language: str) -> str:
    """The page's only block in a language."""
    (found,) = re.findall(rf"^```{language}\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    return found


def test_the_example_of_a_manifest_is_a_form() -> None:
    """It can be read as it stands, and its condition holds."""
    form = Form(read_manifest(block("toml").encode(), "toml"))
    other = {"visitor_email": "a@example.org", "purpose": "other", "story": "x", "rules": True}
    assert form.validate(other) == other


def test_the_example_of_a_submission_prints_what_the_page_says(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is run as it stands."""
    monkeypatch.chdir(ROOT)
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(block("python"), "request-types.md", "exec"), {})
    assert printed.getvalue() == block("text")
