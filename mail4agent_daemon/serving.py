"""Running one daemon in this process: hold the home, listen, serve, stop."""

import asyncio
import sqlite3
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, cast

from mail4agent_api.errors import RefusalError
from mail4agent_core.clock import SystemClock
from mail4agent_core.ids import RandomIds
from mail4agent_core.mail.sqlite import StoreOpenError

from .app import VERSION, daemon, endpoints_of
from .bootstrap import KEY_NAME, KeyFileError
from .endpoints import EndpointError, Listeners, listening
from .home import HomeError, held_home
from .limits import Limits
from .log import Level, Log, adopt_libraries, log_to_stderr
from .server import run, serve, stop_on_signals, within_file_limit
from .settings import Effective
from .sinks.building import SinkError

if TYPE_CHECKING:
    from hypercorn.typing import ASGIFramework


class StartError(Exception):
    """The daemon did not start; the message says why and what helps."""


@dataclass(frozen=True, slots=True)
class Serving:
    """Where a daemon that serves is reached."""

    version: str
    url: str | None
    socket: Path | None
    home: Path
    key: Path

    @property
    def client_url(self) -> str:
        """A URL for a client on this machine; over the socket nobody has to trust a certificate."""
        return f"unix:{self.socket}" if self.socket is not None else str(self.url)


#: Is told where the daemon is reached, once it is, and each line of a demonstration.
Announce = Callable[[Serving], None]
Show = Callable[[str], None]


def run_daemon(effective: Effective, announce: Announce, *, demo: Show | None = None) -> None:
    """Run until a signal; with ``demo``, show a first conversation. Raises StartError."""
    log = _log(effective)
    handler = adopt_libraries(log)
    limits = within_file_limit(Limits())
    try:
        with held_home(effective.home, now_ms=time.time_ns() // 1_000_000) as home:
            for name in home.repaired:
                log.warning("mode_repaired", name=name)
            with listening(endpoints_of(effective), limits) as listeners:
                run(_serve(effective, listeners, limits, log, announce=announce, demo=demo))
    except (HomeError, EndpointError, StoreOpenError, KeyFileError, SinkError) as fault:
        raise StartError(str(fault)) from fault
    except sqlite3.Error as fault:
        raise StartError(
            f"{effective.database} cannot be used ({fault}); mail4agent doctor says more"
        ) from fault
    except RefusalError as fault:
        raise StartError(
            f"{effective.store} takes no writes ({fault.kind}); look at its disk or its server, then start"
            " again"
        ) from fault
    except OSError as fault:
        raise StartError(f"{effective.home} cannot be used: {fault.strerror}") from fault
    finally:
        handler.close()


async def _serve(
    effective: Effective,
    listeners: Listeners,
    limits: Limits,
    log: Log,
    *,
    announce: Announce,
    demo: Show | None,
) -> None:
    stop = asyncio.Event()
    stop_on_signals(stop, log)
    async with daemon(effective, listeners, limits, log, clock=SystemClock(), ids=RandomIds()) as made:
        serving = Serving(VERSION, listeners.url, effective.socket, effective.home, effective.home / KEY_NAME)
        log.info("serving", version=VERSION, url=listeners.url, home=str(effective.home))
        # Connections queue from here on. Whoever does not read what is announced loses it, not the daemon.
        with suppress(OSError, ValueError):
            announce(serving)
        shown = None if demo is None else asyncio.create_task(_demo(serving, demo))
        try:
            await serve(
                cast("ASGIFramework", made.app),
                listeners,
                limits=limits,
                log=log,
                stop=stop,
                drain=made.drain,
                connections=made.connections,
            )
        finally:
            if shown is not None:
                shown.cancel()


async def _demo(serving: Serving, show: Show) -> None:
    from .demo import converse

    try:
        await converse(serving, show)
    except Exception as failure:  # noqa: BLE001  a demonstration that fails does not end the daemon
        with suppress(OSError, ValueError):
            show(f"demo: stopped by {type(failure).__name__}")


def _log(effective: Effective) -> Log:
    settings = effective.settings.log
    human = {"auto": None, "json": False, "text": True}[settings.format]
    return log_to_stderr(Level[settings.level.upper()], human=human)
