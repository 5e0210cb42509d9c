"""The screen "Outbox": a draft as its reader will see it, and what a person decides about it.

Every decision carries the digest of the draft that was on the page; what changed since is refused.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import orjson
from markupsafe import Markup

from mail4agent_api.errors import MalformedError, RefusalError, error_of
from mail4agent_api.outbox import DraftKept, DraftRow, OutboxDraft
from mail4agent_core.outbox.difference import diff_args
from mail4agent_core.outbox.shown import shown
from mail4agent_core.outbox.view import provider_ids
from mail4agent_daemon.draft_warnings import warnings_of

from . import markdown, sentences, waiting
from .reply import Reply
from .visit import PATH, Route, Screen, Visit

HERE: Final = f"{PATH}/outbox"
#: Drafts on one page of a list, and in full on a page of a batch.
PAGE: Final = 50
BATCH: Final = 10
STATES: Final = {
    "waiting": "Waiting",
    "sent": "Sent",
    "rejected": "Rejected",
    "withdrawn": "Withdrawn",
    "superseded": "Superseded",
}


@dataclass(frozen=True, slots=True)
class Shown:
    """A draft as a template shows it."""

    draft: OutboxDraft
    warnings: tuple[str, ...]
    headers: tuple[tuple[str, str], ...]
    body: str | None
    body_field: str | None
    rendered: Markup | None
    other: tuple[tuple[str, str], ...]
    changes: str
    sources: tuple[tuple[str, str], ...]
    raw_body: str | None
    raw_args: str

    @property
    def undecided(self) -> bool:
        """Whether it may be released, edited or rejected."""
        return self.draft.entry.status == "pending"

    @property
    def may_leave(self) -> bool:
        """Whether a release can work at all."""
        return self.undecided and not {"no_sink", "files_changed"} & set(map(str, self.draft.warnings))


def shown_draft(draft: OutboxDraft) -> Shown:
    """A draft with every argument in exactly one place."""
    args = _plain(draft.args)
    view = draft.view
    key = _body_key(draft, args)
    raw = None if key is None else args[key]
    raw_body = raw if isinstance(raw, str) else None
    rendered = None
    if raw_body is not None and not markdown.is_plain(raw_body):
        # Sanitised there; the source stands beside it, which is what leaves.
        rendered = Markup(markdown.rendered(raw_body))  # noqa: S704
    return Shown(
        draft,
        tuple(f"{name}: {meaning}." for name, meaning in warnings_of(draft)),
        tuple((each.name, _text(each)) for each in view.headers),
        None if view.body is None else _text(view.body),
        None if view.body is None else view.body.name,
        rendered,
        tuple((each.name, _text(each)) for each in view.other),
        shown(diff_args(_plain(draft.args_before), args)) if draft.entry.edited else "",
        tuple((key, text[:80]) for key, text in provider_ids(args)),
        raw_body,
        orjson.dumps(args, option=orjson.OPT_INDENT_2).decode(),
    )


async def drafts(visit: Visit) -> Reply:
    """The list, by state."""
    state = visit.query.get("state", "waiting")
    state = state if state in STATES else "waiting"
    body: dict[str, Any] = {"limit": PAGE, "after": visit.query.get("after") or None}
    if state != "waiting":
        body["status"] = state
    found = await visit.ask("outbox.list", body)
    last = found.drafts[-1].id if len(found.drafts) == PAGE else None
    return await visit.page(
        "outbox.html",
        title="Outbox",
        here="outbox",
        state=state,
        states=STATES,
        drafts=found.drafts,
        total=found.total,
        unreadable=found.unreadable,
        after=last,
    )


async def draft(visit: Visit) -> Reply:
    """One in full."""
    found = shown_draft(await visit.ask("outbox.get", {"id": visit.parts["id"]}))
    return await visit.page("draft.html", title="Draft", here="outbox", each=found)


async def release(visit: Visit) -> Reply:
    """Let the draft that was shown leave."""
    id_ = visit.parts["id"]
    answer = await visit.ask("outbox.release", {"id": id_, "digest": visit.form.get("digest", "")})
    said = "Sent." if answer.sent else "It was not sent, and waits on; the reason is below."
    return visit.see_other(f"{HERE}/{id_}", said=said)


async def reject(visit: Visit) -> Reply:
    """Reject the draft that was shown."""
    id_ = visit.parts["id"]
    refusal = await _rejected(visit, id_, visit.form.get("digest", ""), visit.form.get("reason", ""))
    if refusal is not None:
        raise refusal
    return visit.see_other(f"{HERE}/{id_}", said="Rejected.")


async def edit(visit: Visit) -> Reply:
    """Give the draft that was shown another body, or other arguments."""
    id_, form = visit.parts["id"], visit.form
    if "args" in form:
        args = _arguments(form["args"])
    else:
        found = await visit.ask("outbox.get", {"id": id_})
        args = _plain(found.args)
        key = _body_key(found, args)
        if key is None or "body" not in form:
            raise MalformedError(field="body", reason="is not among the arguments of this draft")
        args[key] = form["body"]
    await visit.ask("outbox.edit", {"id": id_, "digest": form.get("digest", ""), "args": args})
    return visit.see_other(f"{HERE}/{id_}", said="Changed. Read it once more before you release it.")


async def settle(visit: Visit) -> Reply:
    """Say what became of a release that nobody knows the outcome of."""
    id_, sent = visit.parts["id"], visit.form.get("sent")
    if sent not in {"yes", "no"}:
        raise MalformedError(field="sent", reason="must be yes or no")
    await visit.ask("outbox.settle", {"id": id_, "sent": sent == "yes"})
    return visit.see_other(f"{HERE}/{id_}", said="Settled.")


async def batch(visit: Visit) -> Reply:
    """Several drafts, each in full."""
    found = await visit.ask("outbox.list", {"limit": BATCH, "after": visit.query.get("after") or None})
    wanted = [each.id for each in found.drafts if each.status == "pending"]
    whole = [shown_draft(await visit.ask("outbox.get", {"id": str(id_)})) for id_ in wanted]
    last = found.drafts[-1].id if len(found.drafts) == BATCH else None
    return await visit.page(
        "batch.html", title="Decide several", here="outbox", drafts=whole, total=found.total, after=last
    )


async def decide(visit: Visit) -> Reply:
    """Carry out the decisions of a batch, one after another; one that cannot be stops no other."""
    done: dict[str, int] = {"sent": 0, "rejected": 0}
    kept: list[tuple[str, str]] = []
    chosen = [(name.removeprefix("do-"), what) for name, what in visit.form.items() if name.startswith("do-")]
    for id_, what in chosen[:BATCH]:
        digest = visit.form.get(f"digest-{id_}", "")
        try:
            if what == "release":
                answer = await visit.ask("outbox.release", {"id": id_, "digest": digest})
                done["sent"] += answer.sent
                if not answer.sent:
                    kept.append((id_, "It was not sent, and waits on."))
            elif what == "reject":
                refusal = await _rejected(visit, id_, digest, visit.form.get(f"reason-{id_}", ""))
                if refusal is not None:
                    raise refusal
                done["rejected"] += 1
        except RefusalError as refusal:
            kept.append((id_, " ".join(sentences.of(refusal))))
    return await visit.page("decided.html", title="Decided", here="outbox", done=done, kept=kept)


async def _rejected(visit: Visit, id_: str, digest: str, reason: str) -> RefusalError | None:
    """What kept a draft from being rejected. Raises RefusalError for a request that is none."""
    body = {"drafts": [{"id": id_, "digest": digest}], "reason": reason.strip()}
    (outcome,) = (await visit.ask("outbox.reject", body)).outcomes
    return error_of(outcome.refusal) if isinstance(outcome, DraftKept) else None


def _plain(args: Any) -> dict[str, Any]:
    return {} if args is None else dict(args.model_extra or {})


def _body_key(draft: OutboxDraft, args: Mapping[str, Any]) -> str | None:
    """The argument that the body of the view came from; its name is shown as any other text."""
    body = draft.view.body
    return None if body is None else next((key for key in args if shown(key) == body.name), None)


def _text(row: DraftRow) -> str:
    """What the view says, in which hidden characters are numbers already."""
    return "".join(row.text)


def _arguments(text: str) -> Mapping[str, Any]:
    """Raises MalformedError."""
    try:
        found: Any = orjson.loads(text)
    except orjson.JSONDecodeError:
        found = None
    if not isinstance(found, dict):
        raise MalformedError(field="args", reason="must be one JSON object")
    return found


SCREEN: Final = Screen(
    "outbox",
    "Outbox",
    HERE,
    (
        Route("GET", HERE, drafts),
        Route("GET", f"{PATH}/decide", batch),
        Route("POST", f"{PATH}/decide", decide, decides=True),
        Route("GET", f"{HERE}/{{id}}", draft),
        Route("POST", f"{HERE}/{{id}}/release", release, decides=True),
        Route("POST", f"{HERE}/{{id}}/reject", reject, decides=True),
        Route("POST", f"{HERE}/{{id}}/edit", edit, decides=True),
        Route("POST", f"{HERE}/{{id}}/settle", settle, decides=True),
    ),
    waiting.drafts,
    frozenset(("outbox",)),
)
