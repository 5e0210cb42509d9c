"""The threat model: each row of its table has what proves it."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path

import pytest

from .test_requirements import promises

TESTS = Path(__file__).resolve().parent


def rows(page: str) -> list[str]:
    """The first cell of each row of the table of threats."""
    table = page.partition("## What is protected, and how")[2].partition("\n## ")[0]
    lines = [line for line in table.splitlines() if line.startswith("| ")]
    cells = [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines]
    assert all(len(row) == 2 for row in cells)
    return [first for first, _ in cells if first != "what could happen"]


def faults(page: str, proofs: Iterable[Mapping[str, object]], promised: Iterable[str]) -> list[str]:
    """One sentence for each row without proof, proof without a row, and promise that is none."""
    stated, known = rows(page), set(promised)
    found: list[str] = []
    named: list[str] = []
    for proof in proofs:
        row, ids = str(proof["row"]), proof["promises"]
        assert isinstance(ids, list)
        named.append(row)
        if not ids:
            found.append(f"nothing proves: {row}")
        found += [f"{row}: {id_} is no promise" for id_ in ids if id_ not in known]
    found += [f"no row says: {row}" for row in named if row not in stated]
    found += [f"nothing proves: {row}" for row in stated if row not in named]
    return found if found or named == stated else ["the entries stand in another order than the rows"]


def test_every_threat_has_promises_that_are_tested() -> None:
    """The table of SECURITY.md and the entries of threats.toml are the same rows, each with its promises."""
    page = (TESTS.parent / "SECURITY.md").read_text("utf-8")
    proofs = tomllib.loads((TESTS / "threats.toml").read_text("utf-8"))["threat"]
    assert len(rows(page)) > 30
    assert faults(page, proofs, promises()) == []


TABLE = "| what could happen | what |\n|---|---|\n| one | a |\n| two | b |\n"
PAGE = f"## What is protected, and how\n\n{TABLE}\n## What is not\n"


@pytest.mark.parametrize(
    ("proofs", "fault"),
    [
        ([{"row": "one", "promises": ["p.a"]}], "nothing proves: two"),
        ([{"row": "one", "promises": ["p.a"]}, {"row": "two", "promises": []}], "nothing proves: two"),
        (
            [{"row": "one", "promises": ["p.a"]}, {"row": "two", "promises": ["p.b"]}],
            "two: p.b is no promise",
        ),
        ([{"row": row, "promises": ["p.a"]} for row in ("one", "two", "three")], "no row says: three"),
        (
            [{"row": row, "promises": ["p.a"]} for row in ("two", "one")],
            "the entries stand in another order than the rows",
        ),
    ],
)
def test_a_gap_between_threats_and_proofs_is_found(proofs: list[dict[str, object]], fault: str) -> None:
    """A row that nothing proves, a proof of nothing, and a promise that nobody made."""
    assert faults(PAGE, proofs, ["p.a"]) == [fault]


def test_the_page_says_what_is_outside_first() -> None:
    """The boundary stands before the table, and the list of what is not defended behind it."""
    page = (TESTS.parent / "SECURITY.md").read_text("utf-8")
    boundary, table, outside = (
        page.index(each) for each in ("your own user id", "| what could", "## What is not")
    )
    assert boundary < table < outside
    assert len(re.findall(r"^- \*\*", page[outside:], re.MULTILINE)) >= 10
