"""A flag to wait for, in a few bytes: a daemon holds several for each parked reader."""

import asyncio


class Flag:
    """What ``asyncio.Event`` does, whose queue of waiters alone takes 0.7 KiB.

    Its methods are coroutines where Hypercorn awaits them.
    """

    __slots__ = ("_set", "_waiters")

    def __init__(self) -> None:
        self._set = False
        self._waiters: list[asyncio.Future[None]] | None = None

    def lower(self) -> None:
        """Let who waits from now on wait."""
        self._set = False

    def raise_(self) -> None:
        """Let all go on who wait."""
        self._set = True
        waiters, self._waiters = self._waiters, None
        for waiter in waiters or ():
            if not waiter.done():
                waiter.set_result(None)

    async def wait(self) -> None:
        """Wait until the flag is up."""
        if self._set:
            return
        waiter = asyncio.get_running_loop().create_future()
        if self._waiters is None:
            self._waiters = []
        waiters = self._waiters
        waiters.append(waiter)
        try:
            await waiter
        finally:
            if waiters is self._waiters:
                # It was cancelled, for the flag is not up.
                waiters.remove(waiter)

    async def set(self) -> None:
        """Raise it."""
        self.raise_()

    async def clear(self) -> None:
        """Lower it."""
        self.lower()
