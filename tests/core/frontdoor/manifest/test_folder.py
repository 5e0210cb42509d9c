"""The manifests of a machine: the current one, older ones by their version, and files that are none."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from mail4agent_core.frontdoor.manifest import (
    Form,
    ManifestError,
    TypeFolder,
    TypeFolderError,
    UnreadableType,
)

from .forms import field, manifest


def raw(version: int = 1, **given: Any) -> bytes:
    """A manifest in JSON."""
    return json.dumps(manifest(field("text"), **{"version": version, **given})).encode()


@pytest.fixture
def types(tmp_path: Path) -> TypeFolder:
    """An empty folder of types."""
    (tmp_path / "types").mkdir(mode=0o700)
    return TypeFolder(tmp_path / "types")


@pytest.mark.promise("frontdoor.submissions-keep-their-version")
def test_a_submission_finds_the_version_that_it_was_made_under(types: TypeFolder) -> None:
    """A greater version becomes the current one, and what it replaced stays under its number."""
    for version in (1, 2, 5):
        types.add(raw(version, title=f"Version {version}"), "json")
    found = {version: types("visit", version) for version in (None, 1, 2, 3, 5)}
    assert {version: form.version for version, form in found.items() if form is not None} == {
        None: 5, 1: 1, 2: 2, 5: 5
    }  # fmt: skip
    assert found[3] is None
    assert sorted(path.name for path in types.path.glob("visit*")) == [
        "visit.json", "visit@1.json", "visit@2.json"
    ]  # fmt: skip


@pytest.mark.promise("frontdoor.submissions-keep-their-version")
def test_what_changed_needs_a_greater_version(types: TypeFolder) -> None:
    """The same version with other fields is refused and changes nothing; the same again is fine."""
    types.add(raw(2), "json")
    types.add(raw(2), "json")
    for version in (1, 2):
        with pytest.raises(TypeFolderError):
            types.add(raw(version, title="Other"), "json")
    assert [path.name for path in types.path.glob("visit*")] == ["visit.json"]


def test_a_change_of_a_file_is_seen_at_once(types: TypeFolder) -> None:
    """What was read is read again when the file is another."""
    (types.path / "visit.json").write_bytes(raw(1))
    assert types("visit", None) is not None
    (types.path / "visit.json").write_bytes(raw(7, title="Other"))
    current = types("visit", None)
    assert current is not None
    assert current.version == 7


@pytest.mark.promise("frontdoor.unusable-types-are-none")
def test_a_manifest_that_cannot_be_used_is_as_good_as_none(types: TypeFolder) -> None:
    """Torn, unfit, under another name, a link, a folder, twice: each is named with a reason, and no type."""
    (types.path / "good.toml").write_text(
        'id = "good"\nversion = 1\ntitle = "t"\n[[fields]]\nname="a"\nlabel="A"\nkind="bool"\n'
    )
    (types.path / "torn.toml").write_text("id = ")
    (types.path / "unfit.json").write_bytes(
        json.dumps({**manifest(field("integer", min=2, max=1)), "id": "unfit"}).encode()
    )
    (types.path / "other.json").write_bytes(raw())
    (types.path / "visit@3.json").write_bytes(raw(4))
    (types.path / "link.toml").symlink_to(types.path / "good.toml")
    (types.path / "folder.toml").mkdir()
    (types.path / "README").write_text("not a type")
    for ending in ("toml", "json"):
        (types.path / f"twice.{ending}").write_bytes(raw(id="twice"))
    every = types.every()
    assert [each.id for each in every if isinstance(each, Form)] == ["good"]
    unreadable = {each.name: each.reasons for each in every if isinstance(each, UnreadableType)}
    assert set(unreadable) == {
        "torn.toml", "unfit.json", "other.json", "visit@3.json", "link.toml", "folder.toml", "README", "twice"
    }  # fmt: skip
    assert unreadable["unfit.json"] == ("field one has a min above its max",)
    assert all(types(name.partition(".")[0], None) is None for name in unreadable)


@pytest.mark.parametrize(
    "type_id", ["", "..", "../types/visit", "visit/../visit", "a" * 300, "visit\x00", "\ud83d"]
)
@pytest.mark.promise("frontdoor.unusable-types-are-none")
def test_a_hostile_id_finds_nothing(types: TypeFolder, type_id: str) -> None:
    """An id that a stranger's box chose is no path out of the folder, and no error either."""
    types.add(raw(), "json")
    assert types(type_id, None) is None
    assert types(type_id, 1) is None


def test_no_folder_holds_no_types(tmp_path: Path) -> None:
    """Looking for types makes no folder."""
    types = TypeFolder(tmp_path / "types")
    assert types("visit", None) is None
    assert types.every() == []
    assert not types.path.exists()


def test_what_does_not_fit_is_not_added(types: TypeFolder) -> None:
    """A manifest is checked before anything is written."""
    with pytest.raises(ManifestError):
        types.add(json.dumps(manifest(field("integer", min=2, max=1))).encode(), "json")
    assert not list(types.path.glob("visit*"))
