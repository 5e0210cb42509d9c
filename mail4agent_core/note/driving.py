"""Driving a run: its one owner reconciles what others queue, and takes in the turns of its conversations."""

from __future__ import annotations

import threading
from collections.abc import Generator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass, field

from mail4agent_core.clock import Clock

from .channel import Channel, Queued
from .conversation import Conversations, nobody
from .owner import owned
from .paths import RunPaths
from .reply import reconciled
from .run import NoteRun

#: Live offers at a time; further envelopes wait in the queue.
OFFERS_MAX = 8


@dataclass(slots=True)
class Driver:
    """The owner of a run. ``step`` never waits for a conversation: offers run beside it."""

    run: NoteRun
    channel: Channel
    _pool: ThreadPoolExecutor
    _offers: dict[int, tuple[frozenset[str], Future[None]]] = field(
        default_factory=dict[int, tuple[frozenset[str], Future[None]]]
    )
    _alone: threading.Lock = field(default_factory=threading.Lock)

    def step(self) -> int:
        """Start what waits in the queue; returns how many envelopes are being delivered.

        An envelope waits while one before it names the same node. Raises what a delivery raised that is no
        refusal.
        """
        with self._alone:
            for number, (_, future) in list(self._offers.items()):
                if future.done():
                    del self._offers[number]
                    future.result()
            busy = {node for nodes, _ in self._offers.values() for node in nodes}
            for queued in self.channel.waiting():
                nodes = frozenset(str(command.get("id")) for command in queued.commands)
                if queued.number in self._offers:
                    continue
                if len(self._offers) < OFFERS_MAX and not nodes & busy:
                    self._offers[queued.number] = nodes, self._pool.submit(self._deliver, queued)
                busy |= nodes
            return len(self._offers)

    def settle(self, secs: float) -> bool:
        """Wait until every offer that was started is answered; returns whether that came in time."""
        with self._alone:
            offers = [future for _, future in self._offers.values()]
        return not wait(offers, secs).not_done

    def _deliver(self, queued: Queued) -> None:
        self.channel.answer(queued, reconciled(self.run, queued))


@contextmanager
def driving(paths: RunPaths, clock: Clock, *, conversations: Conversations = nobody) -> Generator[Driver]:
    """Own a run for the length of the block, beginning with what a driver before was killed over.

    Raises RunOwnedError while another process drives it, LedgerError.
    """
    with owned(paths, now_ms=clock.now_ms()), ThreadPoolExecutor(OFFERS_MAX, "note-offer") as pool:
        run = NoteRun(paths, clock, conversations=conversations)
        run.recover()
        yield Driver(run, Channel(paths), pool)
