"""What agents want to send, staged until a person has read it: nothing leaves unread, and it leaves once.

A library that a harness or a daemon embeds. ``OutboxStore`` keeps the drafts, ``Releases`` lets one leave
through a ``Sink``, ``Decisions`` is what else may become of it, ``OutboxRoute`` is what a run asks.
docs/outbox.md has a worked example.
"""

from .decisions import Decisions
from .difference import diff_args
from .digest import attempt_key, digest_of
from .item import FileRecord, Intent, NotAnItemError, OutboxItem, OutboxKind, Status, is_item_id
from .outcome import WritingOutcome, WritingTally
from .release import STEPS, Delivered, NotSent, Outcome, Releases, Step, Unknown
from .review import summarize
from .route import OutboxRoute
from .shown import hidden, shown, shown_line
from .sink import NotSentError, Outgoing, Sink, StagedFile, sink_text
from .spoken import SpokenDraft, spoken
from .staging import Briefed, NobodyBriefed, staged_taint
from .store import OutboxStore, UnreadableItemError
from .view import DraftView, provider_ids, with_body

__all__ = [
    "STEPS",
    "Briefed",
    "Decisions",
    "Delivered",
    "DraftView",
    "FileRecord",
    "Intent",
    "NobodyBriefed",
    "NotAnItemError",
    "NotSent",
    "NotSentError",
    "OutboxItem",
    "OutboxKind",
    "OutboxRoute",
    "OutboxStore",
    "Outcome",
    "Outgoing",
    "Releases",
    "Sink",
    "SpokenDraft",
    "StagedFile",
    "Status",
    "Step",
    "Unknown",
    "UnreadableItemError",
    "WritingOutcome",
    "WritingTally",
    "attempt_key",
    "diff_args",
    "digest_of",
    "hidden",
    "is_item_id",
    "provider_ids",
    "shown",
    "shown_line",
    "sink_text",
    "spoken",
    "staged_taint",
    "summarize",
    "with_body",
]
