"""A refusal of a wrong secret is held back, each further one on its connection for twice as long.

Only that connection waits: nobody can slow another down. What is held back is a timer, no thread and
no body but what the socket had brought already, and there are no more of them than ``DELAYED_MAX``; one too
many is refused at once. Whoever shows no secret
has guessed nothing, and is not held back.
"""

import asyncio
from collections.abc import Callable, Iterable
from typing import Protocol

from .link import Link

LONGEST_SECS = 2.0
#: Refusals held back at once.
DELAYED_MAX = 256


class Timer(Protocol):
    """A call to come."""

    def cancel(self) -> None:
        """Do not call."""
        ...


#: Calls a function after so many seconds.
Later = Callable[[float, Callable[[], None]], Timer]


def _later(secs: float, call: Callable[[], None]) -> Timer:
    return asyncio.get_running_loop().call_later(secs, call)


class Delays:
    """The refusals that one daemon holds back, the first of a connection for ``first_secs``; 0: none."""

    def __init__(self, first_secs: float, later: Later = _later) -> None:
        self._first_secs = first_secs
        self._later = later
        self._held = 0
        #: How many were held back, and how many were not because there were too many.
        self.delayed = 0
        self.undelayed = 0

    def __len__(self) -> int:
        """How many are held back now."""
        return self._held

    def passed(self, link: Link | None) -> None:
        """Forget what failed on a connection: a good secret was shown on it."""
        if link is not None:
            link.failures = 0

    async def failed(self, link: Link | None, headers: Iterable[tuple[bytes, bytes]]) -> None:
        """Hold the refusal of what these headers show back.

        It ends early when the connection ends or the daemon stops (``Link.release``).
        """
        if link is None or all(name != b"authorization" for name, _ in headers):
            return
        secs = min(self._first_secs * 2 ** min(link.failures, 8), LONGEST_SECS)
        link.failures += 1
        if link.released or not secs:
            return
        if self._held >= DELAYED_MAX:
            self.undelayed += 1
            return
        over = asyncio.get_running_loop().create_future()

        def end() -> None:
            if not over.done():
                over.set_result(None)

        self._held += 1
        self.delayed += 1
        timer, link.on_release = self._later(secs, end), end
        try:
            await over
        finally:
            link.on_release = None
            timer.cancel()
            self._held -= 1
