"""Ringing: which listeners are looked at when, and a bounded number of requests at once.

Commits wake it. It asks the store which listeners hear the boxes that changed, and serves each of those: note
what became of the last ring, take the next, ring, until nothing waits or the listener failed. One listener
has one request at a time. After each of its rings it goes to the end of the queue. Those that failed or were
slow have only half of the places, and together with those that never answered three quarters, so that a dead
listener delays nobody that works. What the store knows of a listener counts after a restart too.

All state that matters is the store's. A process that is killed after an answer, and before that was noted,
rings once more under the same ``webhook-id``.
"""

import asyncio
import random
import time
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from itertools import count

from mail4agent_api.codec import decode, encode
from mail4agent_api.errors import RefusalError
from mail4agent_api.mail import DeliveryNotification, Message, RingFailure
from mail4agent_core.clock import Clock
from mail4agent_core.mail.doorbells import (
    DEAD_FAILURES,
    PAUSE_MAX_MS,
    Attempt,
    Doorbell,
    DoorbellStore,
    Ring,
    pause_ms,
)
from mail4agent_core.mail.listeners import PortOwner
from mail4agent_core.mail.store import MailStore
from mail4agent_core.mail.webhook import Destination, destination_of, signature_of, webhook_id

from .limits import Limits
from .log import Log
from .ring_request import request_ring

#: A ring that takes longer marks its listener as slow, in seconds.
SLOW_SECS = 1.0
#: Standings of a listener: it answered promptly, never yet, or not when it was rung last.
PROMPT, UNTRIED, HINDERED = range(3)
#: When a store that failed is asked again, in seconds.
STORE_PAUSE_SECS = 1.0
#: How often the listeners of a shared store are looked at when nothing is heard of them, in seconds.
LOOK_SECS = 30.0

#: Asks the kernel whose process listens on a port; blocking.
BlockingPortOwner = Callable[[int], int | None]


def aside(port_owner: BlockingPortOwner) -> PortOwner:
    """The same, asked on a thread."""

    async def ask(port: int) -> int | None:
        return await asyncio.to_thread(port_owner, port)

    return ask


def _standing_of(doorbell: Doorbell) -> int:
    if doorbell.failures:
        return HINDERED
    return PROMPT if doorbell.rung else UNTRIED


def _turns(attempt: Attempt) -> bool:
    """Whether a listener dies, or comes back from the dead, by an attempt."""
    before = attempt.ring.doorbell
    return before.dead if attempt.failure is None else before.failures + 1 == DEAD_FAILURES


@dataclass(slots=True, eq=False)
class _Bell:
    """A listener as it is served."""

    owner: str
    #: Something happened since it was looked at last.
    wanted: bool = False
    #: It is in the queue, or has a place.
    busy: bool = False
    #: Its place in the queue, of all that ever queued.
    place: int = 0
    #: How it stood when it was rung last; None until the store says so.
    standing: int | None = None
    #: What became of its last ring, until the store has taken note.
    attempt: Attempt | None = None
    timer: asyncio.TimerHandle | None = None


