"""Names that a person may have meant: completion at the prompt, and near names after a refusal."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import typer

from mail4agent_api.addresses import text_of
from mail4agent_api.errors import (
    RefusalError,
    SessionNotLiveError,
    UnknownParticipantError,
    UnknownRoomError,
    UnknownSessionError,
)
from mail4agent_api.mail import SessionAddress
from mail4agent_client import ClientError, RetryPolicy, SyncMailClient
from mail4agent_client.settings import settings_of
from mail4agent_core.mail.near import near
from mail4agent_daemon.cli.home import operator_key
from mail4agent_daemon.cli.terminal import visible
from mail4agent_daemon.cli.verbs import Mail

#: Seconds that a prompt or a refusal waits for names.
NAMES_SECS = 1.0
QUICK: dict[str, Any] = {
    "answer_secs": NAMES_SECS,
    "connect_secs": NAMES_SECS,
    "retries": RetryPolicy(attempts=1),
    "keep_alive": False,
}


@dataclass(frozen=True, slots=True)
class Names:
    """Everybody that mail can be sent to, in text form; a session by its id."""

    accounts: list[str] = field(default_factory=list[str])
    rooms: list[str] = field(default_factory=list[str])
    sessions: dict[str, str] = field(default_factory=dict[str, str])


def _names(client: SyncMailClient) -> Names:
    """The names in the directory, none when it cannot be had."""
    try:
        with client:
            directory = client.directory()
    except (ClientError, RefusalError):
        return Names()
    return Names(
        accounts=[str(entry.id) for entry in directory.participants],
        rooms=[f"#{room.id}" for room in directory.rooms],
        sessions={
            str(each.id): text_of(SessionAddress(participant=entry.id, session=each.id))
            for entry in directory.participants
            for each in entry.sessions
            if each.live
        },
    )


def _quick(context: typer.Context) -> Names:
    given = context.params
    try:
        settings = settings_of(given.get("url"), token_file=given.get("token_file"))
        if settings.credential is None:
            settings = settings_of(given.get("url"), token_file=operator_key())
        client = SyncMailClient(settings.url, token=settings.credential, session="parent", **QUICK)
    except (ClientError, OSError):
        return Names()
    return _names(client)


def complete_address(context: typer.Context, incomplete: str) -> list[str]:
    """Accounts, rooms and live sessions in text form that begin as the word does."""
    names = _quick(context)
    # Sessions only where one account is meant already: there are many of them.
    sessions = names.sessions.values() if "/" in incomplete else ()
    return [name for name in [*names.accounts, *names.rooms, *sessions] if name.startswith(incomplete)]


def complete_account(context: typer.Context, incomplete: str) -> list[str]:
    """Accounts that begin as the word does."""
    return [name for name in _quick(context).accounts if name.startswith(incomplete)]


def complete_room(context: typer.Context, incomplete: str) -> list[str]:
    """Rooms that begin as the word does."""
    rooms = (room.removeprefix("#") for room in _quick(context).rooms)
    return [name for name in rooms if name.startswith(incomplete)]


def near_names(mail: Mail, refusal: RefusalError) -> str | None:
    """After a wrong recipient: the names that look like it, or what else can be done."""
    match refusal:
        case UnknownParticipantError():
            wrong, other = str(refusal.refusal.participant), f"#{refusal.refusal.participant}"
        case UnknownRoomError():
            wrong, other = f"#{refusal.refusal.room}", str(refusal.refusal.room)
        case UnknownSessionError():
            sessions = _names(mail.connect(**QUICK)).sessions
            return _question([sessions[each] for each in near(str(refusal.refusal.session), sessions)])
        case SessionNotLiveError():
            return "Nobody but that session can read its mail. Send to its account, or give --allow-dead."
        case _:
            return None
    names = _names(mail.connect(**QUICK))
    texts = [*names.accounts, *names.rooms]
    # The same name as the other sort of recipient is the likeliest slip, then a slip of the finger.
    same = [name for name in texts if name.lower() == other.lower()]
    return _question(list(dict.fromkeys([*same, *near(wrong, texts)])))


def _question(names: list[str]) -> str | None:
    return f"Did you mean {' or '.join(visible(name) for name in names)}?" if names else None
