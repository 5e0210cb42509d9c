"""What each client documents of its own file, as closed schemas of the parts that connect writes.

Written from the clients' documentation, key by key: a key that a client does not document is refused here.
Sources: Claude Code, "MCP" and "Hooks reference"; Codex, "config.toml" and "Hooks"; Gemini CLI, "MCP servers
with Gemini CLI" and "Hooks reference"; OpenCode, the definition McpLocalConfig of its published schema;
Cursor, "Model Context Protocol"; VS Code, "MCP configuration reference"; Windsurf, "Model Context Protocol".
"""

from __future__ import annotations

from typing import Any

TEXTS = {"type": "object", "additionalProperties": {"type": "string"}}
WORDS = {"type": "array", "items": {"type": "string"}}
COMMAND = {"type": "string", "minLength": 1, "pattern": "^/"}


def closed(required: list[str], **properties: Any) -> dict[str, Any]:
    """An object that holds these and nothing else."""
    return {
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": False,
    }


def servers(section: str, server: dict[str, Any], **others: Any) -> dict[str, Any]:
    """A file whose section maps names to servers."""
    return closed([section], **{section: {"type": "object", "additionalProperties": server}}, **others)


def hooked(events: list[str], hook: dict[str, Any], **group: Any) -> dict[str, Any]:
    """The member hooks: lists of groups by event."""
    groups = {"type": "array", "items": closed(["hooks"], hooks={"type": "array", "items": hook}, **group)}
    return closed([], **dict.fromkeys(events, groups))


_MATCHER = {"matcher": {"type": "string"}}
_CLAUDE_HOOK = closed(
    ["type", "command"],
    type={"const": "command"},
    command={"type": "string"},
    timeout={"type": "number", "exclusiveMinimum": 0},
    **{"async": {"type": "boolean"}},
    asyncRewake={"type": "boolean"},
    statusMessage={"type": "string"},
)
_CODEX_HOOK = closed(
    ["type", "command"],
    type={"const": "command"},
    command={"type": "string"},
    timeout={"type": "integer", "minimum": 1},
    statusMessage={"type": "string"},
)
_GEMINI_HOOK = closed(
    ["type", "command"],
    type={"const": "command"},
    command={"type": "string"},
    name={"type": "string"},
    timeout={"type": "number", "description": "milliseconds"},
    description={"type": "string"},
)
_STDIO = {"command": COMMAND, "args": WORDS, "env": TEXTS}

SCHEMAS: dict[str, list[dict[str, Any]]] = {
    "claude": [
        servers(
            "mcpServers",
            closed(
                ["command"],
                type={"const": "stdio"},
                **_STDIO,
                timeout={"type": "integer"},
                alwaysLoad={"type": "boolean"},
            ),
        ),
        closed(
            ["hooks"],
            hooks=hooked(
                ["SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "Stop", "SessionEnd"],
                _CLAUDE_HOOK,
                **_MATCHER,
            ),
        ),
    ],
    "codex": [
        servers(
            "mcp_servers",
            closed(
                ["command"],
                **_STDIO,
                cwd={"type": "string"},
                enabled={"type": "boolean"},
                startup_timeout_sec={"type": "number"},
                tool_timeout_sec={"type": "number"},
            ),
        ),
        closed(
            ["hooks"],
            hooks=hooked(
                ["SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "Stop"],
                _CODEX_HOOK,
                **_MATCHER,
            ),
        ),
    ],
    "gemini": [
        servers(
            "mcpServers",
            closed(
                ["command"],
                **_STDIO,
                cwd={"type": "string"},
                timeout={"type": "number"},
                trust={"type": "boolean"},
                description={"type": "string"},
            ),
            hooks=hooked(
                ["SessionStart", "BeforeAgent", "AfterAgent", "BeforeTool", "AfterTool", "SessionEnd"],
                _GEMINI_HOOK,
                sequential={"type": "boolean"},
                **_MATCHER,
            ),
        ),
    ],
    "opencode": [
        servers(
            "mcp",
            closed(
                ["type", "command"],
                type={"const": "local"},
                command={**WORDS, "minItems": 1},
                cwd={"type": "string"},
                environment=TEXTS,
                enabled={"type": "boolean"},
                timeout={"type": "integer", "exclusiveMinimum": 0},
            ),
        ),
    ],
    "cursor": [
        servers(
            "mcpServers",
            closed(["type", "command"], type={"const": "stdio"}, **_STDIO, envFile={"type": "string"}),
        ),
    ],
    "vscode": [
        servers(
            "servers",
            closed(["type", "command"], type={"const": "stdio"}, **_STDIO, envFile={"type": "string"}),
            inputs={"type": "array"},
        ),
    ],
    "windsurf": [servers("mcpServers", closed(["command"], **_STDIO))],
}
