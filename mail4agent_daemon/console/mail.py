"""Mail: one's own inbox, what one sent, what is found, and a thread with its bodies."""

from __future__ import annotations

from typing import Any, Final
from urllib.parse import quote, urlencode

from mail4agent_api.mail import Message

from . import people, writing
from .events import MAIL as MAIL_SEAM
from .letter import LISTED, READ, letters, line
from .places import place_of, position
from .reply import Reply
from .visit import PATH, Route, Screen, Visit

MAIL: Final = f"{PATH}/mail"


async def inbox(visit: Visit) -> Reply:
    """The newest of one's inbox, or what is unread."""
    unread_only = visit.query.get("unread") == "yes"
    asked: dict[str, Any] = {"order": "newest", "limit": LISTED, "unread_only": unread_only}
    asked["before"] = position(visit.query, "before")
    page = await visit.ask("mail.inbox", asked)
    lines = [line(each) for each in page.messages]
    return await visit.page(
        "mail_list.html",
        here="mail",
        title="Mail",
        tab="unread" if unread_only else "inbox",
        lines=lines,
        note=f"{page.unread} unread",
        empty="Nothing is unread." if unread_only else "Nothing is here.",
        older=_older(visit, page.messages),
        search=None,
    )


async def sent(visit: Visit) -> Reply:
    """What one sent, and by how many it was acknowledged."""
    page = await visit.ask("mail.sent", {"limit": LISTED, "before": position(visit.query, "before")})
    lines = [line(each.message, _fate(each.acknowledged, each.undeliverable)) for each in page.sent]
    return await visit.page(
        "mail_list.html",
        here="mail",
        title="Sent mail",
        tab="sent",
        lines=lines,
        note="",
        empty="Nothing was sent.",
        older=_older(visit, [each.message for each in page.sent]),
        search=None,
    )


async def search(visit: Visit) -> Reply:
    """Messages with the words and phrases that were asked for."""
    query, room, sender = (visit.query.get(name, "").strip() for name in ("q", "room", "from"))
    messages: list[Message] = []
    if query:
        asked: dict[str, Any] = {"query": query, "limit": LISTED, "before": position(visit.query, "before")}
        asked |= {"room": room.removeprefix("#") or None, "sent_by": sender or None}
        messages = (await visit.ask("mail.search", asked)).messages
    return await visit.page(
        "mail_list.html",
        here="mail",
        title="Search mail",
        tab="search",
        lines=[line(each) for each in messages],
        note="",
        empty="Nothing was found." if query else "Words, and phrases in quotes.",
        older=_older(visit, messages),
        search={"q": query, "room": room, "from": sender},
    )


async def thread(visit: Visit) -> Reply:
    """A message's thread, oldest first; the message itself stands on the page even where it is further on."""
    message_id = visit.parts["message"]
    asked: dict[str, Any] = {"message_id": message_id, "limit": READ, "after": position(visit.query, "after")}
    found = list((await visit.ask("mail.thread", asked)).messages)
    more = len(found) == READ
    newer = f"{_path(message_id)}?{urlencode({'after': place_of(found[-1])})}" if more else None
    if asked["after"] is None and all(each.message_id != message_id for each in found):
        found.append(await visit.ask("mail.get", {"message_id": message_id}))
    subject = found[0].subject if found else ""
    return await visit.page(
        "mail_thread.html",
        here="mail",
        title="Thread",
        subject=subject,
        letters=await letters(found),
        meant=message_id,
        newer=newer,
    )


async def acknowledge(visit: Visit) -> Reply:
    """Acknowledge a message."""
    message_id = visit.parts["message"]
    await visit.ask("mail.ack", {"message_id": message_id})
    return visit.see_other(_path(message_id), said="Acknowledged.")


async def unread(visit: Visit) -> int:
    """How much of one's inbox is not acknowledged. Raises RefusalError."""
    target = {"kind": "direct", "participant": visit.account}
    return (await visit.ask("mail.unread", {"target": target})).unread


def _path(message_id: str) -> str:
    return f"{MAIL}/message/{quote(message_id, safe='')}"


def _fate(acknowledged: int, undeliverable: bool) -> str:
    if undeliverable:
        return "nobody can read it any more"
    return f"acknowledged by {acknowledged}" if acknowledged else "not acknowledged"


def _older(visit: Visit, messages: list[Message]) -> str | None:
    """The next page; a short one may still have been cut by its bytes, so only an empty one is the last."""
    if not messages:
        return None
    query = {name: text for name, text in visit.query.items() if name != "said"}
    return f"?{urlencode({**query, 'before': place_of(messages[-1])})}"


SCREEN: Final = Screen(
    "mail",
    "Mail",
    MAIL,
    (
        Route("GET", MAIL, inbox),
        Route("GET", f"{MAIL}/sent", sent),
        Route("GET", f"{MAIL}/search", search),
        Route("GET", f"{MAIL}/message/{{message}}", thread),
        Route("POST", f"{MAIL}/message/{{message}}/ack", acknowledge, decides=True),
        *people.ROUTES,
        *writing.ROUTES,
    ),
    unread,
    frozenset((MAIL_SEAM,)),
)
