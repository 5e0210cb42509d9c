"""The requirements manifest: what is promised is proved by a test that says so, and nothing else is claimed.

Marks are read from the source, not collected, so that the answer is the same whichever tests a run selects.
"""

import ast
import re
import tomllib
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

TESTS = Path(__file__).resolve().parent
MANIFEST = TESTS / "requirements.toml"


def promises() -> dict[str, str]:
    """The text of each promise of the manifest, by id."""
    entries = tomllib.loads(MANIFEST.read_text(encoding="utf-8"))["promise"]
    return {entry["id"]: entry["text"] for entry in entries}


def is_promise(node: ast.expr) -> bool:
    """Whether an expression is `pytest.mark.promise`, called or not."""
    return (
        isinstance(node, ast.Attribute)
        and node.attr == "promise"
        and ast.unparse(node).endswith("mark.promise")
    )


def carriers(tree: ast.Module) -> Iterator[ast.expr]:
    """The expressions that mark tests: decorators of functions and classes, and values of `pytestmark`."""
    for node in ast.walk(tree):
        function = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        if (function and node.name.startswith("test_")) or isinstance(node, ast.ClassDef):
            yield from node.decorator_list
        elif isinstance(node, ast.Assign) and any(
            ast.unparse(t).endswith("pytestmark") for t in node.targets
        ):
            yield node.value


def marks(source: str) -> tuple[set[str], int]:
    """The ids that tests in `source` name, and how many marks it has that name none or stand on no test."""
    tree = ast.parse(source)
    named: set[str] = set()
    seen: set[int] = set()
    for carrier in carriers(tree):
        for node in ast.walk(carrier):
            if isinstance(node, ast.Call) and is_promise(node.func):
                ids = [a.value for a in node.args if isinstance(a, ast.Constant) and isinstance(a.value, str)]
                if ids and len(ids) == len(node.args) and not node.keywords:
                    named.update(ids)
                    seen.add(id(node.func))
    every = {id(node) for node in ast.walk(tree) if isinstance(node, ast.expr) and is_promise(node)}
    return named, len(every - seen)


def faults(promised: Iterable[str], sources: Iterable[tuple[str, str]]) -> list[str]:
    """One sentence for each promise without a test, test without a promise, and mark that proves nothing."""
    promised = set(promised)
    proved: set[str] = set()
    found: list[str] = []
    for name, source in sources:
        named, stray = marks(source)
        proved |= named
        found += [f"{name} names {unknown}, which is no promise" for unknown in sorted(named - promised)]
        if stray:
            found.append(f"{name} has a promise mark that names no literal id or stands on no test")
    return found + [f"no test names {unproved}" for unproved in sorted(promised - proved)]


def test_every_promise_has_a_test_and_every_mark_a_promise():
    """The manifest and the marks of the whole suite cover each other."""
    sources = [
        (path.relative_to(TESTS).as_posix(), path.read_text(encoding="utf-8")) for path in TESTS.rglob("*.py")
    ]
    assert faults(promises(), sorted(sources)) == []


def test_manifest_entries_are_distinct_sentences():
    """Ids have one form and occur once; texts are sentences and occur once."""
    entries = tomllib.loads(MANIFEST.read_text(encoding="utf-8"))["promise"]
    assert all(set(entry) == {"id", "text"} for entry in entries)
    assert [e["id"] for e in entries if not re.fullmatch(r"[a-z]+\.[a-z0-9]+(-[a-z0-9]+)*", e["id"])] == []
    assert [e["id"] for e in entries if not e["text"].endswith(".")] == []
    assert len({entry["id"] for entry in entries}) == len(entries)
    assert len({entry["text"] for entry in entries}) == len(entries)


MARKED = 'import pytest\n\n\n@pytest.mark.promise("mail.a")\ndef test_a():\n    pass\n'


@pytest.mark.parametrize(
    ("promised", "source", "fault"),
    [
        (["mail.a", "mail.b"], MARKED, "no test names mail.b"),
        ([], MARKED, "test_x.py names mail.a, which is no promise"),
        (
            ["mail.a"],
            MARKED + '\nNAME = "mail.b"\n\n\n@pytest.mark.promise(NAME)\ndef test_b():\n    pass\n',
            "test_x.py has a promise mark that names no literal id or stands on no test",
        ),
        (
            ["mail.a"],
            MARKED + '\n\n@pytest.mark.promise("mail.a")\ndef prepare():\n    pass\n',
            "test_x.py has a promise mark that names no literal id or stands on no test",
        ),
    ],
    ids=["unproved", "unknown", "not literal", "not on a test"],
)
def test_a_gap_between_manifest_and_marks_is_found(promised: list[str], source: str, fault: str):
    """Each way in which manifest and marks can part is reported in one sentence."""
    assert faults(promised, [("test_x.py", source)]) == [fault]


@pytest.mark.parametrize(
    "source",
    [
        MARKED,
        'import pytest\n\npytestmark = [pytest.mark.promise("mail.a"), pytest.mark.timeout(9)]\n',
        'import pytest\n\n\n@pytest.mark.promise("mail.a")\nclass StoreContract:\n    pass\n',
        'import pytest\n\n\nclass C:\n    @pytest.mark.promise("mail.a")\n    async def test_a(self): ...\n',
    ],
    ids=["function", "module", "class", "method"],
)
def test_a_mark_counts_wherever_a_test_can_carry_one(source: str):
    """A function, a method, a class and a module each carry a promise for their tests."""
    assert faults(["mail.a"], [("test_x.py", source)]) == []
