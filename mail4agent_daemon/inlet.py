"""What the client of one request sends, on its way to the application.

Hypercorn's own queue blocks the connection when the application stops reading: after an early answer to a
long upload both would wait for each other for ever. Here a disconnection always passes, and what comes after
it is discarded.
"""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from hypercorn.asyncio.task_group import TaskGroup
from hypercorn.config import Config
from hypercorn.typing import AppWrapper, ASGIReceiveEvent, ASGISendEvent, Scope

from .flag import Flag
from .log import Log

_GONE: Any = {"type": "http.disconnect"}


class Inlet:
    """A bounded queue of ASGI events, at most ``size`` at once, that ends with a disconnection.

    ``asked`` is awaited whenever the application asks for what has not come yet.
    """

    __slots__ = ("_asked", "_closed", "_events", "_readable", "_size", "_writable")

    def __init__(self, size: int, asked: Callable[[], Awaitable[None]] | None = None) -> None:
        self._asked = asked
        self._size = size
        # As a rule one event, and never more than a few: a deque takes 0.6 KiB for its first.
        self._events: list[ASGIReceiveEvent] = []
        self._closed = False
        self._readable = Flag()
        self._writable = Flag()

    async def put(self, event: ASGIReceiveEvent) -> None:
        """Queue an event, once there is room. A disconnection needs none, and nothing is queued after it."""
        while not self._closed:
            if event["type"] == "http.disconnect":
                self._closed = True
                self._writable.raise_()
            elif len(self._events) >= self._size:
                self._writable.lower()
                await self._writable.wait()
                continue
            else:
                self._events.append(event)
            self._readable.raise_()
            return

    async def get(self) -> ASGIReceiveEvent:
        """Return the next event; after the last one, and for ever, the disconnection."""
        while not self._events:
            if self._closed:
                return dict(_GONE)  # pyright: ignore[reportReturnType]
            self._readable.lower()
            if self._asked is not None:
                await self._asked()
            await self._readable.wait()
        self._writable.raise_()
        return self._events.pop(0)


class MailTaskGroup(TaskGroup):
    """The tasks of one connection, its requests fed through an ``Inlet``."""

    #: Awaited when the application asks for what its client has not sent yet.
    asked: Callable[[], Awaitable[None]] | None = None

    def __init__(self, loop: asyncio.AbstractEventLoop, log: Log) -> None:
        super().__init__(loop)
        self._log = log
        self._answering: asyncio.Task[None] | None = None

    def cancel(self) -> None:
        """Cancel the application's work on the present request."""
        if self._answering is not None:
            self._answering.cancel()

    async def spawn_app(
        self,
        app: AppWrapper,
        config: Config,
        scope: Scope,
        send: Callable[[ASGISendEvent | None], Awaitable[None]],
    ) -> Callable[[ASGIReceiveEvent], Awaitable[None]]:
        """Start the application on one request; returns the way in for what its client sends."""
        inlet = Inlet(config.max_app_queue_size, self.asked)
        # HTTP/1.1 answers in order: there is one at a time.
        self._answering = self._task_group.create_task(self._answer(app, scope, inlet, send))
        return inlet.put

    async def _answer(
        self,
        app: AppWrapper,
        scope: Scope,
        inlet: Inlet,
        send: Callable[[ASGISendEvent | None], Awaitable[None]],
    ) -> None:
        try:
            await app(scope, inlet.get, send, self._unused, self._unused)
        except Exception as failure:  # noqa: BLE001  an exception here would end the connection's other tasks
            self._log.failed("application_failed", failure)
        finally:
            await send(None)

    @staticmethod
    def _unused(*_: object) -> None:
        raise RuntimeError("only WSGI applications call this")
