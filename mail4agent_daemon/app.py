"""The only wiring: which parts make a daemon, and in what order they start and stop."""

import asyncio
import os
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from functools import partial
from importlib.metadata import version

from starlette.routing import Route, Router

from mail4agent_api.codec import encode
from mail4agent_core.clock import Clock
from mail4agent_core.frontdoor.briefed import Briefed
from mail4agent_core.frontdoor.extraction import QuarantinedPass
from mail4agent_core.frontdoor.hand_over import Extractor
from mail4agent_core.frontdoor.manifest import TypeFolder
from mail4agent_core.frontdoor.outbox_drafts import OutboxDrafts
from mail4agent_core.ids import Ids
from mail4agent_core.mail.administration import Administration
from mail4agent_core.mail.engine import MailEngine
from mail4agent_core.mail.listeners import ListenerDesk
from mail4agent_core.mail.sessions import Sessions

from .attest import Attestor
from .auth import Accounts
from .bootstrap import ensure_operator
from .connections import Connections
from .console.door import PATH as CONSOLE_PATH
from .console.door import Console, refused_at_the_gate
from .console.folders import Folders
from .console.lineage import Lineage
from .console.signed_in import SignIns
from .delays import Delays
from .dispatch import Dispatch
from .doorbells import BlockingPortOwner, Doorbells, aside
from .endpoints import Endpoints, Listeners
from .entrance import Entrance
from .frontdoor_desk import FrontdoorDesk
from .gate import App, Gate
from .handlers import handlers
from .health import HealthCheck
from .house import House
from .http import JSON, HttpDoor, unknown_path
from .identity import Identifier
from .limits import Limits
from .listening import listening
from .log import Log
from .mailboxes import Mailboxes
from .mcp.door import PATH as MCP_PATH
from .mcp.door import Door
from .mcp.tools import Tools
from .metrics import Metrics
from .names import names_of
from .note_desk import NoteDesk
from .outbox_desk import OutboxDesk
from .polling import Polling
from .rates import Rate, Rates
from .settings import Effective, parse_bind
from .sinks.building import Surroundings, sinks_of
from .stores import Store, open_store
from .upkeep import keep_sessions, keep_tidy, keep_up, tidy_frontdoor
from .waiting import Waiters

VERSION = version("mail4agent")


@dataclass(frozen=True, slots=True)
class Daemon:
    """A daemon that is ready to serve."""

    app: App
    waiters: Waiters
    connections: Connections
    store: Store
    delays: Delays
    doorbells: Doorbells
    console: Console

    def drain(self) -> None:
        """Answer who waits, and ring nobody any more: the daemon stops."""
        self.waiters.close_all()
        self.doorbells.stop()
        self.console.stop()


