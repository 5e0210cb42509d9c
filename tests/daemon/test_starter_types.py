"""The types that come with the program: each can be served, and is added or given out by a verb."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from mail4agent_core.frontdoor.manifest import Form, TypeFolder, read_manifest, submission_schema
from mail4agent_daemon.drain.rows import FILES_MAX_BYTES
from mail4agent_daemon.starters import STARTERS, starter
from tests.daemon.test_frontdoor_types import types

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "request-types.md").read_text("utf-8")


@pytest.mark.parametrize("type_id", STARTERS)
@pytest.mark.promise("types.starters-are-served-as-they-are")
def test_a_starter_is_a_form_that_a_box_serves(type_id: str) -> None:
    """It proves an address, its files have room at home, its schema is one, and the page has its row."""
    form = Form(read_manifest(starter(type_id), "toml"))
    assert (form.id, form.version) == (type_id, 1)
    assert f"`{form.reply_field}` |" in next(each for each in PAGE.splitlines() if f"| `{type_id}` |" in each)
    files = [each.declared for each in form.fields if each.kind == "file"]
    assert sum(getattr(each, "max_bytes", 0) for each in files) <= FILES_MAX_BYTES
    assert submission_schema(form)["required"]


def test_the_starters_are_listed_and_nothing_is_added(tmp_path: Path) -> None:
    """A row for each."""
    done = types(tmp_path, "starters")
    assert [line.split("\t")[0] for line in done.stdout.splitlines()] == list(STARTERS)
    assert not (tmp_path / "types").exists()
    assert f"{re.findall(r'come with the program: (.*?)[.]', PAGE)}".count("`") == 2 * len(STARTERS)


def test_starters_are_added_by_their_ids(tmp_path: Path) -> None:
    """They can be used at once; twice is once, and what is none is refused before anything is added."""
    assert types(tmp_path, "starters", "other", "nobody").exit_code == 1
    assert not (tmp_path / "types").exists()
    for _ in range(2):
        assert types(tmp_path, "starters", "other", "support").exit_code == 0
    folder = TypeFolder(tmp_path / "types")
    assert [each.id for each in folder.every() if isinstance(each, Form)] == ["other", "support"]
    listed = json.loads(types(tmp_path, "list", "--json").stdout)["types"]
    assert [each["id"] for each in listed] == ["other", "support"]


def test_a_starter_is_given_out_to_be_changed_and_overwrites_nothing(tmp_path: Path) -> None:
    """The same bytes; a file that is there stays."""
    out = tmp_path / "out"
    out.mkdir()
    assert types(tmp_path, "starters", "review", "--export", out).exit_code == 0
    assert (out / "review.toml").read_bytes() == starter("review")
    (out / "review.toml").write_text("mine")
    done = types(tmp_path, "starters", "review", "--export", out)
    assert done.exit_code == 1
    assert "cannot be written" in done.stderr
    assert (out / "review.toml").read_text() == "mine"
