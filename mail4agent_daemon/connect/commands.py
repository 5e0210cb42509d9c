"""The clients' own commands for adding and removing a server. They know about their files what we do not."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

from .clients import SERVER, Client, Launch
from .faults import ConnectError

#: Seconds for one command of a client; some take several to start.
PATIENCE_SECS = 120.0


def program(client: Client, environment: Mapping[str, str]) -> str | None:
    """The client's program, where it is on the path and has a command for servers."""
    if client.name not in {"claude", "codex", "gemini"}:
        return None
    return shutil.which(client.program, path=environment.get("PATH", os.defpath))


def can_add(client: Client, *, project: bool) -> bool:
    """Whether the client's command writes the file that is meant; Codex's knows the person's own alone."""
    return not (client.name == "codex" and project)


def added(client: Client, called: str, launch: Launch, scope: Path | None, env: Mapping[str, str]) -> None:
    """Have the client add the server. Raises ConnectError."""
    given = [f"{name}={value}" for name, value in launch.env.items()]
    match client.name:
        case "claude":
            entry = json.dumps(client.entry(launch), ensure_ascii=False)
            command = ["mcp", "add-json", "--scope", _scope(scope), SERVER, entry]
        case "codex":
            named = [word for each in given for word in ("--env", each)]
            command = ["mcp", "add", SERVER, *named, "--", launch.command, *launch.args]
        case _:
            named = [word for each in given for word in ("-e", each)]
            command = ["mcp", "add", "--scope", _scope(scope), *named, SERVER, launch.command, *launch.args]
    _run(client, [called, *command], scope, env)


def removed(client: Client, called: str, scope: Path | None, env: Mapping[str, str]) -> None:
    """Have the client remove the server. Raises ConnectError."""
    where = [] if client.name == "codex" else ["--scope", _scope(scope)]
    _run(client, [called, "mcp", "remove", *where, SERVER], scope, env)


def _scope(project: Path | None) -> str:
    return "user" if project is None else "project"


def _run(client: Client, command: list[str], project: Path | None, env: Mapping[str, str]) -> None:
    # A credential of the person who runs this is no business of the client.
    passed = {name: value for name, value in env.items() if not name.startswith("M4A_")}
    try:
        ended = subprocess.run(  # noqa: S603  the client's own program, found on the person's path
            command,
            env=passed,
            cwd=project,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=PATIENCE_SECS,
            check=False,
        )
    except OSError as failure:
        raise _failed(client, command, failure.strerror or "it does not start") from None
    except subprocess.TimeoutExpired:
        raise _failed(client, command, f"it did not end within {PATIENCE_SECS:g} s") from None
    if ended.returncode != 0:
        said = (ended.stderr.strip() or ended.stdout.strip()).decode("utf-8", "replace").rpartition("\n")[2]
        raise _failed(client, command, said[:300] or f"status {ended.returncode}")


def _failed(client: Client, command: list[str], reason: str) -> ConnectError:
    return ConnectError(
        "client_failed",
        f"{client.title}'s own command ({client.program} {' '.join(command[1:3])}) failed: {reason};"
        " --file writes its file instead",
    )
