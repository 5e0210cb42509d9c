"""The tool ``message_send``: how a model leaves a message. It writes the recipient and the text, nothing
else.

It changes nothing in a workspace and leaves the machine nothing, so it is offered to runs that only read; it
sets another agent in motion, so it refuses while planning. Whatever happens is a text for the model, no
exception.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, ClassVar

from mail4agent_api.errors import MailboxFullError, MalformedError, RefusalError, TooLargeError
from mail4agent_api.mail import Taint
from mail4agent_core.files import FolderError

from .outcomes import Duplicate, Known
from .route import MailboxRoute


class Phase(StrEnum):
    """What a run may do: everything, or look and think."""

    EXECUTE = "execute"
    PLAN = "plan"


@dataclass(frozen=True, slots=True)
class ToolContext:
    """What the harness says of one call; the model has no part in it."""

    phase: Phase = Phase.EXECUTE
    #: The taint of this turn; None, as a subagent has it, counts as both legs.
    taint: Taint | None = None


@dataclass(frozen=True, slots=True)
class ToolOutput:
    """What the model is told."""

    content: str
    is_error: bool = False


class MessageSendTool:
    """``message_send`` of one run."""

    name: ClassVar[str] = "message_send"
    description: ClassVar[str] = (
        "Leave a short text message for another mecha agent on this machine, named by producer: `chat` for "
        "the "
        "interactive session, a trigger's name for a scheduled run. Delivered at the recipient's next turn; "
        "if "
        "none is running, it waits. Text only — for anything large, write a file and send its path. No reply "
        "is "
        "guaranteed."
    )
    input_schema: ClassVar[Mapping[str, Any]] = {
        "type": "object",
        "properties": {
            "to": {
                "type": "string",
                "description": "Recipient producer name (lowercase letters, digits, `-`, `_`).",
            },
            "body": {"type": "string"},
            "reply_to": {"type": "string", "description": "Id of the message this answers, if any."},
        },
        "required": ["to", "body"],
    }
    #: For the gate that asks a person: nothing leaves, nothing in the workspace changes.
    read_only: ClassVar[bool] = True

    def __init__(self, route: MailboxRoute) -> None:
        self._route = route

    def call(self, arguments: Mapping[str, object], context: ToolContext) -> ToolOutput:
        """Send, and tell the model what came of it."""
        if context.phase is Phase.PLAN:
            return _error(
                "message_send is not available while planning — sending sets another agent in motion, which "
                "is "
                "not a planning action. Nothing was sent."
            )
        to, body, reply_to = (arguments.get(key) for key in ("to", "body", "reply_to"))
        if not isinstance(to, str):
            return _error("message_send needs `to`")
        if not isinstance(body, str):
            return _error("message_send needs `body`")
        identity = self._route.identity()
        if identity is None:
            return _error("this run has no messaging identity, so it cannot send. Nothing was sent.")
        try:
            outcome = self._route.store.send(
                to,
                identity.producer,
                identity.session,
                body,
                reply_to if isinstance(reply_to, str) else None,
                self._route.stamped(context.taint),
            )
        except RefusalError as refusal:
            cap = self._route.store.limits.pending_cap
            return _error(f"message_send failed: {_explained(refusal, to, cap)}")
        except FolderError:
            return _error("message_send failed: the mailboxes cannot be used. Nothing was sent.")
        if isinstance(outcome, Duplicate):
            return ToolOutput(
                f"An identical message to `{to}` is already pending as {outcome.id}. Nothing new was sent; "
                f"do "
                "not retry the call."
            )
        return ToolOutput(
            f"Sent to `{to}` as {outcome.id}. It is delivered when that agent next takes a turn; no reply is "
            f"guaranteed. Do not retry the call.{said_of(outcome.recipient)}"
        )


def said_of(known: Known) -> str:
    """What a sender is told of its recipient: nothing of one that was seen."""
    if known.seen:
        return ""
    meant = f" Did you mean {' or '.join(f'`{name}`' for name in known.near)}?" if known.near else ""
    return f" No agent of that name was ever seen on this machine.{meant}"


def _error(text: str) -> ToolOutput:
    return ToolOutput(text, is_error=True)


def _explained(refusal: RefusalError, to: str, cap: int) -> str:
    match refusal:
        case TooLargeError() if refusal.refusal.field == "body":
            told = refusal.refusal
            return (
                f"message body is {told.actual} bytes; the limit is {told.limit}. Write the content to a "
                f"file "
                "in your workspace and send its path instead."
            )
        case MailboxFullError() if refusal.refusal.scope == "sender":
            return (
                "too many of your messages wait there, so the mailbox is full for you. Nothing was sent — "
                "what "
                "you sent has to be read first."
            )
        case MailboxFullError():
            return (
                f"mailbox for `{to}` is full ({cap} pending). Nothing was sent — the backlog has to be read "
                "or cleared first."
            )
        case MalformedError():
            return f"{refusal.refusal.field} {refusal.refusal.reason}. Nothing was sent."
        case _:
            return f"{refusal.kind}. Nothing was sent."
