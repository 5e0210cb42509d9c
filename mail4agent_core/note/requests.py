"""What a delivery is asked for, and what it is answered with."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from typing import Any

from mail4agent_api.errors import MalformedError

from .ids import keyed_note_id
from .note import Note
from .reach import Reach, Reached
from .recorded import RecordedNote
from .words import Deliver, Party

NODE_MAX_BYTES = 8_192


@dataclass(frozen=True, slots=True)
class Request:
    """One note for one node, checked. Made by ``of`` alone."""

    node: str
    note: Note
    deliver: Deliver
    persist: bool
    idempotency_key: str | None = None

    @classmethod
    def of(
        cls,
        node: str,
        note: Note,
        *,
        deliver: str = Deliver.LIVE,
        persist: bool = True,
        idempotency_key: str | None = None,
    ) -> Request:
        """Check what the fields alone decide, before anything of a run is read.

        Raises ReachesNobodyError for ``next`` without ``persist``, MalformedError.
        """
        try:
            size = len(node.encode())
        except UnicodeEncodeError:
            size = 0
        if not 0 < size <= NODE_MAX_BYTES or "\0" in node:
            raise MalformedError(field="node", reason=f"must be 1 to {NODE_MAX_BYTES} bytes of UTF-8")
        if deliver not in tuple(Deliver):
            raise MalformedError(field="deliver", reason="must be live or next")
        Reach.of(node, deliver, persist=persist)
        return cls(node, note, Deliver(deliver), persist, idempotency_key)

    @property
    def reach(self) -> Reach:
        """Where the note may land."""
        return Reach.of(self.node, self.deliver, persist=self.persist)

    @property
    def digest(self) -> str:
        """What tells this request from another one under the same key."""
        text = json.dumps([self.node, self.note.json(), self.deliver, self.persist])
        return hashlib.sha256(text.encode()).hexdigest()[:32]

    def note_id(self, run: str) -> str | None:
        """The id that the key gives the note; None without a key."""
        return None if self.idempotency_key is None else keyed_note_id(run, self.node, self.idempotency_key)

    def command(self) -> dict[str, Any]:
        """The command of an envelope; what equals its default is left out."""
        written: dict[str, Any] = {"op": "note", "id": self.node, **self.note.json()}
        if self.deliver is not Deliver.LIVE:
            written["deliver"] = self.deliver.value
        if not self.persist:
            written["persist"] = False
        return written


@dataclass(frozen=True, slots=True)
class Receipt:
    """What became of one note, as the run recorded it."""

    node: str
    note: RecordedNote
    #: The parties that have been shown it, and those that it is still owed to.
    shown_to: tuple[Party, ...]
    owed_to: tuple[Party, ...]
    #: Whether the run had this note already, under the same idempotency key.
    repeated: bool = False

    @property
    def reached(self) -> Reached:
        """What became of it."""
        return self.note.reached


@dataclass(frozen=True, slots=True)
class DeliveredTo:
    """The run recorded what became of the note."""

    reached: Reached


@dataclass(frozen=True, slots=True)
class DeliveredQueued:
    """Accepted and durable, and not answered within the time: it is not to be sent again."""


Delivered = DeliveredTo | DeliveredQueued
