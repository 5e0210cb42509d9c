"""The settings of sinks: one ``[sinks.NAME]`` each, and ``[outbox]``, which gives each tool its sink.

No secret stands in a settings file: a key names a private file or a variable that holds it.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, Strict

TOOL = re.compile(r"[A-Za-z0-9._-]{1,128}")
NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,63}")
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,127}")


def _tool(name: str) -> str:
    if TOOL.fullmatch(name) is None:
        raise ValueError("must be names of tools: 1 to 128 of A-Z, a-z, 0-9 and . _ -")
    return name


def _variable(name: str) -> str:
    if _VARIABLE.fullmatch(name) is None:
        raise ValueError("must be the name of a variable: letters, digits and _")
    return name


def _program(argv: tuple[str, ...]) -> tuple[str, ...]:
    if not Path(argv[0]).is_absolute():
        raise ValueError("must begin with the absolute path of a program; no shell and no PATH is asked")
    if any("\0" in each for each in argv):
        raise ValueError("must not hold NUL")
    return argv


Tool = Annotated[str, AfterValidator(_tool)]
Variable = Annotated[str, AfterValidator(_variable)]
Argv = Annotated[tuple[str, ...], Field(min_length=1, max_length=256), AfterValidator(_program)]
Names = Annotated[tuple[str, ...], Field(max_length=64)]
#: Less than the daemon gives a sink, so that a sink is the one to say what became of it.
Seconds = Annotated[float, Field(gt=0, le=110)]
Text = Annotated[str, Field(min_length=1, max_length=2_048)]


class _Section(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True)


class MailSinkSettings(_Section):
    """Mail of this daemon."""

    kind: Literal["mail"]


class SmtpSinkSettings(_Section):
    """An SMTP server."""

    kind: Literal["smtp"]
    host: Text
    from_address: Annotated[str, Field(description="the address that every email is from")]
    tls: Literal["starttls", "implicit", "none"] = "starttls"
    port: Annotated[int, Strict(), Field(ge=1, le=65_535)] | None = None
    username: Text | None = None
    password_env: Variable | None = None
    password_file: Path | None = None
    ca_file: Path | None = None
    timeout_secs: Seconds = 60.0


class HttpSinkSettings(_Section):
    """A receiver of signed requests."""

    kind: Literal["http"]
    url: Text
    key_env: Variable | None = None
    key_file: Path | None = None
    arguments: Names | None = None
    file_args: Names = ()
    ca_file: Path | None = None
    timeout_secs: Seconds = 30.0


class McpSinkSettings(_Section):
    """A tool of an MCP server."""

    kind: Literal["mcp"]
    command: Argv | None = None
    url: Text | None = None
    tool: Tool | None = None
    token_env: Variable | None = None
    token_file: Path | None = None
    env: dict[Variable, str] = {}
    env_from: tuple[Variable, ...] = ()
    arguments: Names | None = None
    file_args: Names = ()
    ca_file: Path | None = None
    timeout_secs: Seconds = 100.0


class CommandSinkSettings(_Section):
    """A program of this machine."""

    kind: Literal["command"]
    argv: Argv
    env: dict[Variable, str] = {}
    env_from: tuple[Variable, ...] = ()
    arguments: Names | None = None
    file_args: Names = ()
    timeout_secs: Seconds = 60.0


SinkSettings = Annotated[
    MailSinkSettings | SmtpSinkSettings | HttpSinkSettings | McpSinkSettings | CommandSinkSettings,
    Field(discriminator="kind"),
]
KINDS: dict[str, type[BaseModel]] = {
    "mail": MailSinkSettings,
    "smtp": SmtpSinkSettings,
    "http": HttpSinkSettings,
    "mcp": McpSinkSettings,
    "command": CommandSinkSettings,
}


class OutboxSettings(_Section):
    """The drafts that wait for a person: where they are, and what carries them out."""

    root: Annotated[Path, Field(description="where they are; from the data folder, when relative")] = Path(
        "outbox"
    )
    workspaces: Annotated[
        tuple[Path, ...],
        Field(description="folders below which a draft may send files, whole paths; none: drafts send none"),
    ] = ()
    tools: Annotated[
        dict[Tool, str], Field(max_length=256, description="each tool whose calls are staged, and its sink")
    ] = {}
    publish_tools: Annotated[
        tuple[Tool, ...],
        Field(max_length=256, description="those of them that are reviewed by their files, not as prose"),
    ] = ()


def contradictions(outbox: OutboxSettings, sinks: dict[str, SinkSettings]) -> Iterator[str]:
    """What is wrong between the sections, each as a sentence that says what to change."""
    for name in sinks:
        if NAME.fullmatch(name) is None:
            yield (
                "sinks: a sink's name is 1 to 64 of a-z, 0-9, _ and -, and begins with a letter or digit;"
                " rename the section"
            )
    for tool, sink in outbox.tools.items():
        if sink not in sinks:
            known = ", ".join(sorted(sinks)) or "none"
            yield (
                f"outbox.tools: {tool} goes to the sink {sink!r}, which is not there; write [sinks.{sink}],"
                f" or name another (there are: {known})"
            )
    for tool in outbox.publish_tools:
        if tool not in outbox.tools:
            yield f"outbox.publish_tools: {tool} has no sink; add it to [outbox.tools], or take it out here"
