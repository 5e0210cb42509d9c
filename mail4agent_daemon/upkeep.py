"""Retention, run once a day and at the start when it is due; and what is known of sessions, each minute."""

import asyncio
from contextlib import suppress

from mail4agent_core.clock import Clock
from mail4agent_core.mail.administration import DAY_MS, Administration
from mail4agent_core.mail.sessions import Sessions

from .log import Log

#: How often it is looked whether a run is due.
LOOK_SECS = 600.0
#: How often it is written down which sessions were seen, and which are found dead.
FLUSH_SECS = 60.0


async def keep_up(administration: Administration, clock: Clock, log: Log, stop: asyncio.Event) -> None:
    """Run retention when the last run is a day old, until ``stop`` is set."""
    while not stop.is_set():
        await run_if_due(administration, clock, log)
        try:
            async with asyncio.timeout(LOOK_SECS):
                await stop.wait()
        except TimeoutError:
            continue


async def run_if_due(administration: Administration, clock: Clock, log: Log) -> bool:
    """Run retention unless it ran within a day; say what it removed. Whether it ran to its end."""
    try:
        ran = (await administration.retention_report()).last_run_unix_ms
        now = clock.now_ms()
        # A last run that lies ahead means that the clock was set back; waiting for it could take for ever.
        if ran is not None and 0 <= now - ran < DAY_MS:
            return False
        await administration.run_retention()
        report = await administration.retention_report()
    except Exception as failure:  # noqa: BLE001  whatever failed today, tomorrow's run must still come
        log.failed("retention_failed", failure)
        return False
    log.info("retention", removed_messages=report.removed_messages, removed_keys=report.removed_keys)
    return True


async def keep_sessions(sessions: Sessions, log: Log, stop: asyncio.Event) -> None:
    """Write down what is known of sessions, each minute and when ``stop`` is set."""
    stopping = False
    while not stopping:
        stopping = stop.is_set()
        try:
            await sessions.flush()
        except Exception as failure:  # noqa: BLE001  whatever failed this minute, the next one must still come
            log.failed("sessions_not_written", failure)
        if not stopping:
            with suppress(TimeoutError):
                async with asyncio.timeout(FLUSH_SECS):
                    await stop.wait()
