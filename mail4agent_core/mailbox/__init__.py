"""Short texts that sessions on one machine leave each other, as files, with the taint of whoever wrote them.

A library that a harness embeds: it needs no daemon. ``MailboxStore`` keeps the files, ``MailboxRoute`` is
what a run has of it, ``MessageSendTool`` is what the model calls. docs/mailbox.md has a worked example.
"""

from .delivery import DELIVERY_STEM, is_harness_voice, render_delivery
from .message import Status, StoredMessage
from .outcomes import Confirmation, Duplicate, SendOutcome, Sent
from .registry import AgentMarker, Registry
from .route import Conversation, InboundPolicy, MailboxRoute, inbound_policy
from .store import MailboxStore
from .tool import MessageSendTool, Phase, ToolContext, ToolOutput

__all__ = [
    "DELIVERY_STEM",
    "AgentMarker",
    "Confirmation",
    "Conversation",
    "Duplicate",
    "InboundPolicy",
    "MailboxRoute",
    "MailboxStore",
    "MessageSendTool",
    "Phase",
    "Registry",
    "SendOutcome",
    "Sent",
    "Status",
    "StoredMessage",
    "ToolContext",
    "ToolOutput",
    "inbound_policy",
    "is_harness_voice",
    "render_delivery",
]
