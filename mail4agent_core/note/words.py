"""The words of the seam, spelled as they stand in journals and envelopes."""

from __future__ import annotations

from enum import StrEnum
from typing import Final

#: The heading under which a re-dispatch renders the notes it is composed with.
HEADING: Final = "## Manager notes"
#: Keys of a ``node-dispatched``: notes that it was composed with, and notes that it lacks.
CARRIED_KEY: Final = "notes_carried"
SPENT_KEY: Final = "notes_spent"
#: The folder under a run with one carry store a node.
CARRY_FOLDER: Final = "notes"
#: Extra label of a turn of our own conversation: the notes that it opened on, ids joined by one space.
NOTE_IDS_LABEL: Final = "note_ids"


class Addressee(StrEnum):
    """Whose task a note updates. There is no default."""

    WORKER = "worker"
    SUPERVISOR = "supervisor"
    BOTH = "both"


class Party(StrEnum):
    """A side of the conversation: the one that a delivery reached, never the addressee."""

    WORKER = "worker"
    SUPERVISOR = "supervisor"


class Deliver(StrEnum):
    """Whether the running turn is attempted (``live``) or only the next dispatch (``next``)."""

    LIVE = "live"
    NEXT = "next"


class Source(StrEnum):
    """Who wrote a record of the journal."""

    AGENTGRAPH = "agentgraph"
    VCS = "vcs"
    PIPELINE = "pipeline"


class Kind(StrEnum):
    """The kinds of records that this package writes or folds; the journal holds others too."""

    NODE_DISPATCHED = "node-dispatched"
    NODE_SETTLED = "node-settled"
    EDIT_COMMITTED = "edit-committed"
    COMMAND_ACCEPTED = "command-accepted"
    EDIT_REJECTED = "edit-rejected"
    NOTE_SHOWN = "note-shown"
    TURN_STARTED = "turn-started"


class Evidence(StrEnum):
    """What a presentation was decided from."""

    DELIVERED_ORIGIN = "delivered-origin"
    OPENING_TASK = "opening-task"
    INSTRUCTION_TEXT = "instruction-text"
    ANSWERING_TURN = "answering-turn"

    @property
    def party(self) -> Party:
        """Whom it was shown to: only a judge's turn answers, and the other three only a worker's turn is."""
        return Party.SUPERVISOR if self is Evidence.ANSWERING_TURN else Party.WORKER


#: The operations that an ``edit-committed`` may hold. One that is not here is not read past.
OPERATIONS: Final = frozenset(
    (
        "node-added", "edge-added", "edge-removed", "node-dropped", "retry-requested", "node-parked",
        "node-requeued", "human-attested", "completion-requested", "finding-raised", "settled-from-evidence",
        "landing-from-evidence", "task-amended", "context-added", "note-delivered",
    )
)  # fmt: skip
