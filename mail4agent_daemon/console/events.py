"""Live counts: one stream of server-sent events for each open page, told after each change.

A stream looks again when an operation that writes was called, mail came, or another program changed a folder,
not more often than four times a second, and then only at what the change is about; every ten seconds it looks
at everything. There are no more than a few dozen; they end when the sign-in ends and when the daemon stops.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any, Final

from mail4agent_api.errors import OverloadedError, RefusalError
from mail4agent_daemon.waiting import disconnection

from .folders import Folders
from .reply import GUARDS, NO_STORE, Send
from .visit import Visit

STREAMS_MAX: Final = 48
OF_AN_ACCOUNT_MAX: Final = 16
#: Between two looks of a stream: what comes in this time is told together. After a look that took long it is
#: this many times as long, within the bound, so that streams leave the loop to others.
PAUSE_SECS: Final = 0.25
PAUSE_SHARE: Final = 4
PAUSE_MAX_SECS: Final = 0.5
#: Without any news; it also finds out that a client is gone.
LOOK_SECS: Final = 10.0
#: The seam whose changes are many, and of which no list of what waits is made.
MAIL: Final = "mail"
_KIND: Final = (b"content-type", b"text/event-stream; charset=utf-8")


#: Gives what a stream sends, having looked again at what is of some seams; None: at everything.
Look = Callable[[frozenset[str] | None], Awaitable[str]]


class _News:
    """What changed since a stream looked: seams, or anything."""

    def __init__(self) -> None:
        self._event = asyncio.Event()
        self._seams: set[str] | None = None

    def of(self, seam: str | None) -> None:
        """Something of a seam changed, or anything."""
        if seam is None:
            self._seams = None
        elif self._seams is not None:
            self._seams.add(seam)
        self._event.set()

    def taken(self) -> frozenset[str] | None:
        """What changed, which is old news from now on."""
        seams, self._seams = self._seams, set()
        self._event.clear()
        return None if seams is None else frozenset(seams)

    async def wait(self) -> None:
        """Return once there is news."""
        await self._event.wait()


class Events:
    """The streams of one daemon."""

    def __init__(self, folders: Folders) -> None:
        self._folders = folders
        #: Runs as long as any stream is open.
        self._watch: asyncio.Task[None] | None = None
        self._open: dict[_News, str] = {}
        self._stopping = False
        #: How many changes there were of what waits on a person; a page tells by it that its list is old.
        self.changes = 0

    def __len__(self) -> int:
        """How many are open."""
        return len(self._open)

    def changed(self, seam: str | None = None) -> None:
        """Something of a seam, or anything, may have changed: every stream looks at that again."""
        if seam is not None:
            self._folders.touched(seam)
        self._seen(seam)

    def _seen(self, seam: str | None) -> None:
        self.changes += seam != MAIL
        for news in self._open:
            news.of(seam)

    def stop(self) -> None:
        """End every stream."""
        self._stopping = True
        self.changed()

    async def stream(
        self,
        visit: Visit,
        look: Look,
        receive: Callable[[], Awaitable[MutableMapping[str, Any]]],
        send: Send,
    ) -> None:
        """Send what ``look`` gives whenever that changed, until somebody goes. Raises OverloadedError."""
        own = sum(account == visit.account for account in self._open.values())
        if self._stopping or len(self._open) >= STREAMS_MAX or own >= OF_AN_ACCOUNT_MAX:
            raise OverloadedError(retry_after_secs=5)
        news = _News()
        self._open[news] = visit.account
        if self._watch is None:
            self._watch = asyncio.create_task(self._folders.watch(self._seen))
        try:
            headers = [_KIND, *GUARDS, NO_STORE]
            await send({"type": "http.response.start", "status": 200, "headers": headers})
            with disconnection(receive) as gone:
                gone.add_done_callback(lambda _: news.of(None))
                await self._tell(look, news, gone, send)
        finally:
            del self._open[news]
            if not self._open:
                self._watch.cancel()
                self._watch = None

    async def _tell(
        self,
        look: Look,
        news: _News,
        gone: asyncio.Future[None],
        send: Send,
    ) -> None:
        loop, told = asyncio.get_running_loop(), ""
        while not (self._stopping or gone.done()):
            begun = loop.time()
            try:
                found = await look(news.taken())
            except RefusalError:
                # Signed out, or the store is not there: the page says so when it asks again.
                break
            piece = "".join(f"data: {line}\n" for line in found.split("\n")) if found != told else ":\n"
            told = found
            await send({"type": "http.response.body", "body": f"{piece}\n".encode(), "more_body": True})
            took = loop.time() - begun
            await asyncio.sleep(min(max(PAUSE_SECS, PAUSE_SHARE * took), PAUSE_MAX_SECS))
            try:
                async with asyncio.timeout(LOOK_SECS):
                    await news.wait()
            except TimeoutError:
                news.of(None)
        if not gone.done():
            await send({"type": "http.response.body", "body": b"", "more_body": False})
