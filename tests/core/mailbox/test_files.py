"""What may lie in a folder of mailboxes, and what a hostile or broken one does."""

from __future__ import annotations

import fcntl
import json
import os
import socket
import stat
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from mail4agent_api.errors import StoreUnavailableError
from mail4agent_core.files import Folder, FolderBusyError, FolderError
from mail4agent_core.mailbox import MailboxStore, Sent
from tests.daemon.disk import Filler, small_disk

from .post import Post, on_disk, original, placed


@pytest.mark.promise("mailbox.broken-files-wedge-nothing")
@pytest.mark.parametrize(
    "raw",
    [
        b"", b"{", b"null", b"[]", b'"text"', b"\xff\xfe", b"\xef\xbb\xbf{}", b"{}",
        json.dumps(original()).encode()[:-40],
        json.dumps(original(body=7)).encode(), json.dumps(original(id="another")).encode(),
        json.dumps(original(to="another")).encode(), json.dumps(original(**{"from": "User`\n"})).encode(),
        json.dumps(original(from_session="s]\n[Message")).encode(),
        json.dumps(original(attempts=-1)).encode(),
        json.dumps(original(attempts=2**32)).encode(), json.dumps(original(schema="2")).encode(),
        json.dumps(original(body="\ud800")).encode(),
        json.dumps(original()).encode().replace(b'"body"', b'"id": "x", "body"'),
        json.dumps(original(created_at=...)).encode(),
        b'{"id": "a"' + b" " * 2_000_000 + b"}",
    ],
)  # fmt: skip
def test_a_file_that_is_no_message_is_set_aside(store: MailboxStore, post: Post, raw: bytes) -> None:
    """It keeps its bytes, comes back in no scan, and the others read and are claimed."""
    good = post.sent("good")
    bad = placed(store, raw, name="20260808T194158-1a2b3c4d.json")
    assert [message.id for message in store.claim("chat", "s", None)] == [good]
    assert not bad.exists()
    assert bad.with_suffix(".bad").read_bytes() == raw
    assert store.set_aside("chat") == ["20260808T194158-1a2b3c4d.bad"]


@pytest.mark.promise("mailbox.newer-files-are-left-alone")
def test_a_file_of_a_later_form_is_left_alone(store: MailboxStore, post: Post) -> None:
    """Whatever it holds: it is neither read nor claimed nor set aside."""
    post.sent("good")
    newer = placed(store, {"id": "b", "schema": 3, "body": {"parts": []}}, name="b.json")
    before = newer.read_bytes()
    assert [message.body for message in store.claim("chat", "s", None)] == ["good"]
    assert newer.read_bytes() == before
    assert store.set_aside("chat") == []


@pytest.mark.promise("mailbox.newer-files-are-left-alone")
def test_files_that_are_set_aside_never_overwrite_one_another(store: MailboxStore) -> None:
    """Three bad files of one name are three files."""
    for number in range(3):
        placed(store, f"bad {number}".encode(), name="x.json")
        assert store.messages_for("chat") == []
    assert store.set_aside("chat") == ["x.1.bad", "x.2.bad", "x.bad"]
    assert {(store.root / "chat" / name).read_text() for name in store.set_aside("chat")} == {
        "bad 0", "bad 1", "bad 2",
    }  # fmt: skip


def _fifo(path: Path) -> None:
    os.mkfifo(path)


def _socket(path: Path) -> None:
    socket.socket(socket.AF_UNIX).bind(str(path))


def _link(path: Path) -> None:
    target = path.parent.parent / "target.json"
    target.write_text(json.dumps(original(id=path.stem)))
    path.symlink_to(target)


