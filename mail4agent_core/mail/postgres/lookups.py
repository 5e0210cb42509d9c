"""Looking secrets up together: those presented while a look-up is on its way share the next one.

Each is looked up after it was presented, as a secret that another daemon has ended must be refused.
"""

import asyncio

from mail4agent_core.mail.records import Account

from .readers import Readers
from .registry import accounts_by_digest

#: How many look-ups are on their way at a time.
LOOKUPS_MAX = 2


class Lookups:
    """Finds the accounts of secrets; everything here runs on the event loop."""

    def __init__(self, readers: Readers) -> None:
        self._readers = readers
        self._waiting: dict[bytes, asyncio.Future[Account | None]] = {}
        self._running: set[asyncio.Task[None]] = set()
        self._called = False

    async def account(self, digest: bytes) -> Account | None:
        """The account whose secret has a digest as of now.

        Raises StoreUnavailableError, OverloadedError.
        """
        answer = self._waiting.get(digest)
        if answer is None:
            loop = asyncio.get_running_loop()
            answer = self._waiting[digest] = loop.create_future()
            # Whoever waits for it may be gone by then: nobody else looks at the fault.
            answer.add_done_callback(lambda done: done.cancelled() or done.exception())
            if not self._called and len(self._running) < LOOKUPS_MAX:
                # In the next turn of the loop, so that all that arrived in this one share it.
                self._called = True
                loop.call_soon(self._next)
        return await asyncio.shield(answer)

    def _next(self) -> None:
        self._called = False
        if self._waiting and len(self._running) < LOOKUPS_MAX:
            taken, self._waiting = self._waiting, {}
            task = asyncio.get_running_loop().create_task(self._look(taken))
            self._running.add(task)
            task.add_done_callback(self._done)

    def _done(self, task: "asyncio.Task[None]") -> None:
        self._running.discard(task)
        self._next()

    async def _look(self, taken: dict[bytes, "asyncio.Future[Account | None]"]) -> None:
        try:
            found = await self._readers.now(
                "authenticate", lambda db: accounts_by_digest(db, tuple(taken)), single=True
            )
        except asyncio.CancelledError:
            for answer in taken.values():
                answer.cancel()
            raise
        except Exception as fault:  # noqa: BLE001  # whatever it is, those who wait are told
            for answer in taken.values():
                answer.set_exception(fault)
        else:
            for digest, answer in taken.items():
                answer.set_result(found.get(digest))
