"""Files that would leave: copied when the draft is staged, and only what lies in the workspace."""

import errno
import hashlib
import os
from pathlib import Path
from typing import Any

import pytest

from mail4agent_api.errors import MalformedError, RefusalError, StoreUnavailableError, TooLargeError
from mail4agent_core.files import Folder
from mail4agent_core.outbox import OutboxItem, OutboxKind, OutboxStore
from mail4agent_core.outbox import copies as copies_module

from .office import Office

pytestmark = pytest.mark.promise("outbox.files-are-copied-and-hashed")


@pytest.fixture
def work(tmp_path: Path) -> Path:
    """A workspace with a file, a folder of two, and a secret beside it."""
    work = tmp_path / "work"
    (work / "site" / "deep").mkdir(parents=True)
    (work / "a.txt").write_bytes(b"alpha")
    (work / "site" / "index.html").write_bytes(b"<p>")
    (work / "site" / "deep" / "b.txt").write_bytes(b"beta")
    (tmp_path / "secret.txt").write_bytes(b"secret")
    return work


def staged(office: Office, work: Path, files: Any, **more: Any) -> OutboxItem:
    """A draft that names those files."""
    return office.stage({"to": "a@x.org", "files": files}, workspace=str(work), file_args=["files"], **more)


def test_what_is_copied_is_what_lay_there_then(office: Office, store: OutboxStore, work: Path) -> None:
    """Each with its size and SHA-256; what the workspace holds afterwards is nobody's concern."""
    item = staged(office, work, ["a.txt", "site"])
    (work / "a.txt").write_bytes(b"changed")
    found = [(file.path, file.size) for file in item.files]
    assert found == [("a.txt", 5), ("site/deep/b.txt", 4), ("site/index.html", 3)]
    assert item.files[0].sha256 == hashlib.sha256(b"alpha").hexdigest()
    outgoing = office.begin(item)
    assert [file.copy.read_bytes() for file in outgoing.files] == [b"alpha", b"beta", b"<p>"]
    assert {file.copy.stat().st_mode & 0o777 for file in outgoing.files} == {0o600}


def test_a_path_may_be_whole_and_the_workspace_may_be_named(office: Office, work: Path) -> None:
    """As long as it leads into the workspace."""
    assert staged(office, work, str(work / "a.txt")).files[0].size == 5
    assert len(staged(office, work, ".").files) == 3


@pytest.mark.parametrize(
    "path",
    ["../secret.txt", "site/../../secret.txt", "/etc/hostname", "missing", "a.txt/x", "a\nb", "a\x00b", ""],
)
def test_a_path_that_leads_out_or_nowhere_stages_nothing(
    office: Office, store: OutboxStore, work: Path, path: str
) -> None:
    """No draft, no copy, and no word of what was there."""
    with pytest.raises(MalformedError) as refused:
        staged(office, work, ["a.txt", path])
    assert "secret" not in refused.value.refusal.reason
    assert store.items() == []
    assert left(store) == []


def left(store: OutboxStore) -> list[str]:
    """What lies among the copies."""
    folder = store.root / "files"
    return [path.name for path in folder.iterdir()] if folder.exists() else []


@pytest.mark.parametrize("kind", ["link", "folder link", "inside a folder", "pipe", "device"])
def test_links_and_what_is_no_file_are_not_followed(
    office: Office, store: OutboxStore, work: Path, kind: str
) -> None:
    """A link to a secret beside the workspace, a pipe that nobody writes, a device without an end."""
    name = "odd"
    if kind == "link":
        (work / name).symlink_to(work.parent / "secret.txt")
    elif kind == "folder link":
        (work / "out").symlink_to(work.parent)
        name = "out/secret.txt"
    elif kind == "inside a folder":
        (work / "site" / "odd").symlink_to(work.parent / "secret.txt")
        name = "site"
    elif kind == "pipe":
        os.mkfifo(work / name)
    else:
        (work / name).symlink_to("/dev/zero")
    with pytest.raises(MalformedError):
        staged(office, work, name)
    assert left(store) == []


