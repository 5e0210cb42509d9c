"""Calls tools: the arguments by the contract, the operation through dispatch, the reply within its bound."""

import json
from collections.abc import Iterator, MutableMapping
from dataclasses import dataclass
from typing import Any

from mail4agent_api.codec import decode, decode_value, encode
from mail4agent_api.errors import InternalError, RefusalError
from mail4agent_api.operations import OPERATIONS
from mail4agent_api.published import published_text
from mail4agent_daemon.dispatch import Call, Dispatch
from mail4agent_daemon.log import Log

from .conversions import conversion_of
from .enclosure import Draw
from .replies import Refused, refused


@dataclass(frozen=True, slots=True)
class Exchange:
    """One request to the door, let in."""

    #: The identified call with which it was let in; it has paid for the request.
    knock: Call
    #: What the gate logs and counts it by.
    state: MutableMapping[str, Any]


class Tools:
    """Every operation that has a tool."""

    def __init__(self, dispatch: Dispatch, draw: Draw, log: Log) -> None:
        self._dispatch = dispatch
        self._draw = draw
        self._log = log
        rows = [row for row in OPERATIONS.values() if row.tool is not None]
        self._rows = {row.tool.name: (row, row.tool, conversion_of(row)) for row in rows if row.tool}

    @property
    def published(self) -> list[dict[str, Any]]:
        """The tools as clients are shown them, in the order of the table of operations."""
        return json.loads(published_text("tools.json"))["tools"]

    def visible(self, exchange: Exchange) -> Iterator[str]:
        """The names of the tools that a caller may use."""
        caller = exchange.knock.caller
        assert caller is not None
        return (
            name
            for name, (row, tool, _) in self._rows.items()
            if caller.may(tool.capability or row.capability)
        )

    async def call(self, exchange: Exchange, name: str, arguments: dict[str, Any]) -> bytes | Refused:
        """The encoded result of a tool, or how it was refused. The name must be that of a tool."""
        row, tool, conversion = self._rows[name]
        state, knock = exchange.state, exchange.knock
        state["route"] = f"{state['route']} {row.name}"
        call = Call(row, knock.digest, b"", knock.receive, knock.link, for_parent=knock.for_parent)
        call.acts_with = tool.capability
        try:
            # Whether it may is known before its arguments are looked at.
            caller = await self._dispatch.identify(call)
            caller.needs(tool.capability)
            request = decode_value(tool.request, arguments)
            call.body = encode(conversion.ask(request))
            answer = decode(row.response, await self._dispatch.run(call))
            return encode(conversion.tell(request, answer, self._draw))
        except RefusalError as refusal:
            if refusal.status >= 500 and refusal.__cause__ is not None:
                self._failed("refused", refusal, state)
            return refused(refusal)
        except Exception as failure:  # noqa: BLE001  the last resort, as in the gate
            self._failed("request_failed", failure, state)
            return refused(InternalError(request_id=state["request_id"]))

    def _failed(self, event: str, failure: Exception, state: MutableMapping[str, Any]) -> None:
        self._log.failed(event, failure, request_id=state["request_id"], route=state["route"])
