"""``thread``, ``search`` and ``sent``."""

from __future__ import annotations

from typing import Annotated

import typer

from mail4agent_api.addresses import text_of
from mail4agent_api.mail import Message, SentMessage
from mail4agent_client.letters import ANSWER_PREFIX
from mail4agent_daemon.cli.layout import (
    block,
    depths,
    gist,
    listing,
    message_row,
    messages_table,
    shortened,
    whole,
)
from mail4agent_daemon.cli.reading import PAGE, BeforeId, Limit, Room, SentBy, position_of
from mail4agent_daemon.cli.terminal import short_time, styled
from mail4agent_daemon.cli.verbs import Mail, verb


def register(app: typer.Typer) -> None:
    """Add the verbs."""
    for function in (thread, search, sent):
        verb(app)(function)


def thread(
    mail: Mail,
    message_id: Annotated[str, typer.Argument(metavar="ID", help="Any message of the thread.")],
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, max=10_000, help="Messages at most.")] = 1000,
) -> None:
    """Print the thread of a message, oldest first, as far as one may read it."""
    messages: list[Message] = []
    while len(messages) < limit:
        page = mail.client.thread(
            message_id=message_id,
            limit=min(PAGE, limit - len(messages)),
            after=messages[-1] if messages else None,
        )
        if not page.messages:
            break
        messages += page.messages
    if mail.as_json:
        mail.json_of(messages=messages)
    elif mail.for_person:
        known: set[str] = set()
        for message, depth in zip(messages, depths(messages), strict=True):
            subject = message.subject.removeprefix(ANSWER_PREFIX)
            mail.console.print(block(message, depth, subject=subject not in known))
            known.add(subject)
    else:
        mail.line("\n\n".join(whole(message, "  ") for message in messages))


def search(
    mail: Mail,
    words: Annotated[
        list[str], typer.Argument(metavar="WORD...", help='Words, and "phrases" in double quotes.')
    ],
    *,
    limit: Limit = 20,
    room: Room = None,
    sent_by: SentBy = None,
    before: BeforeId = None,
) -> None:
    """Find messages that hold every word, newest first."""
    page = mail.client.search(
        query=" ".join(words),
        limit=limit,
        room=room,
        sent_by=sent_by,
        before=position_of(mail, before),
    )
    if mail.as_json:
        mail.json(page)
    elif mail.for_person:
        mail.console.print(messages_table(page.messages))
    else:
        mail.rows(message_row(message) for message in page.messages)


def sent(mail: Mail, limit: Limit = 50, before: BeforeId = None) -> None:
    """List what one sent, newest first, and how many readers acknowledged it."""
    page = mail.client.sent(limit=limit, before=position_of(mail, before))
    if mail.as_json:
        mail.json(page)
    elif mail.for_person:
        rows = [
            [
                styled(each.message.message_id, "cyan"),
                short_time(each.message.created_at_unix_ms),
                styled(shortened(text_of(each.message.to), 16)),
                _state(each),
                gist(each.message),
            ]
            for each in page.sent
        ]
        mail.console.print(listing(("Message", "When", "To", "Acks", "Subject"), rows))
    else:
        mail.rows([*message_row(each.message), _state(each)] for each in page.sent)


def _state(sent_message: SentMessage) -> str:
    return "lost" if sent_message.undeliverable else str(sent_message.acknowledged)
