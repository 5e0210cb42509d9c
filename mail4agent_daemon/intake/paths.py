"""A path of the intake: who may ask how, and what is answered to a refusal.

A path is taken to the letter: no percent-encoding, no query. Whoever asks for HTML is refused with a page,
any other with a Refusal object; the status is the same.
"""

from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from mail4agent_api.errors import (
    InternalError,
    MalformedError,
    MethodNotAllowedError,
    OverloadedError,
    RateLimitedError,
    RefusalError,
    RequestTooLargeError,
    StoreUnavailableError,
    TooLargeError,
    UnknownPathError,
)
from mail4agent_daemon.entrance import allow, no_query
from mail4agent_daemon.refusals import refusal_response

from .pages import Pages

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]
Answer = Callable[[Request], Awaitable[Response]]

#: In every answer. A link's token stands in the address of a page, so no other site is told where from.
_POLICY = (
    b"default-src 'none'; style-src 'self'; script-src 'self'; img-src data:; form-action 'self';"
    b" base-uri 'none'; frame-ancestors 'none'"
)
_HEADERS = (
    (b"content-security-policy", _POLICY),
    (b"referrer-policy", b"same-origin"),
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"permissions-policy", b"camera=(), geolocation=(), microphone=(), payment=()"),
)
_STORE = (b"cache-control", b"no-store")
_HSTS = (b"strict-transport-security", b"max-age=31536000")


def guarded(app: App, *, https: bool) -> App:
    """The outermost application: every answer says how little a browser may do with it."""
    always = [*_HEADERS, *([_HSTS] if https else [])]

    async def run(scope: Scope, receive: Receive, send: Send) -> None:
        async def sent(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = list(message.get("headers", ()))
                names = {name.lower() for name, _ in headers}
                headers += [each for each in (*always, _STORE) if each[0] not in names]
                message = {**message, "headers": headers}
            await send(message)

        await app(scope, receive, sent)

    return run


class Path:
    """One path of the router. ``route`` is how the log names it; it never holds a token."""

    def __init__(self, route: str, pages: Pages | None, **answers: Answer) -> None:
        self._route = route
        self._pages = pages
        self._answers = answers
        self._methods = [*answers, *(["HEAD"] if "GET" in answers else [])]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request, or raise the refusal where no page is wanted."""
        state = scope["state"]
        state["route"] = self._route
        try:
            path: str = scope["path"]
            if path.encode() != scope.get("raw_path", path.encode()):
                raise UnknownPathError
            allow(scope, *self._methods)
            no_query(scope)
            method = "GET" if scope["method"] == "HEAD" else scope["method"]
            response = await self._answers[method](Request(scope, receive))
        except RefusalError as refusal:
            if self._pages is None or not wants_page(scope["headers"]) or refusal.status == 500:
                raise
            response = page_of(self._pages, refusal, state)
        await response(scope, receive, send)


class Nowhere:
    """Any other path: the same answer as an unknown type has, and a token that leads nowhere."""

    def __init__(self, pages: Pages) -> None:
        self._pages = pages

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Refuse."""
        if scope["type"] != "http" or not wants_page(scope["headers"]):
            raise UnknownPathError
        await page_of(self._pages, UnknownPathError(), scope["state"])(scope, receive, send)


async def body_of(request: Request) -> bytes:
    """The whole body, which the gate gives as one event."""
    message = await request.receive()
    return message.get("body", b"")


def wants_page(headers: list[tuple[bytes, bytes]]) -> bool:
    """Whether a person looks: browsers name HTML, programs do not."""
    return any(name == b"accept" and b"text/html" in value.lower() for name, value in headers)


def page_of(pages: Pages, refusal: RefusalError, state: MutableMapping[str, Any]) -> Response:
    """A refusal as a page, with the headers that its status has."""
    status, headers, _ = refusal_response(refusal, allow=state.get("allow", ()))
    page = pages.refused(status, *_said(refusal))
    keep = {b"retry-after", b"allow"}
    for name, value in headers:
        if name in keep:
            page.headers[name.decode("ascii")] = value.decode("ascii")
    return page


def _said(refusal: RefusalError) -> tuple[str, str]:
    match refusal:
        case UnknownPathError():
            return (
                "This page is not here",
                "The address may be mistyped, or the link was used already or is too old.",
            )
        case RateLimitedError():
            return (
                "Too many requests",
                "Too much was sent from here, or to this address. Please try again later.",
            )
        case OverloadedError() | StoreUnavailableError():
            return "Not possible right now", "Nothing can be taken at the moment. Please try again later."
        case RequestTooLargeError() | TooLargeError():
            return "That is too large", "What was sent is larger than this form takes."
        case MethodNotAllowedError():
            return "Not possible", "This page does not take that."
        case MalformedError():
            return (
                "That could not be read",
                "What was sent is not what this page sends. Please go back and try again.",
            )
        case InternalError():
            return "Something went wrong", "It is our fault. Please try again later."
        case _:
            return "Not possible", "That was not taken. Please go back and try again."
