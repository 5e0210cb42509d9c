"""``frontdoor types``: manifests are checked, added, listed and shown on this machine, with no daemon."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import Result
from jsonschema import Draft202012Validator
from typer.testing import CliRunner

from mail4agent_daemon.cli import application
from tests.core.frontdoor.manifest.forms import EXAMPLES, field, manifest


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A data folder."""
    (tmp_path / "home").mkdir(0o700)
    return tmp_path / "home"


def types(home: Path, *arguments: str | Path) -> Result:
    """A verb of ``types``."""
    words = ["frontdoor", "types", *map(str, arguments)]
    environment = {"M4A_HOME": str(home), "TERM": "dumb", "COLUMNS": "100"}
    return CliRunner().invoke(application(), words, env=environment, catch_exceptions=False)


def test_everything_that_is_wrong_with_a_manifest_is_said(home: Path, tmp_path: Path) -> None:
    """Faults of its parts and of its bytes, a line each; of a good one that it is good."""
    unfit, torn = tmp_path / "unfit.json", tmp_path / "torn.toml"
    fields = (field("integer", min=2, max=1), field("text", pattern="(a)"))
    unfit.write_text(json.dumps(manifest(*fields)))
    torn.write_text("id = ")
    done = types(home, "check", unfit, torn, EXAMPLES / "meeting.toml")
    assert done.exit_code == 1
    assert done.stdout.splitlines() == [
        f"{unfit}\tfield one is there more than once",
        f"{unfit}\tfield one has a min above its max",
        f"{unfit}\tfield one has a pattern that has a group that is not written (?:...)",
        f"{torn}\trequest must be TOML in UTF-8, each key once in its table",
        f"{EXAMPLES / 'meeting.toml'}\tgood",
    ]
    assert types(home, "check", EXAMPLES / "meeting.toml").exit_code == 0


@pytest.mark.promise("types.check-says-everything")
def test_everything_that_no_manifest_has_is_said_at_once(home: Path, tmp_path: Path) -> None:
    """Bounds, unknown keys and kinds; of a file that is named and of one in the folder."""
    torn = tmp_path / "torn.toml"
    torn.write_text(
        'id = "torn"\nversion = 0\nbogus = 1\n[[fields]]\nname = "a"\nkind = "nope"\nlabel = "A"\n'
        '[[fields]]\nname = "B"\nkind = "bool"\nlabel = "B"\n'
    )
    places = ["/version", "/title", "/fields/0/kind", "/fields/1/name", "unknown key"]
    (home / "types").mkdir(0o700)
    (home / "types" / "torn.toml").write_bytes(torn.read_bytes())
    for done in (types(home, "check", torn), types(home, "check")):
        assert done.exit_code == 1
        said = done.stdout.splitlines()
        assert len(said) == len(places), said
        assert all(place in line for place, line in zip(places, said, strict=True)), said


def test_a_type_is_added_listed_and_shown(home: Path, tmp_path: Path) -> None:
    """A greater version takes its place, and the older one is there under its number."""
    for version, title in ((1, "First"), (2, "Second")):
        file = tmp_path / "visit.json"
        file.write_text(
            json.dumps(manifest(field("text"), field("bool", "two"), version=version, title=title))
        )
        assert types(home, "add", file).stdout == f"visit\t{version}\t2 fields\t{title}\n"
    assert types(home, "list").stdout == "visit\t2\t2 fields\tSecond\nvisit\t1\t2 fields\tFirst\n"
    assert types(home, "show", "visit", "--version", "1").stdout.splitlines()[:3] == [
        "visit, version 1: First",
        "answers go to: nobody; no address is proved",
        "one\ttext\toptional\tfree text\tOne",
    ]
    assert types(home, "show", "visit", "--version", "3").exit_code == 1
    file.write_text(json.dumps(manifest(field("text"), version=2)))
    assert types(home, "add", file).exit_code == 1


def test_the_schema_that_is_printed_is_one(home: Path) -> None:
    """JSON Schema 2020-12, on one line for programs."""
    types(home, "add", EXAMPLES / "speaking.toml")
    schema = json.loads(types(home, "schema", "speaking", "--json").stdout)
    Draft202012Validator.check_schema(schema)
    assert json.loads(types(home, "schema", "speaking").stdout) == schema


def test_the_folder_is_checked_whole(home: Path) -> None:
    """Without a file, every file of the folder is looked at."""
    types(home, "add", EXAMPLES / "other.toml")
    assert types(home, "check").stdout == "other@1\tgood\n"
    (home / "types" / "notes.txt").write_text("x")
    done = types(home, "check", "--json")
    assert done.exit_code == 1
    assert [each["file"] for each in json.loads(done.stdout)["checked"]] == ["notes.txt", "other@1"]
    assert "1 files are no types" in types(home, "list").stderr
