"""Whether the daemon can do its work: an answer from a real, recent write and read of its store."""

import asyncio
from collections.abc import Callable
from datetime import UTC, datetime

from mail4agent_api.errors import RefusalError, StoreUnavailableError
from mail4agent_api.mail import Health
from mail4agent_core.clock import Clock
from mail4agent_core.mail.store import MailStore

SERVICE = "mail4agent"
#: How old the write and read behind an answer may be.
BEAT_MAX_SECS = 2.0
#: How long a write may take before the store counts as unavailable.
BEAT_TIMEOUT_SECS = 5.0
_BEAT = "health.beat"


class HealthCheck:
    """Answers from a beat, a number written to the store and read back, that callers share."""

    def __init__(self, store: MailStore, clock: Clock, version: str, monotonic: Callable[[], float]) -> None:
        self._store = store
        self._clock = clock
        self._version = version
        self._monotonic = monotonic
        started = datetime.fromtimestamp(clock.now_ms() // 1000, UTC)
        self._started_at = started.strftime("%Y-%m-%dT%H:%M:%SZ")
        self._started = monotonic()
        self._beaten: float | None = None
        self._beating: asyncio.Task[RefusalError | TimeoutError | None] | None = None
        self._last = 0

    async def answer(self) -> Health:
        """The daemon's health.

        Raises StoreUnavailableError when the store did not take a write or gave another value back.
        """
        if self._beaten is None or self._monotonic() - self._beaten > BEAT_MAX_SECS:
            if self._beating is None or self._beating.done():
                self._beating = asyncio.create_task(self._beat())
            # Who asked first may go away; the others still get their answer.
            fault = await asyncio.shield(self._beating)
            if fault is not None:
                raise StoreUnavailableError(operation="health") from fault
        return Health(
            ok=True,
            service=SERVICE,
            version=self._version,
            started_at=self._started_at,
            uptime_secs=int(self._monotonic() - self._started),
            dependencies=[],
            background_tasks=[],
        )

    async def _beat(self) -> RefusalError | TimeoutError | None:
        # Never the number of the beat before, which a store that takes no writes could still give back.
        self._last = max(self._clock.now_ms(), self._last + 1)
        began, value = self._monotonic(), self._last
        try:
            async with asyncio.timeout(BEAT_TIMEOUT_SECS):
                read = await self._store.remember(_BEAT, value)
        except (RefusalError, TimeoutError) as fault:
            return fault
        if read != value:
            return StoreUnavailableError(operation="health")
        self._beaten = began
        return None
