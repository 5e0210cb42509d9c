"""The screen "Needs you": what waits on a person now, oldest first."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Final, TypeVar

from mail4agent_api.errors import PermissionDeniedError
from mail4agent_api.frontdoor import RequestSummary
from mail4agent_api.outbox import OutboxEntry

from . import waiting
from .reply import Reply
from .visit import PATH, Route, Screen, Visit

T = TypeVar("T")
_SAID: Final = {
    "drained": "was not read yet",
    "extracted": "waits for a run",
    "extraction_failed": "could not be read",
    "triaged": "was triaged, without a draft",
}


@dataclass(frozen=True, slots=True)
class Waiting:
    """One line."""

    since: str | None
    kind: str
    path: str
    text: str
    marks: tuple[str, ...]


async def needs(visit: Visit) -> Reply:
    """The list."""
    lines = [_draft(each) for each in await _seen(waiting.draft_list, visit)]
    lines += [_request(each) for each in await _seen(waiting.request_list, visit)]
    lines.sort(key=lambda each: (each.since is None, each.since or ""))
    try:
        total = await count(visit)
    except PermissionDeniedError:
        total = None
    return await visit.page("needs.html", title="Needs you", here="needs", lines=lines, total=total)


async def count(visit: Visit) -> int:
    """How many there are, of what the account may see. Raises PermissionDeniedError where that is nothing."""
    found, refused = 0, None
    for each in (waiting.drafts, waiting.requests):
        try:
            found += await each(visit)
        except PermissionDeniedError as refusal:
            if refused is not None:
                raise
            refused = refusal
    return found


async def _seen(look: Callable[[Visit], Awaitable[list[T]]], visit: Visit) -> list[T]:
    """What the account may see of one kind."""
    try:
        return await look(visit)
    except PermissionDeniedError:
        return []


def _draft(entry: OutboxEntry) -> Waiting:
    marks = [
        leg
        for leg, is_set in (("private", entry.taint.private), ("untrusted", entry.taint.untrusted))
        if is_set
    ]
    marks += ["edited"] * entry.edited + ["failed before"] * (entry.error is not None)
    kind = "outcome unknown" if entry.outcome_unknown else "draft"
    return Waiting(entry.created_at, kind, f"{PATH}/outbox/{entry.id}", entry.summary, tuple(marks))


def _request(each: RequestSummary) -> Waiting:
    marks = ["invalid"] * (not each.valid) + ["reads like instructions"] * each.reads_like_instructions
    marks += ["duplicate"] * each.duplicate
    text = f"{each.type_id or 'request'} {each.seq} {_SAID.get(each.state or '', '')}"
    if each.topic:
        text += f": {each.topic}"
    return Waiting(
        each.received or each.drained_at, "request", f"{PATH}/frontdoor/{each.seq}", text, tuple(marks)
    )


SCREEN: Final = Screen(
    "needs", "Needs you", PATH, (Route("GET", PATH, needs),), count, frozenset(("outbox", "frontdoor"))
)
