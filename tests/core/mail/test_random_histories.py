"""Random histories: each store does what the model says, and both answer alike, byte for byte.

Both stores run side by side under one clock, with ids of one seed. CI runs a fixed number of histories of a
fixed seed; with M4A_TORTURE=1 many more are drawn, and others each time.
"""

import asyncio
import os
import shutil
import tempfile
from collections.abc import Awaitable, Callable, Coroutine
from pathlib import Path
from typing import Any, TypeVar

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from mail4agent_api.addresses import address_of, participant_of
from mail4agent_api.errors import RefusalError
from mail4agent_api.mail import (
    AckManyRequest,
    AckRequest,
    DirectoryRequest,
    InboxRequest,
    MessageGetRequest,
    MessageId,
    Position,
    RetentionRequest,
    RoomListRequest,
    SearchRequest,
    SendManyRequest,
    SendRequest,
    SentRequest,
    StatusRequest,
    ThreadRequest,
    ToldRequest,
    WhoAmIRequest,
)
from mail4agent_core.clock import HandClock
from mail4agent_core.mail.identity import READ, SEND, Caller
from mail4agent_core.mail.memory import MemoryStore
from mail4agent_core.mail.process import Evidence, ProcessId, session_id_of
from mail4agent_core.mail.sessions import LISTED_MS
from mail4agent_core.mail.sqlite import SqliteStore
from mail4agent_core.mail.sqlite.verify import verify
from mail4agent_core.mail.store import MailStore
from mail4agent_core.mail.wire import Wire

from .model import Ask, Letter, Model
from .office import NOWHERE, Office

T = TypeVar("T")

DAY_MS = 86_400_000
TORTURE = os.environ.get("M4A_TORTURE") == "1"

accounts = st.sampled_from(["ann", "bob", "cid"])
rooms = st.sampled_from(["hall", "yard"])
BOOT_MS = 1_600_000_000_000
PROCESSES = [ProcessId("boot", pid, 7) for pid in (1, 2)]
SESSIONS = [session_id_of(process.pid, BOOT_MS + 70) for process in PROCESSES]
#: A process is a session of one account at a time; readers of that name under another were never met as one.
readers = st.one_of(accounts, st.builds("{}/{}".format, accounts, st.sampled_from(SESSIONS)))
processes = st.integers(0, 1)
targets = st.one_of(accounts, readers, rooms.map("#{}".format))
#: Which of the messages so far, from the newest back.
which = st.integers(0, 40)
limits = st.sampled_from([1, 2, 3, 256])


