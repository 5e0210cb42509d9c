"""The screen "Needs you": what waits on a person now, oldest first."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final

from mail4agent_api.addresses import text_of
from mail4agent_api.errors import PermissionDeniedError, StoreUnavailableError
from mail4agent_api.frontdoor import RequestSummary
from mail4agent_api.mail import ListenerStanding
from mail4agent_api.mailbox import MailboxEntry
from mail4agent_api.outbox import OutboxEntry

from . import waiting
from .doorbells import DOORBELLS
from .reply import Reply
from .visit import PATH, Route, Screen, Visit

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
    """The list. What cannot be looked at is named and hides nothing else."""
    lines: list[Waiting] = []
    missing: list[str] = []
    for name, look, line in _KINDS:
        try:
            lines += [line(each) for each in await look(visit)]
        except PermissionDeniedError:
            continue
        except StoreUnavailableError:
            missing.append(name)
    lines.sort(key=lambda each: (each.since is None, each.since or ""))
    try:
        total = await count(visit)
    except PermissionDeniedError:
        total = None
    return await visit.page(
        "needs.html", title="Needs you", here="needs", lines=lines, total=total, missing=missing
    )


async def count(visit: Visit) -> int:
    """How many there are, of what the account may see. Raises PermissionDeniedError where that is nothing."""
    found, seen, refused = 0, False, None
    for each in (waiting.drafts, waiting.requests, waiting.bells, waiting.letters):
        try:
            found += await each(visit)
            seen = True
        except PermissionDeniedError as refusal:
            refused = refusal
        except StoreUnavailableError:
            # The list says what cannot be looked at.
            seen = True
    if refused is not None and not seen:
        raise refused
    return found


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


def _bell(each: ListenerStanding) -> Waiting:
    listener, since = each.listener, each.failing_since_unix_ms
    marks = [str(listener.failure)] if listener.failure else []
    marks += [f"{listener.outstanding} wait"] * (listener.outstanding > 0)
    marks += [f"{listener.given_up} given up"] * (listener.given_up > 0)
    owner = text_of(listener.owner)
    path, text = f"{DOORBELLS}#{owner}", f"{owner} at {listener.url}"
    return Waiting(None if since is None else _text(since), "dead doorbell", path, text, tuple(marks))


def _letter(each: MailboxEntry) -> Waiting:
    text = f"{each.from_} to {each.to}, {each.body_bytes} bytes"
    marks = (f"{each.attempts} attempts",)
    return Waiting(each.created_at, "dead letter", f"{PATH}/mailboxes/{each.id}", text, marks)


def _text(unix_ms: int) -> str:
    """A time as the other lines have theirs, so that they sort together."""
    return datetime.fromtimestamp(unix_ms / 1000, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


_Kind = tuple[str, Callable[[Visit], Awaitable[list[Any]]], Callable[[Any], Waiting]]
_KINDS: Final[tuple[_Kind, ...]] = (
    ("outbox", waiting.draft_list, _draft),
    ("front door", waiting.request_list, _request),
    ("doorbells", waiting.bell_list, _bell),
    ("mailboxes", waiting.letter_list, _letter),
)

SCREEN: Final = Screen(
    "needs",
    "Needs you",
    PATH,
    (Route("GET", PATH, needs),),
    count,
    frozenset(("outbox", "frontdoor", "mailbox")),
)
