"""Accounts with their sessions, and rooms with their members."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, TypeVar
from urllib.parse import urlencode

from mail4agent_api.errors import PermissionDeniedError, UnknownParticipantError, UnknownRoomError
from mail4agent_api.mail import (
    DirectoryEntry,
    ListenerList,
    ParticipantId,
    ParticipantRecord,
    RoomId,
    RoomMembers,
    RoomRecord,
)

from .letter import READ, letters, line
from .places import place_of, position
from .reply import Reply
from .visit import PATH, Route, Visit

ACCOUNTS: Final = f"{PATH}/mail/accounts"
ROOMS: Final = f"{PATH}/mail/rooms"
LISTED: Final = 100
_MOST: Final = 256
T = TypeVar("T")


async def _may(visit: Visit, operation: str, asked: Mapping[str, Any]) -> Any:
    """An operator's operation; None for an account that is none."""
    try:
        return await visit.ask(operation, asked)
    except PermissionDeniedError:
        return None


async def accounts(visit: Visit) -> Reply:
    """A page of the accounts, with how many of their sessions live."""
    after = visit.query.get("after", "")
    every = sorted((await visit.ask("mail.directory")).participants, key=lambda each: each.id)
    rest = [each for each in every if each.id > after]
    page = rest[:LISTED]
    more = f"?{urlencode({'after': page[-1].id})}" if len(rest) > LISTED else None
    return await visit.page(
        "mail_accounts.html", here="mail", title="Accounts", accounts=page, total=len(every), more=more
    )


async def account(visit: Visit) -> Reply:
    """An account: its sessions and, for an operator, what it may do and its listeners."""
    name = visit.parts["account"]
    every = (await visit.ask("mail.directory")).participants
    entry: DirectoryEntry | None = next((each for each in every if each.id == name), None)
    if entry is None:
        raise UnknownParticipantError(participant=ParticipantId(name))
    listening: ListenerList | None = await _may(visit, "admin.listener.get", {"account": name})
    before = max((each.id for each in every if each.id < name), default=None)
    return await visit.page(
        "mail_account.html",
        here="mail",
        title=f"Account {name}",
        entry=entry,
        record=await _record(visit, name, before),
        listeners=None if listening is None else listening.listeners,
    )


async def _record(visit: Visit, name: str, before: str | None) -> ParticipantRecord | None:
    found = await _may(visit, "admin.participant.list", {"after": before, "limit": _MOST})
    if found is None:
        return None
    return next((each for each in found.participants if each.id == name), None)


async def inbox_of(visit: Visit) -> Reply:
    """The inbox of another account, for an operator. That it was read is in the audit."""
    name = visit.parts["account"]
    after = position(visit.query, "after")
    asked = {"address": {"kind": "direct", "participant": name}, "limit": READ, "after": after}
    page = await visit.ask("admin.inbox", asked)
    last = page.messages[-1] if page.messages else None
    return await visit.page(
        "mail_of.html",
        here="mail",
        title=f"Inbox of {name}",
        letters=await letters(page.messages),
        unread=page.unread,
        meant="",
        newer=f"?{urlencode({'after': place_of(last)})}" if last is not None else None,
    )


async def rooms(visit: Visit) -> Reply:
    """A page of the rooms."""
    after = visit.query.get("after", "")
    every = sorted((await visit.ask("mail.directory")).rooms, key=lambda each: each.id)
    rest = [each for each in every if each.id > after]
    page = rest[:LISTED]
    counted = await _may(visit, "admin.room.list", {"after": after or None, "limit": LISTED})
    counts: dict[str, RoomRecord] = {} if counted is None else {str(each.id): each for each in counted.rooms}
    more = f"?{urlencode({'after': page[-1].id})}" if len(rest) > LISTED else None
    return await visit.page(
        "mail_rooms.html", here="mail", title="Rooms", rooms=page, counts=counts, total=len(every), more=more
    )


async def room(visit: Visit) -> Reply:
    """A room: its members for an operator, its newest mail for a member."""
    name = visit.parts["room"]
    every = (await visit.ask("mail.directory")).rooms
    entry = next((each for each in every if each.id == name), None)
    if entry is None:
        raise UnknownRoomError(room=RoomId(name))
    after = visit.query.get("after") or None
    members: RoomMembers | None = await _may(
        visit, "admin.room.members", {"room": name, "after": after, "limit": LISTED}
    )
    asked = {"room": name, "order": "newest", "limit": READ}
    page = await visit.ask("mail.inbox", asked) if entry.member else None
    more = None
    if members is not None and len(members.members) == LISTED:
        more = f"?{urlencode({'after': members.members[-1]})}"
    return await visit.page(
        "mail_room.html",
        here="mail",
        title=f"Room #{name}",
        entry=entry,
        members=None if members is None else members.members,
        more=more,
        lines=None if page is None else [line(each) for each in page.messages],
    )


ROUTES: Final = (
    Route("GET", ACCOUNTS, accounts),
    Route("GET", f"{ACCOUNTS}/{{account}}", account),
    Route("GET", f"{ACCOUNTS}/{{account}}/inbox", inbox_of),
    Route("GET", ROOMS, rooms),
    Route("GET", f"{ROOMS}/{{room}}", room),
)
