"""Reading a request's body within bounds: bytes, time, and memory for all bodies together."""

import asyncio
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from mail4agent_api.errors import OverloadedError, RequestTooLargeError

from .limits import Limits
from .refusals import malformed_request


class BodyBudget:
    """Memory that large bodies share: a request's from its bytes' arrival to its answer, an answer's until it
    is taken.

    A body draws on it only past ``small_body_max_bytes``, and by what has arrived, not by what was declared:
    neither an idle upload nor a full budget keeps ordinary mail out. What small bodies can hold is bounded by
    the connections.
    """

    def __init__(self, small_bytes: int, all_bytes: int) -> None:
        self._small_bytes = small_bytes
        self._all_bytes = all_bytes
        self._held_bytes = 0

    @property
    def held_bytes(self) -> int:
        """What is drawn at present."""
        return self._held_bytes

    def draw(self, size_bytes: int, drawn_bytes: int) -> int:
        """Return what a body that has grown to ``size_bytes`` holds; ``drawn_bytes`` is what it held before.

        Raises OverloadedError when the budget is spent; nothing is drawn then.
        """
        if size_bytes <= self._small_bytes:
            return drawn_bytes
        if self._held_bytes + size_bytes - drawn_bytes > self._all_bytes:
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
    max_bytes: int,
) -> tuple[bytes, int] | None:
    """Return the body and what it draws on the budget, for the caller to release; None when the client is
    gone.

    The declared length was checked; without one the body is counted while it is read.
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
                if size > max_bytes:
                    raise RequestTooLargeError(limit=max_bytes)
                drawn = budget.draw(size, drawn)
                parts.append(part)
                complete = not message.get("more_body", False)
        kept, drawn = drawn, 0
        return b"".join(parts) if len(parts) != 1 else parts[0], kept
    except TimeoutError:
        raise malformed_request("has a body that did not arrive in time") from None
    finally:
        budget.release(drawn)
