"""``whoami`` and ``peers``."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

import typer

from mail4agent_api.addresses import text_of
from mail4agent_api.mail import Directory, DirectoryEntry, SessionAddress, SessionEntry
from mail4agent_core.mail.near import near
from mail4agent_daemon.cli.cards import card_lines, gist_of, state_of
from mail4agent_daemon.cli.exits import Exit
from mail4agent_daemon.cli.layout import listing
from mail4agent_daemon.cli.recipients import complete_address
from mail4agent_daemon.cli.terminal import styled, visible
from mail4agent_daemon.cli.verbs import Mail, verb

#: An account of some length with a session id.
_WIDEST = 46


def register(app: typer.Typer) -> None:
    """Add the verbs."""
    verb(app)(whoami)
    verb(app)(peers)


def whoami(mail: Mail) -> None:
    """Print one's own address, label and rooms, and the card of one's session."""
    me = mail.client.whoami()
    if mail.as_json:
        mail.json(me)
        return
    mail.line(text_of(me.address))
    if me.label:
        mail.line(f"label: {visible(me.label)}")
    if me.rooms:
        mail.line(f"rooms: {' '.join(f'#{room}' for room in me.rooms)}")
    for line in card_lines(me.card) if me.card is not None else ():
        mail.line(line)


def peers(
    mail: Mail,
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="NAME",
            help="Only this account, session or '#room', or what is named most like it.",
            autocompletion=complete_address,
        ),
    ] = None,
) -> Exit:
    """List every account with its sessions, and every room."""
    directory = mail.client.directory()
    if name is not None:
        directory, exact = _named(directory, name)
        if not exact:
            mail.note(f"Nobody is named {visible(name)}{'; near it:' if _rows(directory) else '.'}")
    if mail.as_json:
        mail.json(directory)
    elif mail.for_person:
        cells = [
            [styled(address, "cyan"), styled(state, "dim"), styled(told)]
            for address, told, state in _rows(directory)
        ]
        mail.console.print(listing(("Address", "", "Label or work"), cells, widest=_WIDEST))
    else:
        mail.rows(_rows(directory))
    return Exit.OK if _rows(directory) else Exit.REFUSED


def _rows(directory: Directory) -> list[tuple[str, str, str]]:
    """Address, label or work, and state."""
    rows: list[tuple[str, str, str]] = []
    for entry in directory.participants:
        live = sum(each.live for each in entry.sessions)
        rows.append((str(entry.id), visible(entry.label or ""), _sessions(live)))
        rows += [(_address(entry, each), gist_of(each), state_of(each)) for each in entry.sessions]
    return rows + [(f"#{room.id}", "", "member" if room.member else "") for room in directory.rooms]


def _address(entry: DirectoryEntry, session: SessionEntry) -> str:
    return text_of(SessionAddress(participant=entry.id, session=session.id))


def _sessions(live: int) -> str:
    return "" if live == 0 else f"{live} live session{'' if live == 1 else 's'}"


def _named(directory: Directory, name: str) -> tuple[Directory, bool]:
    """The part of a directory that a name means, or else that is named most like it; and which of the two."""
    names = {text: text for text in _names(directory)}
    # A session is known by its id as well.
    names |= {text.partition("/")[2]: text for text in names if "/" in text}
    found = [names[name]] if name in names else [names[each] for each in near(name, names)]
    wanted = set(found)
    participants: list[DirectoryEntry] = []
    for entry in directory.participants:
        sessions = [each for each in entry.sessions if _address(entry, each) in wanted]
        if entry.id in wanted:
            participants.append(entry)
        elif sessions:
            participants.append(entry.model_copy(update={"sessions": sessions}))
    rooms = [room for room in directory.rooms if f"#{room.id}" in wanted]
    return Directory(participants=participants, rooms=rooms), name in names


def _names(directory: Directory) -> Iterator[str]:
    for entry in directory.participants:
        yield str(entry.id)
        yield from (_address(entry, each) for each in entry.sessions)
    yield from (f"#{room.id}" for room in directory.rooms)
