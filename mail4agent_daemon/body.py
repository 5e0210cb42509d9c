"""Reading a request's body within bounds: bytes, time, and memory for all bodies together."""

import asyncio
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from mail4agent_api.errors import OverloadedError, RequestTooLargeError

from .limits import Limits
from .refusals import malformed_request


class BodyBudget:
    """Memory that large bodies share, from their bytes' arrival to their answer.

    A body draws on it only past ``small_body_max_bytes``, and by what has arrived, not by what was declared:
    neither an idle upload nor a full budget keeps ordinary mail out. What small bodies can hold is bounded by
    the connections.
    """

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._held_bytes = 0

    @property
    def held_bytes(self) -> int:
        """What is drawn at present."""
        return self._held_bytes

    def draw(self, size_bytes: int, drawn_bytes: int) -> int:
        """Return what a body that has grown to ``size_bytes`` holds; ``drawn_bytes`` is what it held before.

        Raises OverloadedError when the budget is spent; nothing is drawn then.
        """
        if size_bytes <= self._limits.small_body_max_bytes:
            return drawn_bytes
        if self._held_bytes + size_bytes - drawn_bytes > self._limits.in_flight_body_bytes_max:
            raise OverloadedError(retry_after_secs=1)
        self._held_bytes += size_bytes - drawn_bytes
        return size_bytes

    def release(self, drawn_bytes: int) -> None:
        """Give back what a body held."""
        self._held_bytes -= drawn_bytes


async def read_body(
    receive: Callable[[], Awaitable[MutableMapping[str, Any]]],
    limits: Limits,
    budget: BodyBudget,
) -> tuple[bytes, int] | None:
    """Return the body and what it draws on the budget, for the caller to release; None when the client is
    gone.

    ``length`` is the declared length, already checked; without one the body is counted while it is read.
    Raises RequestTooLargeError, OverloadedError, or MalformedError when the body does not arrive in time.
    """
    parts: list[bytes] = []
    size = drawn = 0
    complete = False
    try:
        async with asyncio.timeout(limits.body_read_timeout_secs):
            while not complete:
                message = await receive()
                if message["type"] == "http.disconnect":
                    return None
                part: bytes = message.get("body", b"")
                size += len(part)
                if size > limits.request_body_max_bytes:
                    raise RequestTooLargeError(limit=limits.request_body_max_bytes)
                drawn = budget.draw(size, drawn)
                parts.append(part)
                complete = not message.get("more_body", False)
        kept, drawn = drawn, 0
        return b"".join(parts) if len(parts) != 1 else parts[0], kept
    except TimeoutError:
        raise malformed_request("has a body that did not arrive in time") from None
    finally:
        budget.release(drawn)
