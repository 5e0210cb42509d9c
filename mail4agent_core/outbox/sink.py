"""The port that a release goes through: what a draft's sink is handed, and how it says what came of it.

A sink sees what a person read and nothing else: the arguments that the digest covers, and the copies of the
files that were made when the draft was staged. It never reads the workspace.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from .item import OutboxKind


@dataclass(frozen=True, slots=True)
class StagedFile:
    """A file as it was when the draft was staged."""

    #: As it stands in the arguments; for a file of a folder that they name, below that.
    path: str
    #: Bytes.
    size: int
    #: 64 lower-case hexadecimal digits.
    sha256: str
    #: Where its copy is, whose bytes were hashed again when the release began.
    copy: Path


@dataclass(frozen=True, slots=True)
class Outgoing:
    """One attempt to release one draft. Its intent is on disk before a sink sees it."""

    item_id: str
    tool: str
    kind: OutboxKind
    args: Mapping[str, Any]
    #: The address of whoever staged it, as text (``account`` or ``account/session``); None in an item of the
    #: original's.
    staged_by: str | None
    workspace: str | None
    files: tuple[StagedFile, ...]
    #: From 1; counted over all attempts at the item.
    attempt: int
    #: SHA-256 of the item's id and digest in hexadecimal, the same for every attempt at the same draft.
    idempotency_key: str


class NotSentError(Exception):
    """Certainly nothing left. ``reason`` is for the reviewer: one line, without secrets."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class Sink(Protocol):
    """What carries the drafts of a tool outside."""

    @property
    def kind(self) -> str:
        """What it is: ``mail``, ``smtp``, ``http``, ``mcp``, ``command``."""
        ...

    @property
    def target(self) -> str:
        """Where it leads, as a person is shown it and the digest covers it: one line of at most 256 bytes
        without secrets, such as ``mail.example.org:587``; empty where the arguments alone say it.
        """
        ...

    @property
    def file_args(self) -> tuple[str, ...]:
        """The arguments that name files, each a path in the workspace or a list of paths."""
        ...

    def accept(self, args: Mapping[str, Any]) -> None:
        """Look at the arguments of a draft that is to be staged or was edited; pure.

        Raises MalformedError and TooLargeError for any argument that the sink does not carry.
        """
        ...

    async def deliver(self, outgoing: Outgoing) -> str | None:
        """Carry it out, and return the far side's name for it, if there is one: a line of at most 512 bytes.

        Raises NotSentError when certainly nothing left. Whatever else is raised leaves the outcome unknown.
        """
        ...


def sink_text(sink: Sink) -> str:
    """A sink as the digest of a draft covers it."""
    return f"{sink.kind} {sink.target}".rstrip()
