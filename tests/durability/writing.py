"""A process that writes to a store until it is killed, and the parent that forks it warm.

Run as a module it reads one job a line from its standard input, forks a writer for each, and tells its
process id, when it is ready, and when it has ended. In between the writer itself tells what it is about to do
and what was answered. A line is written by one call, so that a kill tears none, and what was written outlives
the writer.
"""

import asyncio
import json
import os
import random
import resource
import sys
from collections.abc import Awaitable, Callable, Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from mail4agent_api.errors import AlreadyExistsError, RefusalError
from mail4agent_api.mail import MessageId, ParticipantId, RetentionRequest
from mail4agent_core.clock import HandClock
from mail4agent_core.ids import RandomIds
from mail4agent_core.mail.administration import Administration
from mail4agent_core.mail.identity import READ, SEND, Caller, account_caller
from mail4agent_core.mail.sqlite import SqliteStore
from tests.core.mail.office import Office

NAMES = ("ann", "bob", "cid")
ROOM = "hall"


@dataclass(frozen=True)
class Job:
    """What a writer is to do. ``size_limit`` is the most that a file may grow to, in bytes: a full disk."""

    path: str
    seed: int
    life: int
    clock_ms: int
    #: Sends with a key that were not answered: subject and target.
    pending: list[tuple[str, str]]
    size_limit: int | None


@dataclass(frozen=True)
class Entry:
    """What is done to what, and its state: try, ok or no."""

    deed: str
    what: str
    state: str
    life: int
    to: str = ""
    keyed: bool = False
    message_id: str = ""


def note(entry: Entry) -> None:
    """Tell what is done."""
    tell(f"note {json.dumps(asdict(entry))}")


def tell(text: str) -> None:
    """Write a line to whoever started the process, at once."""
    os.write(1, f"{text}\n".encode())


def caller(name: str) -> Caller:
    """Who may send and read as an account."""
    return account_caller(ParticipantId(name), (SEND, READ))


class Life:
    """One life of a writer."""

    def __init__(self, job: Job) -> None:
        self._job = job
        self._random = random.Random(job.seed)
        self._clock = HandClock(job.clock_ms)

    async def _do(self, entry: Entry, deed: Callable[[], Awaitable[MessageId | None]]) -> None:
        """Try, and note what was answered."""
        note(entry)
        try:
            message_id = await deed()
        except RefusalError as refusal:
            if refusal.kind not in ("store_unavailable", "unknown_message"):
                raise
            note(replace(entry, state="no"))
        else:
            note(replace(entry, state="ok", message_id=message_id or ""))

    async def live(self) -> None:
        """Write until somebody ends it."""
        store = await SqliteStore.open(Path(self._job.path), self._clock)
        office = Office(store, self._clock, seed=self._job.seed)
        self._office = office
        if not await store.look(lambda registry: registry.has_room(ROOM)):
            for name in NAMES:
                with suppress(AlreadyExistsError):
                    await office.account(name)
            await office.room(ROOM)
        if self._job.size_limit is not None:
            limits = resource.getrlimit(resource.RLIMIT_FSIZE)
            resource.setrlimit(resource.RLIMIT_FSIZE, (self._job.size_limit, limits[1]))
        tell("ready")
        for subject, to in self._job.pending:
            await self._post(subject, to, keyed=True)
        writers = [self._send(n) for n in range(6)]
        await asyncio.gather(*writers, self._settle(), self._purge(), self._members(), self._accounts())

    async def _post(self, subject: str, to: str, *, keyed: bool) -> None:
        entry = Entry("send", subject, "try", self._job.life, to, keyed)
        key = subject if keyed else None
        body = "x" * (len(subject) * 97 % 3_000)
        await self._do(entry, lambda: self._office.send(caller("ann"), to, subject, body, key=key))

    async def _send(self, number: int) -> None:
        for turn in self._turns():
            to = self._random.choice(("bob", "bob", "cid", f"#{ROOM}"))
            subject = f"{self._job.life}.{number}.{turn}"
            await self._post(subject, to, keyed=self._random.random() < 0.5)

    def _turns(self) -> Iterator[int]:
        turn = 0
        while True:
            self._clock.step(self._random.choice((0, 0, 1, 5, -3, 60_000, -60_000)))
            yield turn
            turn += 1

    async def _settle(self) -> None:
        """cid acknowledges, and retention deletes what it did."""
        office, reader = self._office, caller("cid")
        admin = Administration(office.store, self._clock, RandomIds(), keep_days=0)
        for turn in self._turns():
            page = await office.inbox(reader, unread_only=True, limit=self._random.choice((1, 5, 20)))
            for message in page.messages if turn % 2 else ():
                entry = Entry("ack", message.subject, "try", self._job.life)

                async def ack(message_id: MessageId = message.message_id) -> None:
                    await office.ack(reader, message_id)

                await self._do(entry, ack)
            if page.messages and not turn % 2:
                for message in page.messages:
                    note(Entry("ack", message.subject, "try", self._job.life))
                try:
                    await office.ack_many(reader, *(message.message_id for message in page.messages))
                except RefusalError:
                    continue
                for message in page.messages:
                    note(Entry("ack", message.subject, "ok", self._job.life))
            if turn % 10 == 9:

                async def retain() -> None:
                    await admin.retention(office.operator, RetentionRequest(run=True))

                await self._do(Entry("retain", "", "try", self._job.life), retain)

    async def _purge(self) -> None:
        """An operator deletes some of bob's mail."""
        office = self._office
        for _ in self._turns():
            page = await office.inbox(caller("bob"), order="newest", limit=20)
            if not page.messages:
                await office.store.remember("idle", 1)
                continue
            message = self._random.choice(page.messages)
            entry = Entry("purge", message.subject, "try", self._job.life)

            async def purge(message_id: MessageId = message.message_id) -> None:
                await office.purge_message(message_id)

            await self._do(entry, purge)

    async def _members(self) -> None:
        """bob joins and leaves the room."""
        for turn in self._turns():
            deed, command = ("join", self._office.join) if turn % 2 else ("leave", self._office.leave)

            async def change(command=command) -> None:
                await command(ROOM, caller("bob"))

            await self._do(Entry(deed, "bob", "try", self._job.life), change)

    async def _accounts(self) -> None:
        """Accounts come, get mail and go with it."""
        for turn in self._turns():
            name = f"guest.{self._job.life}.{turn}"

            async def visit(name: str = name) -> None:
                await self._office.account(name)
                await self._office.send(caller("ann"), name, "welcome")
                await self._office.remove(name)
                await self._office.purge(name)

            await self._do(Entry("visit", name, "try", self._job.life), visit)


def main() -> None:
    """Fork a writer for each job, one at a time."""
    for line in sys.stdin:
        job = Job(**json.loads(line))
        child = os.fork()
        if child == 0:
            asyncio.run(Life(job).live())
            os._exit(1)
        tell(f"forked {child}")
        _, status = os.waitpid(child, 0)
        tell(f"ended {os.waitstatus_to_exitcode(status)}")


if __name__ == "__main__":
    main()
