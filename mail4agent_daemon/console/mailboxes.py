"""The file mailboxes of this machine, looked at and not touched."""

from __future__ import annotations

import asyncio
from typing import Final

from markupsafe import Markup

from mail4agent_api.mailbox import MailboxList, MailboxText

from .markdown import rendered
from .reply import Reply
from .visit import PATH, Route, Screen, Visit

MAILBOXES: Final = f"{PATH}/mailboxes"
LISTED: Final = 100


async def listing(visit: Visit) -> Reply:
    """What waits, or everything."""
    every = visit.query.get("all") == "yes"
    to = visit.query.get("to", "").strip()
    asked = {"all": every, "limit": LISTED, "to": to or None}
    found: MailboxList = await visit.ask("mailbox.list", asked)
    return await visit.page(
        "mailboxes.html",
        here="mailboxes",
        title="Mailboxes",
        entries=found.messages,
        total=found.total,
        every=every,
        to=to,
    )


async def message(visit: Visit) -> Reply:
    """One message with its text."""
    found: MailboxText = await visit.ask("mailbox.show", {"id": visit.parts["id"]})
    html = Markup(await asyncio.to_thread(rendered, found.body))  # noqa: S704  only inert tags are left of it
    return await visit.page(
        "mailbox_message.html",
        here="mailboxes",
        title="Mailbox message",
        entry=found.entry,
        body=found.body,
        html=html,
    )


SCREEN: Final = Screen(
    "mailboxes",
    "Mailboxes",
    MAILBOXES,
    (Route("GET", MAILBOXES, listing), Route("GET", f"{MAILBOXES}/{{id}}", message)),
)
