"""Standard output: what cannot be written there is a failure with a name, never silence."""

from __future__ import annotations

import os
import sys
from contextlib import suppress

import typer


class OutputLostError(Exception):
    """Standard output is closed, or what it leads to takes nothing more."""

    kind = "output_lost"

    def __init__(self, reason: str) -> None:
        super().__init__(f"standard output cannot be written: {reason}")
        self.reason = reason


def check_output() -> None:
    """Raise OutputLostError when there is no standard output, for which ``typer.echo`` prints nothing."""
    # Typed as always there, but None in a process that was started without one.
    stream: object = sys.stdout
    if stream is None or sys.stdout.closed:
        raise OutputLostError("it is closed")


def put(text: str) -> None:
    """Print one line and flush it. Raises OutputLostError, and BrokenPipeError when the reader went away."""
    check_output()
    try:
        typer.echo(text)
    except BrokenPipeError:
        raise
    except OSError as failure:
        raise OutputLostError(failure.strerror or "it takes nothing more") from None


def abandon_output() -> None:
    """Let what is still buffered not fail again when the interpreter flushes it."""
    with suppress(AttributeError, OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
