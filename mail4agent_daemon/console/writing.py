"""Writing a message as the account that is signed in.

Each form has a key of its own, so that one that is posted twice is sent once.
"""

from __future__ import annotations

import secrets
from typing import Any, Final

from mail4agent_api.addresses import address_of, text_of
from mail4agent_api.errors import IdempotencyConflictError, RefusalError
from mail4agent_api.mail import Address

from . import sentences
from .reply import Reply
from .visit import PATH, Route, Visit

WRITE: Final = f"{PATH}/mail/write"
_KEY: Final = "console-"


async def form(visit: Visit) -> Reply:
    """An empty message, or an answer to one."""
    fields = {"to": visit.query.get("to", ""), "subject": "", "body": "", "reply_to": ""}
    answered = visit.query.get("reply_to", "")
    if answered:
        message = await visit.ask("mail.get", {"message_id": answered})
        to = message.to if message.to.kind == "room" else message.from_
        subject = message.subject if message.subject.lower().startswith("re: ") else f"Re: {message.subject}"
        fields = {"to": text_of(to), "subject": subject, "body": "", "reply_to": answered}
    return await _page(visit, fields, _fresh())


async def send(visit: Visit) -> Reply:
    """Send it, or show it again with what is wrong with it."""
    given = visit.form
    fields = {name: given.get(name, "") for name in ("to", "subject", "body", "reply_to")}
    key = given.get("key", "")
    try:
        asked: dict[str, Any] = {
            "to": _told(address_of(fields["to"].strip())),
            "subject": fields["subject"].strip(),
            "body": fields["body"],
            "reply_to": fields["reply_to"] or None,
            "idempotency_key": f"{_KEY}{key}",
        }
        answer = await visit.ask("mail.send", asked)
    except IdempotencyConflictError:
        wrong = "Another text was sent from this form already. Sending again sends this one as well."
        return await _page(visit, fields, _fresh(), status=409, wrong=(wrong, ""))
    except RefusalError as refusal:
        if refusal.status in {401, 429} or refusal.status >= 500:
            raise
        return await _page(visit, fields, key, status=refusal.status, wrong=sentences.of(refusal))
    return visit.see_other(f"{PATH}/mail/message/{answer.message_id}", said="Sent.")


def _told(address: Address) -> Any:
    return address.model_dump(mode="json", by_alias=True)


def _fresh() -> str:
    return secrets.token_hex(16)


async def _page(
    visit: Visit,
    fields: dict[str, str],
    key: str,
    *,
    status: int = 200,
    wrong: tuple[str, str] | None = None,
) -> Reply:
    return await visit.page(
        "mail_write.html", here="mail", title="Write", status=status, fields=fields, key=key, wrong=wrong
    )


ROUTES: Final = (Route("GET", WRITE, form), Route("POST", WRITE, send, decides=True))
