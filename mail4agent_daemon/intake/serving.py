"""Running one intake in this process: hold its folder, listen, serve, stop."""

import asyncio
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, cast

from mail4agent_core.clock import SystemClock
from mail4agent_daemon.endpoints import EndpointError, Endpoints, Listeners, listening
from mail4agent_daemon.home import HomeError, held_home
from mail4agent_daemon.limits import Limits
from mail4agent_daemon.log import Log, adopt_libraries, log_to_stderr
from mail4agent_daemon.server import run, serve, stop_on_signals, within_file_limit
from mail4agent_daemon.settings import parse_bind
from mail4agent_daemon.sinks.building import SinkError

from .app import intake, limits_of
from .database import BoxOpenError
from .settings import IntakeSettings, read_settings

if TYPE_CHECKING:
    from hypercorn.typing import ASGIFramework


class IntakeStartError(Exception):
    """The intake did not start; the message says why."""


#: Is told the address that is listened on.
Announce = Callable[[str, IntakeSettings], None]


def run_intake(folder: Path, announce: Announce) -> None:
    """Run until a signal. Raises IntakeSettingsError, IntakeStartError."""
    log = log_to_stderr()
    handler = adopt_libraries(log)
    limits = within_file_limit(limits_of(Limits()))
    try:
        settings = read_settings(folder)
        host, port = parse_bind(settings.bind)
        with (
            held_home(folder, now_ms=time.time_ns() // 1_000_000),
            listening(Endpoints(host=host, port=port), limits) as listeners,
        ):
            run(_serve(folder, settings, listeners, limits, log=log, announce=announce))
    except (HomeError, EndpointError, BoxOpenError, SinkError) as fault:
        raise IntakeStartError(str(fault)) from fault
    finally:
        handler.close()


async def _serve(
    folder: Path,
    settings: IntakeSettings,
    listeners: Listeners,
    limits: Limits,
    *,
    log: Log,
    announce: Announce,
) -> None:
    stop = asyncio.Event()
    stop_on_signals(stop, log)
    async with intake(folder, settings, listeners, limits, log=log, clock=SystemClock()) as made:
        with suppress(OSError, ValueError):
            announce(str(listeners.url), settings)
        await serve(
            cast("ASGIFramework", made.app),
            listeners,
            limits=limits,
            log=log,
            stop=stop,
            drain=made.drain,
            connections=made.connections,
        )
