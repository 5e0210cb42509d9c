"""Connecting and disconnecting on a person's disk, with a daemon that runs."""

from __future__ import annotations

import json
import os
import stat
import threading
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest

from mail4agent_daemon.connect.clients import CLIENTS
from mail4agent_daemon.connect.faults import ConnectError

from .conftest import Person

Snapshot = Callable[[Path], dict[str, tuple[int, bytes]]]
CLIENT_FILES = {
    "claude": '{\n  "numStartups": 3,\n  "mcpServers": {}\n}',
    "codex": 'model = "o"  # the good one\n\n[mcp_servers.other]\ncommand = "x"\n',
    "gemini": '// mine\n{\n  "ui": {"theme": "x"}, // dark\n}\n',
    "opencode": '{\r\n\t"$schema": "https://opencode.ai/config.json",\r\n\t"mcp": {},\r\n}\r\n',
    "cursor": '{"mcpServers":{"other":{"command":"x"}}}',
    "vscode": '{\n    "inputs": [], // none\n    "servers": {\n    }\n}\n',
    "windsurf": "",
}


@pytest.mark.parametrize("client", CLIENTS)
@pytest.mark.promise(
    "connect.idempotent", "connect.disconnect-gives-the-bytes-back", "connect.secrets-stay-in-their-file"
)
def test_a_client_is_connected_once_and_disconnected_to_the_byte(
    client: str, person: Person, snapshot: Snapshot
) -> None:
    """The second run changes no byte; disconnected, the home is as it was, mode and all."""
    path = person.file(client, CLIENT_FILES[client])
    path.chmod(0o640)
    before = snapshot(person.home)
    assert person.connect(client).changed
    assert person.works(client)
    connected = snapshot(person.home)
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    assert stat.S_IMODE(person.key(client).stat().st_mode) == 0o600
    secret = person.key(client).read_bytes().strip()
    assert secret not in path.read_bytes()
    assert not person.connect(client).changed
    assert snapshot(person.home) == connected
    assert person.key(client).read_bytes().strip() == secret
    done = person.disconnect(client)
    assert done.revoked
    assert snapshot(person.home) == before
    assert not person.key(client).exists()
    answer = person.daemon.ask("POST", "/mail/whoami", b"{}", {"Authorization": f"Bearer {secret.decode()}"})
    assert answer.status == 401


@pytest.mark.promise("connect.disconnect-gives-the-bytes-back")
def test_files_and_folders_that_were_made_go_again(person: Person, snapshot: Snapshot) -> None:
    """A home that was empty is empty again."""
    for client in CLIENTS:
        person.connect(client)
        file = person.file(client)
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
        person.disconnect(client)
    assert snapshot(person.home) == {}


@pytest.mark.promise("connect.mail-outlives-the-connection")
def test_mail_is_kept_while_a_client_is_away(person: Person) -> None:
    """Connected again, the account is the same one, with a new secret and its mail."""
    person.connect("cursor")
    account = person.request("cursor").account
    first = person.key("cursor").read_text()
    person.disconnect("cursor")
    person.daemon.send("ada", account)
    person.connect("cursor")
    assert person.key("cursor").read_text() != first
    person.daemon.keys[account] = person.key("cursor").read_text().strip()
    assert len(person.daemon.inbox(account)) == 1


@pytest.mark.promise("connect.secrets-stay-in-their-file")
def test_a_lost_secret_is_replaced_and_the_file_stays(person: Person) -> None:
    """Whether the key file is gone or holds something else, the next run mends it."""
    person.connect("vscode")
    text = person.file("vscode").read_bytes()
    for broken in (None, b"00\n"):
        key = person.key("vscode")
        key.unlink()
        if broken is not None:
            key.write_bytes(broken)
            key.chmod(0o600)
        person.connect("vscode")
        assert person.works("vscode")
        assert person.file("vscode").read_bytes() == text


@pytest.mark.promise("connect.touched-files-lose-ours-alone")
def test_a_file_that_was_touched_loses_ours_alone(person: Person) -> None:
    """What a person wrote since stays; the second run leaves it, and disconnect takes ours out."""
    path = person.file("cursor", CLIENT_FILES["cursor"])
    person.connect("cursor")
    document = json.loads(path.read_text())
    document["mcpServers"]["third"] = {"command": "z"}
    path.write_text(json.dumps(document, indent=1))
    touched = path.read_bytes()
    assert not person.connect("cursor").changed
    assert path.read_bytes() == touched
    person.disconnect("cursor")
    del document["mcpServers"]["mail4agent"]
    assert path.read_text() == json.dumps(document, indent=1)


