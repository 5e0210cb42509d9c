"""Running one daemon in this process: hold the home, listen, serve, stop."""

import asyncio
import sys
import time
from collections.abc import Awaitable, Callable

from mail4agent_api.errors import RefusalError
from mail4agent_core.clock import SystemClock
from mail4agent_core.ids import RandomIds
from mail4agent_core.mail.sqlite import StoreOpenError

from .app import VERSION, daemon, endpoints_of
from .bootstrap import KEY_NAME
from .endpoints import EndpointError, Listeners, listening
from .home import HomeError, held_home
from .limits import Limits
from .log import Level, Log, adopt_libraries, log_to_stderr
from .server import run, serve, stop_on_signals, within_file_limit
from .settings import Effective

#: What is done once the daemon serves: given the URL.
Ready = Callable[[Listeners], Awaitable[None]]


class StartError(Exception):
    """The daemon did not start; the message says why and what helps."""


def run_daemon(effective: Effective, *, demo: bool = False) -> None:
    """Run until a signal. Raises StartError or SettingsError."""
    log = _log(effective)
    handler = adopt_libraries(log)
    limits = within_file_limit(Limits())
    try:
        with held_home(effective.home, now_ms=time.time_ns() // 1_000_000) as home:
            for name in home.repaired:
                log.warning("mode_repaired", name=name)
            with listening(endpoints_of(effective), limits) as listeners:
                run(_serve(effective, listeners, limits, log, demo=demo))
    except (HomeError, EndpointError, StoreOpenError) as fault:
        raise StartError(str(fault)) from fault
    except RefusalError as fault:
        raise StartError(f"{effective.database} does not answer: {fault.kind}") from fault
    except OSError as fault:
        raise StartError(f"{effective.home / KEY_NAME} cannot be written: {fault.strerror}") from fault
    finally:
        handler.close()


async def _serve(effective: Effective, listeners: Listeners, limits: Limits, log: Log, *, demo: bool) -> None:
    stop = asyncio.Event()
    stop_on_signals(stop, log)
    async with daemon(effective, listeners, limits, log, SystemClock(), RandomIds()) as made:
        log.info("serving", version=VERSION, url=listeners.url, database=str(effective.database))
        _greet(effective, listeners)
        shown = asyncio.create_task(_demo(effective, listeners)) if demo else None
        await serve(made.app, listeners, limits=limits, log=log, stop=stop, drain=made.waiters.close_all, connections=made.connections)
        if shown is not None:
            shown.cancel()


def _greet(effective: Effective, listeners: Listeners) -> None:
    where = [text for text in (listeners.url, f"unix:{listeners.endpoints.socket_path}" if listeners.unix else None) if text]
    print(f"mail4agent {VERSION} listens on {' and '.join(where)}")
    print(f"operator's key: {effective.home / KEY_NAME}")
    print("make an account for an agent: mail4agent admin account add NAME --secret-file NAME.key", flush=True)


async def _demo(effective: Effective, listeners: Listeners) -> None:
    from .demo import converse

    try:
        await converse(effective, listeners)
    except Exception as failure:  # noqa: BLE001  a demonstration that fails does not end the daemon
        print(f"the demonstration stopped: {type(failure).__name__}", file=sys.stderr)


def _log(effective: Effective) -> Log:
    settings = effective.settings.log
    human = {"auto": None, "json": False, "text": True}[settings.format]
    return log_to_stderr(Level[settings.level.upper()], human=human)
