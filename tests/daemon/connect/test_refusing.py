"""What cannot be connected is refused by name, and nothing is left of the attempt."""

from __future__ import annotations

import errno
import os
import stat
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from mail4agent_client import ConnectFailedError, SyncMailClient
from mail4agent_core.files import Folder
from mail4agent_daemon.connect import client_files, connecting, plan
from mail4agent_daemon.connect.clients import CLIENTS
from mail4agent_daemon.connect.faults import ConnectError

from .conftest import Person

Snapshot = Callable[[Path], dict[str, tuple[int, bytes]]]


def refused(person: Person, client: str, **given: bool) -> ConnectError:
    """Why a client is not connected; there is no account, no key and no record of it."""
    with pytest.raises(ConnectError) as fault:
        person.connect(client, **given)
    account = person.request(client).account
    assert account not in person.accounts()
    folder = person.daemon.home / "clients"
    assert [each for each in folder.iterdir() if each.name.startswith(account)] == []
    return fault.value


@pytest.mark.parametrize("client", CLIENTS)
@pytest.mark.promise("connect.unreadable-files-are-refused")
def test_a_file_that_cannot_be_read_stays_as_it_is(client: str, person: Person, snapshot: Snapshot) -> None:
    """The refusal names the file and the place in it."""
    path = person.file(client, "a = \n{")
    before = snapshot(person.home)
    fault = refused(person, client)
    assert fault.kind == "document_invalid"
    assert str(path) in fault.message
    assert "line 1" in fault.message
    assert snapshot(person.home) == before


@pytest.mark.parametrize("raw", [b"\xff\xfe{\x00}\x00", b'{"a": "\xff"}'])
@pytest.mark.promise("connect.unreadable-files-are-refused")
def test_a_file_that_is_no_utf8_is_refused(raw: bytes, person: Person) -> None:
    """Its bytes stay."""
    path = person.file("cursor", raw)
    assert refused(person, "cursor").kind == "document_invalid"
    assert path.read_bytes() == raw


@pytest.mark.promise("connect.a-failure-leaves-nothing")
def test_a_home_that_cannot_be_written_gets_no_account(person: Person, snapshot: Snapshot) -> None:
    """A file stands where the folder should; it stays, and nothing comes beside it."""
    (person.home / ".cursor").write_text("x")
    before = snapshot(person.home)
    fault = refused(person, "cursor")
    assert fault.kind == "file_unusable"
    assert snapshot(person.home) == before


@pytest.mark.skipif(os.geteuid() == 0, reason="nothing is closed to root")
@pytest.mark.promise("connect.a-failure-leaves-nothing")
def test_a_folder_without_write_permission_is_refused(person: Person, snapshot: Snapshot) -> None:
    """Nothing is left of the attempt."""
    path = person.file("vscode", "{}")
    path.parent.chmod(0o500)
    before = snapshot(person.home)
    try:
        assert refused(person, "vscode").kind == "file_unusable"
        assert snapshot(person.home) == before
    finally:
        path.parent.chmod(0o700)


@pytest.mark.parametrize("what", ["folder", "pipe", "loop"])
@pytest.mark.promise("connect.a-failure-leaves-nothing")
def test_what_is_no_file_is_refused(what: str, person: Person) -> None:
    """A pipe does not hold us up, and a link that leads to itself leads nowhere."""
    path = person.file("cursor")
    path.parent.mkdir()
    if what == "folder":
        path.mkdir()
    elif what == "pipe":
        os.mkfifo(path)
    else:
        path.symlink_to(path)
    assert refused(person, "cursor").kind == "file_unusable"


@pytest.mark.promise("connect.a-failure-leaves-nothing")
def test_a_file_that_changes_meanwhile_is_left_alone(
    person: Person, monkeypatch: pytest.MonkeyPatch, snapshot: Snapshot
) -> None:
    """Whoever wrote between our look and our write loses nothing; the account that was made goes again."""
    path = person.file("cursor", "{}")
    original = client_files.Prepared.put

    def put(self: client_files.Prepared) -> None:
        path.write_text('{"theirs": 1}')
        original(self)

    monkeypatch.setattr(client_files.Prepared, "put", put)
    fault = refused(person, "cursor")
    assert fault.kind == "file_changed"
    assert path.read_text() == '{"theirs": 1}'
    assert list(snapshot(person.home)) == [".cursor", ".cursor/mcp.json"]


@pytest.mark.promise("connect.a-failure-leaves-nothing")
def test_a_run_that_is_interrupted_is_taken_back(
    person: Person, monkeypatch: pytest.MonkeyPatch, snapshot: Snapshot
) -> None:
    """Ctrl-C between two files leaves neither, nor an account."""
    puts: list[Path] = []
    original = client_files.Prepared.put

    def put(self: client_files.Prepared) -> None:
        puts.append(self.file.path)
        if len(puts) == 2:
            raise KeyboardInterrupt
        original(self)

    monkeypatch.setattr(client_files.Prepared, "put", put)
    monkeypatch.setattr(plan, "_script", lambda name: f"/bin/{name}")
    with pytest.raises(KeyboardInterrupt):
        person.connect("codex", hooks=True)
    assert snapshot(person.home) == {}
    assert person.request("codex").account not in person.accounts()


