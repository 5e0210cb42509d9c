"""Messages as a person reads them, and as lines for other programs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rich.cells import cell_len
from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from mail4agent_api.addresses import text_of
from mail4agent_api.mail import Address, Message, MessageRef, RoomAddress
from mail4agent_daemon.cli.terminal import exact_time, short_time, styled, visible

#: Levels of a thread that are indented; deeper ones would leave no width for text.
DEEPEST = 5


def listing(names: Sequence[str], rows: Sequence[Sequence[Text | str]], widest: int = 28) -> Table:
    """Rows under their names, without lines: the last column is cut at the edge, the others past ``widest``
    cells.
    """
    made = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold", expand=True)
    for index, name in enumerate(names[:-1]):
        cells = [name, *(row[index] for row in rows)]
        width = min(widest, max(cell_len(cell if isinstance(cell, str) else cell.plain) for cell in cells))
        made.add_column(name, no_wrap=True, overflow="ellipsis", min_width=width, max_width=width)
    made.add_column(names[-1], no_wrap=True, overflow="ellipsis", ratio=1)
    for row in rows:
        made.add_row(*row)
    return made


def parties(message: Message) -> str:
    """Who wrote, and in which room."""
    return (
        f"{text_of(message.from_)} {text_of(message.to)}"
        if isinstance(message.to, RoomAddress)
        else text_of(message.from_)
    )


def gist(message: Message) -> Text:
    """The subject, or the first line of the text when there is none."""
    return (
        styled(message.subject)
        if message.subject
        else styled(message.body.strip().split("\n", 1)[0][:200], "dim")
    )


def messages_table(messages: Iterable[Message]) -> Table:
    """One line for each message."""
    rows = [
        [
            styled(message.message_id, "cyan"),
            short_time(message.created_at_unix_ms),
            styled(shortened(parties(message), 20)),
            gist(message),
        ]
        for message in messages
    ]
    return listing(("Message", "When", "From", "Subject"), rows)


def shortened(text: str, width: int) -> str:
    """At most so many characters; a longer text ends in an ellipsis."""
    return text if len(text) <= width else f"{text[: width - 1]}…"


def message_row(message: Message) -> list[str]:
    """Id, time, sender, recipient and subject, for a line of fields."""
    return [
        str(message.message_id),
        exact_time(message.created_at_unix_ms),
        text_of(message.from_),
        text_of(message.to),
        visible(message.subject).replace("\t", " "),
    ]


def reference(ref: MessageRef) -> str:
    """A reference as it is written on the command line."""
    digest = f":{ref.digest}" if ref.digest else ""
    return visible(f"{ref.kind}{digest}={ref.locator}")


def headers(message: Message) -> list[tuple[str, str]]:
    """Everything about a message but its text."""
    lines: list[tuple[str, Address | str | None]] = [
        ("id", message.message_id),
        ("from", text_of(message.from_)),
        ("to", text_of(message.to)),
        ("date", exact_time(message.created_at_unix_ms)),
        ("subject", message.subject or None),
        ("reply to", message.reply_to),
        ("correlation", message.correlation),
    ]
    found = [(name, visible(str(value))) for name, value in lines if value is not None]
    return found + [("ref", reference(ref)) for ref in message.refs]


def whole(message: Message, indent: str = "") -> str:
    """A message as plain text: its headers, an empty line, its text.

    Where several follow each other the text is indented, so that no text can pass for the headers of a
    message.
    """
    head = "\n".join(f"{name}: {value}" for name, value in headers(message))
    body = "\n".join(f"{indent}{line}" for line in visible(message.body, lines=True).split("\n"))
    return f"{head}\n\n{body}"


def show_whole(console: Console, message: Message) -> None:
    """Print one message for a person."""
    head = Table(box=None, show_header=False, pad_edge=False, padding=(0, 2, 0, 0))
    head.add_column(style="bold")
    head.add_column(overflow="fold")
    for name, value in headers(message):
        head.add_row(name, Text(value))
    console.print(head)
    console.print()
    console.print(styled(message.body, lines=True))


def block(message: Message, depth: int = 0, *, subject: bool = True) -> RenderableType:
    """A message in a thread or a watch: who, when, which, and its text below."""
    head = Text.assemble(
        (visible(parties(message)), "bold"),
        "  ",
        (short_time(message.created_at_unix_ms), "dim"),
        "  ",
        (str(message.message_id), "cyan"),
    )
    parts: list[RenderableType] = [head]
    if subject and message.subject:
        parts.append(styled(message.subject, "italic"))
    if message.body:
        parts.append(Padding(styled(message.body.rstrip("\n"), lines=True), (0, 0, 0, 2)))
    return Padding(Group(*parts, Text()), (0, 0, 0, 2 * min(depth, DEEPEST)))


def depths(messages: Sequence[Message]) -> list[int]:
    """How deep each message of a thread stands below its first one, as far as the messages before it tell."""
    depth: dict[str, int] = {}
    for message in messages:
        above = depth.get(message.reply_to, -1) if message.reply_to is not None else -1
        depth[message.message_id] = above + 1
    return [depth[message.message_id] for message in messages]
