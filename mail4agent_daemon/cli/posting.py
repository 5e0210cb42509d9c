"""``send`` and ``reply``."""

from __future__ import annotations

from typing import Annotated

import typer

from mail4agent_api.codec import decode_value
from mail4agent_api.mail import MessageRef, SendRequest, SendResponse
from mail4agent_client import answer, letter
from mail4agent_daemon.cli.bodies import Body, BodyFile, body_of
from mail4agent_daemon.cli.recipients import complete_address, near_names
from mail4agent_daemon.cli.verbs import Mail, verb

Refs = Annotated[
    list[str] | None,
    typer.Option(
        "--ref", metavar="KIND[:DIGEST]=LOCATOR", help="Something the text is about; may be repeated."
    ),
]
Key = Annotated[
    str | None,
    typer.Option(
        "--key", metavar="KEY", help="An idempotency key: a repeat with the same key posts nothing more."
    ),
]


def register(app: typer.Typer) -> None:
    """Add the verbs."""
    verb(app, hint=near_names)(send)
    verb(app, hint=near_names)(reply)


def send(
    mail: Mail,
    to: Annotated[
        str,
        typer.Argument(
            metavar="TO", help="account, account/s-… or '#room' (quoted).", autocompletion=complete_address
        ),
    ],
    body: Body = None,
    *,
    file: BodyFile = None,
    subject: Annotated[str, typer.Option("--subject", "-s", help="One line, at most 512 bytes.")] = "",
    reply_to: Annotated[
        str | None, typer.Option("--reply-to", metavar="ID", help="The message that this answers.")
    ] = None,
    correlation: Annotated[
        str | None, typer.Option("--correlation", help="What ties messages of one task together.")
    ] = None,
    ref: Refs = None,
    key: Key = None,
    allow_dead: Annotated[
        bool,
        typer.Option("--allow-dead", help="Send to a session that is not live, though nobody may read it."),
    ] = False,
) -> None:
    """Post one message.

    Prints the message's id. A room's name begins with # and needs quotes in most shells.
    """
    request = letter(
        to,
        subject,
        body_of(body, file),
        reply_to=reply_to,
        correlation=correlation,
        refs=refs_of(ref),
        key=key,
        allow_dead=allow_dead,
    )
    _posted(mail, request)


def reply(
    mail: Mail,
    message_id: Annotated[str, typer.Argument(metavar="ID", help="The message to answer.")],
    body: Body = None,
    *,
    file: BodyFile = None,
    to: Annotated[
        str | None,
        typer.Option("--to", help="Not to its room or author, but here.", autocompletion=complete_address),
    ] = None,
    subject: Annotated[str | None, typer.Option("--subject", "-s", help="Another subject than Re: …")] = None,
    ref: Refs = None,
    key: Key = None,
) -> None:
    """Answer a message: in its room, or to its author.

    An answer to one's own message goes where that one went. Prints the new message's id.
    """
    text = body_of(body, file)
    refs = refs_of(ref)
    message = mail.client.get(message_id=message_id)
    own = mail.client.whoami().address
    _posted(mail, answer(message, text, to=to, subject=subject, own=own, refs=refs, key=key))


def _posted(mail: Mail, request: SendRequest) -> None:
    response: SendResponse = mail.client.send(request)
    if mail.as_json:
        mail.json(response)
    else:
        mail.line(str(response.message_id))


def refs_of(texts: list[str] | None) -> list[MessageRef]:
    """References from KIND[:DIGEST]=LOCATOR. Raises MalformedError and TooLargeError for their parts."""
    found: list[MessageRef] = []
    for text in texts or ():
        head, equals, locator = text.partition("=")
        if not equals:
            raise typer.BadParameter("must be KIND[:DIGEST]=LOCATOR", param_hint="--ref")
        kind, colon, digest = head.partition(":")
        found.append(
            decode_value(MessageRef, {"kind": kind, "locator": locator, "digest": digest if colon else None})
        )
    return found
