"""What a page answers with."""

from collections.abc import Awaitable, Callable, MutableMapping
from dataclasses import dataclass
from typing import Any, Final

Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]

POLICY: Final = (
    b"default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    b"form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
)
#: ``same-origin``: without any referrer browsers send ``Origin: null`` with a form, which is nobody's.
GUARDS: Final = (
    (b"content-security-policy", POLICY),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"same-origin"),
    (b"cross-origin-opener-policy", b"same-origin"),
)
NO_STORE: Final = (b"cache-control", b"no-store")
HTML: Final = b"text/html; charset=utf-8"


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer, whole."""

    status: int
    body: bytes = b""
    kind: bytes = HTML
    headers: tuple[tuple[bytes, bytes], ...] = (NO_STORE,)

    def all_headers(self) -> list[tuple[bytes, bytes]]:
        """Every header of it."""
        length = (b"content-length", b"%d" % len(self.body))
        return [(b"content-type", self.kind), length, *GUARDS, *self.headers]

    async def go(self, send: Send) -> None:
        """Send it."""
        start = {"type": "http.response.start", "status": self.status, "headers": self.all_headers()}
        await send(start)
        await send({"type": "http.response.body", "body": self.body})
