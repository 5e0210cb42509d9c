"""``whoami`` and ``peers``."""

from __future__ import annotations

import typer

from mail4agent_api.addresses import text_of
from mail4agent_daemon.cli.layout import listing
from mail4agent_daemon.cli.terminal import styled, visible
from mail4agent_daemon.cli.verbs import Mail, verb


def register(app: typer.Typer) -> None:
    """Add the verbs."""
    verb(app)(whoami)
    verb(app)(peers)


def whoami(mail: Mail) -> None:
    """Print one's own address, label and rooms."""
    me = mail.client.whoami()
    if mail.as_json:
        mail.json(me)
        return
    mail.line(text_of(me.address))
    if me.label:
        mail.line(f"label: {visible(me.label)}")
    if me.rooms:
        mail.line(f"rooms: {' '.join(f'#{room}' for room in me.rooms)}")


def peers(mail: Mail) -> None:
    """List every account and room."""
    directory = mail.client.directory()
    if mail.as_json:
        mail.json(directory)
        return
    rows = [
        (str(entry.id), visible(entry.label or ""), _sessions(sum(each.live for each in entry.sessions)))
        for entry in directory.participants
    ]
    rows += [(f"#{room.id}", "", "member" if room.member else "") for room in directory.rooms]
    if mail.for_person:
        cells = [
            [styled(address, "cyan"), styled(state, "dim"), styled(label)] for address, label, state in rows
        ]
        mail.console.print(listing(("Address", "", "Label"), cells))
    else:
        mail.rows(rows)


def _sessions(live: int) -> str:
    return "" if live == 0 else f"{live} live session{'' if live == 1 else 's'}"
