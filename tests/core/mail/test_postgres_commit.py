"""A commit whose answer is lost with the connection: its sender is told what the server made of it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from mail4agent_api.errors import AlreadyExistsError, StoreUnavailableError
from mail4agent_core.clock import HandClock
from mail4agent_core.mail.postgres import PostgresStore, writer
from mail4agent_core.mail.postgres.faults import OutcomeUnknownError
from mail4agent_core.mail.postgres.verify import verify
from tests.postgres import PostgresServer

from .office import Office

pytestmark = pytest.mark.promise("store.refused-was-not-done")

#: The text of the statement, as the first commit of a connection says it, and what a server says that did it.
ASKED, DONE = b"COMMIT\0", b"COMMIT\0"
#: What only the connection that writes says, with its first statement.
WRITES = b"SELECT pos, changes FROM clock"


class Relay:
    """Passes connections on to a server, and loses one of them at a commit."""

    def __init__(self, socket: str) -> None:
        self._socket = socket
        self._writers: set[asyncio.StreamWriter] = set()
        self._tasks: set[asyncio.Task[None]] = set()
        #: Whether the next commit is lost before the server has it, or after it was done.
        self.loses: str | None = None
        self.lost = asyncio.Event()
        #: Whether nobody is let through any more.
        self.closed = False
        self.port = 0

    @asynccontextmanager
    async def listening(self) -> AsyncIterator[Relay]:
        """Take connections for the length of the block."""
        server = await asyncio.start_server(self._take, "127.0.0.1", 0)
        self.port = server.sockets[0].getsockname()[1]
        try:
            yield self
        finally:
            server.close()
            self.cut()
            for task in self._tasks:
                task.cancel()
            await asyncio.gather(*self._tasks, return_exceptions=True)

    def cut(self) -> None:
        """End all connections."""
        for each in list(self._writers):
            each.transport.abort()

    def lose(self, when: str) -> None:
        """Lose the next commit; its connection is another one than those up to now, which are ended."""
        self.loses = when
        self.cut()

    async def _take(self, reader: asyncio.StreamReader, client: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        server = None
        try:
            if not self.closed:
                far, server = await asyncio.open_unix_connection(self._socket)
                self._writers |= {client, server}
                await self._pass(reader, client, far, server)
        except (OSError, EOFError):
            pass
        finally:
            for each in (client, server):
                if each is not None:
                    self._writers.discard(each)
                    each.transport.abort()
            self._tasks.discard(task)

    async def _pass(
        self,
        reader: asyncio.StreamReader,
        client: asyncio.StreamWriter,
        far: asyncio.StreamReader,
        server: asyncio.StreamWriter,
    ) -> None:
        lost = False

        async def up() -> None:
            nonlocal lost
            said = b""
            while data := await reader.read(65_536):
                said += data
                if self.loses and WRITES in said and ASKED in data:
                    when, self.loses, lost = self.loses, None, True
                    if when == "before":
                        return
                server.write(data)

        async def down() -> None:
            swallowed = b""
            while data := await far.read(65_536):
                if not lost:
                    client.write(data)
                    continue
                swallowed += data
                if DONE in swallowed:
                    return

        ways = [asyncio.create_task(way()) for way in (up, down)]
        try:
            await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for way in ways:
                way.cancel()
            await asyncio.gather(*ways, return_exceptions=True)
        if lost:
            self.lost.set()


@pytest.fixture
async def relay(postgres_server: PostgresServer) -> AsyncIterator[Relay]:
    """What stands before the server."""
    async with Relay(str(postgres_server.socket)).listening() as made:
        yield made


@pytest.fixture
async def office(
    postgres_server: PostgresServer, relay: Relay, clock: HandClock, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[Office]:
    """An office whose store is reached through the relay, and which is sound at the end."""
    # What is indexed in idle moments commits too; it is a send that is to meet the fault.
    monkeypatch.setattr(writer, "IDLE_SECS", 3_600.0)
    url = postgres_server.create()
    database = url.partition("?")[0].rpartition("/")[2]
    store = await PostgresStore.open(f"postgresql://mail@127.0.0.1:{relay.port}/{database}", clock)
    yield Office(store, clock)
    await store.close()
    assert verify(url) == []


async def test_a_send_that_was_committed_is_acknowledged_though_the_answer_was_lost(
    office: Office, relay: Relay
):
    """Its sender need not send it again, and it is there once."""
    ann, bob = await office.accounts("ann", "bob")
    relay.lose("after")
    assert (await office.send(ann, "bob", "kept")).startswith("m4a_")
    assert relay.lost.is_set()
    assert await office.subjects(bob) == ["kept"]
    assert await office.unread(bob) == 1


async def test_a_send_that_was_not_committed_is_refused_and_never_comes(office: Office, relay: Relay):
    """The server did not hear of the commit and undid it when the connection was gone."""
    ann, bob = await office.accounts("ann", "bob")
    relay.lose("before")
    with pytest.raises(StoreUnavailableError):
        await office.send(ann, "bob", "lost")
    assert relay.lost.is_set()
    await office.send(ann, "bob", "next")
    assert await office.subjects(bob) == ["next"]


@pytest.mark.parametrize("when", ["before", "after"])
async def test_all_that_shared_the_lost_commit_are_told_the_same(office: Office, relay: Relay, when: str):
    """Each is acknowledged and there once, or each is refused and not there."""
    ann, bob = await office.accounts("ann", "bob")
    relay.lose(when)
    sends = (office.send(ann, "bob", str(number)) for number in range(9))
    outcomes = await asyncio.gather(*sends, return_exceptions=True)
    assert relay.lost.is_set()
    told = [str(number) for number, outcome in enumerate(outcomes) if isinstance(outcome, str)]
    assert sorted(await office.subjects(bob)) == told
    assert all(isinstance(each, str | StoreUnavailableError) for each in outcomes)


async def test_an_administrators_change_whose_answer_was_lost_is_known(office: Office, relay: Relay):
    """An account that was made is answered as made, also where there was nobody to tell of it."""
    relay.lose("after")
    await office.account("ann")
    assert relay.lost.is_set()
    with pytest.raises(AlreadyExistsError):
        await office.account("ann")


async def test_where_the_server_stays_away_nothing_is_said_of_the_commit(
    office: Office, relay: Relay, monkeypatch: pytest.MonkeyPatch
):
    """Not that nothing was changed: it was, and is there when the server is back."""
    monkeypatch.setattr(writer, "OUTCOME_SECS", 0.0)
    ann, bob = await office.accounts("ann", "bob")
    relay.lose("after")
    sending = asyncio.create_task(office.send(ann, "bob", "kept"))
    await relay.lost.wait()
    relay.closed = True
    with pytest.raises(OutcomeUnknownError):
        await sending
    relay.closed = False
    async with asyncio.timeout(30):
        while True:
            try:
                assert await office.subjects(bob) == ["kept"]
            except StoreUnavailableError:
                await asyncio.sleep(0)
            else:
                return
