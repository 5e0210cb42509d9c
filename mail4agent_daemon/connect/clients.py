"""The clients: where each keeps its configuration, and how an MCP server is written into it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .documents import Format, Wish

#: The name under which a client knows the server.
SERVER = "mail4agent"


@dataclass(frozen=True, slots=True)
class Surroundings:
    """Where files are looked for."""

    environment: Mapping[str, str]
    home: Path
    project: Path
    platform: str = sys.platform

    def folder(self, variable: str, *otherwise: str) -> Path:
        """The folder that a variable names, from where the person stands, or one below the person's home."""
        named = self.environment.get(variable)
        return self.project / named if named else self.home.joinpath(*otherwise)


@dataclass(frozen=True, slots=True)
class Launch:
    """The command that serves MCP over its standard input and output, and all that its environment needs."""

    command: str
    args: tuple[str, ...]
    env: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Client:
    """A client, and how it is configured."""

    name: str
    title: str
    program: str
    section: str
    entry: Callable[[Launch], dict[str, Any]]
    user_file: Callable[[Surroundings], Path]
    project_file: Callable[[Surroundings], Path] | None
    kind: Format = "json"

    def wish(self, launch: Launch) -> Wish:
        """What is wanted in its file."""
        return Wish((self.section, SERVER), self.entry(launch))

    def file(self, where: Surroundings, *, project: bool) -> Path | None:
        """The file that holds its servers; None where it has none for a project."""
        if not project:
            return self.user_file(where)
        return None if self.project_file is None else self.project_file(where)

    def folder(self, where: Surroundings) -> Path:
        """The folder whose presence says that the client was used here."""
        if self.name == "claude":
            return where.folder("CLAUDE_CONFIG_DIR", ".claude")
        return self.user_file(where).parent


def _plain(launch: Launch) -> dict[str, Any]:
    return {"command": launch.command, "args": list(launch.args), "env": dict(launch.env)}


def _typed(launch: Launch) -> dict[str, Any]:
    return {"type": "stdio", **_plain(launch)}


def _opencode(launch: Launch) -> dict[str, Any]:
    return {
        "type": "local",
        "command": [launch.command, *launch.args],
        "environment": dict(launch.env),
        "enabled": True,
        # Milliseconds. It bounds calls, too, and a wait for mail takes up to 50 seconds.
        "timeout": 60_000,
    }


def _claude_user(where: Surroundings) -> Path:
    return where.folder("CLAUDE_CONFIG_DIR") / ".claude.json"


def _opencode_in(folder: Path) -> Path:
    """Both spellings are read; the one that is there is added to."""
    commented = folder / "opencode.jsonc"
    return commented if commented.exists() else folder / "opencode.json"


def _code_user(where: Surroundings) -> Path:
    if where.platform == "darwin":
        return where.home / "Library" / "Application Support" / "Code" / "User" / "mcp.json"
    return where.folder("XDG_CONFIG_HOME", ".config") / "Code" / "User" / "mcp.json"


CLIENTS: dict[str, Client] = {
    each.name: each
    for each in (
        Client(
            "claude",
            "Claude Code",
            "claude",
            "mcpServers",
            _typed,
            _claude_user,
            lambda where: where.project / ".mcp.json",
        ),
        Client(
            "codex",
            "Codex",
            "codex",
            "mcp_servers",
            _plain,
            lambda where: where.folder("CODEX_HOME", ".codex") / "config.toml",
            lambda where: where.project / ".codex" / "config.toml",
            "toml",
        ),
        Client(
            "gemini",
            "Gemini CLI",
            "gemini",
            "mcpServers",
            _plain,
            lambda where: where.folder("GEMINI_CLI_HOME") / ".gemini" / "settings.json",
            lambda where: where.project / ".gemini" / "settings.json",
        ),
        Client(
            "opencode",
            "OpenCode",
            "opencode",
            "mcp",
            _opencode,
            lambda where: _opencode_in(where.folder("XDG_CONFIG_HOME", ".config") / "opencode"),
            lambda where: _opencode_in(where.project),
        ),
        Client(
            "cursor",
            "Cursor",
            "cursor",
            "mcpServers",
            _typed,
            lambda where: where.home / ".cursor" / "mcp.json",
            lambda where: where.project / ".cursor" / "mcp.json",
        ),
        Client(
            "vscode",
            "VS Code",
            "code",
            "servers",
            _typed,
            _code_user,
            lambda where: where.project / ".vscode" / "mcp.json",
        ),
        Client(
            "windsurf",
            "Windsurf",
            "windsurf",
            "mcpServers",
            _plain,
            lambda where: where.home / ".codeium" / "windsurf" / "mcp_config.json",
            None,
        ),
    )
}
