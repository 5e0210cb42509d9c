"""Generated files are in step with the schemas, and every way of falling out of step is found."""

import ast
import importlib
import json
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import bundle as bundle_tool
import generate
import pytest
from bundle import SEAMS, bundle, contract, seam_of

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def wanted() -> dict[str, str]:
    """Every generated file as the schemas give it."""
    return generate.outputs()


@pytest.fixture
def copied(wanted: dict[str, str], tmp_path: Path) -> Path:
    """A folder with every generated file in it."""
    for name, text in wanted.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, "utf-8")
    return tmp_path


@pytest.mark.promise("api.generated-files-are-in-step")
def test_the_repository_is_in_step_with_its_schemas(wanted: dict[str, str]) -> None:
    """Nothing differs, nothing is missing, nothing is left over."""
    assert generate.differences(wanted, ROOT) == {}


@pytest.mark.promise("api.generated-files-are-in-step")
def test_a_hand_edit_of_any_generated_file_is_found(wanted: dict[str, str], copied: Path) -> None:
    """One changed character in one file is one finding, with a diff that shows it."""
    assert generate.differences(wanted, copied) == {}
    for name, text in wanted.items():
        (copied / name).write_text(text.replace("mail", "Mail", 1), "utf-8")
        found = generate.differences(wanted, copied)
        assert list(found) == [name]
        assert found[name].startswith(f"--- {name} (present)")
        (copied / name).write_text(text, "utf-8")


@pytest.mark.promise("api.generated-files-are-in-step")
def test_a_missing_file_is_found(wanted: dict[str, str], copied: Path) -> None:
    """A generated file that is not there is drift like any other."""
    for name, text in wanted.items():
        (copied / name).unlink()
        assert list(generate.differences(wanted, copied)) == [name]
        (copied / name).write_text(text, "utf-8")


@pytest.mark.promise("api.generated-files-are-in-step")
@pytest.mark.parametrize(
    ("name", "like"),
    [
        ("mail4agent_api/outbox.py", "mail4agent_api/mail.py"),
        ("schemas/bundle/outbox.bundle.json", "schemas/bundle/mail.bundle.json"),
        ("clients/typescript/src/old.ts", "clients/typescript/src/types.ts"),
        ("clients/python/mail4agent_client/old.py", "clients/python/mail4agent_client/methods.py"),
        ("docs/old.md", "docs/operations.md"),
    ],
)
def test_an_orphan_is_found(wanted: dict[str, str], copied: Path, name: str, like: str) -> None:
    """A file that says it is generated, and that nothing generates, is found wherever it lies."""
    (copied / name).write_text(wanted[like], "utf-8")
    assert list(generate.differences(wanted, copied)) == [name]


def test_a_hand_written_file_is_no_orphan(wanted: dict[str, str], copied: Path) -> None:
    """What does not say that it is generated is left alone."""
    (copied / "mail4agent_api" / "codec.py").write_text('"""By hand."""\n', "utf-8")
    assert generate.differences(wanted, copied) == {}


@pytest.mark.promise("api.generated-files-are-in-step")
@pytest.mark.timeout(400)
def test_the_command_fails_on_a_changed_schema_and_mends_what_it_is_told_to(tmp_path: Path) -> None:
    """With --check it exits 1, shows a diff and writes nothing; without it the files follow, each time."""
    for folder in ("schemas", "tools", "benchmarks", *generate.FOLDERS):
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(ROOT / folder, tmp_path / folder, ignore=ignored, dirs_exist_ok=True)
    source = tmp_path / "schemas" / "mail4agent" / "inbox.schema.json"
    source.write_text(source.read_text("utf-8").replace('"maximum": 256', '"maximum": 255'), "utf-8")

    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, str(tmp_path / "tools" / "generate.py"), *arguments],
            capture_output=True, text=True, check=False, timeout=100,
        )  # fmt: skip

    refused = run("--check")
    assert refused.returncode == 1, refused.stderr
    assert "+INBOX_LIMIT_MAX: Final = 255" in refused.stdout
    assert "= 256" in (tmp_path / "mail4agent_api" / "bounds.py").read_text("utf-8")
    assert run().returncode == 0
    assert "INBOX_LIMIT_MAX: Final = 255" in (tmp_path / "mail4agent_api" / "bounds.py").read_text("utf-8")
    # Another process, so that no time, no order of a set and no chance enters a generated file.
    assert run("--check").returncode == 0


