"""One request to a page, by somebody who is signed in, and what its handler does with it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote, urlsplit

import orjson

from mail4agent_api._wire import WireModel
from mail4agent_api.codec import decode, encode
from mail4agent_api.operations import OPERATIONS
from mail4agent_daemon.dispatch import Call, Dispatch
from mail4agent_daemon.link import Link

from .reply import NO_STORE, Reply
from .signed_in import SignedIn

if TYPE_CHECKING:
    from .pages import Pages

PATH: Final = "/console"
_Which = tuple[str | tuple[str, str], ...]
#: What a page may say after a change, in bytes: it comes back in the address.
_SAID_MAX: Final = 300


@dataclass(slots=True)
class Visit:
    """A signed-in request."""

    signed: SignedIn
    dispatch: Dispatch
    link: Link | None
    pages: Pages
    csrf: str
    path: str
    #: The number of changes that there had been when it came.
    changes: int
    #: The names in the path of its route.
    parts: Mapping[str, str] = field(default_factory=dict[str, str])
    #: One text a name, the last that came.
    query: Mapping[str, str] = field(default_factory=dict[str, str])
    #: Every text of a posted form, its line feeds as they were typed.
    forms: Mapping[str, list[str]] = field(default_factory=dict[str, list[str]])
    #: How many there are, by operation and selection, of what was asked for this page already.
    _totals: dict[_Which, asyncio.Future[int]] = field(default_factory=dict[_Which, "asyncio.Future[int]"])

    @property
    def form(self) -> dict[str, str]:
        """A posted form, one text a name."""
        return {name: texts[-1] for name, texts in self.forms.items()}

    @property
    def account(self) -> str:
        """Who is signed in."""
        return self.signed.account

    async def ask(self, operation: str, body: Mapping[str, Any] | WireModel | None = None) -> Any:
        """Call an operation as the account and return its decoded answer. Raises RefusalError."""
        row = OPERATIONS[operation]
        raw = encode(body) if isinstance(body, WireModel) else orjson.dumps(dict(body or {}))
        # For its parent: a browser is no session of the account, and one below an agent acts as that.
        call = Call(row, self.signed.digest, raw, _nothing, self.link, for_parent=True, cost=1)
        assert row.response is not None
        return decode(row.response, await self.dispatch.run(call))

    async def total(self, operation: str, **which: str) -> int:
        """How many a list has in all, of a selection; asked once a page. Raises RefusalError."""
        key = operation, *which.items()
        found = self._totals.get(key)
        if found is None:
            found = self._totals[key] = asyncio.ensure_future(self._asked(operation, which))
        return await found

    async def _asked(self, operation: str, which: Mapping[str, str]) -> int:
        return (await self.ask(operation, {**which, "limit": 1})).total

    def knows(self, operation: str, total: int, **which: str) -> None:
        """Have a number that a list told anyway."""
        found = self._totals[operation, *which.items()] = asyncio.get_running_loop().create_future()
        found.set_result(total)

    def forget(self) -> None:
        """Ask again from now on: a stream looks more than once."""
        self._totals.clear()

    async def page(self, template: str, *, title: str, status: int = 200, **context: Any) -> Reply:
        """Render a template within the layout."""
        tally = await self.pages.tally(self)
        text = self.pages.render(
            template,
            title=title,
            visit=self,
            tally=tally,
            said=self.query.get("said", "")[:_SAID_MAX],
            csrf=self.csrf,
            changes=self.changes,
            **context,
        )
        return Reply(status, text.encode())

    def see_other(self, path: str, *, said: str = "") -> Reply:
        """Go on to another page of the console, which says what was done."""
        mark = "&" if urlsplit(path).query else "?"
        where = f"{path}{mark}said={quote(said)}" if said else path
        return Reply(303, headers=((b"location", where.encode("ascii")), NO_STORE))


async def _nothing() -> dict[str, Any]:
    """What a call hears of a connection that is not its own: that nobody waits."""
    return {"type": "http.disconnect"}


Handler = Callable[[Visit], Awaitable[Reply]]


@dataclass(frozen=True, slots=True)
class Route:
    """What answers a method at a path, in which ``{name}`` stands for one segment."""

    method: str
    path: str
    handler: Handler
    #: Refused to a browser that runs below an agent.
    decides: bool = False


@dataclass(frozen=True, slots=True)
class Screen:
    """A place in the rail."""

    name: str
    title: str
    path: str
    routes: tuple[Route, ...]
    #: How many of its things wait; asked for each page and after each change, so it must be quick.
    count: Callable[[Visit], Awaitable[int]] | None = None
    #: The seams whose changes may change the count.
    seams: frozenset[str] = frozenset()
