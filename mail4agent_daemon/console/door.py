"""The console's door: who is signed in, what a form must carry, and which handler answers.

In this order: Host and Origin (the gate), the path and its method; for a change an Origin, which the gate has
found to be ours; then the cookie; for a change the token of its sign-in and, for a decision, that no agent is
above the browser. Nothing of a request is done before all of it held.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from html import escape
from http.cookies import CookieError, SimpleCookie
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import parse_qs

import orjson

from mail4agent_api.errors import (
    MalformedError,
    MethodNotAllowedError,
    RefusalError,
    UnauthenticatedError,
    UnknownPathError,
)
from mail4agent_api.operations import OPERATIONS, Operation
from mail4agent_core.ids import digest_of
from mail4agent_daemon.auth import SECRET_MAX_BYTES
from mail4agent_daemon.delays import Delays
from mail4agent_daemon.dispatch import Call, Dispatch
from mail4agent_daemon.entrance import Entrance, allow, no_query
from mail4agent_daemon.log import Log

from . import sentences
from .events import MAIL, Events, Look
from .folders import Folders
from .lineage import Lineage
from .reply import NO_STORE, Reply, Send
from .signed_in import LASTS_MS, SignIns
from .visit import PATH, Route, Visit

if TYPE_CHECKING:
    from .pages import Pages

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]

COOKIE: Final = "m4a_console"
CODE_PATH: Final = f"{PATH}/code"
#: A posted form: the largest draft with every byte of it as three.
FORM_MAX_BYTES: Final = 4_194_304
FIELDS_MAX: Final = 2_000
_QUERY_MAX: Final = 8_192
_WHO: Final = OPERATIONS["mail.whoami"]
_JSON: Final = b"application/json"
#: The seam that changes what an account may see, and with it every count.
_RIGHTS: Final = "admin"
#: Where a sign-in may lead.
_INSIDE: Final = re.compile(rf"{PATH}(?:/[A-Za-z0-9._~/-]*)?(?:\?[A-Za-z0-9._~&=%+-]*)?")


class Console:
    """An ASGI application for ``/console`` and all below it."""

    def __init__(  # noqa: PLR0917  # what it stands on
        self,
        dispatch: Dispatch,
        entrance: Entrance,
        delays: Delays,
        signins: SignIns,
        lineage: Lineage,
        folders: Folders,
        log: Log,
    ) -> None:
        self._dispatch = dispatch
        self._entrance = entrance
        self._delays = delays
        self._signins = signins
        self._lineage = lineage
        self._log = log
        self._events = Events(folders)
        self._opening: asyncio.Task[tuple[Pages, Routes]] | None = None
        self._seams = frozenset[str]()
        dispatch.subscribe(self._told)

    def _told(self, operation: Operation) -> None:
        # A list settles before it answers; a stream that looks would wake itself by that, for ever.
        if not operation.name.endswith(".list"):
            seam = operation.name.partition(".")[0]
            if seam in self._seams:
                self._events.changed(seam)
            elif seam == _RIGHTS:
                self._events.changed()

    def mailed(self, _boxes: frozenset[str]) -> None:
        """Mail came, by whichever way."""
        self._events.changed(MAIL)

    def changed(self) -> None:
        """Something that waits on a person came or went without an operation: every stream looks again."""
        self._events.changed()

    def stop(self) -> None:
        """End what is streamed: the daemon stops."""
        self._events.stop()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        state, path = scope["state"], scope["path"]
        if path == CODE_PATH:
            await self._code(scope, receive, send)
            return
        pages, routes = await self._opened()
        if path in pages.statics:
            state["route"] = f"{PATH}/static"
            allow(scope, "GET", "HEAD")
            await pages.statics[path].go(send)
            return
        try:
            reply = await self._answer(pages, routes, scope, receive, send)
        except RefusalError as refusal:
            if refusal.status >= 500 and refusal.__cause__ is not None:
                self._log.failed("refused", refusal, request_id=state["request_id"], route=state.get("route"))
            reply = refused(pages, refusal)
        if reply is not None:
            await reply.go(send)

    async def _answer(
        self, pages: Pages, routes: Routes, scope: Scope, receive: Receive, send: Send
    ) -> Reply | None:
        path, method = scope["path"], "GET" if scope["method"] == "HEAD" else scope["method"]
        state = scope["state"]
        if path == f"{PATH}/signin":
            state["route"] = path
            allow(scope, "POST")
            return await self._sign_in(pages, scope, receive)
        if path == f"{PATH}/enter":
            state["route"] = path
            allow(scope, "GET", "HEAD")
            return Reply(200, pages.render("signin.html", title="Sign in", why="", next=PATH).encode())
        if path == f"{PATH}/events":
            state["route"] = path
            allow(scope, "GET")
            visit = await self._visit(pages, scope)
            await receive()
            await visit.ask("mail.whoami")
            await self._events.stream(visit, self._look(pages, visit, _cookie(scope)), receive, send)
            return None
        route, parts = routes.find(method, path, state)
        if method == "GET":
            visit = await self._visit(pages, scope)
        else:
            self._needs_origin(scope)
            forms = await _form(scope, receive)
            visit = await self._visit(pages, scope)
            cookie = _cookie(scope) or ""
            if not self._signins.is_csrf(cookie, forms.pop("csrf", [""])[-1]):
                text = pages.render("refused.html", title="Not done", why=sentences.FORM, detail="")
                return Reply(403, text.encode())
            visit.forms = forms
        visit.parts = parts
        state["account"] = visit.account
        # Whoever asks is looked up before the first byte of a page: a secret may have ended.
        await visit.ask("mail.whoami")
        if route.decides and (agent := await self._lineage.agent(visit.link)) is not None:
            text = pages.render("refused.html", title="Not done", why=sentences.AGENT, detail=agent)
            return Reply(403, text.encode())
        if path == f"{PATH}/signout":
            return await self._sign_out(visit)
        return await route.handler(visit)

    def _look(self, pages: Pages, visit: Visit, cookie: str | None) -> Look:
        """The rail, in which only what changed is counted again."""
        counts: dict[str, int | None] = {}

        async def look(seams: frozenset[str] | None) -> str:
            if await self._signins.of(cookie) is None:
                raise UnauthenticatedError
            changes = self._events.changes
            visit.forget()
            counts.update(await pages.counts(visit, seams))
            return pages.render("rail.html", tally=pages.told(counts), changes=changes, here="")

        return look

    # Signing in and out

    async def _visit(self, pages: Pages, scope: Scope) -> Visit:
        """Who is signed in. Raises UnauthenticatedError."""
        cookie = _cookie(scope)
        signed = await self._signins.of(cookie)
        if signed is None or cookie is None:
            raise UnauthenticatedError
        return Visit(
            signed,
            self._dispatch,
            scope["state"].get("link"),
            pages,
            self._signins.csrf(cookie),
            scope["path"],
            self._events.changes,
            query=_query(scope),
        )

    async def _sign_in(self, pages: Pages, scope: Scope, receive: Receive) -> Reply:
        self._needs_origin(scope)
        form = {name: texts[-1] for name, texts in (await _form(scope, receive)).items()}
        where = form.get("next", PATH)
        where = where if _INSIDE.fullmatch(where) else PATH
        link = scope["state"].get("link")
        secret = form.get("secret", "").strip()
        try:
            digest = self._redeemed(secret)
            call = Call(_WHO, digest, b"{}", receive, link, for_parent=True, cost=1)
            caller = await self._dispatch.identify(call)
        except UnauthenticatedError:
            await self._delays.failed(link, [(b"authorization", b"")])
            why = sentences.WRONG if secret else sentences.EMPTY
            text = pages.render("signin.html", title="Sign in", why=why, next=where)
            return Reply(401, text.encode(), headers=_CHALLENGED)
        self._delays.passed(link)
        account = str(caller.account)
        scope["state"]["account"] = account
        cookie = await self._signins.begin(account, digest)
        self._log.info("console_signed_in", account=account)
        return Reply(303, headers=((b"location", where.encode("ascii")), self._set(scope, cookie), NO_STORE))

    def _redeemed(self, secret: str) -> bytes:
        """The digest of a secret, or what a one-time code stands for. Raises UnauthenticatedError."""
        found = self._signins.redeem(secret)
        if found is not None:
            return found[1]
        if not secret or not secret.isascii() or len(secret) > SECRET_MAX_BYTES:
            raise UnauthenticatedError
        return digest_of(secret)

    async def _sign_out(self, visit: Visit) -> Reply:
        await self._signins.end(visit.signed, everywhere=visit.form.get("everywhere") == "yes")
        self._events.changed()
        return Reply(303, headers=((b"location", PATH.encode()), _GONE, NO_STORE))

    async def _code(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Give whoever shows a secret a code that signs in once; it is no page."""
        scope["state"]["route"] = CODE_PATH
        allow(scope, "POST")
        no_query(scope)
        call = await self._entrance.admit(_WHO, scope, receive)
        await receive()
        assert call.caller is not None
        if await self._lineage.agent(call.link) is not None:
            raise MalformedError(field="request", reason="must come from a person's process, below no agent")
        code = self._signins.code(str(call.caller.account), call.digest)
        await Reply(200, orjson.dumps({"code": code}), _JSON).go(send)

    @staticmethod
    def _needs_origin(scope: Scope) -> None:
        """Refuse a form that does not say where it comes from; whose it is the gate has looked at."""
        if not any(name == b"origin" for name, _ in scope["headers"]):
            raise MalformedError(field="origin", reason="must be this daemon's own")

    @staticmethod
    def _set(scope: Scope, cookie: str) -> tuple[bytes, bytes]:
        secure = "; Secure" if scope.get("scheme") == "https" else ""
        given = (
            f"{COOKIE}={cookie}; Path={PATH}; Max-Age={LASTS_MS // 1000}; HttpOnly; SameSite=Strict{secure}"
        )
        return b"set-cookie", given.encode("ascii")

    async def _opened(self) -> tuple[Pages, Routes]:
        """Templates and screens, loaded with the first request: a daemon that shows no page needs none."""
        if self._opening is None or (self._opening.done() and self._opening.exception() is not None):
            self._opening = asyncio.create_task(asyncio.to_thread(_open))
        pages, routes = await asyncio.shield(self._opening)
        self._seams = pages.seams
        return pages, routes


