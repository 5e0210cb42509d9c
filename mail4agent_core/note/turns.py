"""Turns of a node's conversation, as its producer reports them and as the journal holds them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from mail4agent_api.errors import MalformedError

from .ids import is_note_id
from .instants import millis_of, spelled
from .journal import UNNUMBERED
from .record import PRODUCER_VERSION, Record
from .words import NOTE_IDS_LABEL, Kind, Party, Source

#: An instruction is cut at its head to so many bytes, as every relay of the original cuts it.
INSTRUCTION_MAX_BYTES: Final = 4_096
_ROLES: Final = {Party.WORKER: "assistant", Party.SUPERVISOR: "user"}
_ORIGINS: Final = (None, "task", "supervisor", "delivered")


@dataclass(frozen=True, slots=True)
class TurnOpened:
    """A turn that a party opened."""

    node: str
    party: Party
    #: Counted from 1; the judge answers under the number of the worker's turn.
    number: int
    instruction: str
    #: RFC 3339.
    started_at: str
    #: ``task``, ``supervisor`` or ``delivered``: what the turn opened on, where the producer knows.
    origin: str | None = None
    #: The notes that it opened on; None where the producer does not know notes by id.
    note_ids: Sequence[str] | None = None
    #: The member of the graph that runs the conversation, the same for both of its parties.
    member: str = "worker"
    cut: bool = False

    def record(self, run: str, stream: str, now_ms: int) -> Record:
        """The turn as a record of the producer. Raises MalformedError for what is no turn."""
        if millis_of(self.started_at) is None:
            raise MalformedError(field="started_at", reason="must be an RFC 3339 time")
        if self.origin not in _ORIGINS:
            raise MalformedError(field="origin", reason="must be task, supervisor or delivered")
        if self.note_ids is not None and not all(map(is_note_id, self.note_ids)):
            raise MalformedError(field="note ids", reason="must be ids of notes")
        head = self.instruction.encode()[:INSTRUCTION_MAX_BYTES].decode("utf-8", "ignore")
        payload: dict[str, Any] = {
            "turn": self.number,
            "role": _ROLES[self.party],
            "instruction": head,
        }
        if self.cut or head != self.instruction:
            payload["instruction_truncated"] = True
        payload["started_at"] = self.started_at
        if self.origin is not None:
            payload["origin"] = self.origin
        labels: dict[str, Any] = {"run_id": run, "node": self.node, "member": self.member}
        if self.note_ids is not None:
            labels[NOTE_IDS_LABEL] = " ".join(self.note_ids)
        return Record(
            PRODUCER_VERSION, spelled(now_ms), stream, UNNUMBERED, Source.AGENTGRAPH, Kind.TURN_STARTED,
            labels, payload,
        )  # fmt: skip