class Doorbells:
    """Rings the listeners of one store; of one that is ``shared``, together with other daemons."""

    def __init__(
        self,
        store: MailStore,
        clock: Clock,
        limits: Limits,
        log: Log,
        *,
        port_owner: PortOwner,
        dice: Callable[[], float] = random.random,
        shared: bool = False,
    ) -> None:
        self._store: DoorbellStore = store
        self._clock = clock
        self._limits = limits
        self._log = log
        self._port_owner = port_owner
        self._dice = dice
        self._shared = shared
        self._bells: dict[str, _Bell] = {}
        self._changed: set[str] = set()
        self._woken = asyncio.Event()
        most = limits.ringing_max
        #: How many places those of a standing, and of the worse ones, have together.
        self._shares = (most, -(-most * 3 // 4), max(most // 2, 1))
        self._queues: tuple[deque[_Bell], ...] = (deque(), deque(), deque())
        self._places = count()
        self._serving: dict[asyncio.Task[None], int] = {}
        self._stopping = False
        self._store_failed = False
        self._watch: asyncio.Task[None] | None = None
        self._listeners: list[Callable[[], None]] = []
        store.subscribe(self._told)

    def subscribe(self, listener: Callable[[], None]) -> None:
        """Have a listener called after it was noted that a bell is dead, or that a dead one works again.

        Another daemon's on the same store are not heard of.
        """
        self._listeners.append(listener)

    async def start(self) -> None:
        """Take up what waits. Raises StoreUnavailableError."""
        for owner in await self._store.doorbells():
            self.hear(owner)
        self._watch = asyncio.create_task(self._watching())

    def hear(self, owner: str) -> None:
        """Look at an owner's listener, which may have been set just now."""
        self._want(self._bells.setdefault(owner, _Bell(owner)))

    def look(self) -> None:
        """Look at every listener, as when the clock was turned."""
        for bell in tuple(self._bells.values()):
            self._want(bell)

    def stop(self) -> None:
        """Ring nobody from now on; what is on its way goes on."""
        self._stopping = True
        for bell in self._bells.values():
            if bell.timer is not None:
                bell.timer.cancel()
        for queue in self._queues:
            queue.clear()
        if self._watch is not None:
            self._watch.cancel()

    async def close(self) -> None:
        """Stop, and let what is on its way end within its bound."""
        self.stop()
        if self._serving:
            _, late = await asyncio.wait(self._serving, timeout=self._limits.ring_stop_secs)
            for task in late:
                task.cancel()
        await asyncio.gather(
            *self._serving, *([self._watch] if self._watch is not None else ()), return_exceptions=True
        )

    def _told(self, changed: frozenset[str]) -> None:
        # All that a commit pays for doorbells.
        if self._bells or self._shared:
            self._changed |= changed
            self._woken.set()

    async def _watching(self) -> None:
        while True:
            # Where others set listeners and may end with rings that wait, all are looked at now and then.
            with suppress(TimeoutError):
                async with asyncio.timeout(LOOK_SECS if self._shared else None):
                    await self._woken.wait()
            changed, self._changed = self._changed, set()
            try:
                owners = (
                    self._store.listening_to(changed) if self._woken.is_set() else self._store.doorbells()
                )
                self._woken.clear()
                for owner in await owners:
                    self.hear(owner)
            except RefusalError as failure:
                self._note_fault(failure)
                self.look()

    def _want(self, bell: _Bell) -> None:
        bell.wanted = True
        if bell.timer is not None:
            bell.timer.cancel()
            bell.timer = None
        if not bell.busy and not self._stopping:
            self._queue(bell)
            self._fill()

    def _queue(self, bell: _Bell) -> None:
        bell.busy, bell.place = True, next(self._places)
        # One that is not known yet gives its place back once it is.
        self._queues[bell.standing or PROMPT].append(bell)

    def _fill(self) -> None:
        """Give free places to those in the queues."""
        while (standing := self._next()) is not None:
            task = asyncio.create_task(self._serve(self._queues[standing].popleft()))
            self._serving[task] = standing
            task.add_done_callback(self._served)

    def _next(self) -> int | None:
        """The standing of whose turn it is; None while nobody who queues has room."""
        ready = [rank for rank, queue in enumerate(self._queues) if queue and self._has_room(rank)]
        # Those that never answered take turns with those that do, and the others come after both.
        return min(ready, key=lambda rank: (rank == HINDERED, self._queues[rank][0].place), default=None)

    def _has_room(self, standing: int) -> bool:
        taken = self._serving.values()
        return all(
            sum(each >= rank for each in taken) < share
            for rank, share in enumerate(self._shares[: standing + 1])
        )

    def _served(self, task: asyncio.Task[None]) -> None:
        del self._serving[task]
        if not task.cancelled() and (failure := task.exception()) is not None:
            self._log.failed("doorbell_broken", failure)
        if not self._stopping:
            self._fill()

    async def _serve(self, bell: _Bell) -> None:
        """Serve a listener until nothing waits for it, it has to wait, or others wait for its place."""
        try:
            pause = await self._rounds(bell)
            self._store_failed = False
        except RefusalError as failure:
            self._note_fault(failure)
            bell.wanted, pause = False, STORE_PAUSE_SECS
        except BaseException:
            bell.busy = False
            raise
        bell.busy = False
        if self._stopping or bell.owner not in self._bells:
            return
        if bell.wanted:
            self._queue(bell)
        elif pause is not None:
            loop = asyncio.get_running_loop()
            bell.timer = loop.call_later(min(pause, PAUSE_MAX_MS / 1_000), self._want, bell)

    def _note_fault(self, failure: RefusalError) -> None:
        """Say it once: every listener is looked at again each second until the store works."""
        if not self._store_failed:
            self._store_failed = True
            self._log.failed("doorbells_without_store", failure)

    async def _rounds(self, bell: _Bell) -> float | None:
        """Ring for a listener; when to look again, in seconds, None when only mail or others say so."""
        while True:
            bell.wanted = False
            now = self._clock.now_ms()
            turn = await self._store.next_ring(bell.owner, bell.attempt, now)
            attempt, bell.attempt = bell.attempt, None
            if attempt is not None and _turns(attempt):
                for listener in self._listeners:
                    listener()
            if turn is None:
                # Unless it was set again in the same moment.
                if not bell.wanted:
                    del self._bells[bell.owner]
                return None
            if turn.ring is None and turn.due_at is None:
                return None
            if turn.due_at is not None and turn.due_at > now:
                return (turn.due_at - now) / 1_000
            if self._stopping:
                return None
            if attempt is not None and any(self._queues):
                bell.wanted = True
                return None
            if turn.ring is not None:
                if bell.standing is None:
                    bell.standing = _standing_of(turn.ring.doorbell)
                    if bell.standing != PROMPT:
                        bell.wanted = True
                        return None
                bell.attempt = await self._rung(bell, turn.ring)

    async def _rung(self, bell: _Bell, ring: Ring) -> Attempt:
        began = time.monotonic()
        failure = await self._failure_of(ring)
        before, now = ring.doorbell.failures, self._clock.now_ms()
        slow = time.monotonic() - began > SLOW_SECS
        bell.standing = HINDERED if slow or failure is not None else PROMPT
        if failure is None:
            if before:
                self._log.info("doorbell_works_again", owner=bell.owner)
            return Attempt(ring, now)
        if not before:
            self._log.warning("doorbell_failed", owner=bell.owner, failure=failure)
        elif before + 1 == DEAD_FAILURES:
            self._log.warning("doorbell_dead", owner=bell.owner, failure=failure)
        return Attempt(ring, now, failure, now + pause_ms(before + 1, self._dice()))

    async def _failure_of(self, ring: Ring) -> RingFailure | None:
        doorbell = ring.doorbell
        destination = destination_of(doorbell.url)
        # The port may have become another user's since it was set.
        if doorbell.uid is not None and await self._port_owner(destination.port) != doorbell.uid:
            return "port_not_yours"
        return await self._requested(ring, destination)

    async def _requested(self, ring: Ring, destination: Destination) -> RingFailure | None:
        doorbell, message = ring.doorbell, decode(Message, ring.wire)
        body = encode(
            DeliveryNotification(
                account=doorbell.owner.participant,
                to=message.to,
                message_id=message.message_id,
                from_=message.from_,
            )
        )
        identity = webhook_id(message.message_id, doorbell.owner)
        seconds = self._clock.now_ms() // 1_000
        headers = [("webhook-id", identity), ("webhook-timestamp", str(seconds))]
        if doorbell.key is not None:
            headers.append(("webhook-signature", signature_of(doorbell.key, identity, seconds, body)))
        return await request_ring(destination, headers, body, self._limits)