def test_the_reference_page_links_to_sections_that_it_has(wanted: dict[str, str]) -> None:
    """Every link within the page leads to a heading, and no heading occurs twice."""
    page = wanted["docs/operations.md"]
    titles = re.findall(r"^#+ (.*)$", page, re.MULTILINE)
    headings = [title.lower().replace(".", "").replace(" ", "-") for title in titles]
    assert len(headings) == len(set(headings))
    assert set(re.findall(r"\]\(#([^)]*)\)", page)) <= set(headings)


def test_headers_name_source_and_command_and_no_time(wanted: dict[str, str]) -> None:
    """Whoever opens a generated file learns where to change it."""
    for name, text in wanted.items():
        head = text[:700]
        assert "by tools/generate.py; do not edit" in head, name
        assert ("benchmarks/results/" if name.endswith(".svg") else "schemas/") in head, name


def test_generated_python_is_compared_and_not_linted(wanted: dict[str, str]) -> None:
    """Each generated module is on ruff's list of what it leaves alone, save those that it finds in order."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["ruff"]
    modules = {name for name in wanted if name.endswith(".py")} - {"mail4agent_api/bounds.py"}
    assert modules <= set(settings["extend-exclude"])


@pytest.mark.parametrize("seam", [seam for seam in SEAMS if seam != "mail"])
def test_what_a_seam_shares_is_one_type(seam: str) -> None:
    """A definition that two bundles have is one Python type: the module of the seam imports it."""
    module = importlib.import_module(f"mail4agent_api.{seam}")
    shared = {name for name in bundle(seam)["$defs"] if seam_of(name) != seam}
    assert "Refusal" in shared
    for name in shared & vars(module).keys():
        assert getattr(module, name) is getattr(
            importlib.import_module(f"mail4agent_api.{seam_of(name)}"), name
        )
    assert {name for name in contract() if seam_of(name) == seam} <= vars(module).keys()


def test_a_reference_to_a_later_seam_is_refused(tmp_path: Path) -> None:
    """A seam refers to those before it only, so that modules import each other in one direction."""
    shutil.copytree(ROOT / "schemas", tmp_path / "schemas")
    source = tmp_path / "schemas" / "common" / "scalars.schema.json"
    document = json.loads(source.read_text("utf-8"))
    later = {"$ref": "../mailbox/ids.schema.json#/$defs/ProducerName"}
    document["$defs"]["Early"] = {"title": "Early", "allOf": [later]}
    source.write_text(json.dumps(document), "utf-8")
    with pytest.raises(ValueError, match="leads to no seam before mail"):
        bundle_tool.every_of(tmp_path / "schemas")


def test_generated_python_stands_alone(wanted: dict[str, str]) -> None:
    """Every generated module of the wire package imports nothing but what the package needs itself."""
    for name, text in wanted.items():
        if name.startswith("mail4agent_api/"):
            roots = {
                (node.module or "") if isinstance(node, ast.ImportFrom) else node.names[0].name
                for node in ast.walk(ast.parse(text))
                if isinstance(node, ast.Import | ast.ImportFrom)
            }
            allowed = {
                "mail4agent_api",
                "pydantic",
                "typing",
                "typing_extensions",
                "collections",
                "types",
                "functools",
                "importlib",
                "dataclasses",
            }
            assert {root.partition(".")[0] for root in roots} <= allowed, name