def test_another_url_is_written_over_the_old_one_and_still_taken_back(
    person: Person, snapshot: Snapshot
) -> None:
    """What connect wrote it may write anew; the way back to the first bytes stays."""
    path = person.file("codex", CLIENT_FILES["codex"])
    before = snapshot(person.home)
    person.connect("codex")
    url = person.daemon.url.replace("127.0.0.1", "localhost")
    assert person.connect("codex", url=url).changed
    entry = tomllib.loads(path.read_text())["mcp_servers"]["mail4agent"]
    assert entry["env"]["M4A_URL"] == url
    person.disconnect("codex")
    assert snapshot(person.home) == before


@pytest.mark.promise("connect.files-keep-every-other-byte")
def test_a_link_stays_a_link_and_its_target_changes(person: Person) -> None:
    """Settings that live in a folder of dotfiles are changed there."""
    target = person.project / "dotfiles.json"
    target.write_text("{}\n")
    target.chmod(0o604)
    path = person.file("cursor")
    path.parent.mkdir()
    path.symlink_to(os.path.relpath(target, path.parent))
    person.connect("cursor")
    assert path.is_symlink()
    assert "mail4agent" in target.read_text()
    assert stat.S_IMODE(target.stat().st_mode) == 0o604
    person.disconnect("cursor")
    assert path.is_symlink()
    assert target.read_text() == "{}\n"


@pytest.mark.promise("connect.places-are-independent")
def test_a_project_and_a_home_share_the_account(person: Person, snapshot: Snapshot) -> None:
    """The secret dies with the last place that uses it."""
    person.connect("claude")
    person.connect("claude", project=True)
    entry = json.loads((person.project / ".mcp.json").read_text())["mcpServers"]["mail4agent"]
    assert entry["env"]["M4A_TOKEN_FILE"] == str(person.key("claude"))
    assert not person.disconnect("claude").revoked
    assert person.works("claude")
    assert person.disconnect("claude", project=True).revoked
    assert snapshot(person.project) == {}
    with pytest.raises(ConnectError) as fault:
        person.connect("windsurf", project=True)
    assert fault.value.kind == "client_missing"


@pytest.mark.promise("connect.others-are-not-overwritten")
def test_what_stood_in_the_place_comes_back(person: Person, snapshot: Snapshot) -> None:
    """Another server of the name is refused, replaced when asked, and there again afterwards."""
    person.file("vscode", '{\n  "servers": {"mail4agent": {"url": "http://x"}}\n}\n')
    before = snapshot(person.home)
    with pytest.raises(ConnectError) as fault:
        person.connect("vscode")
    assert fault.value.kind == "entry_taken"
    assert snapshot(person.home) == before
    assert person.request("vscode").account not in person.accounts()
    person.connect("vscode", replace=True)
    assert not person.connect("vscode").changed
    person.disconnect("vscode")
    assert snapshot(person.home) == before


@pytest.mark.promise("connect.two-at-once")
def test_two_at_once_end_as_one(person: Person) -> None:
    """Both are told that it is done; there is one account, one entry, and a secret that works."""
    faults: list[BaseException] = []
    start = threading.Barrier(4)

    def run() -> None:
        try:
            start.wait(20)
            person.connect("gemini")
        except BaseException as fault:  # noqa: BLE001  for the test to see
            faults.append(fault)

    threads = [threading.Thread(target=run) for _ in range(4)]
    for each in threads:
        each.start()
    for each in threads:
        each.join(60)
    assert faults == []
    assert person.works("gemini")
    assert person.file("gemini").read_text().count('"mail4agent"') == 1
    person.disconnect("gemini")
    assert not person.file("gemini").exists()


@pytest.mark.promise("connect.only-where-the-client-is")
def test_a_client_that_is_not_here_is_not_given_a_folder(person: Person, snapshot: Snapshot) -> None:
    """Its program or its folder says that it is here; a file is written all the same when asked."""
    for client in CLIENTS:
        with pytest.raises(ConnectError) as fault:
            person.connect(client, by_file=False)
        assert fault.value.kind == "client_missing"
    assert snapshot(person.home) == {}
    (person.home / ".cursor").mkdir()
    assert person.connect("cursor", by_file=False).changed


@pytest.mark.promise("connect.idempotent", "connect.disconnect-gives-the-bytes-back")
def test_a_hook_beside_ours_stays(person: Person) -> None:
    """A person who set ours otherwise gets no second one, and what shares its group is not taken out."""
    person.connect("claude", hooks=True)
    path = person.home / ".claude" / "settings.json"
    held = json.loads(path.read_text())
    theirs = {"type": "command", "command": "echo theirs"}
    held["hooks"]["Stop"][0]["hooks"].append(theirs)
    held["hooks"]["PostToolUse"][0]["hooks"][0]["timeout"] = 9
    path.write_text(json.dumps(held, indent=2))
    person.connect("claude", hooks=True)
    assert json.loads(path.read_text()) == held
    person.disconnect("claude")
    assert json.loads(path.read_text())["hooks"] == {"Stop": [{"hooks": [theirs]}]}
