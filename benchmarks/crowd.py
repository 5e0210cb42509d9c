"""A crowd of readers: each an account of its own that waits on a connection of its own."""

import asyncio
import resource
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import load
import subjects

PARK_SECS = 60
#: Requests that prepare, in flight at a time: registrations share commits.
PREPARING = 32
#: How often the daemon is asked how many wait, in seconds.
LOOK_SECS = 0.02
#: Descriptors that a process needs besides its parked connections.
SPARE_FILES = 100
#: mail.inbox and mail.wait in turn.
PATHS = ("/mail/inbox", "/mail/wait")
METRICS = load.request("GET", "/metrics")


class Reader:
    """One account that waits for what comes after the last message it saw."""

    def __init__(self, name: str, secret: str, path: str, connection: load.Connection) -> None:
        self.name = name
        self.connection = connection
        self.answered_at = 0.0
        self._path = path
        self._headers = subjects.bearer(secret)
        self._after: Any = None
        self._answer: asyncio.Future[load.Answer] | None = None

    async def begin(self) -> None:
        """Find out where the mailbox stands. The connection has had a request answered then."""
        raw = load.request("POST", "/mail/wait", {"wait_secs": 0}, self._headers)
        self._after = (await self.connection.ask(raw)).json()["newest"]

    def park(self) -> None:
        """Wait for mail."""
        body = {"wait_secs": PARK_SECS, "after": self._after}
        self._answer = self.connection.ask(load.request("POST", self._path, body, self._headers))
        self._answer.add_done_callback(self._note)

    def _note(self, _: object) -> None:
        self.answered_at = perf_counter()

    async def woken(self) -> None:
        """The answer, which must tell of a message. Raises RuntimeError."""
        page = await self._page()
        newest = page["messages"][-1] if page.get("messages") else page.get("newest")
        if not newest:
            raise RuntimeError(f"a reader was answered {page} without a message")
        self._after = {name: newest[name] for name in ("created_at_unix_ms", "message_id")}

    async def emptied(self) -> None:
        """The answer, which must be empty. Raises RuntimeError."""
        page = await self._page()
        if page.get("messages") or page["unread"]:
            raise RuntimeError(f"a reader was answered {page} at the stop")

    async def _page(self) -> dict[str, Any]:
        assert self._answer is not None
        answer = await self._answer
        if answer.status != 200:
            raise RuntimeError(f"a reader was answered {answer.status} {answer.body!r}")
        return answer.json()


@dataclass(frozen=True, slots=True)
class Crowd:
    """The readers of one daemon."""

    server: subjects.Server
    readers: list[Reader]

    async def park(self) -> None:
        """Let all wait, and see that they do."""
        for some in in_batches(self.readers, PREPARING):
            for reader in some:
                reader.park()
            await load.ask(self.server.port, subjects.HEALTH)
        await self._parked(len(self.readers))

    async def leave(self) -> None:
        """Let all go, and see that the daemon has seen it."""
        for reader in self.readers:
            reader.connection.close()
        await self._parked(0)

    async def _parked(self, count: int) -> None:
        async with asyncio.timeout(PARK_SECS):
            while await figure(self.server, "mail4agent_parked_readers") != count:  # noqa: ASYNC110  it is another process
                await asyncio.sleep(LOOK_SECS)


async def gathered(server: subjects.Server, secrets: Sequence[tuple[str, str]]) -> Crowd:
    """A crowd on idle connections."""
    connections = await load.connect(server.port, len(secrets))
    readers = [
        Reader(name, secret, PATHS[number % len(PATHS)], connection)
        for number, ((name, secret), connection) in enumerate(zip(secrets, connections, strict=True))
    ]
    for some in in_batches(readers, PREPARING):
        await asyncio.gather(*(reader.begin() for reader in some))
    return Crowd(server, readers)


async def prepared(server: subjects.Server, path: str, bodies: Sequence[object]) -> list[dict[str, Any]]:
    """Have the operator make each of the requests; the answers in their order. Raises RuntimeError."""
    headers = subjects.bearer((server.home / "operator.key").read_text("ascii").strip())
    connections = await load.connect(server.port, PREPARING)
    answers: list[dict[str, Any]] = []
    for some in in_batches(bodies, PREPARING):
        asked = [
            connection.ask(load.request("POST", path, body, headers))
            for connection, body in zip(connections, some, strict=False)
        ]
        for answer in await asyncio.gather(*asked):
            if answer.status != 200:
                raise RuntimeError(f"{path} was answered {answer.status} {answer.body!r}")
            answers.append(answer.json())
    for connection in connections:
        connection.close()
    return answers


async def registered(server: subjects.Server, count: int) -> list[tuple[str, str]]:
    """Register accounts that may read; their names and secrets."""
    names = [f"reader-{number}" for number in range(count)]
    bodies = [{"id": name, "may_send": False, "may_read": True, "operator": False} for name in names]
    answers = await prepared(server, "/admin/participant", bodies)
    return [(name, str(answer["secret"])) for name, answer in zip(names, answers, strict=True)]


async def figure(server: subjects.Server, name: str) -> float:
    """One of the daemon's own figures, as it is now."""
    lines = (await load.ask(server.port, METRICS)).body.decode().splitlines()
    return next(float(line.split()[1]) for line in lines if line.startswith(f"{name} "))


def in_batches(items: Sequence[Any], size: int) -> Iterator[Sequence[Any]]:
    """The items, ``size`` at a time."""
    return (items[at : at + size] for at in range(0, len(items), size))


def allow_files(wanted: int) -> None:
    """Raise this process's bound of open files; the daemon inherits it."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != resource.RLIM_INFINITY and soft < wanted + SPARE_FILES:
        bound = wanted + SPARE_FILES
        resource.setrlimit(
            resource.RLIMIT_NOFILE, (bound if hard == resource.RLIM_INFINITY else min(bound, hard), hard)
        )
