"""How the daemon is: what doctor finds, what it holds and runs on, its doorbells, the settings in force."""

from __future__ import annotations

from typing import Final

from mail4agent_api.mail import Checkup, ListenerPage, SettingList

from . import doorbells
from .reply import Reply
from .visit import PATH, Route, Screen, Visit

HEALTH: Final = f"{PATH}/health"
#: Findings that are figures, not judgements.
FACTS: Final = frozenset(("size", "files", "versions", "retention"))


async def health(visit: Visit) -> Reply:
    """Everything; the whole database is read only when that is asked for."""
    whole = visit.query.get("database") == "yes"
    failing: ListenerPage = await visit.ask("admin.listener.list", {"state": "failing", "limit": 1})
    checkup: Checkup = await visit.ask("admin.checkup", {"database": whole})
    settings: SettingList = await visit.ask("admin.settings")
    return await visit.page(
        "health.html",
        here="health",
        title="Health",
        failing=failing.total,
        findings=[each for each in checkup.findings if each.check not in FACTS],
        whole=whole,
        facts=[each for each in checkup.findings if each.check in FACTS],
        settings=settings.settings,
        bad=sum(each.state == "bad" for each in checkup.findings),
    )


SCREEN: Final = Screen("health", "Health", HEALTH, (Route("GET", HEALTH, health), *doorbells.ROUTES))
