"""A client that has a command of its own for servers is asked to write its file itself.

The program on the path stands in for the client: it does to the file what the client's documentation says,
in the client's manner of writing, which is not ours. The real ones are tried by hand.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from mail4agent_daemon.connect import commands
from mail4agent_daemon.connect.faults import ConnectError
from mail4agent_daemon.connect.plan import Request

from .conftest import NOWHERE, Person

Snapshot = Callable[[Path], dict[str, tuple[int, bytes]]]
PROGRAM = """#!{python}
import json, os, pathlib, sys
words = sys.argv[1:]
path = pathlib.Path({path!r})
log = pathlib.Path({log!r})
log.write_text((log.read_text() if log.exists() else "") + json.dumps([words, sorted(os.environ)]) + "\\n")
if pathlib.Path({log!r} + ".fail").exists():
    sys.exit("no room today")
if pathlib.Path({log!r} + ".idle").exists():
    sys.exit()
held = json.loads(path.read_text()) if path.exists() else {{}}
servers = held.setdefault("mcpServers", {{}})
if words[:2] == ["mcp", "add-json"]:
    assert words[2:4] == ["--scope", "user"] and words[4] not in servers
    servers[words[4]] = json.loads(words[5])
elif words[:2] == ["mcp", "remove"]:
    del servers[words[4]]
else:
    env = dict(words[n + 1].split("=", 1) for n, word in enumerate(words) if word == "-e")
    name, command, *rest = words[words.index("-e") + 4:]
    servers[name] = {{"command": command, "args": rest, "env": env}}
path.parent.mkdir(exist_ok=True)
path.write_text(json.dumps(held))
"""


@pytest.fixture
def installed(person: Person) -> Callable[[str], Path]:
    """Puts a client's program on the person's path; returns the log of its calls."""

    def install(client: str) -> Path:
        folder = person.project / "bin"
        folder.mkdir(exist_ok=True)
        log = folder / f"{client}.log"
        program = folder / client
        text = PROGRAM.format(python=sys.executable, path=str(person.file(client)), log=str(log))
        program.write_text(text)
        program.chmod(0o755)
        person.environment = {"PATH": f"{folder}:{NOWHERE}", "M4A_TOKEN": "f" * 64, "HOME": str(person.home)}
        return log

    return install


def calls(log: Path) -> list[list[str]]:
    """The words of each call."""
    return [json.loads(line)[0] for line in log.read_text().splitlines()]


@pytest.mark.parametrize("client", ["claude", "gemini"])
@pytest.mark.promise("connect.the-clients-own-command-first", "connect.idempotent")
def test_the_clients_own_command_adds_and_removes(
    client: str, person: Person, installed: Callable[[str], Path]
) -> None:
    """It is called once, and once more to remove; no secret is in its words or its environment."""
    log = installed(client)
    person.file(client, '{"theme": "dark"}')
    person.connect(client, by_file=False)
    assert not person.connect(client, by_file=False).changed
    secret = person.key(client).read_text().strip()
    entry = json.loads(person.file(client).read_text())["mcpServers"]["mail4agent"]
    assert entry["env"] == {"M4A_TOKEN_FILE": str(person.key(client)), "M4A_URL": person.daemon.url}
    assert len(calls(log)) == 1
    person.disconnect(client, by_file=False)
    assert json.loads(person.file(client).read_text()) == {"theme": "dark", "mcpServers": {}}
    assert [words[1] for words in calls(log)][1:] == ["remove"]
    assert secret not in log.read_text()
    assert "M4A_TOKEN" not in log.read_text().replace("M4A_TOKEN_FILE", "")


@pytest.mark.parametrize("client", ["claude", "gemini"])
@pytest.mark.parametrize("leaves", ["", "{}", '{\n  "mcpServers": {}\n}\n'])
@pytest.mark.promise("connect.disconnect-gives-the-bytes-back")
def test_a_file_that_the_clients_command_made_for_ours_goes_again(
    client: str, leaves: str, person: Person, installed: Callable[[str], Path], snapshot: Snapshot
) -> None:
    """The client's command empties it and leaves it; it was not there before, nor was its folder."""
    program = installed(client).with_name(client)
    person.connect(client, by_file=False)
    program.write_text(f"#!/bin/sh\nprintf '%s' '{leaves}' > '{person.file(client)}'\n")
    person.disconnect(client, by_file=False)
    assert snapshot(person.home) == {}


def test_what_a_person_added_to_a_file_of_the_clients_command_stays(
    person: Person, installed: Callable[[str], Path]
) -> None:
    """A comment is enough: the file is not ours to remove then."""
    program = installed("claude").with_name("claude")
    person.connect("claude", by_file=False)
    left = '{"mcpServers": {}} // mine'
    program.write_text(f"#!/bin/sh\nprintf '%s' '{left}' > '{person.file('claude')}'\n")
    person.disconnect("claude", by_file=False)
    assert person.file("claude").read_text() == left