@pytest.mark.parametrize("value", [7, True, {"path": "a.txt"}, [["a.txt"]], [None], [{"path": "a.txt"}]])
def test_an_argument_that_names_files_otherwise_is_refused(office: Office, work: Path, value: Any) -> None:
    """A path or a list of paths; nothing is guessed."""
    with pytest.raises(MalformedError):
        staged(office, work, value)


def test_bytes_and_numbers_of_files_are_bounded(
    office: Office, store: OutboxStore, work: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At the bound is staged, one past it is not, and nothing of it stays."""
    monkeypatch.setattr(copies_module, "FILES_MAX_BYTES", 9)
    monkeypatch.setattr(copies_module, "FILES_MAX", 2)
    assert len(staged(office, work, ["a.txt", "site/deep/b.txt"]).files) == 2
    before = left(store)
    for files in (["a.txt", "a.txt"], ["a.txt", "site/deep/b.txt", "site/index.html"], ["site", "a.txt"]):
        with pytest.raises(TooLargeError):
            staged(office, work, files)
    assert left(store) == before


def test_a_workspace_must_be_a_folder_that_is_allowed(office: Office, store: OutboxStore, work: Path) -> None:
    """Not missing, not relative, not above or beside the roots, and through no link below one."""
    (work.parent / "link").symlink_to(work)
    for workspace in ("work", str(work / ".."), str(work / "a.txt"), str(work / "none")):
        with pytest.raises(MalformedError):
            office.stage({"files": "a.txt"}, workspace=workspace, file_args=["files"])
    with pytest.raises(MalformedError):
        office.stage({"files": "a.txt"}, file_args=["files"])
    for roots in ([], [work / "site"], [Path("/nowhere")]):
        with pytest.raises(MalformedError):
            staged(office, work, "a.txt", roots=roots)
    with pytest.raises(MalformedError):
        staged(office, work.parent / "link", "a.txt", roots=[work.parent])
    assert staged(office, work, "a.txt", roots=[Path("/nowhere"), work.parent]).files[0].size == 5


def test_a_publication_always_has_files(office: Office, work: Path) -> None:
    """What a person reviews of it are its files."""
    with pytest.raises(MalformedError):
        staged(office, work, [], kind=OutboxKind.PUBLISH)
    assert staged(office, work, "site", kind=OutboxKind.PUBLISH).files


def test_an_edit_may_leave_files_out_and_adds_none(office: Office, work: Path) -> None:
    """What was not staged was not copied, and nobody has read it."""
    item = staged(office, work, ["a.txt", "site"])
    args = {"to": "a@x.org", "files": ["site", "b.txt"]}
    with pytest.raises(MalformedError):
        office.decisions.edit(item.id, office.digest(item), args, "user:x", None, ["files"])
    args["files"] = ["site"]
    edited = office.decisions.edit(item.id, office.digest(item), args, "user:x", None, ["files"])
    assert [file.path for file in edited.files] == ["site/deep/b.txt", "site/index.html"]


def test_copies_of_a_process_that_died_are_swept_and_of_one_that_lives_are_not(
    office: Office, store: OutboxStore, work: Path
) -> None:
    """Whoever stages files next removes them."""
    staged(office, work, "a.txt")
    for name in (".999999999-0.tmp", ".x-0.tmp", f".{os.getppid()}-0.tmp"):
        (store.root / "files" / name).mkdir(mode=0o700)
    staged(office, work, "a.txt")
    assert [name for name in left(store) if name.endswith(".tmp")] == [f".{os.getppid()}-0.tmp"]


def test_a_full_disk_stages_nothing(
    office: Office, store: OutboxStore, work: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The refusal names the operation; a retry makes the draft."""

    def full(*_: Any) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    before = [staged(office, work, "a.txt")], left(store)
    with monkeypatch.context() as disk:
        disk.setattr(Folder, "created", full)
        with pytest.raises(StoreUnavailableError):
            staged(office, work, "a.txt")
    assert (store.items(), left(store)) == before
    assert staged(office, work, "a.txt").files


def test_a_draft_that_is_refused_after_its_copies_leaves_none(
    office: Office, store: OutboxStore, work: Path
) -> None:
    """A key that was used for other content."""
    staged(office, work, "a.txt", idempotency_key="k")
    before = left(store)
    with pytest.raises(RefusalError):
        staged(office, work, "site", idempotency_key="k")
    assert left(store) == before