_CHALLENGED: Final = (NO_STORE, (b"www-authenticate", b'Bearer realm="mail4agent console"'))
_GONE: Final = (
    b"set-cookie", f"{COOKIE}=; Path={PATH}; Max-Age=0; HttpOnly; SameSite=Strict".encode("ascii")
)  # fmt: skip


class Routes:
    """The routes of every screen."""

    def __init__(self, routes: list[Route]) -> None:
        self._routes = [(_pattern(each.path), each) for each in routes]

    def find(
        self, method: str, path: str, state: MutableMapping[str, Any]
    ) -> tuple[Route, Mapping[str, str]]:
        """The route of a request and its parts. Raises UnknownPathError, MethodNotAllowedError."""
        methods = set[str]()
        for pattern, route in self._routes:
            found = pattern.fullmatch(path)
            if found is not None:
                state["route"] = route.path
                if route.method == method:
                    return route, found.groupdict()
                methods.add(route.method)
        if methods:
            state["allow"] = tuple(methods)
            raise MethodNotAllowedError
        raise UnknownPathError


def _pattern(path: str) -> re.Pattern[str]:
    return re.compile(re.sub(r"\\{(\w+)\\}", r"(?P<\1>[^/]+)", re.escape(path)))


def _open() -> tuple[Pages, Routes]:
    from .pages import Pages
    from .screens import SCREENS

    routes = [route for screen in SCREENS for route in screen.routes]
    return Pages(SCREENS), Routes([*routes, Route("POST", f"{PATH}/signout", _nowhere)])


