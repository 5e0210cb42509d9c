"""Serving one ASGI application with Hypercorn: start, signals, and a stop that answers everybody in time."""

import asyncio
import dataclasses
import logging
import resource
import signal
from collections.abc import Callable, Coroutine
from contextlib import suppress
from typing import Any, TypeVar

import hypercorn.asyncio.run
from hypercorn.asyncio.run import worker_serve
from hypercorn.config import Config, Sockets
from hypercorn.logging import Logger
from hypercorn.typing import ASGIFramework
from hypercorn.utils import wrap_app

from .connections import Connections, MailConfig, MailTCPServer
from .endpoints import Listeners
from .limits import Limits
from .log import Log
from .systemd import notify

T = TypeVar("T")

#: Shares of ``graceful_stop_secs``: until then answers are waited for; then connections are cut, then tasks
#: cancelled.
_CUT_SHARE = 0.75
_CANCEL_SHARE = 0.85


def within_file_limit(limits: Limits) -> Limits:
    """Raise this process's soft bound of open files to the hard one; return limits that fit into it.

    Parked readers get four fifths of the connections, so that others can still be answered.
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    # Where the hard bound is no number, or more than the kernel gives, the soft one stays.
    with suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
        soft = hard
    if soft == resource.RLIM_INFINITY:
        return limits
    connections = max(1, min(limits.connections_max, soft - limits.file_reserve))
    parked = max(1, min(limits.parked_max, connections * 4 // 5))
    return dataclasses.replace(limits, connections_max=connections, parked_max=parked)


class _ServerLog(Logger):
    """Hypercorn's log: its access lines and greetings are ours to write, its complaints go to our log."""

    def __init__(self, config: Config) -> None:  # noqa: ARG002  Hypercorn makes it so
        self.access_logger = None
        self.error_logger = logging.getLogger("hypercorn.error")
        self.error_logger.setLevel(logging.WARNING)

    async def access(self, request: object, response: object, request_time: float) -> None:
        """Write nothing; the gate logs requests."""


def _configured(limits: Limits, connections: Connections, listeners: Listeners) -> MailConfig:
    config = MailConfig()
    config.connections = connections
    config.logger_class = _ServerLog
    config.accesslog = None
    config.include_server_header = False
    config.alpn_protocols = ["http/1.1"]
    config.backlog = limits.accept_backlog
    config.h11_max_incomplete_size = limits.header_max_bytes
    config.keep_alive_max_requests = limits.requests_per_connection_max
    config.ssl_handshake_timeout = limits.tls_handshake_timeout_secs
    # Only a last resort: it begins to count at different moments on different loops.
    config.graceful_timeout = limits.graceful_stop_secs
    endpoints = listeners.endpoints
    config.certfile = str(endpoints.certfile) if endpoints.certfile else None
    config.keyfile = str(endpoints.keyfile) if endpoints.keyfile else None
    return config


async def serve(
    app: ASGIFramework,
    listeners: Listeners,
    *,
    limits: Limits,
    log: Log,
    stop: asyncio.Event,
    drain: Callable[[], object],
    connections: Connections | None = None,
) -> None:
    """Serve until ``stop`` is set, then stop within ``limits.graceful_stop_secs``.

    ``drain`` is called once, on the loop, when the stop begins: it ends all parked requests, which are then
    answered. Requests that are running get their answers; connections of clients that do not read are cut;
    tasks that are still there at the end are cancelled. A ``Connections`` may be given to be counted
    elsewhere.
    """
    if connections is None:
        connections = Connections(limits, log)
    loop = asyncio.get_running_loop()
    loop.set_exception_handler(_exception_handler(log))
    # Hypercorn has no setting for it; it looks this name up for each connection.
    hypercorn.asyncio.run.TCPServer = MailTCPServer  # pyright: ignore[reportPrivateImportUsage]
    timers: list[asyncio.TimerHandle] = []

    async def stopping() -> None:
        await stop.wait()
        notify("STOPPING=1")
        log.info("stopping", connections=len(connections))
        connections.stop()
        drain()
        timers.append(loop.call_later(limits.graceful_stop_secs * _CUT_SHARE, connections.abort))
        timers.append(loop.call_later(limits.graceful_stop_secs * _CANCEL_SHARE, connections.cancel))

    tcp = [listeners.tcp] if listeners.tcp else []
    unix = [listeners.unix] if listeners.unix else []
    tls = listeners.endpoints.tls
    sockets = Sockets(tcp if tls else [], unix if tls else tcp + unix, [])
    config = _configured(limits, connections, listeners)
    server = loop.create_task(
        worker_serve(wrap_app(app, 0, "asgi"), config, sockets=sockets, shutdown_trigger=stopping)
    )
    stopped = loop.create_task(stop.wait())
    notify("READY=1")
    try:
        await asyncio.wait({server, stopped}, return_when=asyncio.FIRST_COMPLETED)
        if not server.done():
            await asyncio.wait({server}, timeout=limits.graceful_stop_secs)
        if not server.done():
            log.error("stop_forced")
        else:
            server.result()
            log.info("stopped")
    finally:
        for timer in timers:
            timer.cancel()
        connections.abort()
        stopped.cancel()
        server.cancel()


def _exception_handler(log: Log) -> Callable[[asyncio.AbstractEventLoop, dict[str, Any]], None]:
    def handle(_: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        failure = context.get("exception")
        # A client that goes away in its TLS handshake, or resets, is no fault of the daemon.
        if not isinstance(failure, OSError):
            log.failed("unhandled", failure)

    return handle


def stop_on_signals(stop: asyncio.Event, log: Log) -> None:
    """Set ``stop`` on the first SIGTERM or SIGINT; the second one ends the process at once, whatever it does.

    Nothing acknowledged is lost by that: a write is answered after its commit.
    """
    loop = asyncio.get_running_loop()
    numbers = (signal.SIGTERM, signal.SIGINT)

    def begin(number: signal.Signals) -> None:
        for each in numbers:
            loop.remove_signal_handler(each)
            signal.signal(each, signal.SIG_DFL)
        log.info("signal", name=number.name)
        stop.set()

    for number in numbers:
        loop.add_signal_handler(number, begin, number)


def run(main: Coroutine[Any, Any, T]) -> T:
    """Run ``main`` to its end on the fastest event loop that is installed."""
    try:
        import uvloop
    except ImportError:
        factory = None
    else:
        factory = uvloop.new_event_loop
    with asyncio.Runner(loop_factory=factory) as runner:
        return runner.run(main)
