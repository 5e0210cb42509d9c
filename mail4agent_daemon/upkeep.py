"""Retention, run once a day and at the start when it is due; what is known of sessions, each minute; and what
the front door left behind, once a day.
"""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path

from mail4agent_api.addresses import participant_of
from mail4agent_api.errors import RefusalError
from mail4agent_api.mail import SessionAddress
from mail4agent_core.clock import Clock
from mail4agent_core.frontdoor.briefed import Briefed
from mail4agent_core.frontdoor.store import Frontdoor
from mail4agent_core.mail.administration import DAY_MS, Administration
from mail4agent_core.mail.sessions import Sessions
from mail4agent_core.mail.store import MailStore, Registry

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


async def keep_tidy(tidy: Callable[[], Awaitable[None]], log: Log, stop: asyncio.Event) -> None:
    """Tidy at the start and once a day, until ``stop`` is set."""
    while not stop.is_set():
        try:
            await tidy()
        except Exception as failure:  # noqa: BLE001  whatever failed today, tomorrow's run must still come
            log.failed("frontdoor_not_tidied", failure)
        with suppress(TimeoutError):
            async with asyncio.timeout(DAY_MS / 1_000):
                await stop.wait()


async def tidy_frontdoor(briefed: Briefed, requests: Path, store: MailStore, clock: Clock) -> None:
    """Forget the marks of sessions and accounts that never act again, and sweep what killed writers left.

    Raises RefusalError, FolderError.
    """
    now_ms = clock.now_ms()
    gone = frozenset(
        [each for each in await asyncio.to_thread(briefed.marked) if await _is_gone(store, each, now_ms)]
    )
    # Whoever was marked meanwhile is not among those that are gone.
    await asyncio.to_thread(briefed.sweep, lambda address: address not in gone)
    await asyncio.to_thread(_sweep, requests)


async def _is_gone(store: MailStore, address: str, now_ms: int) -> bool:
    """Whether an account was removed, or a session is forgotten or has been dead for a day."""
    try:
        who = participant_of(address)
    except RefusalError:
        # Whatever another program wrote there marks nobody who could call.
        return True

    def query(registry: Registry) -> bool:
        account = registry.account(who.participant)
        if account is None or account.removed_at is not None:
            return True
        if not isinstance(who, SessionAddress):
            return False
        session = registry.sessions.get(who.session)
        if session is None or session.address != who:
            return True
        # One that was noticed dead can turn out to live; nobody takes a day to.
        return session.dead_at is not None and session.dead_at < now_ms - DAY_MS

    return await store.look(query)


def _sweep(requests: Path) -> None:
    try:
        with Frontdoor.open(requests, make=False) as frontdoor:
            frontdoor.sweep()
    except FileNotFoundError:
        return


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
