"""What clients tried, and what they were told: held against the store when all is quiet."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from tests.process import BOUND_SECS


@dataclass
class Sent:
    """One message of a writer: its text says who, and which."""

    text: str
    target: str
    keyed: bool
    #: The id that was answered; with a key, each answer must be the same.
    message_id: str | None = None
    #: A send without a key was refused: nothing may be there.
    refused: bool = False


@dataclass
class Ledger:
    """All of it, in the order in which it happened."""

    sent: dict[str, Sent] = field(default_factory=dict[str, Sent])
    #: By reader, what its position walked over.
    seen: dict[str, list[dict[str, Any]]] = field(default_factory=dict[str, list[dict[str, Any]]])
    acked: dict[str, set[str]] = field(default_factory=dict[str, set[str]])
    waits_begun: Counter[str] = field(default_factory=Counter[str])
    waits_ended: Counter[str] = field(default_factory=Counter[str])
    refused: Counter[str] = field(default_factory=Counter[str])
    acts: list[str] = field(default_factory=list[str])
    lost: int = 0
    #: How often a daemon said that it does not know what became of a request.
    unknown: int = 0
    settled: int = 0
    _moved: asyncio.Event = field(default_factory=asyncio.Event)

    def settle(self) -> None:
        """A request had an answer."""
        self.settled += 1
        self._moved.set()

    async def after(self, more: int) -> None:
        """Wait until so many more requests had an answer. Raises TimeoutError when none has one for long."""
        due = self.settled + more
        while self.settled < due:
            self._moved.clear()
            await asyncio.wait_for(self._moved.wait(), BOUND_SECS)

    @property
    def summary(self) -> str:
        """One line for a person."""
        told = sum(each.message_id is not None for each in self.sent.values())
        acts = Counter(act.split(" ", 1)[0] for act in self.acts)
        return (
            f"{len(self.sent)} sent, {told} acknowledged, {self.lost} answers lost, "
            f"{self.unknown} not known, refused {dict(self.refused)}, waits {self.waits_ended.total()}, "
            f"acts {dict(acts)}"
        )

    def differences(self, name: str, targets: set[str], held: list[dict[str, Any]]) -> Iterable[str]:
        """What an inbox holds against what was told of it; nothing where they agree."""
        copies = Counter(message["subject"] for message in held)
        ids = {message["subject"]: message["message_id"] for message in held}
        for text, sent in self.sent.items():
            here = copies[text]
            if sent.target not in targets:
                if here:
                    yield f"{name} holds {text}, which went to {sent.target}"
            elif sent.message_id is not None and here == 0:
                yield f"{name} lost {text}, acknowledged as {sent.message_id}"
            elif sent.message_id is not None and ids[text] != sent.message_id:
                yield f"{name} holds {text} as {ids[text]}, acknowledged as {sent.message_id}"
            elif sent.refused and here:
                yield f"{name} holds {text}, which was refused"
            if here > 1:
                yield f"{name} holds {text} {here} times"
        for text in copies.keys() - self.sent.keys():
            yield f"{name} holds {text}, which nobody sent"
        positions = [(message["created_at_unix_ms"], message["message_id"]) for message in held]
        if [at for at, _ in positions] != sorted(at for at, _ in positions):
            yield f"{name} holds messages whose times decrease"
        for message in held:
            if message["body"] != message["subject"] * 8:
                yield f"{name} holds {message['subject']} with another body"