@pytest.mark.promise("connect.disconnect-gives-the-bytes-back")
def test_a_run_that_was_killed_is_finished_by_the_next(
    person: Person, monkeypatch: pytest.MonkeyPatch, snapshot: Snapshot
) -> None:
    """Killed before the file, the account is known for ours; the way back to the bytes is whole."""
    person.file("cursor", "{}")
    before = snapshot(person.home)
    with monkeypatch.context() as patched:
        patched.setattr(client_files.Prepared, "put", lambda _: sys.exit(9))
        with pytest.raises(SystemExit):
            person.connect("cursor")
    assert snapshot(person.home) == before
    assert person.connect("cursor").changed
    assert person.works("cursor")
    person.disconnect("cursor")
    assert snapshot(person.home) == before


@pytest.mark.promise("connect.a-failure-leaves-nothing")
def test_a_secret_that_cannot_be_kept_costs_no_account(
    person: Person, monkeypatch: pytest.MonkeyPatch, snapshot: Snapshot
) -> None:
    """A disk that is full when the secret comes takes the account back."""
    original = Folder.write

    def write(self: Folder, name: str, raw: bytes, *, settle: bool = True) -> None:
        if name.endswith(".key") and not raw.startswith(b"0" * 64):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        original(self, name, raw, settle=settle)

    monkeypatch.setattr(Folder, "write", write)
    assert refused(person, "cursor").kind == "file_unusable"
    assert snapshot(person.home) == {}


@pytest.mark.promise("connect.a-failure-leaves-nothing")
def test_without_a_daemon_nothing_is_written(person: Person, snapshot: Snapshot) -> None:
    """Neither by connect nor by disconnect."""
    person.connect("cursor")
    before = snapshot(person.home)
    with SyncMailClient("http://127.0.0.1:1", token="0" * 64) as nobody:
        request = person.request("cursor")
        with pytest.raises(ConnectFailedError):
            connecting.disconnect(request, nobody)
        with pytest.raises(ConnectFailedError):
            connecting.connect(person.request("vscode"), nobody, person.with_secret)
    assert snapshot(person.home) == before


@pytest.mark.promise("connect.others-are-not-overwritten")
def test_an_account_of_somebody_else_is_not_taken_over(person: Person, snapshot: Snapshot) -> None:
    """Neither one that was there, nor one of the name after ours was purged."""
    account = person.request("cursor").account
    person.daemon.add(account)
    with pytest.raises(ConnectError) as fault:
        person.connect("cursor")
    assert fault.value.kind == "account_taken"
    assert person.daemon.inbox(account) == []
    assert snapshot(person.home) == {}
    person.connect("vscode")
    person.disconnect("vscode")
    ours = person.request("vscode").account
    person.operator.admin_participant_remove(id=ours)
    with pytest.raises(ConnectError, match="removed"):
        person.connect("vscode")
    person.operator.admin_participant_purge(id=ours)
    person.daemon.add(ours)
    with pytest.raises(ConnectError, match="did not make"):
        person.connect("vscode")


@pytest.mark.promise("connect.others-are-not-overwritten")
def test_a_client_has_one_account_and_an_account_one_client(person: Person) -> None:
    """A second account for a file, and a second client for an account, are refused by name."""
    person.connect("cursor")
    with pytest.raises(ConnectError) as fault:
        person.connect("cursor", f"other-{person.name}")
    assert fault.value.kind == "already_connected"
    with pytest.raises(ConnectError) as fault:
        person.connect("vscode", person.request("cursor").account)
    assert fault.value.kind == "account_taken"


def test_what_was_never_connected_is_not_disconnected(person: Person, snapshot: Snapshot) -> None:
    """It is said so, and an entry that somebody else wrote stays."""
    person.file("cursor", '{"mcpServers": {"mail4agent": {"command": "x"}}}')
    before = snapshot(person.home)
    with pytest.raises(ConnectError) as fault:
        person.disconnect("cursor")
    assert fault.value.kind == "not_connected"
    assert snapshot(person.home) == before


@pytest.mark.promise("connect.unreadable-files-are-refused")
def test_a_file_that_was_broken_since_keeps_its_client_connected(person: Person) -> None:
    """Disconnect refuses by name; mended, it goes."""
    path = person.file("cursor", "{}")
    person.connect("cursor")
    text = path.read_text()
    path.write_text(text[:-3])
    with pytest.raises(ConnectError) as fault:
        person.disconnect("cursor")
    assert fault.value.kind == "document_invalid"
    assert person.works("cursor")
    path.write_text(text)
    person.disconnect("cursor")
    assert path.read_text() == "{}"


def test_a_record_that_is_none_is_refused(person: Person, snapshot: Snapshot) -> None:
    """A file that connect did not write is named, and stays."""
    folder = person.daemon.home / "clients"
    folder.mkdir(exist_ok=True)
    stray = folder / "stray.json"
    stray.write_text('{"account": 1}')
    try:
        with pytest.raises(ConnectError) as fault:
            person.connect("cursor")
        assert fault.value.kind == "record_unusable"
        assert str(stray) in fault.value.message
    finally:
        stray.unlink()
    assert snapshot(person.home) == {}


def test_a_path_that_clients_would_expand_is_refused(person: Person) -> None:
    """A dollar sign or a brace in a path means something else to every client."""
    request = replace(person.request("cursor"), home=person.home / "a${b}")
    with pytest.raises(ConnectError) as fault:
        connecting.connect(request, person.operator, person.with_secret)
    assert fault.value.kind == "path_ambiguous"


def test_the_folder_of_keys_is_private(person: Person) -> None:
    """Nobody else enters it, whatever the umask is."""
    person.connect("cursor")
    assert stat.S_IMODE((person.daemon.home / "clients").stat().st_mode) == 0o700
