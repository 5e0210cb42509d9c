"""Names that a person may have meant: completion at the prompt, and near names after a refusal."""

from __future__ import annotations

import difflib
from typing import Any

import typer

from mail4agent_api.errors import RefusalError, UnknownParticipantError, UnknownRoomError
from mail4agent_client import ClientError, RetryPolicy, SyncMailClient
from mail4agent_client.settings import settings_of
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


def _names(client: SyncMailClient) -> tuple[list[str], list[str]]:
    """Accounts and rooms, or nothing when they cannot be had."""
    try:
        with client:
            directory = client.directory()
    except (ClientError, RefusalError):
        return [], []
    return [str(entry.id) for entry in directory.participants], [str(room.id) for room in directory.rooms]


def _quick(context: typer.Context) -> tuple[list[str], list[str]]:
    given = context.params
    try:
        settings = settings_of(given.get("url"), token_file=given.get("token_file"))
        if settings.credential is None:
            settings = settings_of(given.get("url"), token_file=operator_key())
        client = SyncMailClient(settings.url, token=settings.credential, session="parent", **QUICK)
    except (ClientError, OSError):
        return [], []
    return _names(client)


def complete_address(context: typer.Context, incomplete: str) -> list[str]:
    """Accounts and rooms in text form that begin as the word does."""
    accounts, rooms = _quick(context)
    return [name for name in [*accounts, *(f"#{room}" for room in rooms)] if name.startswith(incomplete)]


def complete_account(context: typer.Context, incomplete: str) -> list[str]:
    """Accounts that begin as the word does."""
    return [name for name in _quick(context)[0] if name.startswith(incomplete)]


def complete_room(context: typer.Context, incomplete: str) -> list[str]:
    """Rooms that begin as the word does."""
    return [name for name in _quick(context)[1] if name.startswith(incomplete)]


def near_names(mail: Mail, refusal: RefusalError) -> str | None:
    """After a wrong recipient: the names that look like it."""
    match refusal:
        case UnknownParticipantError():
            wrong, is_room = str(refusal.refusal.participant), False
        case UnknownRoomError():
            wrong, is_room = str(refusal.refusal.room), True
        case _:
            return None
    accounts, rooms = _names(mail.connect(**QUICK))
    texts = {name.lower(): name for name in accounts} | {f"#{room}".lower(): f"#{room}" for room in rooms}
    # The same name as the other sort of recipient is the likeliest slip, then a slip of the finger.
    other = wrong if is_room else f"#{wrong}"
    near = difflib.get_close_matches(
        f"#{wrong}".lower() if is_room else wrong.lower(), texts, n=3, cutoff=0.6
    )
    names = list(dict.fromkeys(texts[name] for name in [other.lower(), *near] if name in texts))
    return f"Did you mean {' or '.join(visible(name) for name in names)}?" if names else None
