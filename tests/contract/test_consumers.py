"""Consumers that share no code with the wire package read the same vectors.

The oracle, and stock jsonschema as the README has it.
"""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from tests import oracle
from tests.vectors import vectors

README = (Path(__file__).resolve().parents[2] / "schemas" / "README.md").read_text("utf-8")


def code(language: str) -> str:
    """The one code block of a language in the README."""
    (block,) = re.findall(rf"^```{language}\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)
    return block


def verdicts(validator: Any) -> dict[str, bool]:
    """What a validator class makes of each vector, its bytes read as UTF-8 by Python's json."""
    validators = {
        name: validator({**oracle.bundle(), "$ref": f"#/$defs/{name}"}) for name in oracle.bundle()["$defs"]
    }
    out: dict[str, bool] = {}
    for vector in vectors():
        try:
            value = json.loads(vector.raw.decode())
        except (ValueError, RecursionError):
            out[str(vector)] = False
        else:
            out[str(vector)] = validators[vector.type].is_valid(value)
    return out


def test_the_oracle_gets_every_vector_right() -> None:
    """With its own strict reader and all keywords, nothing differs."""
    wrong = [str(v) for v in vectors() if oracle.decodes(v.type, v.raw) != v.valid]
    assert wrong == []


@pytest.mark.promise("api.consumers-agree-on-vectors")
def test_stock_jsonschema_gets_every_vector_right_that_needs_no_keyword() -> None:
    """With only the published bundle; where it is known to differ it does, and a needed keyword is needed."""
    found = verdicts(Draft202012Validator)
    wrong = [
        str(v)
        for v in vectors()
        if (found[str(v)] != v.valid) != (bool(v.needs) or "jsonschema" in v.differs)
    ]
    assert wrong == []


@pytest.mark.promise("api.consumers-agree-on-vectors")
def test_jsonschema_with_the_readme_keywords_gets_every_vector_right() -> None:
    """The Python block of the README, as it stands, makes up for every needed keyword."""
    names: dict[str, Any] = {}
    exec(code("python"), names)
    found = verdicts(names["ContractValidator"])
    wrong = [str(v) for v in vectors() if (found[str(v)] != v.valid) != ("jsonschema" in v.differs)]
    assert wrong == []


def test_readme_keywords_are_ten_lines_each() -> None:
    """What a consumer must add stays short enough to copy."""
    for language in ("python", "js"):
        lines = [line for line in code(language).splitlines() if line.strip()]
        assert len(lines) <= 14, language
