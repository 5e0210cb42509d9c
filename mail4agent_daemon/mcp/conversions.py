"""What a tool asks of its operation, and what it tells of the answer.

A tool whose types are those of its operation needs nothing here. One with a ``Tool…`` type has a conversion
under its name: the request as the operation takes it, and the answer as a model is shown it.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from mail4agent_api._wire import WireModel
from mail4agent_api.addresses import address_of, text_of
from mail4agent_api.codec import encode
from mail4agent_api.mail import (
    AckResponse,
    InboxPage,
    InboxRequest,
    Message,
    MessageGetRequest,
    MessageId,
    Position,
    SendRequest,
    SendResponse,
    Status,
    ToolAckResult,
    ToolGetRequest,
    ToolGetResult,
    ToolInboxRequest,
    ToolInboxResult,
    ToolMessage,
    ToolSendRequest,
    ToolSendResult,
    ToolStatusResult,
    ToolWaitRequest,
    ToolWaitResult,
    ToolWhoAmIResult,
    WaitRequest,
    WaitResult,
    WhoAmI,
)
from mail4agent_api.operations import Operation

from . import briefs, drafts, peers
from .enclosure import Draw, boundary_for, enclosed, written

#: Clients end a call after a minute; a wait ends before that.
WAIT_SECS_MAX = 50
#: What is read of the store for a page; the reply is far smaller.
PAGE_BYTES = 131_072
#: What a message gets at least: room for the longest addresses and the beginning of its text. One that would
#: be cut in less is left to the next page.
_LEAST_BYTES = 800
ROOMS_MAX = 50

_READ = "There is unread mail: m4a_mail_inbox reads it. To wait for more, call again with newest as after."
_AGAIN = "Nothing is unread. To go on waiting, call again with newest as after."


@dataclass(frozen=True, slots=True)
class Conversion:
    """Between a tool and its operation."""

    #: The operation's request.
    ask: Callable[[Any], WireModel]
    #: The tool's result, of its request, the operation's answer and where boundaries are drawn.
    tell: Callable[[Any, Any, Draw], WireModel]


def conversion_of(row: Operation) -> Conversion:
    """The conversion of a row's tool. Raises ValueError where there is none and it needs one."""
    assert row.tool is not None
    found = CONVERSIONS.get(row.tool.name)
    if found is None and (row.tool.request, row.tool.result) == (row.request, row.response):
        found = _AS_IT_IS
    if found is None:
        raise ValueError(f"the tool {row.tool.name} has types of its own and no conversion")
    return found


def _same(request: Any) -> Any:
    return request


_AS_IT_IS = Conversion(_same, lambda request, answer, draw: answer)  # noqa: ARG005


def _send(request: ToolSendRequest) -> SendRequest:
    to = address_of(request.to) if isinstance(request.to, str) else request.to
    members = {name: value for name, value in request if name != "to"}
    return SendRequest(to=to, **members)


def _sent(request: ToolSendRequest, answer: SendResponse, draw: Draw) -> ToolSendResult:  # noqa: ARG001
    return ToolSendResult(message_id=answer.message_id, from_=text_of(answer.from_))


def _inbox(request: ToolInboxRequest) -> InboxRequest:
    newest = request.order == "newest"
    return InboxRequest(
        after=None if newest else request.after,
        before=request.after if newest else None,
        order=request.order,
        limit=request.limit,
        unread_only=request.unread_only,
        thread=request.thread,
        sent_by=request.sent_by,
        room=request.room,
        wait_secs=min(request.wait_secs, WAIT_SECS_MAX),
        max_bytes=PAGE_BYTES,
    )


def _position(message: Message) -> Position:
    return Position(created_at_unix_ms=message.created_at_unix_ms, message_id=message.message_id)


