"""What waits on a person: drafts to decide, requests to look at, dead doorbells, and dead letters.

Each is counted once a page; whoever has its list knows its number.
"""

from __future__ import annotations

from typing import Any, Final

from mail4agent_api.frontdoor import RequestSummary
from mail4agent_api.mail import ListenerStanding
from mail4agent_api.mailbox import MailboxEntry
from mail4agent_api.outbox import OutboxEntry

from .visit import Visit

#: States of a request that somebody has to look at. One that awaits a person is there by its draft.
LOOKED_AT: Final = ("drained", "extracted", "extraction_failed", "triaged")
PAGE: Final = 256
_DEAD_BELLS: Final = {"state": "dead"}
_DEAD_LETTERS: Final = {"status": "dead"}


async def drafts(visit: Visit) -> int:
    """How many drafts wait or are in doubt. Raises RefusalError."""
    return await visit.total("outbox.list")


async def requests(visit: Visit) -> int:
    """How many requests wait for somebody to look at them. Raises RefusalError."""
    return sum([await visit.total("frontdoor.list", state=state) for state in LOOKED_AT])


async def bells(visit: Visit) -> int:
    """How many doorbells do not answer any more. Raises RefusalError."""
    return await visit.total("admin.listener.list", **_DEAD_BELLS)


async def letters(visit: Visit) -> int:
    """How many messages of file mailboxes were handed out too often. Raises RefusalError."""
    return await visit.total("mailbox.list", **_DEAD_LETTERS)


async def draft_list(visit: Visit) -> list[OutboxEntry]:
    """The drafts that wait, those that came first first. Raises RefusalError."""
    return list((await _page(visit, "outbox.list")).drafts)


async def request_list(visit: Visit) -> list[RequestSummary]:
    """The requests to look at, of each state the lowest numbers. Raises RefusalError."""
    found = [await _page(visit, "frontdoor.list", state=state) for state in LOOKED_AT]
    return [each for page in found for each in page.requests]


async def bell_list(visit: Visit) -> list[ListenerStanding]:
    """The doorbells that do not answer any more, by their owners. Raises RefusalError."""
    return list((await _page(visit, "admin.listener.list", **_DEAD_BELLS)).listeners)


async def letter_list(visit: Visit) -> list[MailboxEntry]:
    """The dead messages of file mailboxes, by recipient. Raises RefusalError."""
    return list((await _page(visit, "mailbox.list", **_DEAD_LETTERS)).messages)


async def _page(visit: Visit, operation: str, **which: str) -> Any:
    found = await visit.ask(operation, {**which, "limit": PAGE})
    visit.knows(operation, found.total, **which)
    return found
