"""``frontdoor types push``, ``list`` and ``preview`` against a real box."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result
from typer.testing import CliRunner

from mail4agent_core.frontdoor.manifest import Form, TypeFolder
from mail4agent_daemon.cli import application
from mail4agent_daemon.starters import STARTERS, starter
from tests.core.frontdoor.manifest.forms import field, manifest
from tests.daemon.intake.house import House, house


@pytest.fixture(scope="module")
def box(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    """A box without types; each test pushes others."""
    with house(tmp_path_factory.mktemp("box") / "box") as made:
        yield made


@pytest.fixture
def home(tmp_path: Path, box: House) -> Path:
    """A data folder with the types key of the box in a file."""
    home = tmp_path / "home"
    home.mkdir(0o700)
    (home / "types.key").write_text(f"{box.types}\n")
    (home / "config.toml").write_text(f'[box]\nurl = "{box.url}"\ntypes_key_file = "types.key"\n')
    return home


def types(home: Path, *arguments: str | Path, **more: str) -> Result:
    """A verb of ``types``."""
    words = ["frontdoor", "types", *map(str, arguments)]
    clean = {name: None for name in os.environ if name.startswith("M4A_")}
    environment = {**clean, "M4A_HOME": str(home), "TERM": "dumb", "COLUMNS": "100", **more}
    return CliRunner().invoke(application(), words, env=environment, catch_exceptions=False)


def written(folder: Path, type_id: str, version: int, **given: Any) -> Path:
    """A manifest in a file."""
    made = manifest(field("text"), field("email", "mail", required=True), id=type_id, version=version)
    file = folder / f"{type_id}.json"
    file.write_text(json.dumps({**made, "verification": {"field": "mail"}, **given}))
    return file


@pytest.mark.promise("types.pushed-to-the-box-first")
def test_a_type_goes_to_the_box_and_then_to_this_machine(home: Path, tmp_path: Path, box: House) -> None:
    """Twice is once; a changed one needs a greater version, and the older one stays at home."""
    file = written(tmp_path, "visit", 1)
    assert types(home, "push", file).stdout == "visit\t1\tserved\ttaken\n"
    assert types(home, "push", file).stdout == "visit\t1\tserved\theld\n"
    assert "Visit the garden" in box.get("/f/visit").text
    refused = types(home, "push", written(tmp_path, "visit", 1, title="Another"))
    assert (refused.exit_code, refused.stdout) == (1, "")
    assert types(home, "push", written(tmp_path, "visit", 2, title="Another")).exit_code == 0
    folder = TypeFolder(home / "types")
    assert [each.manifest.title for each in folder.every() if isinstance(each, Form)] == [
        "Another",
        "Visit the garden",
    ]


@pytest.mark.promise("types.pushed-to-the-box-first")
def test_what_the_box_did_not_take_changes_nothing_here(home: Path, tmp_path: Path, box: House) -> None:
    """A wrong key, a box that is not there, another text under the version."""
    file = written(tmp_path, "refused", 1)
    wrong = types(home, "push", file, M4A_BOX__TYPES_KEY_FILE="", M4A_BOX__TYPES_KEY="0" * 64)
    assert wrong.exit_code == 4
    assert "It was the box that refused" in wrong.stderr
    gone = types(home, "push", file, "--json", M4A_BOX__URL="http://127.0.0.1:1")
    assert (gone.exit_code, json.loads(gone.stderr)["kind"]) == (3, "box_unreachable")
    assert box.push(starter("meeting").decode()).status == 200
    other = tmp_path / "meeting.toml"
    other.write_bytes(starter("meeting") + b"# mine\n")
    refused = types(home, "push", other, "--json")
    assert (refused.exit_code, json.loads(refused.stderr)["kind"]) == (1, "already_exists")
    assert not (home / "types").exists()


@pytest.mark.promise("types.pushed-to-the-box-first")
def test_a_push_that_ended_after_the_box_took_it_is_made_whole_by_the_next(
    home: Path, tmp_path: Path, box: House
) -> None:
    """The box holds it already, and this machine has no copy yet."""
    file = written(tmp_path, "halfway", 1)
    raw = {"language": "json", "text": file.read_text()}
    assert box.box("types/push", raw, box.types).status == 200
    assert types(home, "push", file).stdout == "halfway\t1\tserved\theld\n"
    assert (home / "types" / "halfway.json").read_bytes() == file.read_bytes()


def test_what_this_machine_would_not_keep_never_reaches_the_box(
    home: Path, tmp_path: Path, box: House
) -> None:
    """Faults of the manifest, a version that is there, files that home has no room for."""
    assert types(home, "add", written(tmp_path, "early", 2)).exit_code == 0
    assert types(home, "push", written(tmp_path, "early", 1)).exit_code == 1
    unfit = tmp_path / "early.json"
    unfit.write_text(json.dumps(manifest(field("integer", min=2, max=1), id="early", version=3)))
    assert "min above its max" in types(home, "push", unfit).stderr
    large = [field("file", f"f{n}", accept=["pdf"], max_bytes=8 * 1024 * 1024) for n in (1, 2)]
    unfit.write_text(json.dumps(manifest(*large, id="early", version=3)))
    assert "must come to at most" in types(home, "push", unfit).stderr
    listed = box.box("types/list", {}, box.types).json["types"]
    assert "early" not in {each["id"] for each in listed}


def test_both_sides_are_listed_beside_each_other(home: Path, tmp_path: Path, box: House) -> None:
    """What one of them alone has, and what has another text there; without the box only what is here."""
    assert types(home, "push", written(tmp_path, "both", 1)).exit_code == 0
    assert types(home, "add", written(tmp_path, "ours", 1)).exit_code == 0
    assert box.push(starter("review").decode()).status == 200
    file = home / "types" / "both.json"
    file.write_text(file.read_text() + "\n")
    rows = dict(line.split("\t", 1) for line in types(home, "list").stdout.splitlines())
    assert rows["both"].endswith("served, another text")
    assert rows["ours"].endswith("not in the box")
    assert "in the box alone" in rows["review"]
    local = types(home, "list", "--local").stdout
    assert (local.count("\n"), "box" in local) == (2, False)
    found = json.loads(types(home, "list", "--json").stdout)
    assert [each["box"] for each in found["types"]] == [{"stand": "served", "same": False}, None]
    assert "review" in {each["id"] for each in found["box_only"]}


def test_a_box_that_does_not_answer_hides_no_type_of_this_machine(home: Path) -> None:
    """They are listed, and the failure is said."""
    assert types(home, "starters", "other").exit_code == 0
    done = types(home, "list", M4A_BOX__URL="http://127.0.0.1:1")
    assert (done.exit_code, done.stdout) == (3, "other\t1\t4 fields\tWrite to us\n")
    assert "cannot be reached" in done.stderr


@pytest.mark.parametrize("type_id", STARTERS)
@pytest.mark.promise("types.starters-are-served-as-they-are")
def test_a_starter_is_pushed_by_its_id_and_its_form_is_served(home: Path, box: House, type_id: str) -> None:
    """As it came with the program."""
    assert types(home, "starters", type_id).exit_code == 0
    pushed = types(home, "push", type_id)
    assert pushed.stdout.startswith(f"{type_id}\t1\tserved\t")
    form = TypeFolder(home / "types")(type_id, 1)
    assert form is not None
    assert form.manifest.title in box.get(f"/f/{type_id}").text


def test_a_preview_is_one_file_that_asks_nobody(home: Path, tmp_path: Path) -> None:
    """Every field is in it, no address of a server, and nothing is overwritten."""
    file, out = tmp_path / "support.toml", tmp_path / "support.html"
    file.write_bytes(starter("support"))
    assert types(home, "preview", file, "--out", out).exit_code == 0
    page = out.read_text()
    assert all(f'name="{name}"' in page for name in ("contact", "product", "blocking", "what_happens"))
    assert [part for part in ('src="', 'href="/', "http://", "https://") if part in page] == []
    assert "form-action 'none'" in page
    assert types(home, "preview", file, "--out", out).exit_code == 1
