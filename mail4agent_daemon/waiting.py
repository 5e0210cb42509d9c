"""Parked readers: they wait for a wake-up on any of their boxes without polling and without holding a lock.

A reader registers before it looks, so that a message committed between its look and its wait still ends the
wait:

    with waiters.register(keys, account) as ticket, disconnection(receive) as gone:
        while not found(await look()):
            if await ticket.wait(remaining_secs, gone) is not Outcome.WOKEN:
                break

Keys are the text forms of addresses: ``writer``, ``writer/s-…``, ``#desk``. A wake-up says that something
happened there, not what: the reader looks again. Everything here runs on the event loop's thread.

Readers of the same keys share one entry under each: a further wait of an account in a thousand rooms costs
as little as one of an account in none.
"""

import asyncio
import time
from collections import deque
from collections.abc import Awaitable, Callable, Iterable, Iterator, MutableMapping
from contextlib import contextmanager
from enum import Enum
from types import TracebackType
from typing import Any, Self

from mail4agent_api.errors import OverloadedError

from .limits import Limits

#: What a reader is told to wait before it tries again when all places are taken.
RETRY_AFTER_SECS = 2
#: How many readers are resumed in one turn of the loop at most: each looks, which takes a fraction of a
#: millisecond, and more in many rooms.
WAKE_STEP = 8
#: A turn that took longer, in seconds, is followed by one of half as many readers.
WAKE_STEP_SECS = 0.005


class Outcome(Enum):
    """Why a wait ended."""

    WOKEN = "woken"
    """Something happened on one of the keys; look again."""
    TIMED_OUT = "timed out"
    """The time is over; answer with what there is."""
    RELEASED = "released"
    """The daemon stops, or the caller's rights changed; answer at once, with what it may still see."""
    GONE = "gone"
    """The client disconnected; nobody reads an answer."""


class Ticket:
    """One reader's place. Wake-ups from its registration on are kept until ``wait`` reports them."""

    __slots__ = ("_future", "_released", "_waiters", "_woken", "account", "keys")

    def __init__(self, waiters: "Waiters", keys: frozenset[str], account: str) -> None:
        self._waiters = waiters
        self.keys = keys
        self.account = account
        self._woken = False
        self._released = False
        self._future: asyncio.Future[None] | None = None

    async def wait(self, timeout_secs: float, gone: "asyncio.Future[None] | None" = None) -> Outcome:
        """Wait until something happens on a key, the time is over, the place is released or ``gone`` is done.

        A wake-up since the registration or the last wait ends it at once.
        """
        if not (self._woken or self._released or (gone is not None and gone.done())):
            if timeout_secs <= 0:
                return Outcome.TIMED_OUT
            await self._sleep(timeout_secs, gone)
        # Last things first: no answer reaches a client that left, and no rights are assumed that may have
        # ended.
        if gone is not None and gone.done():
            return Outcome.GONE
        if self._released:
            return Outcome.RELEASED
        if self._woken:
            self._woken = False
            return Outcome.WOKEN
        return Outcome.TIMED_OUT

    async def _sleep(self, timeout_secs: float, gone: "asyncio.Future[None] | None") -> None:
        loop = asyncio.get_running_loop()
        self._future = loop.create_future()
        timer = loop.call_later(timeout_secs, self._resume)
        if gone is not None:
            gone.add_done_callback(self._resume)
        try:
            await self._future
        finally:
            timer.cancel()
            if gone is not None:
                gone.remove_done_callback(self._resume)
            self._future = None

    def _resume(self, _: object = None) -> None:
        if self._future is not None and not self._future.done():
            self._future.set_result(None)

    def note(self) -> bool:
        """Take note that something happened; the reader sees it when it next looks, or is resumed.

        Returns whether that is news: not when an earlier note still waits for the reader.
        """
        news, self._woken = not self._woken, True
        return news

    def resume(self) -> None:
        """Let a reader that sleeps look at what was noted."""
        if self._woken:
            self._resume()

    def release(self) -> None:
        """End this wait and every later one on this ticket."""
        self._released = True
        self._resume()

    def close(self) -> None:
        """Give the place up; harmless when it was."""
        self._waiters.forget(self)

    def __enter__(self) -> Self:
        """Hold the place for the length of the block."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Give the place up."""
        self.close()


class _Group:
    """The readers of the same keys."""

    __slots__ = ("keys", "tickets")

    def __init__(self, keys: frozenset[str]) -> None:
        self.keys = keys
        self.tickets: set[Ticket] = set()


