"""Who wrote to whom over the last hour, day and week: a table, and a picture of the same numbers."""

from __future__ import annotations

from typing import Final

from mail4agent_api.addresses import text_of
from mail4agent_api.mail import Flow

from .flow_picture import Pair, picture
from .reply import Reply
from .visit import PATH, Route, Screen, Visit

FLOW: Final = f"{PATH}/flow"
SPANS: Final = {"hour": 3_600, "day": 86_400, "week": 604_800}
LISTED: Final = 100


async def flow(visit: Visit) -> Reply:
    """One span of time."""
    span = visit.query.get("span", "hour")
    span = span if span in SPANS else "hour"
    found: Flow = await visit.ask("admin.flow", {"secs": SPANS[span], "limit": LISTED})
    pairs = [Pair(text_of(each.from_), text_of(each.to), each.messages) for each in found.pairs]
    rows = [(pair, each.last_at_unix_ms) for pair, each in zip(pairs, found.pairs, strict=True)]
    return await visit.page(
        "flow.html",
        here="flow",
        title="Flow",
        span=span,
        spans=tuple(SPANS),
        found=found,
        rows=rows,
        drawn=picture(pairs),
    )


SCREEN: Final = Screen("flow", "Flow", FLOW, (Route("GET", FLOW, flow),))
