"""``mcp-stdio``."""

from __future__ import annotations

import typer

from mail4agent_client.bridge import run
from mail4agent_daemon.cli.verbs import Mail, verb


def register(app: typer.Typer) -> None:
    """Add the verb."""
    verb(app, "mcp-stdio")(mcp_stdio)


def mcp_stdio(mail: Mail) -> None:
    """Speak MCP on standard input and output, for a client that starts its servers as programs.

    What it is told goes to the daemon's /mcp, with the credential that it was given and for the agent that
    started it. It ends when standard input is closed.
    """
    run(mail.settings)