@asynccontextmanager
async def daemon(
    effective: Effective,
    listeners: Listeners,
    limits: Limits,
    log: Log,
    *,
    clock: Clock,
    ids: Ids,
    port_owner: BlockingPortOwner | None = None,
    monotonic: Callable[[], float] = time.monotonic,
) -> AsyncIterator[Daemon]:
    """Open the store, see to the operator, and give the application; then end upkeep and close the store.

    ``port_owner`` tells whose process listens on a port, in place of the kernel.

    The caller holds the home. Raises StoreOpenError, KeyFileError, SinkError, sqlite3.Error (a damaged
    database) and StoreUnavailableError.
    """
    settings = effective.settings
    store = await open_store(effective, clock)
    shared = settings.store.url is not None
    try:
        await ensure_operator(effective.home, store, clock, ids, log, shared=shared)
        waiters = Waiters(limits)
        attestor = Attestor()
        policy = settings.identity.attestation
        sessions = Sessions(
            store,
            clock,
            ids,
            alive=attestor.alive,
            parked=waiters.waits,
            attestation_required=policy == "required",
            shared=shared,
        )
        # Where no kernel says when it began, none vouches for a process either.
        with suppress(OSError):
            boot = attestor.boot()
            await sessions.prepare(boot.boot_id, boot.boot_ms, boot.ticks_per_second)
        engine = MailEngine(store, clock, ids, sessions)
        retention = settings.retention
        administration = Administration(
            store, clock, ids, retention.keep_days or None, retention.audit_days or None
        )
        connections = Connections(limits, log)
        store.subscribe(waiters.wake)
        bounds = settings.limits
        rates = Rates(
            Rate(bounds.connection_per_sec, bounds.connection_burst),
            Rate(bounds.account_per_sec, bounds.account_burst),
            monotonic,
        )
        identifier = Identifier(Accounts(store, sessions, shared=shared), sessions, attestor, policy, rates)
        polling = Polling(engine, identifier, waiters)
        owner_of = aside(port_owner or attestor.listener_uid)
        desk = ListenerDesk(store, clock, own_port=listeners.port, port_owner=owner_of)
        doorbells = Doorbells(store, clock, limits, log, port_owner=owner_of, shared=shared)
        delays = Delays(bounds.wrong_secret_ms / 1000)
        notes = NoteDesk(effective.home / "runs", clock)
        mailboxes = Mailboxes(effective.mailboxes, clock)
        briefed = Briefed(effective.requests)
        drafts = OutboxDrafts(effective.outbox, clock)
        frontdoor = FrontdoorDesk(
            effective.requests,
            log,
            types=TypeFolder(effective.types),
            drafts=drafts,
            briefed=briefed,
            extractor=_extractor(effective),
        )
        around = Surroundings(
            home=effective.home, environment=os.environ, clock=clock, engine=engine, store=store
        )
        outbox = OutboxDesk(
            effective.outbox,
            clock,
            log,
            sinks=sinks_of(settings.outbox, settings.sinks, around),
            publishes=settings.outbox.publish_tools,
            briefed=briefed,
            workspaces=settings.outbox.workspaces,
            decided=frontdoor.decided,
        )
        table = handlers(
            engine,
            administration,
            polling,
            mailboxes,
            notes,
            outbox,
            frontdoor=frontdoor,
            home=effective.home,
            log=log,
            rates=rates,
            listening=listening(desk, doorbells),
            house=House(effective).handlers(),
        )
        dispatch = Dispatch(table, identifier)
        check = HealthCheck(store, clock, VERSION, monotonic)
        metrics = Metrics(waiters, connections, store.figures, rates, delays)

        async def health() -> tuple[bytes, bytes]:
            return JSON, encode(await check.answer())

        entrance = Entrance(dispatch, delays)
        mcp = Door(entrance, Tools(dispatch, ids.boundary, log), limits, VERSION)
        signins = SignIns(effective.home / "console", clock)
        folders = Folders(outbox=effective.outbox, requests=effective.requests, mailboxes=effective.mailboxes)
        lineage = Lineage(attestor, sessions)
        console = Console(dispatch, entrance, delays, signins, lineage, folders, log)
        doorbells.subscribe(console.changed)
        store.subscribe(console.mailed)
        # A route with an instance: a mount would answer with a redirect.
        routes = [
            Route(MCP_PATH, mcp),
            Route(CONSOLE_PATH, console),
            Route(f"{CONSOLE_PATH}/{{rest:path}}", console),
        ]
        router = Router(routes=routes, redirect_slashes=False, default=unknown_path)
        door = HttpDoor(
            dispatch,
            {"/health": health, "/metrics": metrics.page},
            router,
            limits,
            rates=rates,
            entrance=entrance,
        )
        tls = listeners.endpoints.tls
        names = names_of(listeners.host, listeners.port, tls=tls, extra=settings.server.names)
        gate = Gate(
            door, names=names, limits=limits, log=log, observe=metrics.request, page=refused_at_the_gate
        )
        stop = asyncio.Event()
        upkeep = asyncio.create_task(keep_up(administration, clock, log, stop))
        roll = asyncio.create_task(keep_sessions(sessions, log, stop))
        tidy = partial(tidy_frontdoor, briefed, effective.requests, store, clock)
        tidying = asyncio.create_task(keep_tidy(tidy, log, stop))
        try:
            await doorbells.start()
            yield Daemon(gate, waiters, connections, store, delays, doorbells, console)
        finally:
            await doorbells.close()
            await outbox.close()
            await frontdoor.shut()
            drafts.close()
            await mcp.close()
            stop.set()
            # A run of retention goes on at the next start.
            for task in (upkeep, tidying):
                task.cancel()
                with suppress(asyncio.CancelledError):
                    await task
            await roll
            attestor.close()
    finally:
        await store.close()


def _extractor(effective: Effective) -> Extractor | None:
    """What reads the prose of requests, where a model is set."""
    if effective.model is None:
        return None
    # Loaded where it is used: a daemon without a model needs no client of HTTP.
    from .model import ChatEndpoint

    return QuarantinedPass(ChatEndpoint(effective.model))


def endpoints_of(effective: Effective) -> Endpoints:
    """What the settings say of where to listen."""
    server = effective.settings.server
    host, port = parse_bind(server.bind)
    return Endpoints(
        host=host,
        port=port,
        socket_path=effective.socket,
        certfile=effective.home / server.tls_cert if server.tls_cert else None,
        keyfile=effective.home / server.tls_key if server.tls_key else None,
        allow_cleartext=server.allow_cleartext,
    )