class Waiters:
    """All parked readers of one daemon."""

    def __init__(self, limits: Limits, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._limits = limits
        self._monotonic = monotonic
        self._parked = 0
        self._groups: dict[frozenset[str], _Group] = {}
        self._by_key: dict[str, set[_Group]] = {}
        self._by_account: dict[str, int] = {}
        self._draining = False
        self._woken: deque[Ticket] = deque()
        self._waking = False
        self._step = WAKE_STEP
        self._stepped_at = 0.0

    @property
    def parked(self) -> int:
        """How many places are taken."""
        return self._parked

    def waits(self, key: str) -> bool:
        """Whether a reader of a key has a place."""
        return key in self._by_key

    @property
    def draining(self) -> bool:
        """Whether the daemon stops, so that nobody parks any more."""
        return self._draining

    def register(self, keys: Iterable[str], account: str) -> Ticket:
        """Take a place for a reader of ``account``.

        Raises OverloadedError when all places, or all of the account's, are taken.
        """
        ticket = Ticket(self, frozenset(keys), account)
        if self._draining:
            ticket.release()
            return ticket
        taken = self._by_account.get(account, 0)
        if self._parked >= self._limits.parked_max or taken >= self._limits.parked_per_account_max:
            raise OverloadedError(retry_after_secs=RETRY_AFTER_SECS)
        self._parked += 1
        self._by_account[account] = taken + 1
        group = self._group(ticket.keys)
        group.tickets.add(ticket)
        # A reader in a thousand rooms keeps no list of them to itself.
        ticket.keys = group.keys
        return ticket

    def _group(self, keys: frozenset[str]) -> _Group:
        group = self._groups.get(keys)
        if group is None:
            group = self._groups[keys] = _Group(keys)
            for key in keys:
                self._by_key.setdefault(key, set()).add(group)
        return group

    def _of(self, keys: Iterable[str]) -> Iterator[Ticket]:
        for key in keys:
            for group in self._by_key.get(key, ()):
                yield from group.tickets

    def wake(self, keys: Iterable[str]) -> None:
        """Tell every reader of any of the keys that something happened there."""
        for ticket in self._of(keys):
            if ticket.note():
                self._woken.append(ticket)
        if self._woken and not self._waking:
            # What one of them takes is seen first.
            self._step = 1
            self._wake_some()

    def _wake_some(self) -> None:
        """Resume the next few of those who were woken: a room of thousands keeps nobody else waiting."""
        now = self._monotonic()
        if self._waking:
            slow = now - self._stepped_at > WAKE_STEP_SECS
            self._step = max(1, self._step // 2) if slow else min(WAKE_STEP, self._step + 1)
        self._stepped_at = now
        for _ in range(min(self._step, len(self._woken))):
            self._woken.popleft().resume()
        self._waking = bool(self._woken)
        if self._waking:
            asyncio.get_running_loop().call_soon(self._wake_some)

    def release(self, keys: Iterable[str]) -> None:
        """End the waits of every reader of any of the keys, because what it may read has changed."""
        for ticket in self._of(keys):
            ticket.release()

    def close_all(self) -> None:
        """End all waits; from now on nobody parks."""
        self._draining = True
        for group in self._groups.values():
            for ticket in group.tickets:
                ticket.release()

    def forget(self, ticket: Ticket) -> None:
        """Take a place back."""
        group = self._groups.get(ticket.keys)
        if group is None or ticket not in group.tickets:
            return
        self._parked -= 1
        left = self._by_account[ticket.account] - 1
        if left:
            self._by_account[ticket.account] = left
        else:
            del self._by_account[ticket.account]
        group.tickets.discard(ticket)
        if not group.tickets:
            del self._groups[group.keys]
            for key in group.keys:
                groups = self._by_key[key]
                groups.discard(group)
                if not groups:
                    del self._by_key[key]


@contextmanager
def disconnection(
    receive: Callable[[], Awaitable[MutableMapping[str, Any]]],
) -> Iterator["asyncio.Future[None]"]:
    """Give a future that is done once the client has disconnected; the request's body must have been read."""
    watch = asyncio.get_running_loop().create_task(_until_disconnected(receive))
    try:
        yield watch
    finally:
        watch.cancel()


async def _until_disconnected(receive: Callable[[], Awaitable[MutableMapping[str, Any]]]) -> None:
    while (await receive())["type"] != "http.disconnect":
        continue
