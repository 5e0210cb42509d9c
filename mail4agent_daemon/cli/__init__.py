"""The script ``mail4agent``: a daemon's verbs, an operator's and those of mail. See docs/cli.md."""

from __future__ import annotations

import contextlib
import sys

import typer

from mail4agent_daemon.cli import (
    accounts,
    bridges,
    clients,
    console,
    daemon,
    frontdoor,
    listeners,
    mailboxes,
    notes,
    outbox,
    people,
    posting,
    reading,
    rooms,
    sessions,
    threads,
    upkeep,
)
from mail4agent_daemon.cli.exits import STATUSES


def application() -> typer.Typer:
    """Every verb."""
    app = typer.Typer(
        name="mail4agent",
        help="Durable mail between agents.",
        epilog=STATUSES,
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    for noun in (
        daemon,
        posting,
        reading,
        threads,
        people,
        sessions,
        listeners,
        notes,
        outbox,
        console,
        bridges,
        clients,
        frontdoor,
    ):
        noun.register(app)
    admin = typer.Typer(
        no_args_is_help=True, help="Accounts, rooms and upkeep, as an operator.", epilog=STATUSES
    )
    for noun in (accounts, rooms, upkeep):
        noun.register(admin)
    listeners.register_admin(admin)
    app.add_typer(admin, name="admin")
    messages = typer.Typer(
        no_args_is_help=True, help="Short texts between sessions on this machine; no daemon.", epilog=STATUSES
    )
    mailboxes.register(messages)
    app.add_typer(messages, name="msg")
    return app


def main() -> None:
    """Run the script."""
    for stream in (sys.stdout, sys.stderr):
        # A terminal that cannot show a character gets its escape, not a traceback.
        with contextlib.suppress(AttributeError):
            stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]
    application()()