async def _nowhere(visit: Visit) -> Reply:  # noqa: ARG001  it is a handler
    raise UnknownPathError


def refused(pages: Pages, refusal: RefusalError) -> Reply:
    """A refusal as a page."""
    if isinstance(refusal, UnauthenticatedError):
        text = pages.render("signin.html", title="Sign in", why=sentences.SIGNED_OUT, next=PATH)
        return Reply(401, text.encode(), headers=_CHALLENGED)
    why, detail = sentences.of(refusal)
    text = pages.render("refused.html", title="Not done", why=why, detail=detail)
    return Reply(refusal.status, text.encode())


def refused_at_the_gate(path: str, refusal: RefusalError) -> tuple[list[tuple[bytes, bytes]], bytes] | None:
    """A refusal before the console was asked, or of what it could not answer: plain, and of a fixed text."""
    if path != PATH and (not path.startswith(f"{PATH}/") or path == CODE_PATH):
        return None
    why, detail = sentences.of(refusal)
    page = (
        '<!doctype html><html lang="en"><meta charset="utf-8"><title>Not done</title>'
        f"<main><h1>Not done</h1><p>{escape(why)}</p><p>{escape(detail)}</p>"
        f'<p><a href="{PATH}">To the console</a></p>'
        "</main></html>"
    )
    reply = Reply(refusal.status, page.encode())
    return reply.all_headers(), reply.body


def _cookie(scope: Scope) -> str | None:
    given = b"; ".join(value for name, value in scope["headers"] if name == b"cookie")
    try:
        found = SimpleCookie(given.decode("ascii", "replace")).get(COOKIE)
    except CookieError:
        return None
    return None if found is None else found.value


def _query(scope: Scope) -> dict[str, str]:
    """Raises MalformedError."""
    raw: bytes = scope["query_string"]
    if len(raw) > _QUERY_MAX:
        raise MalformedError(field="request", reason="has a query that is too long")
    return {name: texts[-1] for name, texts in _pairs(raw).items()}


async def _form(scope: Scope, receive: Receive) -> dict[str, list[str]]:
    """A posted form; a browser writes a line feed as two characters. Raises MalformedError."""
    scope["state"]["body_max_bytes"] = FORM_MAX_BYTES
    kinds = [value for name, value in scope["headers"] if name == b"content-type"]
    if len(kinds) != 1 or kinds[0].partition(b";")[0].strip().lower() != b"application/x-www-form-urlencoded":
        raise MalformedError(field="request", reason="must be a form of this console")
    raw = (await receive()).get("body", b"")
    return {name: [each.replace("\r\n", "\n") for each in texts] for name, texts in _pairs(raw).items()}


def _pairs(raw: bytes) -> dict[str, list[str]]:
    try:
        return parse_qs(
            raw.decode("ascii"), keep_blank_values=True, max_num_fields=FIELDS_MAX, errors="strict"
        )
    except ValueError:
        failure = MalformedError(field="request", reason="must be a form of this console")
    raise failure
