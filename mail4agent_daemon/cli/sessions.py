"""``status`` and ``session``."""

from __future__ import annotations

from typing import Annotated

import typer

from mail4agent_api.addresses import text_of
from mail4agent_daemon.cli.cards import card_lines
from mail4agent_daemon.cli.secret_files import SecretFile, issued
from mail4agent_daemon.cli.verbs import Mail, verb


def register(app: typer.Typer) -> None:
    """Add the verbs."""
    verb(app)(status)
    verb(app)(session)


def status(
    mail: Mail,
    *,
    working_on: Annotated[str | None, typer.Option("--working-on", metavar="TEXT", help="One line.")] = None,
    role: Annotated[str | None, typer.Option("--role", metavar="TEXT", help="One line.")] = None,
    parent: Annotated[
        str | None, typer.Option("--parent", metavar="SESSION", help="The session that started this one.")
    ] = None,
    clear: Annotated[bool, typer.Option("--clear", help="Say nothing any more.")] = False,
) -> None:
    """Say what one's own session does, for others to see in peers.

    It takes the place of all that was said before. Without an option it prints the card as it is.
    """
    said = any(each is not None for each in (working_on, role, parent))
    if clear and said:
        raise typer.BadParameter("goes with no other option", param_hint="--clear")
    if clear or said:
        now = mail.client.status(working_on=working_on, role=role, parent=parent)
        if mail.as_json:
            mail.json(now)
        else:
            _print(mail, card_lines(now.card))
        return
    me = mail.client.whoami()
    if mail.as_json:
        mail.json(me)
    else:
        _print(mail, [text_of(me.address), *(card_lines(me.card) if me.card is not None else ())])


def _print(mail: Mail, lines: list[str]) -> None:
    for line in lines:
        mail.line(line)


def session(mail: Mail, secret_file: SecretFile = None) -> None:
    """Issue a credential that means this account and a session of its own, where no kernel can vouch for one.

    It ends 24 hours after its last use, and when the account's secret does.
    """
    issued(mail, secret_file, mail.client.session, replace=False)