@pytest.mark.filterwarnings("ignore::ResourceWarning")
@pytest.mark.promise("mailbox.broken-files-wedge-nothing")
@pytest.mark.parametrize("make", [_fifo, Path.mkdir, _socket, _link])
def test_what_is_named_like_a_message_and_is_no_file_is_passed_over(
    store: MailboxStore, post: Post, make: Callable[[Path], Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A pipe does not block, a folder does not fail, a link is not followed; all stay where they are."""
    post.sent("good")
    monkeypatch.chdir(store.folder_of("chat"))
    make(Path("a.json") if make is _socket else store.root / "chat" / "a.json")
    assert [message.body for message in store.claim("chat", "s", None)] == ["good"]
    assert (store.root / "chat" / "a.json").lstat()
    assert store.set_aside("chat") == []


def _descriptors() -> list[int]:
    """The descriptors that are open, of the low ones."""
    found: list[int] = []
    for descriptor in range(256):
        with suppress(OSError):
            os.fstat(descriptor)
            found.append(descriptor)
    return found


@pytest.mark.promise("mailbox.broken-files-wedge-nothing")
def test_a_folder_named_like_a_message_costs_no_descriptor(store: MailboxStore, post: Post) -> None:
    """However often it is looked at: a watch and a daemon would run out of them."""
    post.sent("good")
    (store.root / "chat" / "a.json").mkdir()
    before = _descriptors()
    for _ in range(3):
        assert [message.body for message in store.snapshot("chat")] == ["good"]
    assert _descriptors() == before


def test_a_file_that_cannot_be_read_today_is_read_tomorrow(
    store: MailboxStore, post: Post, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An error of the disk is not corruption."""
    id_ = post.sent("keep me")
    real = Folder.read

    def failing(self: Folder, name: str, most: int) -> bytes | None:
        if name == f"{id_}.json":
            raise OSError(5, "Input/output error")
        return real(self, name, most)

    with monkeypatch.context() as patched:
        patched.setattr(Folder, "read", failing)
        assert store.messages_for("chat") == []
        assert store.claim("chat", "s", None) == []
    assert [message.body for message in store.claim("chat", "s", None)] == ["keep me"]


@pytest.mark.promise("mailbox.folders-are-the-users-own")
def test_folders_and_files_are_private(store: MailboxStore, post: Post) -> None:
    """0700 and 0600, also where the folder was wider before."""
    folder = store.folder_of("chat")
    folder.chmod(0o755)
    id_ = post.sent("hello")
    store.announce("chat", "s1")
    for path in (store.root, folder, store.root / ".agents"):
        assert stat.S_IMODE(path.stat().st_mode) == 0o700
    for path in (folder / f"{id_}.json", folder / ".lock", store.root / ".agents" / "s1.json"):
        assert stat.S_IMODE(path.stat().st_mode) == 0o600


@pytest.mark.promise("mailbox.folders-are-the-users-own")
def test_a_mailbox_that_is_a_link_is_refused(store: MailboxStore, post: Post, tmp_path: Path) -> None:
    """Nothing is read or written where it leads; a root that is a link is refused as well."""
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (store.root / "chat").symlink_to(elsewhere)
    for ask in (
        lambda: post.outcome("hello"),
        lambda: store.claim("chat", "s", None),
        lambda: store.messages_for("chat"),
    ):
        with pytest.raises(FolderError, match="symbolic link"):
            ask()
    assert list(elsewhere.iterdir()) == []
    assert store.recipients() == []
    (tmp_path / "root").symlink_to(elsewhere)
    with pytest.raises(FolderError, match="symbolic link"):
        MailboxStore.open(tmp_path / "root")


@pytest.mark.promise("mailbox.folders-are-the-users-own")
def test_a_mailbox_of_another_user_is_refused(
    store: MailboxStore, post: Post, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever owns the folder would read what is put there."""
    folder = store.folder_of("chat")
    owner = folder.stat().st_uid
    if owner == 0:
        os.chown(folder, 12_345, -1)
    else:
        monkeypatch.setattr(os, "geteuid", lambda: owner + 1)
    with pytest.raises(FolderError, match="another user"):
        post.outcome("hello")


@pytest.mark.promise("mailbox.broken-files-wedge-nothing")
def test_another_users_folder_hinders_no_other_mailbox(
    store: MailboxStore, post: Post, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Looks over all mailboxes pass it over, as they do a link; only who names it is refused."""
    id_ = post.sent("hello")
    foreign = store.folder_of("foreign").name
    real = os.stat

    def owned_by_another(path: Any, *given: Any, **named: Any) -> os.stat_result:
        found = real(path, *given, **named)
        if path != foreign:
            return found
        values = list(found)
        values[stat.ST_UID] += 1
        return os.stat_result(values)

    monkeypatch.setattr(os, "stat", owned_by_another)
    assert store.recipients() == ["chat"]
    assert store.message(id_).body == "hello"
    assert isinstance(post.outcome("hello", to="nobody"), Sent)


def test_a_mailbox_that_is_a_file_is_refused(store: MailboxStore, post: Post) -> None:
    """It is not replaced."""
    (store.root / "chat").write_text("mine")
    with pytest.raises(FolderError, match="cannot be made or opened"):
        post.outcome("hello")
    assert (store.root / "chat").read_text() == "mine"


@pytest.mark.parametrize("make", [_fifo, Path.mkdir, lambda path: path.symlink_to("/nowhere/at/all")])
def test_a_lock_that_is_no_file_is_refused(
    store: MailboxStore, post: Post, make: Callable[[Path], Any]
) -> None:
    """Nothing is written without the lock."""
    make(store.folder_of("chat") / ".lock")
    with pytest.raises(FolderError):
        post.outcome("hello")
    assert list((store.root / "chat").glob("*.json")) == []


@pytest.mark.promise("mailbox.original-and-ours-share-a-folder")
def test_a_lock_that_somebody_holds_is_waited_for_and_names_its_holder(tmp_path: Path) -> None:
    """The lock is the original's file, taken with flock; past the wait the holder is named."""
    with MailboxStore.open(tmp_path / "root", lock_secs=0.05) as store:
        folder = Folder.opened(store.folder_of("chat"))
        with folder, folder.locked(), pytest.raises(FolderBusyError, match=f"process {os.getpid()}"):
            Post(store).outcome("hello")
        held, let_go = threading.Event(), threading.Event()

        def hold() -> None:
            # As the original does.
            with (store.root / "chat" / ".lock").open("a") as lock:
                fcntl.flock(lock, fcntl.LOCK_EX)
                held.set()
                let_go.wait(10)

        holder = threading.Thread(target=hold)
        holder.start()
        assert held.wait(10)
        with MailboxStore.open(tmp_path / "root", lock_secs=10) as patient:
            threading.Timer(0.05, let_go.set).start()
            Post(patient).sent("hello")
        holder.join(10)


def test_what_a_writer_left_unfinished_is_swept_and_never_read(store: MailboxStore, post: Post) -> None:
    """Ours and the original's temporary names alike."""
    for name in (".a.json.0011.tmp", "b.json.tmp"):
        placed(store, original(), name=name)
    post.sent("hello")
    assert [message.body for message in store.messages_for("chat")] == ["hello"]
    assert list((store.root / "chat").glob("*.tmp")) == []


@pytest.mark.promise("mailbox.a-failing-disk-loses-nothing")
def test_a_full_disk_during_a_claim_returns_what_was_marked(tmp_path: Path) -> None:
    """The rest stays pending and is claimed once there is room; a send is refused by name."""
    with small_disk(tmp_path / "disk", "1m") as disk, MailboxStore.open(disk / "messages") as store:
        post = Post(store)
        sent = [post.sent(f"m{number}" * 2_000, from_="user") for number in range(6)]
        filler = Filler(disk, os.getpid())
        filler.fill()
        try:
            first = store.claim("chat", "s1", None)
            with pytest.raises(StoreUnavailableError) as caught:
                post.outcome("x" * 60_000, from_="user")
        finally:
            filler.free()
        assert caught.value.refusal.operation == "mailbox.send"
        assert [message.id for message in first] == sent[: len(first)]
        assert len(first) < len(sent)
        second = store.claim("chat", "s2", None)
        assert [message.id for message in (*first, *second)] == sent
        assert list((store.root / "chat").glob("*.tmp")) == []


@pytest.mark.promise("mailbox.a-failing-disk-loses-nothing")
def test_a_write_that_fails_half_way_through_a_claim_hands_out_what_was_marked(
    store: MailboxStore, post: Post, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One marked, one failing, one untouched: one is returned and two stay pending."""
    ids = [post.sent(text) for text in ("one", "two", "three")]
    real, writes = Folder.write, 0

    def failing(self: Folder, name: str, raw: bytes, *, settle: bool = True) -> None:
        nonlocal writes
        writes += name.startswith("2023")
        if writes == 2:
            raise OSError(28, "No space left on device")
        real(self, name, raw, settle=settle)

    with monkeypatch.context() as patched:
        patched.setattr(Folder, "write", failing)
        assert [message.id for message in store.claim("chat", "s1", 60)] == ids[:1]
    assert [message.id for message in store.pending_for("chat")] == ids[1:]


@pytest.mark.promise("mailbox.a-failing-disk-loses-nothing")
def test_a_send_whose_name_cannot_be_settled_is_refused_and_taken_back(
    store: MailboxStore, post: Post, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is not on disk is not acknowledged, and is not delivered either."""
    store.folder_of("chat")

    def failing(self: Folder) -> None:
        raise OSError(5, "Input/output error")

    with monkeypatch.context() as patched:
        patched.setattr(Folder, "settle", failing)
        with pytest.raises(StoreUnavailableError):
            post.outcome("hello")
    assert store.messages_for("chat") == []


@pytest.mark.promise("mailbox.original-and-ours-share-a-folder")
def test_a_file_of_ours_has_the_originals_keys_first_and_ours_after(store: MailboxStore, post: Post) -> None:
    """``schema`` is the first that is added, and keys of others stay at the end."""
    id_ = post.sent("hello")
    assert list(on_disk(store, id_)) == [*original(), "schema", "lease", "attempts", "dead_at", "seal"]
    placed(store, {**original(), "priority": [1, {"a": None}]})
    store.claim("chat", "s", None)
    rewritten = on_disk(store, original()["id"])
    assert (list(rewritten)[-1], rewritten["priority"]) == ("priority", [1, {"a": None}])


@pytest.mark.promise("mailbox.original-and-ours-share-a-folder")
@pytest.mark.parametrize("lease_secs", [None, 60])
def test_a_file_of_the_original_is_claimed_and_what_it_said_is_kept(
    store: MailboxStore, lease_secs: int | None
) -> None:
    """Nanoseconds, a thread of any text, and its taint; only its state and our keys are new."""
    before = original(reply_to="re: yesterday's", from_session="20260808T194158-1a2b3c4d")
    placed(store, before)
    (claimed,) = store.claim("chat", "s", lease_secs)
    assert not claimed.effective_taint().untrusted
    after = on_disk(store, before["id"])
    changed = {"status", "delivered_at", "delivered_to", "taint"}
    assert {key: after[key] for key in before if key not in changed} == {
        key: value for key, value in before.items() if key not in changed
    }
    assert store.message(before["id"]).effective_taint() == claimed.effective_taint()


@pytest.mark.promise("mailbox.original-and-ours-share-a-folder")
def test_what_the_original_rewrites_loads_here(store: MailboxStore, post: Post) -> None:
    """It drops the keys that it does not know; what it delivered or dismissed is over."""
    id_ = post.sent("hello")
    theirs = {key: on_disk(store, id_)[key] for key in original()}
    placed(
        store, {**theirs, "status": "delivered", "delivered_to": "s", "delivered_at": "2026-08-08T19:41:58Z"}
    )
    assert [message.status for message in store.messages_for("chat")] == ["delivered"]
    assert store.claim("chat", "s2", None) == []
