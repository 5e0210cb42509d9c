"""Each client's file is what that client documents, and what the page on connecting shows."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from mail4agent_daemon.connect.clients import CLIENTS, Launch, Surroundings
from mail4agent_daemon.connect.documents import parsed
from mail4agent_daemon.connect.hooks import HOOKS
from mail4agent_daemon.connect.plan import Request, Target, environment_of, shown, targets_with

from .client_schemas import SCHEMAS

PAGE = Path(__file__).resolve().parents[3] / "docs" / "connect.md"
HOME = Path("/home/you")
BLOCK = re.compile(r"^`([^`\n]+)`:\n\n```(json|toml)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def targets(client: str, **given: Any) -> list[Target]:
    """The files of a client in somebody's home."""
    where = Surroundings({}, HOME, Path("/home/you/project"), "linux")
    data = HOME / ".local/share/mail4agent"
    request = Request(CLIENTS[client], client, where, data, "http://127.0.0.1:18301", **given)
    launch = Launch("/opt/mail4agent/bin/mail4agent", ("mcp-stdio",), environment_of(request))
    return targets_with(request, launch, "/opt/mail4agent/bin/mail4agent-hook")


@pytest.mark.parametrize("client", CLIENTS)
@pytest.mark.promise("connect.files-are-what-clients-document")
def test_a_configuration_is_what_its_client_documents(client: str) -> None:
    """Every file, with the waiter where there is one, holds documented keys of documented types alone."""
    files = targets(client, wake=client == "claude")
    assert len(files) == len(SCHEMAS[client])
    for each, schema, (_, text) in zip(files, SCHEMAS[client], shown(files), strict=True):
        jsonschema.Draft202012Validator.check_schema(schema)
        document = parsed(each.kind, text)
        jsonschema.Draft202012Validator(schema).validate(document)
        document["stray"] = 1
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.Draft202012Validator(schema).validate(document)


@pytest.mark.promise("connect.secrets-stay-in-their-file")
def test_no_configuration_holds_more_than_where_the_secret_is() -> None:
    """The environment has two names, and neither is a credential."""
    for client in CLIENTS:
        for each in targets(client):
            for wish in each.wishes:
                env = wish.value.get("env") or wish.value.get("environment") or {}
                assert set(env) <= {"M4A_TOKEN_FILE", "M4A_URL"}


@pytest.mark.parametrize("client", HOOKS)
def test_a_hooks_command_is_one_shell_line(client: str) -> None:
    """It names the script, what happened, and the agent's own secret, not the person's."""
    told: set[str] = set()
    for each in targets(client, wake=client == "claude"):
        for wish in each.wishes:
            if wish.is_element:
                (hook,) = wish.value["hooks"]
                words = shlex.split(hook["command"])
                assert words[:3] == ["env", "-u", "M4A_TOKEN"]
                assert words[5] == "/opt/mail4agent/bin/mail4agent-hook"
                told.add(words[6])
    assert told == {"session-start", "prompt", "tool", "stop"} | ({"wait"} if client == "claude" else set())


@pytest.mark.promise("connect.the-page-shows-what-is-written")
def test_the_page_shows_what_is_written() -> None:
    """Each block of the page is a file as connect would write it, and no client is left out."""
    written = {
        str(path).replace(str(HOME), "~"): text for client in CLIENTS for path, text in shown(targets(client))
    }
    found = {path: text for path, _, text in BLOCK.findall(PAGE.read_text("utf-8"))}
    assert found == written


def test_a_projects_hooks_are_its_developers_own() -> None:
    """Claude Code's go to the file that is not shared with the project."""
    paths = [str(each.path.relative_to("/home/you/project")) for each in targets("claude", project=True)]
    assert paths == [".mcp.json", ".claude/settings.local.json"]


@pytest.mark.parametrize(
    ("client", "environment", "platform", "path"),
    [
        ("claude", {"CLAUDE_CONFIG_DIR": "/c"}, "linux", "/c/.claude.json"),
        ("codex", {"CODEX_HOME": "/c"}, "linux", "/c/config.toml"),
        ("gemini", {"GEMINI_CLI_HOME": "/c"}, "linux", "/c/.gemini/settings.json"),
        ("opencode", {"XDG_CONFIG_HOME": "/c"}, "linux", "/c/opencode/opencode.json"),
        ("vscode", {"XDG_CONFIG_HOME": "/c"}, "linux", "/c/Code/User/mcp.json"),
        ("vscode", {}, "darwin", "/home/you/Library/Application Support/Code/User/mcp.json"),
    ],
)
def test_a_clients_own_variable_moves_its_file(
    client: str, environment: dict[str, str], platform: str, path: str
) -> None:
    """Where the client looks is where it is written."""
    where = Surroundings(environment, HOME, HOME, platform)
    assert str(CLIENTS[client].file(where, project=False)) == path


def test_the_commented_spelling_of_opencodes_file_is_kept(tmp_path: Path) -> None:
    """Where opencode.jsonc is, no second file is made beside it."""
    where = Surroundings({"XDG_CONFIG_HOME": str(tmp_path)}, HOME, tmp_path, "linux")
    (tmp_path / "opencode").mkdir()
    commented = tmp_path / "opencode" / "opencode.jsonc"
    commented.write_text("{}")
    assert CLIENTS["opencode"].file(where, project=False) == commented
