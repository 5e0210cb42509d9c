"""Retention, run once a day and at the start when it is due."""

import asyncio

from mail4agent_core.clock import Clock
from mail4agent_core.mail.administration import DAY_MS, Administration

from .log import Log

#: How often it is looked whether a run is due.
LOOK_SECS = 600.0


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
