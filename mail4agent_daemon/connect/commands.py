"""The clients' own commands for adding and removing a server. They know about their files what we do not."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import IO

from .clients import SERVER, Client, Launch
from .faults import ConnectError

#: Seconds for one command of a client; some take several to start.
PATIENCE_SECS = 120.0
#: Bytes that are kept of what a command said, and seconds to hear the last of them once it has ended.
TAIL_BYTES = 4_096
HEARING_SECS = 1.0


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
        # Unbuffered: what is read here is read by descriptor.
        called = subprocess.Popen(  # noqa: S603  the client's own program, found on the person's path
            command,
            env=passed,
            cwd=project,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            bufsize=0,
        )
    except OSError as failure:
        raise _failed(client, command, failure.strerror or "it does not start") from None
    out, errors = _Tail(called.stdout), _Tail(called.stderr)
    try:
        status = called.wait(PATIENCE_SECS)
    except subprocess.TimeoutExpired:
        raise _failed(client, command, f"it did not end within {PATIENCE_SECS:g} s") from None
    finally:
        called.kill()
        called.wait()
    if status != 0:
        said = (errors.read() or out.read()).decode("utf-8", "replace").rpartition("\n")[2]
        raise _failed(client, command, said[:300] or f"status {status}")


class _Tail:
    """The end of what a program says, read so that it never waits to be heard, be it ever so talkative.

    A program that it leaves running may hold the other end open: nobody waits for that.
    """

    def __init__(self, source: IO[bytes] | None) -> None:
        assert source is not None
        self._source = source
        self._kept = b""
        self._thread = threading.Thread(target=self._drain, daemon=True)
        self._thread.start()

    def _drain(self) -> None:
        with self._source:
            while part := self._source.read(TAIL_BYTES):
                self._kept = (self._kept + part)[-TAIL_BYTES:]

    def read(self) -> bytes:
        """What was kept, without the white space around it."""
        self._thread.join(HEARING_SECS)
        return self._kept.strip()


def _failed(client: Client, command: list[str], reason: str) -> ConnectError:
    return ConnectError(
        "client_failed",
        f"{client.title}'s own command ({client.program} {' '.join(command[1:3])}) failed: {reason};"
        " --file writes its file instead",
    )
