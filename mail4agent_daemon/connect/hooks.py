"""The hooks of the clients that have them: which events, in which file, and the command of each."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .clients import Surroundings
from .documents import Wish

#: Seconds after which a client gives a hook up that is to be silent within a fraction of one.
PATIENCE_SECS = 5
#: Seconds that an idle agent is waited for, a night, and those after which its client ends the wait.
WAIT_SECS = 43_200
WAIT_PATIENCE_SECS = WAIT_SECS + 60


@dataclass(frozen=True, slots=True)
class Hooks:
    """The hooks of one client."""

    events: Mapping[str, str]
    """The client's event and what the script is told of it."""
    user_file: Callable[[Surroundings], Path]
    project_file: Callable[[Surroundings], Path]
    #: How many of the client's units of time a second is.
    second: int = 1
    waits_at: tuple[str, ...] = ()
    """Events after which the hook that waits for mail is started."""

    def file(self, where: Surroundings, *, project: bool) -> Path:
        """The file that holds them."""
        return (self.project_file if project else self.user_file)(where)

    def wishes(self, script: str, env: Mapping[str, str], *, wake: bool) -> list[Wish]:
        """What is wanted in that file. The command is read by a shell."""
        made = [
            _wish(event, {"command": _line(env, script, told), "timeout": PATIENCE_SECS * self.second})
            for event, told in self.events.items()
        ]
        if wake:
            line = _line(env, script, "wait", "--secs", str(WAIT_SECS))
            waiting = {"command": line, "timeout": WAIT_PATIENCE_SECS * self.second}
            made += [_wish(event, {**waiting, "async": True, "asyncRewake": True}) for event in self.waits_at]
        return made


def _wish(event: str, hook: dict[str, Any]) -> Wish:
    return Wish(("hooks", event), {"hooks": [{"type": "command", **hook}]}, is_element=True)


def _line(env: Mapping[str, str], *words: str) -> str:
    # A credential that the person's own shell holds must not be taken for the agent's.
    return shlex.join(["env", "-u", "M4A_TOKEN", *(f"{name}={value}" for name, value in env.items()), *words])


HOOKS: dict[str, Hooks] = {
    "claude": Hooks(
        {
            "SessionStart": "session-start",
            "UserPromptSubmit": "prompt",
            "PostToolUse": "tool",
            "Stop": "stop",
        },
        lambda where: where.folder("CLAUDE_CONFIG_DIR", ".claude") / "settings.json",
        # Not settings.json, which is everybody's who works on the project.
        lambda where: where.project / ".claude" / "settings.local.json",
        waits_at=("SessionStart", "Stop"),
    ),
    "codex": Hooks(
        {
            "SessionStart": "session-start",
            "UserPromptSubmit": "prompt",
            "PostToolUse": "tool",
            "Stop": "stop",
        },
        lambda where: where.folder("CODEX_HOME", ".codex") / "hooks.json",
        lambda where: where.project / ".codex" / "hooks.json",
    ),
    "gemini": Hooks(
        {"SessionStart": "session-start", "BeforeAgent": "prompt", "AfterTool": "tool", "AfterAgent": "stop"},
        lambda where: where.folder("GEMINI_CLI_HOME") / ".gemini" / "settings.json",
        lambda where: where.project / ".gemini" / "settings.json",
        second=1000,
    ),
}
