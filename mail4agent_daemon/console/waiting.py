"""What waits on a person: drafts to decide, and requests to look at."""

from __future__ import annotations

from typing import Any, Final

from mail4agent_api.frontdoor import RequestSummary
from mail4agent_api.outbox import OutboxEntry

from .visit import Visit

#: States of a request that somebody has to look at. One that awaits a person is there by its draft.
LOOKED_AT: Final = ("drained", "extracted", "extraction_failed", "triaged")
PAGE: Final = 256


async def drafts(visit: Visit) -> int:
    """How many drafts wait or are in doubt. Raises RefusalError."""
    return (await visit.ask("outbox.list", {"limit": 1})).total


async def requests(visit: Visit) -> int:
    """How many requests wait for somebody to look at them. Raises RefusalError."""
    return sum([(await visit.ask("frontdoor.list", _of(state, 1))).total for state in LOOKED_AT])


async def draft_list(visit: Visit) -> list[OutboxEntry]:
    """The drafts that wait, those that came first first. Raises RefusalError."""
    return list((await visit.ask("outbox.list", {"limit": PAGE})).drafts)


async def request_list(visit: Visit) -> list[RequestSummary]:
    """The requests to look at, of each state the lowest numbers. Raises RefusalError."""
    return [
        each for state in LOOKED_AT for each in (await visit.ask("frontdoor.list", _of(state, PAGE))).requests
    ]


def _of(state: str, limit: int) -> dict[str, Any]:
    return {"state": state, "limit": limit}