@pytest.mark.promise("connect.a-failure-leaves-nothing")
def test_a_failure_after_the_command_leaves_no_file_of_it(
    person: Person, installed: Callable[[str], Path]
) -> None:
    """Somebody changed the file of the hooks meanwhile; what the command made goes with ours."""
    program = installed("claude").with_name("claude")
    hooks = person.home / ".claude" / "settings.json"
    more = f"hooks = pathlib.Path({str(hooks)!r})\nhooks.write_text('{{}}')\n"
    program.write_text(program.read_text() + more)
    request: Request = person.request("claude", by_file=False, hooks=True)
    with pytest.raises(ConnectError) as fault:
        person.connect("claude", by_file=False, hooks=True)
    assert fault.value.kind == "file_changed"
    assert not person.file("claude").exists()
    assert hooks.read_text() == "{}"
    assert request.account not in person.accounts()


@pytest.mark.promise("connect.the-clients-own-command-first")
def test_an_entry_of_ours_that_changed_is_removed_and_added(
    person: Person, installed: Callable[[str], Path]
) -> None:
    """A client's own command takes no name that is there."""
    log = installed("claude")
    person.connect("claude", by_file=False)
    url = person.daemon.url.replace("127.0.0.1", "localhost")
    assert person.connect("claude", by_file=False, url=url).changed
    assert [words[1] for words in calls(log)] == ["add-json", "remove", "add-json"]


@pytest.mark.parametrize("how", ["fail", "idle"])
@pytest.mark.promise("connect.a-failure-leaves-nothing")
def test_a_command_that_fails_leaves_nothing(
    how: str, person: Person, installed: Callable[[str], Path], snapshot: Snapshot
) -> None:
    """Neither an account nor the hooks that went before it; what the client said is passed on."""
    log = installed("claude")
    log.with_name(f"{log.name}.{how}").touch()
    request: Request = person.request("claude", by_file=False)
    with pytest.raises(ConnectError) as fault:
        person.connect("claude", by_file=False)
    assert fault.value.kind == "client_failed"
    assert ("no room today" in fault.value.message) is (how == "fail")
    assert request.account not in person.accounts()
    assert not request.key.exists()
    assert snapshot(person.home) == {}


@pytest.mark.promise("connect.the-clients-own-command-first")
def test_a_client_that_left_is_disconnected_by_its_file(
    person: Person, installed: Callable[[str], Path]
) -> None:
    """The program is gone; ours is taken out of the file that it wrote."""
    installed("claude")
    person.file("claude", '{"theme": "dark"}')
    person.connect("claude", by_file=False)
    person.environment["PATH"] = NOWHERE
    person.disconnect("claude", by_file=False)
    assert json.loads(person.file("claude").read_text()) == {"theme": "dark", "mcpServers": {}}


@pytest.mark.promise("connect.others-are-not-overwritten")
def test_somebody_elses_entry_is_not_given_to_the_command(
    person: Person, installed: Callable[[str], Path]
) -> None:
    """The refusal comes before the command is called."""
    log = installed("claude")
    person.file("claude", '{"mcpServers": {"mail4agent": {"command": "x"}}}')
    with pytest.raises(ConnectError) as fault:
        person.connect("claude", by_file=False)
    assert fault.value.kind == "entry_taken"
    assert not log.exists()


@pytest.mark.parametrize(
    ("says", "told"),
    [
        ("echo '{' > {path}", "without what it was asked for"),
        ("sleep 20 & exit 3", "status 3"),
        ("head -c 1000000 /dev/zero >&2; echo >&2; echo enough >&2; exit 3", "enough"),
    ],
)
@pytest.mark.promise("connect.a-failure-leaves-nothing")
def test_a_command_that_misbehaves_is_refused_by_name(
    says: str,
    told: str,
    person: Person,
    installed: Callable[[str], Path],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """It may break its file, leave a program behind that holds its output, or talk without end."""
    monkeypatch.setattr(commands, "PATIENCE_SECS", 10.0)
    program = installed("claude").with_name("claude")
    program.write_text(
        f"#!/bin/sh\nPATH=/usr/bin:/bin\n{says.replace('{path}', str(person.file('claude')))}\n"
    )
    request: Request = person.request("claude", by_file=False)
    with pytest.raises(ConnectError, match=told) as fault:
        person.connect("claude", by_file=False)
    assert fault.value.kind == "client_failed"
    assert request.account not in person.accounts()
