"""The one way from a door to an engine: identify, authorise, decode, call, encode.

Every door hands in the same thing, a call of a row of the table of operations. A refusal is raised; the
door's transport puts it on its wire.
"""

from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from dataclasses import dataclass
from typing import Any, Protocol

from mail4agent_api._wire import WireModel
from mail4agent_api.codec import decode, encode
from mail4agent_api.errors import MalformedError
from mail4agent_api.operations import OPERATIONS, Operation
from mail4agent_core.mail.identity import Caller
from mail4agent_core.mail.wire import Wire

from .link import Link

Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
_EMPTY = b"{}"


@dataclass(slots=True)
class Call:
    """One request to one operation, before anything of it is believed."""

    operation: Operation
    #: The SHA-256 of the secret that was presented.
    digest: bytes
    body: bytes
    #: What the connection does next, for those who wait.
    receive: Receive
    #: The connection that it came on; None where there is none, as in a test of a door.
    link: Link | None = None
    #: Whether it asks to act for an ancestor of its process.
    for_parent: bool = False
    #: What of its caller's capabilities it acts with; none: all of them.
    acts_with: tuple[str, ...] = ()
    #: What the account still has to pay for it, in tokens.
    cost: int = 0
    #: Known once the call is identified.
    caller: Caller | None = None
    #: The user of the attested process; None where no kernel vouched.
    uid: int | None = None


#: What answers an operation: the identified call, its caller, the decoded request.
Handler = Callable[[Call, Caller, Any], Awaitable[WireModel | Wire[Any]]]


class Identifying(Protocol):
    """What finds out who calls."""

    async def identify(self, call: Call) -> Caller:
        """The caller, once it is known that it may call."""
        ...

    async def again(self, call: Call) -> Caller:
        """The caller of the same call as things are by now."""
        ...


class Dispatch:
    """Calls operations; every row that needs a credential must have a handler."""

    def __init__(self, handlers: Mapping[str, Handler], identifier: Identifying) -> None:
        wanted = {name for name, row in OPERATIONS.items() if row.authenticated}
        if wanted != handlers.keys():
            odd = sorted(wanted ^ handlers.keys())
            raise ValueError(f"rows without a handler, or handlers without a row: {odd}")
        self._handlers = handlers
        self._identifier = identifier
        self._listeners: list[Callable[[Operation], None]] = []

    def subscribe(self, listener: Callable[[Operation], None]) -> None:
        """Have a listener called after each call that may have changed something, whatever came of it."""
        self._listeners.append(listener)

    async def identify(self, call: Call) -> Caller:
        """Find out who calls, once, and whether it may. Raises what the identifier raises."""
        return await self._identifier.identify(call)

    async def run(self, call: Call) -> bytes:
        """Return the encoded answer. Raises RefusalError."""
        operation = call.operation
        # A body may come long after its head: what was believed then may have ended meanwhile.
        caller = await self._identifier.again(call)
        if call.acts_with:
            caller.needs(call.acts_with)
            caller = caller.only(call.acts_with)
        body = call.body
        if not body:
            if not operation.lenient_body:
                raise MalformedError(field="request", reason="must be a JSON object; the body is empty")
            body = _EMPTY
        assert operation.request is not None
        request = decode(operation.request, body)
        try:
            answer = await self._handlers[operation.name](call, caller, request)
        finally:
            if operation.effect == "write":
                for listener in self._listeners:
                    listener(operation)
        return answer.raw if isinstance(answer, Wire) else encode(answer)
