"""Messages as pages show them: a line of a list, or a letter with its body."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from markupsafe import Markup

from mail4agent_api.addresses import text_of
from mail4agent_api.mail import Message

from .markdown import rendered

#: Messages of one list, and of one page of a thread, whose bodies are shown.
LISTED: Final = 50
READ: Final = 20
#: A page renders so much Markdown; what comes after it is shown as its source.
RENDERED_MAX_BYTES: Final = 131_072
_START: Final = 160


@dataclass(frozen=True, slots=True)
class Line:
    """A message in a list."""

    message: Message
    sender: str
    to: str
    start: str
    about: str = ""


@dataclass(frozen=True, slots=True)
class Letter:
    """A message with its body, as HTML where it was rendered."""

    message: Message
    sender: str
    to: str
    html: Markup | None


def line(message: Message, about: str = "") -> Line:
    """A message as a list shows it."""
    start = " ".join(message.body[: 4 * _START].split())
    return Line(message, text_of(message.from_), text_of(message.to), start[:_START], about)


async def letters(messages: Sequence[Message]) -> list[Letter]:
    """Messages with their bodies. Markdown is rendered aside: a hostile one takes a moment."""
    shown: list[Letter] = []
    left = RENDERED_MAX_BYTES
    for message in messages:
        left -= len(message.body.encode())
        html = None
        if left >= 0:
            # The one text that is not escaped: only text, lists, code and links are left of it.
            html = Markup(await asyncio.to_thread(rendered, message.body))  # noqa: S704
        shown.append(Letter(message, text_of(message.from_), text_of(message.to), html))
    return shown
