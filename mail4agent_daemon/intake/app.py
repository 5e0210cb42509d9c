"""The only wiring of the intake: which parts make it, and in what order they start and stop."""

import asyncio
import os
import sqlite3
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from urllib.parse import urlsplit

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route, Router

from mail4agent_api.intake_operations import INTAKE_OPERATIONS
from mail4agent_core.clock import Clock
from mail4agent_core.frontdoor.manifest.checks import FILES_MAX_BYTES
from mail4agent_daemon.connections import Connections
from mail4agent_daemon.endpoints import Listeners
from mail4agent_daemon.gate import Gate
from mail4agent_daemon.limits import Limits
from mail4agent_daemon.log import Log
from mail4agent_daemon.names import names_of
from mail4agent_daemon.sinks.building import Ground, smtp_sink

from .box import Box
from .budgets import Buckets
from .database import NAME, Database
from .drained import Drained
from .mailer import Mailer
from .pages import ASSETS, Pages
from .paths import Answer, App, Nowhere, Receive, Scope, Send, guarded
from .paths import Path as PathOf
from .public import Public
from .settings import IntakeSettings
from .shelf import Shelf
from .submissions import swept
from .uploads import OVERHEAD_BYTES
from .visitors import Visitors

#: How often what is too old is deleted.
SWEEP_SECS = 60.0
_ASSET_SECS = 3_600


@dataclass(frozen=True, slots=True)
class Intake:
    """An intake that is ready to serve."""

    app: App
    connections: Connections
    database: Database
    mailer: Mailer
    box: Box

    def drain(self) -> None:
        """Answer who waits: the server stops."""
        self.box.close()


def limits_of(limits: Limits) -> Limits:
    """The bounds of a server whose largest body is all files of one submission."""
    return replace(
        limits, request_body_max_bytes=FILES_MAX_BYTES + OVERHEAD_BYTES, body_read_timeout_secs=120.0
    )


@asynccontextmanager
async def intake(
    folder: Path,
    settings: IntakeSettings,
    listeners: Listeners,
    limits: Limits,
    *,
    log: Log,
    clock: Clock,
    monotonic: Callable[[], float] = time.monotonic,
) -> AsyncIterator[Intake]:
    """Open the box in ``folder`` and give the application; then end the mailer and close the database.

    Raises BoxOpenError, SinkError.
    """
    ground = Ground(home=folder, environment=os.environ, clock=clock)
    post = smtp_sink("smtp", settings.smtp.sink(), ground)
    database = Database(folder / NAME, log)
    try:
        shelf = Shelf()
        await database.run(shelf.load)
        epoch = await database.run(_epoch)
        budgets, visitors = settings.budgets, Visitors(settings.trusted_proxies)
        box = Box(database, epoch, monotonic)
        mailer = Mailer(database, shelf, post, public_url=settings.public_url, clock=clock, log=log)
        pages = Pages(settings.public_url, settings.language)
        public = Public(
            database,
            shelf,
            pages,
            clock=clock,
            folder=folder,
            budgets=budgets,
            visitors=visitors,
            now=monotonic,
            owed=mailer.wake,
            queued=box.queued,
        )
        wrong = Buckets(budgets.wrong_keys_per_hour, 3_600, monotonic)
        drained = Drained(box, shelf, database, keys=settings.keys, visitors=visitors, wrong=wrong)
        connections = Connections(limits, log)
        site = urlsplit(settings.public_url)
        names = names_of(listeners.host, listeners.port, extra=[site.netloc])
        app = Gate(_counted(_router(public, drained, pages), public), names=names, limits=limits, log=log)
        tasks = [asyncio.create_task(mailer.run()), asyncio.create_task(_sweep(database, clock, log))]
        try:
            yield Intake(guarded(app, https=site.scheme == "https"), connections, database, mailer, box)
        finally:
            for task in tasks:
                task.cancel()
            for task in tasks:
                with suppress(asyncio.CancelledError):
                    await task
    finally:
        await database.close()


def _router(public: Public, drained: Drained, pages: Pages) -> Router:
    answers = {
        "form.show": public.show,
        "form.submit": public.submit,
        "form.schema": public.schema,
        "confirm.show": public.confirm,
        "confirm.spend": public.confirmed,
        "upload.show": public.files,
        "upload.send": public.upload,
        **drained.answers,
    }
    assert answers.keys() == INTAKE_OPERATIONS.keys(), "each row has its answer"
    by_path: dict[str, dict[str, str]] = {}
    for name, row in INTAKE_OPERATIONS.items():
        by_path.setdefault(row.path, {})[row.method] = name
    routes = [
        Route(
            path,
            PathOf(
                path,
                None if path.startswith("/box/") else pages,
                **{method: answers[name] for method, name in rows.items()},
            ),
        )
        for path, rows in by_path.items()
    ]
    routes += [
        Route(path, PathOf(path, None, GET=_asset(pages.assets[path], kind))) for path, kind in ASSETS.items()
    ]
    return Router(routes=routes, redirect_slashes=False, default=Nowhere(pages))


def _asset(content: bytes, kind: str) -> Answer:
    async def answer(_: Request) -> Response:
        headers = {"cache-control": f"public, max-age={_ASSET_SECS}"}
        return Response(content, media_type=kind, headers=headers)

    return answer


def _counted(app: App, public: Public) -> App:
    """Every request of a stranger costs one of his address; home's are under a key."""

    async def run(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and not scope["path"].startswith("/box/") and scope["path"] not in ASSETS:
            public.admit(scope)
        await app(scope, receive, send)

    return run


def _epoch(db: sqlite3.Connection) -> str:
    return db.execute("SELECT value FROM meta WHERE name = 'epoch'").fetchone()[0]


async def _sweep(database: Database, clock: Clock, log: Log) -> None:
    while True:
        try:
            await database.run(swept(clock.now_ms()), scrub=True)
            await database.run(lambda db: db.execute("PRAGMA incremental_vacuum(256)").fetchall())
        except Exception as failure:  # noqa: BLE001  what fails now may work later
            log.failed("sweep_failed", failure)
        await asyncio.sleep(SWEEP_SECS)
