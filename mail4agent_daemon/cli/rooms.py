"""``admin room``: add, list, members, join, leave, remove."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from mail4agent_api.mail import Done, ParticipantId, RoomRecord
from mail4agent_daemon.cli.accounts import Account, Yes
from mail4agent_daemon.cli.layout import listing
from mail4agent_daemon.cli.recipients import complete_room, near_names
from mail4agent_daemon.cli.terminal import styled, visible
from mail4agent_daemon.cli.verbs import Mail, confirmed, verb

Room = Annotated[str, typer.Argument(metavar="ROOM", help="Without the #.", autocompletion=complete_room)]


class Posting(StrEnum):
    """Who may post."""

    OPEN = "open"
    MEMBERS = "members"


def register(admin: typer.Typer) -> None:
    """Add the group."""
    group = typer.Typer(no_args_is_help=True, help="Rooms and their members.")
    verb(group, as_operator=True)(add)
    verb(group, "list", as_operator=True)(list_rooms)
    for function in (members, join, leave, remove):
        verb(group, as_operator=True, hint=near_names)(function)
    admin.add_typer(group, name="room")


def add(
    mail: Mail,
    room: Annotated[str, typer.Argument(metavar="ROOM", help="The new room's name, without the #.")],
    posting: Annotated[
        Posting, typer.Option("--posting", help="Who may post: any sender, or members.")
    ] = Posting.OPEN,
) -> None:
    """Create a room."""
    _done(mail, mail.client.admin_room(id=room, posting=posting.value))


def list_rooms(mail: Mail) -> None:
    """List every room."""
    rooms: list[RoomRecord] = []
    while True:
        page = mail.client.admin_room_list(after=rooms[-1].id if rooms else None)
        if not page.rooms:
            break
        rooms += page.rooms
    if mail.as_json:
        mail.json_of(rooms=rooms)
    elif mail.for_person:
        rows = [
            [styled(each.id, "cyan"), each.posting, str(each.members), str(each.messages)] for each in rooms
        ]
        mail.console.print(listing(("Room", "Posting", "Members", "Messages"), rows))
    else:
        mail.rows((str(each.id), each.posting, str(each.members), str(each.messages)) for each in rooms)


def members(mail: Mail, room: Room) -> None:
    """List a room's members."""
    found: list[ParticipantId] = []
    while True:
        page = mail.client.admin_room_members(room=room, after=found[-1] if found else None)
        if not page.members:
            break
        found += page.members
    if mail.as_json:
        mail.json_of(members=found)
    else:
        mail.rows([member] for member in found)


def join(mail: Mail, room: Room, account: Account) -> None:
    """Put an account into a room."""
    _done(mail, mail.client.admin_room_member_add(room=room, participant=account))


def leave(mail: Mail, room: Room, account: Account) -> None:
    """Take an account out of a room; it reads none of the room's mail any more."""
    _done(mail, mail.client.admin_room_member_remove(room=room, participant=account))


def remove(mail: Mail, room: Room, yes: Yes = False) -> None:
    """Remove a room with its mail."""
    confirmed(mail, f"Remove the room {visible(room)} with all its mail?", yes)
    _done(mail, mail.client.admin_room_remove(room=room))


def _done(mail: Mail, done: Done) -> None:
    if mail.as_json:
        mail.json(done)
