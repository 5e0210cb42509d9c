"""What a mailbox should be, as plainly as it can be said: lists, sets and comprehensions, and no position.

Messages are numbered in the order in which they were sent. A box is named by what it belongs to and that
one's own number, so that what is registered anew under an old name has nothing of the old.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import count

from mail4agent_api.mail import MessageId, Position

Box = tuple[str, int]


@dataclass
class Letter:
    """A message."""

    index: int
    message_id: MessageId
    subject: str
    sender: int
    account: int
    box: Box
    thread: int
    correlation: str | None
    created_at: int
    alive: bool = True

    @property
    def position(self) -> Position:
        """Where it stands, on the wire."""
        return Position(created_at_unix_ms=self.created_at, message_id=self.message_id)


@dataclass
class Hall:
    """A room."""

    number: int
    posting: str
    members: set[str] = field(default_factory=set[str])


@dataclass
class Person:
    """A reader: what counts as acknowledged for it, and when it acknowledged what itself."""

    number: int
    account: str
    read: set[int] = field(default_factory=set[int])
    acks: dict[int, int] = field(default_factory=dict[int, int])
    #: Each message that it was told of.
    told: set[int] = field(default_factory=set[int])
    #: Whether its box is gone, and what it acknowledged goes on to count.
    forgotten: bool = False


@dataclass
class Run:
    """A process that is a session of an account."""

    account: str
    model: str
    last_seen: int
    dead_at: int | None = None


@dataclass(frozen=True)
class Ask:
    """What a page is asked for."""

    limit: int = 256
    newest: bool = False
    after: Position | None = None
    before: Position | None = None
    since: int | None = None
    unread_only: bool = False
    thread: MessageId | None = None
    sent_by: str | None = None
    room: str | None = None
    correlation: str | None = None


class Model:
    """Accounts, rooms, readers, letters and keys."""

    def __init__(self) -> None:
        self._numbers = count(1)
        self.accounts: dict[str, int] = {}
        self.removed: set[str] = set()
        self.rooms: dict[str, Hall] = {}
        self.people: dict[str, Person] = {}
        self.letters: list[Letter] = []
        self.keys: dict[tuple[int, str], tuple[object, MessageId, int]] = {}
        self.last_ms = 1
        self.runs: dict[str, Run] = {}
        self.running: set[str] = set()
        self.seen: dict[str, int] = {}

    def is_active(self, account: str) -> bool:
        """Whether an account is registered and not removed."""
        return account in self.accounts and account not in self.removed

    def register(self, account: str) -> str:
        """What comes of registering."""
        if account in self.accounts:
            return "id_retired" if account in self.removed else "already_exists"
        self.accounts[account] = next(self._numbers)
        self.people[account] = Person(next(self._numbers), account)
        return "ok"

    def remove(self, account: str) -> str:
        """What comes of removing an account."""
        if not self.is_active(account):
            return "unknown_participant"
        self.removed.add(account)
        for room in self.rooms.values():
            room.members.discard(account)
        return "ok"

    def purge(self, account: str) -> str:
        """What comes of purging an account."""
        if account not in self.accounts:
            return "unknown_participant"
        if account not in self.removed:
            return "malformed"
        boxes: set[Box] = {("account", self.accounts[account])}
        names = [name for name, person in self.people.items() if person.account == account]
        boxes |= {("session", self.people[name].number) for name in names}
        self._empty(boxes)
        for name in names:
            del self.people[name]
        self.runs = {name: run for name, run in self.runs.items() if run.account != account}
        del self.accounts[account]
        self.removed.discard(account)
        return "ok"

    def _empty(self, boxes: set[Box]) -> None:
        for letter in self.letters:
            letter.alive = letter.alive and letter.box not in boxes

    def open_room(self, room: str, posting: str) -> str:
        """What comes of creating a room."""
        if room in self.rooms:
            return "already_exists"
        self.rooms[room] = Hall(next(self._numbers), posting)
        return "ok"

    def close_room(self, room: str) -> str:
        """What comes of removing a room."""
        if room not in self.rooms:
            return "unknown_room"
        self._empty({("room", self.rooms.pop(room).number)})
        return "ok"

    def join(self, room: str, account: str) -> str:
        """What comes of putting an account into a room."""
        if room not in self.rooms:
            return "unknown_room"
        if not self.is_active(account):
            return "unknown_participant"
        hall = self.rooms[room]
        if account not in hall.members:
            hall.members.add(account)
            history = {letter.index for letter in self.letters if letter.box == ("room", hall.number)}
            for person in self.people.values():
                if person.account == account:
                    person.read |= history
        return "ok"

    def leave(self, room: str, account: str) -> str:
        """What comes of taking an account out of a room."""
        if room not in self.rooms:
            return "unknown_room"
        self.rooms[room].members.discard(account)
        return "ok"

    def meet(self, name: str) -> Person | None:
        """The reader of an address, met at this; None without an active account."""
        account = name.partition("/")[0]
        if not self.is_active(account):
            return None
        if name not in self.people or self.people[name].forgotten:
            self.people.pop(name, None)
            others = [person for person in self.people.values() if person.account == account]
            read = {index for person in others for index in person.read}
            self.people[name] = Person(next(self._numbers), account, read)
        return self.people[name]

    def connect(self, account: str, session: str, model: str, now: int) -> str:
        """What comes of a process that shows an account's secret."""
        run = self.runs.get(session)
        if run is not None and run.account == account and run.model == model and run.dead_at is None:
            self.seen[session] = now
            return "ok"
        if run is not None and run.account != account:
            return "session_account_mismatch"
        if not self.is_active(account):
            return "unauthenticated"
        self.meet(f"{account}/{session}")
        self.runs[session] = Run(account, model, now if run is None else max(now, run.last_seen))
        return "ok"

    def run_of(self, name: str) -> Run | None:
        """The process that a session is."""
        account, _, session = name.partition("/")
        run = self.runs.get(session)
        return run if run is not None and run.account == account else None

    def declare(self, name: str) -> str:
        """What comes of a status."""
        if "/" not in name:
            return "permission_denied"
        if not self.is_active(name.partition("/")[0]):
            return "unauthenticated"
        return "unknown_session" if self.run_of(name) is None else "ok"

    def flush(self, now: int) -> None:
        """Upkeep: who was seen, and who is dead."""
        for session, at in self.seen.items():
            run = self.runs.get(session)
            if run is not None and run.last_seen < at:
                run.last_seen = at
                run.dead_at = None if run.dead_at is not None and run.dead_at < at else run.dead_at
        self.seen.clear()
        for session, run in self.runs.items():
            if run.dead_at is None and session not in self.running:
                run.dead_at = now

    def is_live(self, session: str) -> bool:
        """Whether a session's process runs."""
        return self.runs[session].dead_at is None and session in self.running

    def listed(self, dead_after: int) -> set[tuple[str, str, bool]]:
        """The sessions in the directory: account, id, and whether it is live."""
        return {
            (run.account, session, self.is_live(session))
            for session, run in self.runs.items()
            if self.is_active(run.account) and (run.dead_at is None or run.dead_at > dead_after)
        }

    def boxes(self, name: str) -> set[Box]:
        """What a reader reads now."""
        account = name.partition("/")[0]
        if not self.is_active(account):
            return set()
        boxes: set[Box] = {("account", self.accounts[account])}
        boxes |= {("room", hall.number) for hall in self.rooms.values() if account in hall.members}
        if "/" in name and name in self.people and not self.people[name].forgotten:
            boxes.add(("session", self.people[name].number))
        return boxes

    def target(self, to: str) -> Box | str:
        """The box that an address stands for, or the refusal."""
        if to.startswith("#"):
            hall = self.rooms.get(to[1:])
            return "unknown_room" if hall is None else ("room", hall.number)
        account = to.partition("/")[0]
        if "/" in to:
            if self.is_active(account) and to in self.people and not self.people[to].forgotten:
                return ("session", self.people[to].number)
            run = self.runs.get(to.partition("/")[2])
            return "unknown_session" if run is None or run.account == account else "session_account_mismatch"
        return ("account", self.accounts[account]) if self.is_active(account) else "unknown_participant"

    def find(self, message_id: MessageId) -> Letter | None:
        """A letter that was not deleted."""
        return next((each for each in self.letters if each.alive and each.message_id == message_id), None)

    def sight(self, name: str, message_id: MessageId) -> str:
        """What a reader gets when it asks for a message by its id."""
        letter = self.find(message_id)
        if letter is None:
            return "unknown_message"
        person = self.people.get(name)
        wrote = person is not None and self.is_active(person.account) and letter.sender == person.number
        return "ok" if wrote or letter.box in self.boxes(name) else "not_addressed_to_you"

    def verdict(  # what a message is made of
        self,
        name: str,
        to: str,
        content: object,
        key: str | None,
        reply_to: MessageId | None,
        *,
        allow_dead: bool = False,
    ) -> str | MessageId:
        """What comes of a send: ok, a refusal, or the id that the key has already."""
        person = self.meet(name)
        if person is None:
            return "unauthenticated"
        if key is not None and (person.number, key) in self.keys:
            known, message_id, _ = self.keys[person.number, key]
            return message_id if known == content else "idempotency_conflict"
        box = self.target(to)
        if isinstance(box, str):
            return box
        if box[0] == "room":
            hall = self.rooms[to[1:]]
            if hall.posting == "members" and person.account not in hall.members:
                return "permission_denied"
        run = self.run_of(to)
        if not allow_dead and run is not None and not self.is_live(to.partition("/")[2]):
            return "session_not_live"
        return "ok" if reply_to is None else self.sight(name, reply_to)

    def post(self, letter: Letter, name: str, content: object, key: str | None) -> None:
        """Store what was sent."""
        assert letter.created_at >= self.last_ms, "times never decrease"
        self.last_ms = letter.created_at
        self.letters.append(letter)
        person = self.people[name]
        person.read.add(letter.index)
        if key is not None:
            self.keys[person.number, key] = (content, letter.message_id, letter.created_at)

    def ack(self, name: str, message_id: MessageId, now: int) -> str:
        """What comes of an acknowledgement."""
        person = self.meet(name)
        if person is None:
            return "unauthenticated"
        letter = self.find(message_id)
        if letter is None:
            return "unknown_message"
        if letter.box not in self.boxes(name):
            return "not_addressed_to_you"
        person.read.add(letter.index)
        person.acks.setdefault(letter.index, max(now, letter.created_at))
        return "acked"

    def readable(self, name: str) -> Iterator[Letter]:
        """A reader's letters in order."""
        boxes = self.boxes(name)
        return (letter for letter in self.letters if letter.alive and letter.box in boxes)

    def unread(self, name: str) -> list[Letter]:
        """What a reader has not acknowledged."""
        read = self.people[name].read if name in self.people else set[int]()
        return [letter for letter in self.readable(name) if letter.index not in read]

    def tell(self, name: str, limit: int) -> tuple[list[str], bool]:
        """What a reader is told of, and whether there is more of that kind."""
        self.meet(name)
        untold = self._untold(name)
        if untold:
            self.people[name].told |= {letter.index for letter in untold[:limit]}
        return [letter.subject for letter in untold[:limit]], len(untold) > limit

    def _untold(self, name: str) -> list[Letter]:
        told = self.people[name].told if name in self.people else set[int]()
        return [letter for letter in self.unread(name) if letter.index not in told]

    def page(self, name: str, ask: Ask) -> list[str]:
        """The subjects of a page."""
        found = self.unread(name) if ask.unread_only else list(self.readable(name))
        if ask.after is not None:
            found = [letter for letter in found if self._is_after(letter, ask.after)]
        if ask.before is not None:
            found = [letter for letter in found if self._is_before(letter, ask.before)]
        if ask.since is not None:
            found = [letter for letter in found if letter.created_at >= ask.since]
        if ask.thread is not None:
            member = self.find(ask.thread)
            found = [letter for letter in found if member is not None and letter.thread == member.thread]
        if ask.sent_by is not None:
            found = [letter for letter in found if letter.account == self.accounts.get(ask.sent_by)]
        if ask.room is not None:
            hall = self.rooms.get(ask.room)
            found = [letter for letter in found if hall is not None and letter.box == ("room", hall.number)]
        if ask.correlation is not None:
            found = [letter for letter in found if letter.correlation == ask.correlation]
        return [letter.subject for letter in (found[::-1] if ask.newest else found)][: ask.limit]

    def _known(self, at: Position) -> Letter | None:
        letter = self.find(at.message_id)
        return letter if letter is not None and letter.created_at == at.created_at_unix_ms else None

    def _is_after(self, letter: Letter, at: Position) -> bool:
        known = self._known(at)
        return letter.created_at >= at.created_at_unix_ms if known is None else letter.index > known.index

    def _is_before(self, letter: Letter, at: Position) -> bool:
        known = self._known(at)
        return letter.created_at <= at.created_at_unix_ms if known is None else letter.index < known.index

    def thread(self, name: str, message_id: MessageId) -> list[str]:
        """The subjects of a thread as a reader sees it; it may see the message."""
        member = self.find(message_id)
        assert member is not None
        return [
            letter.subject
            for letter in self.letters
            if letter.thread == member.thread and self.sight(name, letter.message_id) == "ok"
        ]

    def sent(self, name: str) -> list[tuple[str, int, bool]]:
        """What an address sent, newest first: with how many acknowledged it, and whether nobody can."""
        person = self.people.get(name)
        if person is None or not self.is_active(person.account):
            return []
        return [
            (
                letter.subject,
                sum(letter.index in other.acks for other in self.people.values()),
                self._is_undeliverable(letter),
            )
            for letter in reversed(self.letters)
            if letter.alive and letter.sender == person.number
        ]

    def _is_undeliverable(self, letter: Letter) -> bool:
        kind, number = letter.box
        if kind == "account":
            return not any(known == number and self.is_active(name) for name, known in self.accounts.items())
        if kind == "session":
            (name,) = [name for name, person in self.people.items() if person.number == number]
            run = self.run_of(name)
            dead = run is not None and run.dead_at is not None
            return not self.is_active(self.people[name].account) or (
                dead and letter.index not in self.people[name].acks
            )
        return False

    def stands_after(self, name: str, at: Position | None) -> bool:
        """Whether something that is not a reader's own stands after a position."""
        own = self.people[name].number if name in self.people else None
        return any(
            letter.sender != own and (at is None or self._is_after(letter, at))
            for letter in self.readable(name)
        )

    def retain(self, now: int, keep_ms: int, keep_keys_ms: int, idle_ms: int) -> tuple[int, int]:
        """What retention deletes: letters and keys."""
        forgotten = self._forget(now - keep_ms, now - idle_ms)
        settled = [each for each in self.letters if each.alive and self._is_settled(each, now - keep_ms)]
        for letter in settled:
            letter.alive = False
        old = [key for key, (_, _, at) in self.keys.items() if at < now - keep_keys_ms]
        for key in old:
            del self.keys[key]
        return forgotten + len(settled), len(old)

    def _mail(self, name: str) -> list[Letter]:
        """What stands in a session's box."""
        box = ("session", self.people[name].number)
        return [letter for letter in self.letters if letter.alive and letter.box == box]

    def _forget(self, before: int, idle_before: int) -> int:
        """Forget the sessions that died before a time, or without mail before another; how many letters that
        deletes.
        """
        names = [
            f"{run.account}/{session}"
            for session, run in self.runs.items()
            if run.dead_at is not None
            and (
                run.dead_at < before
                or (run.dead_at < idle_before and not self._mail(f"{run.account}/{session}"))
            )
        ]
        boxes = {("session", self.people[name].number) for name in names}
        gone = sum(letter.alive and letter.box in boxes for letter in self.letters)
        self._empty(boxes)
        for name in names:
            self.people[name].forgotten = True
            del self.runs[name.partition("/")[2]]
        return gone

    def _is_settled(self, letter: Letter, before: int) -> bool:
        kind, number = letter.box
        if kind == "room":
            (hall,) = [hall for hall in self.rooms.values() if hall.number == number]
            waits_for = [self._people_of(member) for member in hall.members]
        elif kind == "account":
            waits_for = [self._people_of(name) for name, known in self.accounts.items() if known == number]
        else:
            waits_for = [[person for person in self.people.values() if person.number == number]]
        return bool(waits_for) and all(self._settled_for(people, letter, before) for people in waits_for)

    def _people_of(self, account: str) -> list[Person]:
        return [person for person in self.people.values() if person.account == account]

    @staticmethod
    def _settled_for(people: list[Person], letter: Letter, before: int) -> bool:
        given = [person.acks[letter.index] for person in people if letter.index in person.acks]
        if given:
            return min(given) < before
        return letter.created_at < before and any(letter.index in person.read for person in people)
