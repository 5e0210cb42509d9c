"""The doorbells that do not answer: what waits for each, and trying it again or ending it."""

from __future__ import annotations

from typing import Any, Final

from mail4agent_api.addresses import participant_of
from mail4agent_api.mail import ListenerPage, Listening, SessionAddress

from .reply import Reply
from .visit import PATH, Route, Visit

DOORBELLS: Final = f"{PATH}/health/doorbells"
LISTED: Final = 100


async def doorbells(visit: Visit) -> Reply:
    """Those whose last ring failed, by their owners."""
    after = visit.query.get("after", "").strip()
    asked = {"state": "failing", "limit": LISTED, "after": _address(after) if after else None}
    found: ListenerPage = await visit.ask("admin.listener.list", asked)
    more = found.listeners[-1].listener.owner if len(found.listeners) == LISTED else None
    return await visit.page(
        "doorbells.html",
        here="health",
        title="Doorbells",
        standings=found.listeners,
        total=found.total,
        more=more,
    )


async def retry(visit: Visit) -> Reply:
    """Try one again at once."""
    found: Listening = await visit.ask("admin.listener.retry", _owner(visit))
    said = "It is tried again now; if it still fails it comes back here." if found.listener else _GONE
    return visit.see_other(DOORBELLS, said=said)


async def remove(visit: Visit) -> Reply:
    """End one, with what waits for it; the mail itself stays."""
    await visit.ask("admin.listener.remove", _owner(visit))
    return visit.see_other(DOORBELLS, said="Ended. Its mail stays in its boxes.")


_GONE: Final = "It has no listener any more."


def _owner(visit: Visit) -> dict[str, Any]:
    """Raises MalformedError, TooLargeError."""
    owner = participant_of(visit.form.get("owner", ""))
    session = owner.session if isinstance(owner, SessionAddress) else None
    return {"account": owner.participant, "session": session}


def _address(text: str) -> Any:
    """Raises MalformedError, TooLargeError."""
    return participant_of(text).model_dump(mode="json")


ROUTES: Final = (
    Route("GET", DOORBELLS, doorbells),
    Route("POST", f"{DOORBELLS}/retry", retry, decides=True),
    Route("POST", f"{DOORBELLS}/remove", remove, decides=True),
)