def _page(request: ToolInboxRequest, page: InboxPage, draw: Draw) -> ToolInboxResult:
    boundary = boundary_for((text for message in page.messages for text in written(message)), draw)

    def made(messages: list[ToolMessage], following: Position | None) -> ToolInboxResult:
        return ToolInboxResult(boundary=boundary, messages=messages, unread=page.unread, next=following)

    largest = Position(created_at_unix_ms=2**64 - 1, message_id=MessageId("m4a_" + "0" * 24))
    room = request.max_tokens - len(encode(made([], largest)))
    # One long message does not take the place of all others.
    share = room if len(page.messages) == 1 else max(room // 2, _LEAST_BYTES)
    shown: list[ToolMessage] = []
    following: Position | None = None
    for message in page.messages:
        found = enclosed(message, boundary, min(room, share))
        if found is None or (shown and found[0].cut and room < _LEAST_BYTES):
            break
        told, _, taken = found
        shown.append(told)
        following = _position(message)
        room -= taken + 1
    return made(shown, following)


def _get(request: ToolGetRequest) -> MessageGetRequest:
    return MessageGetRequest(message_id=request.message_id)


def _got(request: ToolGetRequest, message: Message, draw: Draw) -> ToolGetResult:
    boundary = boundary_for(written(message), draw)
    # What stands around the message, with the longest place there can be.
    around = len(b'{"boundary":"","message":,"next_byte":65536}') + len(boundary)
    found = enclosed(message, boundary, request.max_tokens - around, request.from_byte)
    assert found is not None, "the least bound has room for every message without its body"
    told, end, _ = found
    return ToolGetResult(boundary=boundary, message=told, next_byte=end if end < told.body_bytes else None)


def _acked(request: Any, answer: AckResponse, draw: Draw) -> ToolAckResult:  # noqa: ARG001
    return ToolAckResult(message_id=answer.ack.message_id, acked_at_unix_ms=answer.ack.acked_at_unix_ms)


def _whoami(request: Any, answer: WhoAmI, draw: Draw) -> ToolWhoAmIResult:  # noqa: ARG001
    declared = None if answer.card is None else answer.card.declared
    return ToolWhoAmIResult(
        address=text_of(answer.address),
        label=answer.label,
        rooms=answer.rooms[:ROOMS_MAX],
        rooms_left=max(0, len(answer.rooms) - ROOMS_MAX),
        working_on=None if declared is None else declared.working_on,
        role=None if declared is None else declared.role,
    )


def _status(request: Any, answer: Status, draw: Draw) -> ToolStatusResult:  # noqa: ARG001
    said = answer.card.declared
    return ToolStatusResult(working_on=said.working_on, role=said.role, parent=said.parent)


def _wait(request: ToolWaitRequest) -> WaitRequest:
    return WaitRequest(after=request.after, wait_secs=min(request.wait_secs, WAIT_SECS_MAX))


def _waited(request: ToolWaitRequest, answer: WaitResult, draw: Draw) -> ToolWaitResult:  # noqa: ARG001
    then = _READ if answer.unread else _AGAIN
    return ToolWaitResult(unread=answer.unread, newest=answer.newest, then=then)


CONVERSIONS: dict[str, Conversion] = {
    "m4a_mail_send": Conversion(_send, _sent),
    "m4a_mail_inbox": Conversion(_inbox, _page),
    "m4a_mail_wait": Conversion(_wait, _waited),
    "m4a_mail_ack": Conversion(_same, _acked),
    "m4a_mail_get": Conversion(_get, _got),
    "m4a_mail_whoami": Conversion(_same, _whoami),
    "m4a_mail_status": Conversion(_same, _status),
    "m4a_mail_peers": Conversion(peers.ask, peers.tell),
    "m4a_outbox_stage": Conversion(drafts.stage, drafts.staged),
    "m4a_outbox_list": Conversion(drafts.ask_list, drafts.tell_list),
    "m4a_outbox_get": Conversion(drafts.ask_get, drafts.tell_get),
    "m4a_outbox_withdraw": Conversion(_same, drafts.withdrawn),
    "m4a_outbox_supersede": Conversion(drafts.supersede, drafts.staged),
    "m4a_frontdoor_next": Conversion(briefs.ask, briefs.tell),
}
