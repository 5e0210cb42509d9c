"""Live counts: one stream of server-sent events for each open page, told after each change.

A stream looks again when an operation that writes was called, not more often than four times a second, and
every ten seconds for what other programs put into the folders. There are no more than a few dozen; they end
when the sign-in ends and when the daemon stops.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any, Final

from mail4agent_api.errors import OverloadedError, RefusalError
from mail4agent_daemon.waiting import disconnection

from .reply import GUARDS, NO_STORE, Send
from .visit import Visit

STREAMS_MAX: Final = 48
OF_AN_ACCOUNT_MAX: Final = 16
#: Between two looks of a stream: what comes in this time is told together.
PAUSE_SECS: Final = 0.25
#: Without any news; it also finds out that a client is gone.
LOOK_SECS: Final = 10.0
_KIND: Final = (b"content-type", b"text/event-stream; charset=utf-8")


class Events:
    """The streams of one daemon."""

    def __init__(self) -> None:
        self._open: dict[asyncio.Event, str] = {}
        self._stopping = False

    def __len__(self) -> int:
        """How many are open."""
        return len(self._open)

    def changed(self) -> None:
        """Something may have changed: every stream looks again."""
        for news in self._open:
            news.set()

    def stop(self) -> None:
        """End every stream."""
        self._stopping = True
        self.changed()

    async def stream(
        self,
        visit: Visit,
        look: Callable[[], Awaitable[str]],
        receive: Callable[[], Awaitable[MutableMapping[str, Any]]],
        send: Send,
    ) -> None:
        """Send what ``look`` gives whenever that changed, until somebody goes. Raises OverloadedError."""
        own = sum(account == visit.account for account in self._open.values())
        if self._stopping or len(self._open) >= STREAMS_MAX or own >= OF_AN_ACCOUNT_MAX:
            raise OverloadedError(retry_after_secs=5)
        news = asyncio.Event()
        self._open[news] = visit.account
        try:
            headers = [_KIND, *GUARDS, NO_STORE]
            await send({"type": "http.response.start", "status": 200, "headers": headers})
            with disconnection(receive) as gone:
                gone.add_done_callback(lambda _: news.set())
                await self._tell(look, news, gone, send)
        finally:
            del self._open[news]

    async def _tell(
        self,
        look: Callable[[], Awaitable[str]],
        news: asyncio.Event,
        gone: asyncio.Future[None],
        send: Send,
    ) -> None:
        told = ""
        while not (self._stopping or gone.done()):
            news.clear()
            try:
                found = await look()
            except RefusalError:
                # Signed out, or the store is not there: the page says so when it asks again.
                break
            piece = "".join(f"data: {line}\n" for line in found.split("\n")) if found != told else ":\n"
            told = found
            await send({"type": "http.response.body", "body": f"{piece}\n".encode(), "more_body": True})
            await asyncio.sleep(PAUSE_SECS)
            try:
                async with asyncio.timeout(LOOK_SECS):
                    await news.wait()
            except TimeoutError:
                continue
        if not gone.done():
            await send({"type": "http.response.body", "body": b"", "more_body": False})
