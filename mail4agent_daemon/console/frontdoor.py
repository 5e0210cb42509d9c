"""The screen "Front door": requests by state, and one request with the prose that a stranger wrote.

The prose is served by one operation to one capability; here it is text, behind a fold of its own.
"""

from __future__ import annotations

import json
from typing import Any, Final

from mail4agent_api.errors import MalformedError
from mail4agent_api.frontdoor import FrontdoorItem
from mail4agent_core.outbox.shown import hidden

from . import waiting
from .reply import Reply
from .visit import PATH, Route, Screen, Visit

HERE: Final = f"{PATH}/frontdoor"
PAGE: Final = 50
STATES: Final = {
    "": "All",
    "drained": "Not read yet",
    "extracted": "Extracted",
    "extraction_failed": "Extraction failed",
    "triaged": "Triaged",
    "awaiting_me": "Awaiting you",
    "needs_info": "Needs info",
    "answered": "Answered",
    "closed": "Closed",
}
#: States that a person's decision leads from; the operation decides, these choose which form is shown.
_OPEN: Final = frozenset({"drained", "extracted", "extraction_failed", "triaged", "awaiting_me"})
_REOPENED: Final = frozenset({"needs_info", "triaged", "closed"})
_EXTRACTED_AGAIN: Final = frozenset({"drained", "extraction_failed", "extracted"})
#: Members of a record that stand elsewhere on the page.
_ELSEWHERE: Final = frozenset(
    {"values", "free_text", "extraction", "attachments", "seq", "type_id", "state", "valid"}
)


async def requests(visit: Visit) -> Reply:
    """The list, by state."""
    state = visit.query.get("state", "")
    state = state if state in STATES else ""
    after = visit.query.get("after", "0")
    body: dict[str, Any] = {"limit": PAGE, "after": int(after) if after.isdecimal() else 0}
    if state:
        body["state"] = state
    found = await visit.ask("frontdoor.list", body)
    last = found.requests[-1].seq if len(found.requests) == PAGE else None
    return await visit.page(
        "frontdoor.html",
        title="Front door",
        here="frontdoor",
        state=state,
        states=STATES,
        requests=found.requests,
        unreadable=found.unreadable,
        after=last,
    )


async def request(visit: Visit) -> Reply:
    """One request."""
    item: FrontdoorItem = await visit.ask("frontdoor.get", {"seq": _seq(visit)})
    record = dict(item.record.model_extra or {})
    prose = {name: _texts(value) for name, value in (item.prose.model_extra or {}).items()}
    extraction = record.get("extraction")
    extraction = extraction if isinstance(extraction, dict) else None
    state = _text(record.get("state"))
    return await visit.page(
        "request.html",
        title=f"Request {_seq(visit)}",
        here="frontdoor",
        seq=_seq(visit),
        state=state,
        record={
            name: _text(value)
            for name, value in record.items()
            if name not in _ELSEWHERE and value not in (None, [])
        },
        type_id=_text(record.get("type_id")),
        valid=record.get("valid") is True,
        withheld=extraction is not None and not item.briefed,
        fields={name: _text(value) for name, value in (item.fields.model_extra or {}).items()},
        extraction=None
        if extraction is None
        else {str(name): _text(value) for name, value in extraction.items()},
        instructs=bool(extraction and extraction.get("reads_like_instructions")),
        attachments=_attachments(record.get("attachments")),
        prose=prose,
        unseen=hidden(json.dumps([record, prose], ensure_ascii=False)),
        is_open=state in _OPEN,
        reopens=state in _REOPENED,
        extracts=state in _EXTRACTED_AGAIN,
    )


async def needs_info(visit: Visit) -> Reply:
    """Say that its sender is asked for more."""
    note = visit.form.get("note", "").strip()
    await visit.ask("frontdoor.needs_info", {"seq": _seq(visit), "note": note or None})
    return visit.see_other(f"{HERE}/{_seq(visit)}", said="It waits for its sender.")


async def close(visit: Visit) -> Reply:
    """Close it."""
    await visit.ask("frontdoor.close", {"seq": _seq(visit), "reason": visit.form.get("reason", "").strip()})
    return visit.see_other(f"{HERE}/{_seq(visit)}", said="Closed.")


async def reopen(visit: Visit) -> Reply:
    """Take it up again."""
    await visit.ask("frontdoor.reopen", {"seq": _seq(visit)})
    return visit.see_other(f"{HERE}/{_seq(visit)}", said="Reopened.")


async def extract(visit: Visit) -> Reply:
    """Have the model read it again."""
    answer = await visit.ask("frontdoor.extract", {"seq": _seq(visit), "retry": True})
    moved = answer.moved[0].to if answer.moved else None
    said = f"It is {moved} now." if moved else "Nothing was extracted."
    return visit.see_other(f"{HERE}/{_seq(visit)}", said=said)


def _seq(visit: Visit) -> int:
    """Raises MalformedError."""
    text = visit.parts["seq"]
    if not (text.isascii() and text.isdecimal() and len(text) <= 16):
        raise MalformedError(field="seq", reason="must be the number of a request")
    return int(text)


def _attachments(found: Any) -> list[dict[str, str]]:
    names = ("field", "filename", "content_type", "size", "sha256")
    given = found if isinstance(found, list) else []
    return [{name: _text(each.get(name)) for name in names} for each in given if isinstance(each, dict)]


def _texts(value: Any) -> list[str]:
    return [_text(each) for each in value] if isinstance(value, list) else [_text(value)]


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


SCREEN: Final = Screen(
    "frontdoor",
    "Front door",
    HERE,
    (
        Route("GET", HERE, requests),
        Route("GET", f"{HERE}/{{seq}}", request),
        Route("POST", f"{HERE}/{{seq}}/needs-info", needs_info, decides=True),
        Route("POST", f"{HERE}/{{seq}}/close", close, decides=True),
        Route("POST", f"{HERE}/{{seq}}/reopen", reopen, decides=True),
        Route("POST", f"{HERE}/{{seq}}/extract", extract),
    ),
    waiting.requests,
    frozenset(("frontdoor",)),
)
