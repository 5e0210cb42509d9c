"""The verbs connect and disconnect, the proof at their end, and who looks after what they did."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest

from mail4agent_daemon.checkup import examine
from mail4agent_daemon.connect import proof
from mail4agent_daemon.connect.clients import Launch
from mail4agent_daemon.connect.faults import ConnectError
from mail4agent_daemon.settings import load
from tests.daemon.running import BOUND_SECS, Daemon, Ended, environment, script

from .conftest import NOWHERE, Person

Snapshot = Callable[[Path], dict[str, tuple[int, bytes]]]
pytestmark = pytest.mark.promise("cli.exit-status-tells")


def ran(person: Person, *words: str, url: str | None = None) -> Ended:
    """Run the script in the person's home and project."""
    told = environment(
        person.daemon.home, M4A_URL=url or person.daemon.url, HOME=str(person.home), PATH=NOWHERE
    )
    for name in ("XDG_CONFIG_HOME", "CLAUDE_CONFIG_DIR", "CODEX_HOME", "GEMINI_CLI_HOME"):
        told.pop(name, None)
    ended = subprocess.run(
        script(*words),
        cwd=person.project,
        env=told,
        capture_output=True,
        text=True,
        timeout=3 * BOUND_SECS,
        check=False,
    )
    return Ended(ended.returncode, ended.stdout, ended.stderr)


@pytest.mark.promise("connect.proves-what-it-wrote")
def test_connect_says_in_a_sentence_that_it_works(person: Person, snapshot: Snapshot) -> None:
    """One line, status 0; again, it was so already; disconnected, nothing is left."""
    name = f"c-{person.name}"
    (person.home / ".codex").mkdir()
    before = snapshot(person.home)
    first = ran(person, "connect", "codex", "--as", name)
    assert (first.status, first.out.count("\n")) == (0, 1), first.err
    assert f"Codex is connected as {name}" in first.out
    config = tomllib.loads((person.home / ".codex/config.toml").read_text())
    assert config["mcp_servers"]["mail4agent"]["args"][-1] == "mcp-stdio"
    assert json.loads((person.home / ".codex/hooks.json").read_text())["hooks"]["Stop"]
    again = ran(person, "connect", "codex", "--as", name, "--json")
    assert again.status == 0
    assert (again.json["changed"], again.json["account"]) == (False, name)
    assert "m4a_mail_send" in again.json["tools"]
    without = ran(person, "connect", "codex", "--as", name, "--no-hooks", "--json")
    assert without.json["changed"] is True
    assert not (person.home / ".codex/hooks.json").exists()
    last = ran(person, "disconnect", "codex", "--json")
    assert last.status == 0
    assert last.json["revoked"] is True
    assert snapshot(person.home) == before


def test_printing_changes_nothing_and_needs_no_daemon(person: Person, snapshot: Snapshot) -> None:
    """What is shown is the whole file, and it is one JSON value when that is asked for."""
    shown = ran(person, "connect", "windsurf", "--print", url="http://127.0.0.1:1")
    assert shown.status == 0
    assert json.loads(shown.out.partition("\n")[2])["mcpServers"]["mail4agent"]
    listed = ran(person, "connect", "claude", "--print", "--no-hooks", "--json")
    assert [each["path"] for each in listed.json["files"]] == [str(person.home / ".claude.json")]
    assert snapshot(person.home) == {}
    assert "windsurf" not in person.accounts()


def test_refusals_have_a_kind_and_a_status(person: Person) -> None:
    """1 for a refusal, 2 for a wrong command line, 3 without a daemon."""
    absent = ran(person, "connect", "cursor", "--json")
    assert absent.status == 1
    assert absent.failure["kind"] == "client_missing"
    assert ran(person, "disconnect", "cursor").status == 1
    assert ran(person, "connect", "emacs").status == 2
    assert ran(person, "connect", "cursor", "--wake").status == 2
    malformed = ran(person, "connect", "cursor", "--file", "--as", "a b", "--json")
    assert malformed.status == 1
    assert malformed.failure["kind"] == "malformed"
    away = ran(person, "connect", "cursor", "--file", "--json", url="http://127.0.0.1:1")
    assert away.status == 3
    assert away.failure["kind"] == "connect_failed"


@pytest.mark.parametrize(
    ("program", "why"),
    [
        ("raise SystemExit('no key')", "ended: no key"),
        ("print('hello')", "no JSON"),
        ('input(); print(\'{"jsonrpc":"2.0","id":1,"error":{"message":"nope"}}\')', "nope"),
        (
            """input(); print('{"id":1,"result":{}}', flush=True); input(); input()
print('{"id":2,"result":{"tools":[]}}')""",
            "no tools",
        ),
    ],
)
@pytest.mark.promise("connect.proves-what-it-wrote")
def test_a_command_that_does_not_serve_is_no_proof(program: str, why: str) -> None:
    """What went wrong is said."""
    launch = Launch(sys.executable, ("-c", program), {})
    with pytest.raises(ConnectError, match=why) as fault:
        proof.proved(launch, os.environ)
    assert fault.value.kind == "proof_failed"
    with pytest.raises(ConnectError, match="does not start"):
        proof.proved(Launch(NOWHERE, (), {}), {})


def clients(daemon: Daemon) -> list[tuple[str, str]]:
    """What doctor finds of clients."""
    found = examine(load({"M4A_HOME": str(daemon.home)}))
    return [(each.state, each.text) for each in found if each.check == "clients"]


@pytest.mark.promise("connect.doctor-looks-after-clients")
def test_doctor_names_a_client_whose_key_or_file_is_gone(person: Person) -> None:
    """Each with what helps; a client that stands as it was left is good."""
    person.connect("cursor")
    name = person.request("cursor").account
    said = next(text for state, text in clients(person.daemon) if state == "good")
    assert f"Cursor as {name}" in said
    path = person.file("cursor")
    text = path.read_bytes()
    path.write_text("{}")
    person.key("cursor").unlink()
    faults = [text for state, text in clients(person.daemon) if state == "bad" and name in text]
    assert len(faults) == 2
    assert all(f"connect cursor --as {name}" in each for each in faults)
    path.unlink()
    assert any(f"{path} is gone" in text for _, text in clients(person.daemon))
    path.write_bytes(text)
    person.connect("cursor")
    person.disconnect("cursor")
    assert all(name not in text for _, text in clients(person.daemon))


def test_serve_says_how_an_agent_is_connected(daemon: Daemon) -> None:
    """A daemon elsewhere than usual says its own address and folder."""
    from mail4agent_daemon.cli.daemon import _announcement
    from mail4agent_daemon.serving import Serving

    serving = Serving("1", daemon.url, None, daemon.home, daemon.home / "operator.key")
    said = _announcement(serving, as_json=False).splitlines()[-1]
    assert f"M4A_HOME={daemon.home}" in said
    assert f"connect claude --url {daemon.url}" in said