class Histories(RuleBasedStateMachine):
    """Operations on two stores and the model, compared after each: the one in memory, and one on a disk."""

    def prepare(self) -> None:
        """Make what the store stands on."""
        self.folder = Path(tempfile.mkdtemp(prefix="histories-"))
        self.path = self.folder / "mail.sqlite3"

    def open_store(self) -> Coroutine[Any, Any, MailStore]:
        """Open the store, for the first time or again."""
        return SqliteStore.open(self.path, self.clock)

    def findings(self) -> list[str]:
        """What is wrong with the store, which is closed."""
        return verify(self.path)

    def discard(self) -> None:
        """Remove what the store stood on."""
        shutil.rmtree(self.folder)

    def __init__(self) -> None:
        super().__init__()
        self.clock = HandClock()
        self.model = Model()
        self.runner = asyncio.Runner()
        self.prepare()
        store = self.runner.run(self.open_store())
        self.offices = (Office(MemoryStore(self.clock), self.clock), Office(store, self.clock))
        self.cursors: dict[str, Position] = {}
        self.steps = 0

    def teardown(self) -> None:
        """Every reader is right at the end, and the store is sound."""
        try:
            for name in (*self.model.people, "ann", f"bob/{SESSIONS[0]}"):
                self.check(name)
            self.runner.run(self.offices[1].store.close())
            assert self.findings() == []
        finally:
            self.runner.run(self.offices[1].store.close())
            self.runner.close()
            self.discard()

    def caller(self, name: str) -> Caller:
        """Who may send and read as an address."""
        return Caller(participant_of(name), frozenset((SEND, READ)))

    def both(self, operation: Callable[[Office], Awaitable[T]]) -> tuple[str, T | None]:
        """Run on both; they answer or refuse alike. The kind of refusal or ok, and the answer."""
        results: list[tuple[str, T | None, object]] = []

        async def run(office: Office) -> T:
            return await operation(office)

        for office in self.offices:
            try:
                value = self.runner.run(run(office))
            except RefusalError as refusal:
                results.append((refusal.kind, None, refusal.refusal))
            else:
                results.append(("ok", value, value.raw if isinstance(value, Wire) else value))
        (kind, value, shown), (_, _, other) = results
        assert shown == other
        return kind, value

    def letter(self, number: int) -> MessageId:
        """One of the messages so far, deleted ones included, or one that never was."""
        letters = self.model.letters
        return letters[-1 - number].message_id if number < len(letters) else NOWHERE

    def at(self, number: int | None) -> Position | None:
        """The position of a message, deleted ones included, or of one that never was."""
        if number is None:
            return None
        letters = self.model.letters
        if number < len(letters):
            return letters[-1 - number].position
        return Position(created_at_unix_ms=self.clock.now_ms(), message_id=NOWHERE)

    @initialize()
    def begin(self) -> None:
        """Two accounts in a room, so that there is something to do."""
        self.both(lambda office: office.sessions.prepare("boot", BOOT_MS))
        for name in ("ann", "bob"):
            self.register(name)
        self.open_room("hall", "open")
        for name in ("ann", "bob"):
            self.join("hall", name)

    @rule(name=accounts)
    def register(self, name: str) -> None:
        """Register an account."""
        kind, _ = self.both(lambda office: office.account(name))
        assert kind == self.model.register(name)

    @rule(name=accounts)
    def remove(self, name: str) -> None:
        """Remove an account."""
        kind, _ = self.both(lambda office: office.remove(name))
        assert kind == self.model.remove(name)

    @rule(name=accounts)
    def purge(self, name: str) -> None:
        """Purge an account."""
        kind, _ = self.both(lambda office: office.purge(name))
        assert kind == self.model.purge(name)

    @rule(room=rooms, posting=st.sampled_from(["open", "members"]))
    def open_room(self, room: str, posting: str) -> None:
        """Create a room."""
        kind, _ = self.both(lambda office: office.room(room, posting=posting))
        assert kind == self.model.open_room(room, posting)

    @rule(room=rooms)
    def close_room(self, room: str) -> None:
        """Remove a room with its mail."""
        kind, _ = self.both(lambda office: office.remove_room(room))
        assert kind == self.model.close_room(room)

    @rule(room=rooms, name=accounts)
    def join(self, room: str, name: str) -> None:
        """Put an account into a room."""
        kind, _ = self.both(lambda office: office.join(room, self.caller(name)))
        assert kind == self.model.join(room, name)

    @rule(room=rooms, name=accounts)
    def leave(self, room: str, name: str) -> None:
        """Take an account out of a room."""
        kind, _ = self.both(lambda office: office.leave(room, self.caller(name)))
        assert kind == self.model.leave(room, name)

    @rule(name=readers)
    def meet(self, name: str) -> None:
        """First contact of a session, or a repeat."""
        if "/" in name:
            self.both(lambda office: office.store.meet(self.caller(name).address))  # pyright: ignore[reportArgumentType]
            self.model.meet(name)

    @rule(name=accounts, process=processes, model=st.sampled_from(["one", "two"]))
    def connect(self, name: str, process: int, model: str) -> None:
        """A process shows an account's secret; it runs, then."""
        self.run(process, runs=True)
        evidence = Evidence(PROCESSES[process], model=model)
        kind, address = self.both(lambda office: office.sessions.meet(self.caller(name).account, evidence))
        assert kind == self.model.connect(name, SESSIONS[process], model, self.clock.now_ms())
        if address is not None:
            assert address.session == SESSIONS[process]

    @rule(process=processes, runs=st.booleans())
    def run(self, process: int, *, runs: bool) -> None:
        """A process ends, or is seen again by a system that failed to see it."""
        for running in (office.running for office in self.offices):
            running.add(PROCESSES[process]) if runs else running.discard(PROCESSES[process])
        (self.model.running.add if runs else self.model.running.discard)(SESSIONS[process])

    @rule()
    def flush(self) -> None:
        """Upkeep looks who is dead."""
        self.both(lambda office: office.sessions.flush())
        self.model.flush(self.clock.now_ms())

    @rule(name=readers, role=st.sampled_from(["reviewer", "author"]))
    def declare(self, name: str, role: str) -> None:
        """A session says what it does."""
        kind, status = self.both(
            lambda office: office.engine.status(self.caller(name), StatusRequest(role=role))
        )
        assert kind == self.model.declare(name)
        if status is not None:
            assert status.card.declared.role == role

    @rule(
        name=readers,
        to=targets,
        key=st.none() | st.sampled_from(["k", "l"]),
        correlation=st.none() | st.sampled_from(["c", "d"]),
        reply=st.none() | which,
        fresh=st.booleans(),
        allow_dead=st.booleans(),
    )
    def send(  # one argument an option
        self,
        name: str,
        to: str,
        key: str | None,
        correlation: str | None,
        reply: int | None,
        *,
        fresh: bool,
        allow_dead: bool,
    ) -> None:
        """Send; without fresh the content may be that of an earlier send with the key."""
        subject = f"m{len(self.model.letters)}" if fresh or key is None else f"keyed-{to}"
        reply_to = None if reply is None else self.letter(reply)
        content = (to, subject, correlation, reply_to)
        verdict = self.model.verdict(name, to, content, key, reply_to, allow_dead=allow_dead)
        kind, message_id = self.both(
            lambda office: office.send(
                self.caller(name),
                to,
                subject,
                reply_to=reply_to,
                correlation=correlation,
                key=key,
                allow_dead=allow_dead,
            )
        )
        if isinstance(verdict, MessageId):
            assert (kind, message_id) == ("ok", verdict)
            return
        assert kind == verdict
        if message_id is not None:
            self.store(name, to, message_id, subject, correlation, reply_to, content, key)

    def store(  # noqa: PLR0917  # what a message is made of
        self,
        name: str,
        to: str,
        message_id: MessageId,
        subject: str,
        correlation: str | None,
        reply_to: MessageId | None,
        content: object,
        key: str | None,
    ) -> None:
        """Put what was sent into the model, with the time that it was given."""
        model = self.model
        message = self.runner.run(self.offices[0].get(self.caller(name), message_id))
        assert message.created_at_unix_ms == max(model.last_ms, self.clock.now_ms())
        box = model.target(to)
        assert isinstance(box, tuple)
        replied = None if reply_to is None else model.find(reply_to)
        index = len(model.letters)
        person = model.people[name]
        letter = Letter(
            index=index,
            message_id=message_id,
            subject=subject,
            sender=person.number,
            account=model.accounts[person.account],
            box=box,
            thread=index if replied is None else replied.thread,
            correlation=correlation,
            created_at=message.created_at_unix_ms,
        )
        model.post(letter, name, content, key)

    @rule(name=readers, to=st.lists(targets, min_size=1, max_size=4))
    def send_many(self, name: str, to: list[str]) -> None:
        """Send several in one request; each has its own outcome."""
        start = len(self.model.letters)
        request = SendManyRequest(
            messages=[
                SendRequest(to=address_of(each), subject=f"m{start}-{n}", body="text")
                for n, each in enumerate(to)
            ]
        )
        _, response = self.both(lambda office: office.engine.send_many(self.caller(name), request))
        assert response is not None
        for each, asked, outcome in zip(to, request.messages, response.value().outcomes, strict=True):
            verdict = self.model.verdict(name, each, (), None, None)
            assert (outcome.refusal.kind if outcome.kind == "refused" else "ok") == verdict
            if outcome.kind == "sent":
                self.store(name, each, outcome.message_id, asked.subject, None, None, (), None)

    @rule(name=readers, number=which)
    def ack(self, name: str, number: int) -> None:
        """Acknowledge a message."""
        request = AckRequest(message_id=self.letter(number))
        kind, response = self.both(lambda office: office.engine.ack(self.caller(name), request))
        expected = self.model.ack(name, request.message_id, self.clock.now_ms())
        assert ("acked" if kind == "ok" else kind) == expected
        if response is not None:
            letter = self.model.find(request.message_id)
            assert letter is not None
            assert response.ack.acked_at_unix_ms == self.model.people[name].acks[letter.index]

    @rule(name=readers, numbers=st.lists(which, min_size=1, max_size=8))
    def ack_many(self, name: str, numbers: list[int]) -> None:
        """Acknowledge several messages; each has its own outcome."""
        request = AckManyRequest(message_ids=[self.letter(number) for number in numbers])
        kind, response = self.both(lambda office: office.engine.ack_many(self.caller(name), request))
        now = self.clock.now_ms()
        expected = [self.model.ack(name, message_id, now) for message_id in request.message_ids]
        if response is None:
            assert {kind} == set(expected)
        else:
            kinds = [each.kind if each.kind == "acked" else each.refusal.kind for each in response.outcomes]
            assert kinds == expected

    @rule(number=which)
    def purge_message(self, number: int) -> None:
        """Delete a message."""
        message_id = self.letter(number)
        kind, _ = self.both(lambda office: office.purge_message(message_id))
        letter = self.model.find(message_id)
        assert kind == ("unknown_message" if letter is None else "ok")
        if letter is not None:
            letter.alive = False

    @rule(step=st.sampled_from([1, 1, 1_000, DAY_MS, 8 * DAY_MS, 181 * DAY_MS, -1, -1_000, -30 * DAY_MS]))
    def turn_the_clock(self, step: int) -> None:
        """Turn the clock, also back."""
        self.clock.step(step)

    @rule()
    def retain(self) -> None:
        """Run retention."""
        request = RetentionRequest(run=True)
        _, report = self.both(lambda office: office.administration.retention(office.operator, request))
        assert report is not None
        expected = self.model.retain(self.clock.now_ms(), 180 * DAY_MS, 7 * DAY_MS, LISTED_MS)
        assert (report.removed_messages, report.removed_keys) == expected

    @rule()
    def restart(self) -> None:
        """Close the store and open it again."""
        office = self.offices[1]
        self.runner.run(office.store.close())
        store = self.runner.run(self.open_store())
        office.store = store
        office.engine._store = store
        office.sessions._store = store
        office.administration._store = store

    @rule(name=readers, limit=limits)
    def page_on(self, name: str, limit: int) -> None:
        """The next page of a reader that remembers the last message it saw."""
        after = self.cursors.get(name)
        request = InboxRequest(limit=limit, after=after)
        _, page = self.both(lambda office: office.engine.inbox(self.caller(name), request))
        assert page is not None
        messages = page.value().messages
        found = [message.subject for message in messages]
        assert found == self.model.page(name, Ask(limit=limit, after=after))
        times = [message.created_at_unix_ms for message in messages]
        assert times == sorted(times)
        if messages:
            last = messages[-1]
            self.cursors[name] = Position(
                created_at_unix_ms=last.created_at_unix_ms, message_id=last.message_id
            )

    @rule(
        name=readers,
        limit=limits,
        newest=st.booleans(),
        cursor=st.sampled_from(["after", "before", "since", "none"]),
        number=which,
        unread_only=st.booleans(),
        thread=st.none() | which,
        sent_by=st.none() | accounts,
        room=st.none() | rooms,
        correlation=st.none() | st.sampled_from(["c", "d"]),
    )
    def page(  # noqa: PLR0917  # one argument an option
        self,
        name: str,
        limit: int,
        cursor: str,
        number: int,
        thread: int | None,
        sent_by: str | None,
        room: str | None,
        correlation: str | None,
        *,
        newest: bool,
        unread_only: bool,
    ) -> None:
        """A page of any kind."""
        at = self.at(number)
        assert at is not None
        ask = Ask(
            limit=limit,
            newest=newest,
            after=at if cursor == "after" else None,
            before=at if cursor == "before" else None,
            since=at.created_at_unix_ms if cursor == "since" else None,
            unread_only=unread_only,
            thread=None if thread is None else self.letter(thread),
            sent_by=sent_by,
            room=room,
            correlation=correlation,
        )
        assert self.ask(name, ask) == self.model.page(name, ask)

    def ask(self, name: str, ask: Ask) -> list[str]:
        """The subjects of a page; its unread count is checked with it."""
        request = InboxRequest.model_validate(
            {
                "limit": ask.limit,
                "order": "newest" if ask.newest else "oldest",
                "after": ask.after,
                "before": ask.before,
                "since_unix_ms": ask.since,
                "unread_only": ask.unread_only,
                "thread": ask.thread,
                "sent_by": ask.sent_by,
                "room": ask.room,
                "correlation": ask.correlation,
            }
        )
        _, page = self.both(lambda office: office.engine.inbox(self.caller(name), request))
        assert page is not None
        value = page.value()
        assert value.unread == len(self.model.unread(name))
        return [message.subject for message in value.messages]

    @rule(name=readers, number=which)
    def look_at(self, name: str, number: int) -> None:
        """A message by its id, and its thread."""
        message_id = self.letter(number)
        get = MessageGetRequest(message_id=message_id)
        kind, _ = self.both(lambda office: office.engine.get(self.caller(name), get))
        assert kind == self.model.sight(name, message_id)
        ask = ThreadRequest(message_id=message_id, limit=256)
        kind, thread = self.both(lambda office: office.engine.thread(self.caller(name), ask))
        assert kind == self.model.sight(name, message_id)
        if thread is not None:
            found = [message.subject for message in thread.value().messages]
            assert found == self.model.thread(name, message_id)

    @rule(name=readers)
    def look_around(self, name: str) -> None:
        """What was sent, a search, the directory and the rooms."""
        caller = self.caller(name)
        _, sent = self.both(lambda office: office.engine.sent(caller, SentRequest(limit=256)))
        assert sent is not None
        rows = [(row.message.subject, row.acknowledged, row.undeliverable) for row in sent.value().sent]
        assert rows == self.model.sent(name)
        query = SearchRequest(query="text", limit=256)
        _, found = self.both(lambda office: office.engine.search(caller, query))
        assert found is not None
        everything = self.model.page(name, Ask(newest=True))
        assert [message.subject for message in found.value().messages] == everything
        _, directory = self.both(lambda office: office.engine.directory(caller, DirectoryRequest()))
        assert directory is not None
        active = sorted(name for name in self.model.accounts if self.model.is_active(name))
        entries = directory.value().participants
        assert [entry.id for entry in entries] == active
        listed = {(str(entry.id), each.id, each.live) for entry in entries for each in entry.sessions}
        assert listed == self.model.listed(self.clock.now_ms() - LISTED_MS)
        kind, _ = self.both(lambda office: office.engine.whoami(caller, WhoAmIRequest()))
        assert kind == ("ok" if self.model.is_active(caller.account) else "unauthenticated")
        self.both(lambda office: office.administration.room_list(office.operator, RoomListRequest()))

    @rule(name=readers, limit=st.sampled_from([1, 2, 32]))
    def tell(self, name: str, limit: int) -> None:
        """A hook asks what there is to tell: each message once, though the stores keep a position alone."""
        caller = self.caller(name)
        kind, told = self.both(lambda office: office.engine.told(caller, ToldRequest(limit=limit)))
        assert kind == ("ok" if self.model.is_active(caller.account) else "unauthenticated")
        if told is not None:
            shown = [notice.subject for notice in told.messages]
            assert (shown, told.more) == self.model.tell(name, limit)
            assert told.unread == len(self.model.unread(name))

    @rule(name=readers, number=st.none() | which)
    def wait_for(self, name: str, number: int | None) -> None:
        """What a waiter is told."""
        at, caller = self.at(number), self.caller(name)
        _, stands = self.both(lambda office: office.engine.stands_after(caller, at))
        assert stands == self.model.stands_after(name, at)
        _, newest = self.both(lambda office: office.engine.newest(caller))
        readable = list(self.model.readable(name))
        assert newest == (readable[-1].position if readable else None)
        self.both(lambda office: office.engine.boxes(caller))

    @precondition(lambda self: self.model.people)
    @invariant()
    def a_reader_is_right(self) -> None:
        """One reader at each step has the unread mail that it should have, in number and in pages."""
        self.steps += 1
        names = sorted(self.model.people)
        self.check(names[self.steps % len(names)])

    def check(self, name: str) -> None:
        """Unread mail by pages from both ends is what the model says, and as much as the count."""
        unread = [letter.subject for letter in self.model.unread(name)]
        assert self.ask(name, Ask(unread_only=True)) == unread
        assert self.ask(name, Ask(unread_only=True, newest=True, limit=2)) == unread[::-1][:2]
        _, count = self.both(lambda office: office.engine.unread_count(self.caller(name)))
        assert count == len(unread)


@pytest.mark.promise(
    "store.all-stores-keep-one-contract",
    "mail.unread-is-one-number",
    "mail.paging-misses-and-repeats-nothing",
    "mail.position-never-decreases",
    "mail.same-key-same-effect",
    "mail.filters-come-before-the-limit",
    "mail.told-once",
    "admin.retention-spares-unsettled-mail",
)
@pytest.mark.timeout(14_400 if TORTURE else 300)
class TestHistories(Histories.TestCase):
    """Each history ends as the model says."""

    settings = settings(
        max_examples=5_000 if TORTURE else 60,
        stateful_step_count=60,
        derandomize=not TORTURE,
        deadline=None,
        database=None,
        print_blob=True,
        suppress_health_check=list(HealthCheck),
    )
