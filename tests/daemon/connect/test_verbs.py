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
from typer.testing import CliRunner

from mail4agent_daemon.checkup import examine
from mail4agent_daemon.cli import application
from mail4agent_daemon.connect import proof
from mail4agent_daemon.connect.clients import Launch
from mail4agent_daemon.connect.faults import ConnectError
from mail4agent_daemon.settings import load
from tests.daemon.running import BOUND_SECS, Daemon, Ended

from .conftest import NOWHERE, Person

Snapshot = Callable[[Path], dict[str, tuple[int, bytes]]]
#: What moves a client's files.
MOVERS = ["XDG_CONFIG_HOME", "CLAUDE_CONFIG_DIR", "CODEX_HOME", "GEMINI_CLI_HOME"]
pytestmark = pytest.mark.promise("cli.exit-status-tells")


@pytest.fixture
def ran(person: Person, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Ended]:
    """Runs a verb in the person's home and project, within this process."""
    app = application()
    monkeypatch.chdir(person.project)
    for name in [each for each in os.environ if each.startswith("M4A_")] + MOVERS:
        monkeypatch.delenv(name, raising=False)
    # What connect starts finds the packages where this process did.
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(sys.path))

    def run(*words: str, url: str | None = None) -> Ended:
        told = {
            "M4A_HOME": str(person.daemon.home),
            "M4A_URL": url or person.daemon.url,
            "HOME": str(person.home),
            "PATH": NOWHERE,
        }
        ended = CliRunner().invoke(app, words, env=told)
        return Ended(ended.exit_code, ended.stdout, ended.stderr)

    return run


@pytest.mark.promise("connect.proves-what-it-wrote")
def test_connect_says_in_a_sentence_that_it_works(
    person: Person, ran: Callable[..., Ended], snapshot: Snapshot
) -> None:
    """One line, status 0; again, it was so already; disconnected, nothing is left."""
    name = f"c-{person.name}"
    before = snapshot(person.home)
    first = ran("connect", "codex", "--file", "--as", name)
    assert (first.status, first.out.count("\n")) == (0, 1), first.err
    assert f"Codex is connected as {name}" in first.out
    config = tomllib.loads((person.home / ".codex/config.toml").read_text())
    assert config["mcp_servers"]["mail4agent"]["args"][-1] == "mcp-stdio"
    assert json.loads((person.home / ".codex/hooks.json").read_text())["hooks"]["Stop"]
    again = ran("connect", "codex", "--file", "--as", name, "--json")
    assert again.status == 0
    assert (again.json["changed"], again.json["account"]) == (False, name)
    assert "m4a_mail_send" in again.json["tools"]
    without = ran("connect", "codex", "--file", "--as", name, "--no-hooks", "--json")
    assert without.json["changed"] is True
    assert not (person.home / ".codex/hooks.json").exists()
    last = ran("disconnect", "codex", "--as", name, "--json")
    assert last.status == 0
    assert last.json["revoked"] is True
    assert snapshot(person.home) == before


def test_printing_changes_nothing_and_needs_no_daemon(
    person: Person, ran: Callable[..., Ended], snapshot: Snapshot
) -> None:
    """What is shown is the whole file, and it is one JSON value when that is asked for."""
    shown = ran("connect", "windsurf", "--print", url="http://127.0.0.1:1")
    assert shown.status == 0
    assert json.loads(shown.out.partition("\n")[2])["mcpServers"]["mail4agent"]
    listed = ran("connect", "claude", "--print", "--no-hooks", "--json")
    assert [each["path"] for each in listed.json["files"]] == [str(person.home / ".claude.json")]
    assert snapshot(person.home) == {}
    assert "windsurf" not in person.accounts()


def test_refusals_have_a_kind_and_a_status(ran: Callable[..., Ended]) -> None:
    """1 for a refusal, 2 for a wrong command line, 3 without a daemon."""
    absent = ran("connect", "cursor", "--json")
    assert absent.status == 1
    assert absent.failure["kind"] == "client_missing"
    assert ran("disconnect", "cursor", "--as", "nobody").status == 1
    assert ran("connect", "emacs").status == 2
    assert ran("connect", "cursor", "--wake").status == 2
    malformed = ran("connect", "cursor", "--file", "--as", "a b", "--json")
    assert malformed.status == 1
    assert malformed.failure["kind"] == "malformed"
    away = ran("connect", "cursor", "--file", "--json", url="http://127.0.0.1:1")
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


@pytest.mark.promise("connect.hooks-tell-of-mail")
def test_the_hooks_that_are_written_tell_of_mail_once(person: Person) -> None:
    """A shell runs each line as the client will; the first tells of the message, the others are silent."""
    person.connect("codex", hooks=True)
    person.daemon.send("ada", person.request("codex").account)
    hooks = json.loads((person.home / ".codex" / "hooks.json").read_text())["hooks"]
    said = {
        event: subprocess.run(
            ["sh", "-c", group["hooks"][0]["command"]],
            input=json.dumps(
                {"hook_event_name": event, "session_id": "s", "stop_hook_active": False}
            ).encode(),
            env={"PATH": os.environ["PATH"], "PYTHONPATH": os.pathsep.join(sys.path), "M4A_TOKEN": "f" * 64},
            capture_output=True,
            timeout=BOUND_SECS,
            check=True,
        ).stdout
        for event, (group,) in hooks.items()
    }
    told = json.loads(said["SessionStart"])["hookSpecificOutput"]
    assert told["hookEventName"] == "SessionStart"
    assert "ada" in told["additionalContext"]
    assert [said[event] for event in ("UserPromptSubmit", "PostToolUse", "Stop")] == [b"", b"", b""]
    person.disconnect("codex")


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
