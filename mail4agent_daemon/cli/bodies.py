"""Where a message's body comes from: an argument, a file, or standard input."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, BinaryIO

import typer

from mail4agent_api.errors import MalformedError

#: No more than this many bytes are read; the contract's own bound, which is far below, is checked on what was
#: read.
READ_LIMIT = 16 * 1024 * 1024

Body = Annotated[
    str | None,
    typer.Argument(
        metavar="BODY", help="The text; - or nothing reads it from standard input.", show_default=False
    ),
]
BodyFile = Annotated[
    Path | None,
    typer.Option(
        "--file", "-f", metavar="PATH", help="Read the text from a file.", exists=True, dir_okay=False
    ),
]


def body_of(argument: str | None, file: Path | None) -> str:
    """The text as it is, to the last line feed. Raises MalformedError for bytes that are no UTF-8."""
    if file is not None:
        if argument is not None:
            raise typer.BadParameter("give BODY or --file, not both", param_hint="--file")
        try:
            with file.open("rb") as source:
                return _text(source)
        except OSError as failure:
            raise typer.BadParameter(f"cannot be read: {failure.strerror}", param_hint="--file") from None
    if argument is not None and argument != "-":
        return argument
    if sys.stdin is None or (argument is None and sys.stdin.isatty()):
        raise typer.BadParameter("give the text, --file PATH, or - for standard input", param_hint="BODY")
    return _text(sys.stdin.buffer)


def _text(source: BinaryIO) -> str:
    raw = source.read(READ_LIMIT + 1)
    try:
        return raw.decode()
    except UnicodeDecodeError as wrong:
        if wrong.reason == "unexpected end of data" and len(raw) > READ_LIMIT:
            return raw[: wrong.start].decode()
    raise MalformedError(field="body", reason="must be UTF-8 (at /body)")
