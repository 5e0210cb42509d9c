"""The store in memory: for tests and for embedding. It keeps the rules of the store Protocol in the plainest way and nothing after the process ends."""

import json
import unicodedata
from bisect import bisect_left, insort
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal, NoReturn, TypeVar

from mail4agent_api.addresses import text_of
from mail4agent_api.errors import RefusalError, StoreUnavailableError, UnknownParticipantError
from mail4agent_api.mail import Ack, Address, DirectAddress, MessageId, ParticipantAddress, ParticipantId, Position, RoomAddress, RoomId, SessionAddress

from ..clock import Clock
from .identity import OPERATOR
from .posting import Posted, Posting, Prior, Sight, judge
from .store import Account, Listener, Page, PageQuery, Posting_, Registry, Room, SearchQuery, Seen, Sent, Swept
from .wire import POSITION_MAX, first_of, millisecond, next_pos, position

T = TypeVar("T")

ACKS_SHOWN = 64


@dataclass(slots=True)
class _Message:
    pos: int
    message_id: MessageId
    #: The sender's text address; None when its account was purged.
    sender: str | None
    sender_address: ParticipantAddress
    box: str
    to: Address
    thread: int
    correlation: str | None
    wire: bytes


@dataclass(slots=True)
class _Room:
    posting: Posting_
    created_at: int
    members: set[ParticipantId] = field(default_factory=set[ParticipantId])


@dataclass(slots=True)
class _State:
    accounts: dict[ParticipantId, Account] = field(default_factory=dict[ParticipantId, Account])
    digests: dict[bytes, ParticipantId] = field(default_factory=dict[bytes, ParticipantId])
    rooms: dict[RoomId, _Room] = field(default_factory=dict[RoomId, _Room])
    messages: dict[MessageId, _Message] = field(default_factory=dict[MessageId, _Message])
    boxes: dict[str, list[int]] = field(default_factory=dict[str, list[int]])
    at: dict[int, _Message] = field(default_factory=dict[int, _Message])
    #: What counts as acknowledged, by reader: acknowledged, its own, or older than its joining.
    read: dict[str, set[int]] = field(default_factory=dict[str, set[int]])
    acks: dict[tuple[int, str], Ack] = field(default_factory=dict[tuple[int, str], Ack])
    keys: dict[tuple[str, str], tuple[Prior, int]] = field(default_factory=dict[tuple[str, str], tuple[Prior, int]])
    numbers: dict[str, int] = field(default_factory=dict[str, int])

    def copy(self) -> "_State":
        rooms = {name: replace(room, members=set(room.members)) for name, room in self.rooms.items()}
        boxes = {name: list(box) for name, box in self.boxes.items()}
        read = {name: set(seen) for name, seen in self.read.items()}
        messages = {name: replace(message) for name, message in self.messages.items()}
        return _State(dict(self.accounts), dict(self.digests), rooms, messages, boxes, {m.pos: m for m in messages.values()}, read, dict(self.acks), dict(self.keys), dict(self.numbers))  # fmt: skip


def _account_of(reader: str) -> str:
    return reader.partition("/")[0]


class _Registry:
    """The registry over a state."""

    def __init__(self, state: _State) -> None:
        self.state = state
        self.changed: set[str] = set()

    def account(self, account: ParticipantId) -> Account | None:
        return self.state.accounts.get(account)

    def accounts(self, after: ParticipantId | None, limit: int | None) -> list[Account]:
        return [self.state.accounts[name] for name in _slice(self.state.accounts, after, limit)]

    def live_operators(self) -> int:
        return sum(OPERATOR in a.capabilities and a.secret_issued_at is not None for a in self.state.accounts.values())

    def add_account(self, account: ParticipantId, label: str | None, digest: bytes, capabilities: frozenset[str], now: int) -> None:
        self.state.accounts[account] = Account(account, label, capabilities, now, now, None)
        self.state.digests[digest] = account
        self.state.boxes[account] = []
        self.state.read[account] = set()

    def set_secret(self, account: ParticipantId, digest: bytes | None, now: int) -> None:
        self.state.digests = {kept: owner for kept, owner in self.state.digests.items() if owner != account}
        if digest is not None:
            self.state.digests[digest] = account
        issued = None if digest is None else now
        self.state.accounts[account] = replace(self.state.accounts[account], secret_issued_at=issued)
        self.changed.add(account)

    def set_capabilities(self, account: ParticipantId, capabilities: frozenset[str]) -> None:
        self.state.accounts[account] = replace(self.state.accounts[account], capabilities=capabilities)
        self.changed.add(account)

    def retire(self, account: ParticipantId, now: int) -> None:
        self.set_secret(account, None, now)
        self.state.accounts[account] = replace(self.state.accounts[account], removed_at=now)
        for room in self.state.rooms.values():
            room.members.discard(account)

    def erase(self, account: ParticipantId) -> int:
        state = self.state
        gone = [m for box in _boxes_named(state.boxes, account) for m in [state.at[pos] for pos in state.boxes[box]]]
        for message in gone:
            self._delete(message)
        for message in state.messages.values():
            if message.sender is not None and _account_of(message.sender) == account:
                message.sender = None
        for box in _boxes_named(state.boxes, account):
            del state.boxes[box]
        state.read = {reader: seen for reader, seen in state.read.items() if _account_of(reader) != account}
        state.keys = {key: prior for key, prior in state.keys.items() if _account_of(key[0]) != account}
        state.digests = {kept: owner for kept, owner in state.digests.items() if owner != account}
        del state.accounts[account]
        return len(gone)

    def room(self, room: RoomId) -> Room | None:
        present = self.state.rooms.get(room)
        return None if present is None else self._room(room, present)

    def rooms(self, after: RoomId | None, limit: int | None) -> list[Room]:
        return [self._room(name, self.state.rooms[name]) for name in _slice(self.state.rooms, after, limit)]

    def _room(self, name: RoomId, room: _Room) -> Room:
        return Room(name, room.posting, len(room.members), len(self.state.boxes[f"#{name}"]), room.created_at)

    def add_room(self, room: RoomId, posting: Posting_, now: int) -> None:
        self.state.rooms[room] = _Room(posting, now)
        self.state.boxes[f"#{room}"] = []

    def erase_room(self, room: RoomId) -> None:
        box = f"#{room}"
        self.changed.update(self.state.rooms[room].members)
        for pos in list(self.state.boxes[box]):
            self._delete(self.state.at[pos])
        del self.state.boxes[box]
        del self.state.rooms[room]

    def members(self, room: RoomId, after: ParticipantId | None, limit: int | None) -> list[ParticipantId]:
        return _slice(self.state.rooms[room].members, after, limit)

    def rooms_of(self, account: ParticipantId) -> list[RoomId]:
        return sorted(name for name, room in self.state.rooms.items() if account in room.members)

    def join(self, room: RoomId, account: ParticipantId) -> None:
        members = self.state.rooms[room].members
        if account in members:
            return
        members.add(account)
        for reader, seen in self.state.read.items():
            if _account_of(reader) == account:
                seen.update(self.state.boxes[f"#{room}"])
        self.changed.add(account)

    def leave(self, room: RoomId, account: ParticipantId) -> None:
        self.state.rooms[room].members.discard(account)
        self.changed.add(account)

    def erase_message(self, message_id: MessageId) -> bool:
        message = self.state.messages.get(message_id)
        if message is None:
            return False
        self._delete(message)
        return True

    def _delete(self, message: _Message) -> None:
        del self.state.messages[message.message_id]
        del self.state.at[message.pos]
        self.state.boxes[message.box].remove(message.pos)
        for seen in self.state.read.values():
            seen.discard(message.pos)
        self.state.acks = {key: ack for key, ack in self.state.acks.items() if key[0] != message.pos}


class _Facts:
    """What the state knows of one posting."""

    def __init__(self, state: _State, posting: Posting) -> None:
        self._state = state
        self._posting = posting

    def sender_exists(self) -> bool:
        return _is_active(self._state, self._posting.sender.participant)

    def prior(self) -> Prior | None:
        assert self._posting.key is not None
        kept = self._state.keys.get((text_of(self._posting.sender), self._posting.key))
        return None if kept is None else kept[0]

    def target(self) -> Literal["missing", "open", "members", "member"]:
        match self._posting.to:
            case DirectAddress(participant=participant):
                return "open" if _is_active(self._state, participant) else "missing"
            case SessionAddress():
                return "missing"
            case RoomAddress(room=name):
                room = self._state.rooms.get(name)
                if room is None:
                    return "missing"
                return "member" if self._posting.sender.participant in room.members else room.posting

    def reply(self) -> Sight:
        assert self._posting.reply_to is not None
        return _sight(self._state, self._posting.sender, self._posting.reply_to)


class MemoryStore:
    """Mail in memory, lost with the process. Implements the MailStore Protocol."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._state = _State()
        self._last = 0
        self._listeners: list[Listener] = []
        self._closed = False

    def subscribe(self, listener: Listener) -> None:
        self._listeners.append(listener)

    def _tell(self, changed: Iterable[str]) -> None:
        told = frozenset(changed)
        for listener in self._listeners if told else ():
            listener(told)

    def _open(self, operation: str) -> _State:
        if self._closed:
            raise StoreUnavailableError(operation=operation)
        return self._state

    async def authenticate(self, digest: bytes) -> Account | None:
        state = self._open("authenticate")
        owner = state.digests.get(digest)
        return None if owner is None else state.accounts[owner]

    async def post(self, postings: Sequence[Posting]) -> list[Posted | RefusalError]:
        state = self._open("post")
        outcomes: list[Posted | RefusalError] = []
        changed: set[str] = set()
        for posting in postings:
            if isinstance(posting.sender, SessionAddress):
                await self.meet(posting.sender)
            try:
                known = judge(posting, _Facts(state, posting))
            except RefusalError as refusal:
                outcomes.append(refusal.with_traceback(None))
                continue
            if known is None:
                changed.add(self._append(state, posting))
            outcomes.append(known or Posted(posting.message_id, fresh=True))
        self._tell(changed)
        return outcomes

    def _append(self, state: _State, posting: Posting) -> str:
        pos = self._last = next_pos(self._last, self._clock.now_ms())
        box, sender = text_of(posting.to), text_of(posting.sender)
        parent = None if posting.reply_to is None else state.messages[posting.reply_to]
        message = _Message(pos, posting.message_id, sender, posting.sender, box, posting.to, pos if parent is None else parent.thread, posting.correlation, posting.wire(millisecond(pos)))  # fmt: skip
        state.messages[posting.message_id] = state.at[pos] = message
        state.boxes[box].append(pos)
        state.read.setdefault(sender, set()).add(pos)
        if posting.key is not None:
            state.keys[sender, posting.key] = (Prior(posting.message_id, posting.content), millisecond(pos))
        return box

    async def acknowledge(self, reader: ParticipantAddress, message_ids: Sequence[MessageId]) -> list[Ack | Sight]:
        state = self._open("acknowledge")
        if not _is_active(state, reader.participant):
            raise UnknownParticipantError(participant=reader.participant)
        if isinstance(reader, SessionAddress):
            await self.meet(reader)
        boxes, name = _boxes(state, reader), text_of(reader)
        outcomes: list[Ack | Sight] = []
        for message_id in message_ids:
            message = state.messages.get(message_id)
            if message is None or message.box not in boxes:
                outcomes.append("missing" if message is None else "hidden")
                continue
            now = max(self._clock.now_ms(), millisecond(message.pos))
            fresh = Ack(message_id=message_id, reader=reader, acked_at_unix_ms=now)
            outcomes.append(state.acks.setdefault((message.pos, name), fresh))
            state.read.setdefault(name, set()).add(message.pos)
        return outcomes

    async def page(self, reader: ParticipantAddress, query: PageQuery) -> Page:
        state = self._open("page")
        low, high = self._span(state, query.after, query.before)
        if query.since_unix_ms is not None:
            low = max(low, first_of(query.since_unix_ms) - 1)
        boxes = _boxes(state, reader)
        if query.room is not None:
            boxes &= {f"#{query.room}"}
        parent = None if query.thread is None else state.messages.get(query.thread)
        thread = -1 if query.thread is not None and parent is None else None if parent is None else parent.thread
        read = state.read.get(text_of(reader), set[int]()) if query.unread_only else frozenset[int]()
        kept = (
            message
            for message in _standing(state, boxes, low, high, query.newest_first)
            if message.pos not in read
            and (thread is None or message.thread == thread)
            and (query.correlation is None or message.correlation == query.correlation)
            and (query.sent_by is None or (message.sender is not None and _account_of(message.sender) == query.sent_by))
        )
        return Page(tuple(_cut((m.wire for m in kept), query.limit, query.max_bytes)), _unread(state, reader))

    @staticmethod
    def _span(state: _State, after: Position | None, before: Position | None) -> tuple[int, int]:
        def known(at: Position) -> int | None:
            message = state.messages.get(at.message_id)
            return message.pos if message is not None and millisecond(message.pos) == at.created_at_unix_ms else None

        low, high = 0, POSITION_MAX
        if after is not None:
            low = known(after) or first_of(after.created_at_unix_ms) - 1
        if before is not None:
            high = known(before) or first_of(before.created_at_unix_ms + 1)
        return low, high

    async def unread(self, reader: ParticipantAddress) -> int:
        return _unread(self._open("unread"), reader)

    async def message(self, reader: ParticipantAddress, message_id: MessageId) -> Seen:
        state = self._open("message")
        sight = _sight(state, reader, message_id)
        return Seen(sight, state.messages[message_id].wire if sight == "seen" else b"")

    async def thread(self, reader: ParticipantAddress, message_id: MessageId, after: Position | None, limit: int, max_bytes: int) -> list[bytes]:
        state = self._open("thread")
        low, _ = self._span(state, after, None)
        root = state.messages[message_id].thread
        wires = (
            message.wire
            for pos, message in sorted(state.at.items())
            if pos > low and message.thread == root and _sight(state, reader, message.message_id) == "seen"
        )
        return _cut(wires, limit, max_bytes)

    async def search(self, reader: ParticipantAddress, query: SearchQuery, max_bytes: int) -> list[bytes]:
        state = self._open("search")
        _, high = self._span(state, None, query.before)
        boxes = _boxes(state, reader)
        if query.room is not None:
            boxes &= {f"#{query.room}"}
        wanted = [_folded(" ".join(phrase)) for phrase in query.phrases]
        wires = (
            message.wire
            for message in _standing(state, boxes, 0, high, newest_first=True)
            if (query.sent_by is None or (message.sender is not None and _account_of(message.sender) == query.sent_by)) and _holds(message.wire, wanted)
        )
        return _cut(wires, query.limit, max_bytes)

    async def sent(self, sender: ParticipantAddress, before: Position | None, limit: int, max_bytes: int) -> list[Sent]:
        state = self._open("sent")
        _, high = self._span(state, None, before)
        name = text_of(sender)
        mine = [m for pos, m in sorted(state.at.items(), reverse=True) if pos < high and m.sender == name]
        shown = len(_cut((m.wire for m in mine), limit, max_bytes))
        return [self._sent(state, message) for message in mine[:shown]]

    @staticmethod
    def _sent(state: _State, message: _Message) -> Sent:
        acks = [ack for (pos, _), ack in state.acks.items() if pos == message.pos]
        acks.sort(key=lambda ack: (ack.acked_at_unix_ms, text_of(ack.reader)))
        gone = isinstance(message.to, DirectAddress) and not _is_active(state, message.to.participant)
        return Sent(message.wire, tuple(acks[:ACKS_SHOWN]), len(acks), gone)

    async def newest(self, reader: ParticipantAddress) -> Position | None:
        state = self._open("newest")
        for message in _standing(state, _boxes(state, reader), 0, POSITION_MAX, newest_first=True):
            return position(message.pos, message.message_id)
        return None

    async def stands_after(self, reader: ParticipantAddress, after: Position | None) -> bool:
        state = self._open("stands_after")
        low, _ = self._span(state, after, None)
        own = text_of(reader)
        return any(m.sender != own for m in _standing(state, _boxes(state, reader), low, POSITION_MAX, newest_first=False))

    async def meet(self, session: SessionAddress) -> None:
        state = self._open("meet")
        name = text_of(session)
        if name not in state.read and _is_active(state, session.participant):
            state.boxes.setdefault(name, [])
            state.read[name] = {pos for reader, seen in state.read.items() if _account_of(reader) == session.participant for pos in seen}

    async def boxes(self, reader: ParticipantAddress) -> frozenset[str]:
        return frozenset(_boxes(self._open("boxes"), reader))

    async def change(self, command: Callable[[Registry], T]) -> T:
        saved = self._open("change").copy()
        registry = _Registry(self._state)
        try:
            result = command(registry)
        except BaseException:
            self._state = saved
            raise
        self._tell(registry.changed)
        return result

    async def look(self, query: Callable[[Registry], T]) -> T:
        return query(_Registry(self._open("look")))

    async def sweep(self, now: int, settled_before: int | None, keys_before: int, resume: int) -> Swept:
        state = self._open("sweep")
        registry = _Registry(state)
        old = [] if settled_before is None else [m for m in state.messages.values() if _settled(state, m, settled_before)]
        for message in old:
            registry.erase_message(message.message_id)
        keys = len(state.keys)
        state.keys = {key: kept for key, kept in state.keys.items() if kept[1] >= keys_before}
        return Swept(len(old), keys - len(state.keys), None)

    async def remember(self, name: str, value: int | None) -> int | None:
        numbers = self._open("remember").numbers
        if value is not None:
            numbers[name] = value
        return numbers.get(name)

    async def backup(self, target: Path) -> NoReturn:
        raise StoreUnavailableError(operation="backup")

    async def close(self) -> None:
        self._closed = True


def _slice(names: Iterable[T], after: T | None, limit: int | None) -> list[T]:
    ordered = sorted(names)  # pyright: ignore[reportArgumentType, reportCallIssue, reportUnknownVariableType]
    return [name for name in ordered if after is None or name > after][:limit]  # pyright: ignore[reportOperatorIssue, reportUnknownVariableType]


def _boxes_named(boxes: Iterable[str], account: str) -> list[str]:
    return [box for box in boxes if not box.startswith("#") and _account_of(box) == account]


def _is_active(state: _State, account: ParticipantId) -> bool:
    present = state.accounts.get(account)
    return present is not None and present.removed_at is None


def _boxes(state: _State, reader: ParticipantAddress) -> set[str]:
    account = reader.participant
    return {text_of(reader), str(account)} & state.boxes.keys() | {f"#{n}" for n, room in state.rooms.items() if account in room.members}


def _standing(state: _State, boxes: Iterable[str], low: int, high: int, newest_first: bool) -> Iterator[_Message]:
    found: list[int] = []
    for box in boxes:
        for pos in state.boxes[box][bisect_left(state.boxes[box], low + 1) :]:
            if pos >= high:
                break
            insort(found, pos)
    return (state.at[pos] for pos in (reversed(found) if newest_first else found))


def _unread(state: _State, reader: ParticipantAddress) -> int:
    read = state.read.get(text_of(reader), set[int]())
    return sum(pos not in read for box in _boxes(state, reader) for pos in state.boxes[box])


def _sight(state: _State, reader: ParticipantAddress, message_id: MessageId) -> Sight:
    message = state.messages.get(message_id)
    if message is None:
        return "missing"
    return "seen" if message.box in _boxes(state, reader) or message.sender == text_of(reader) else "hidden"


def _settled(state: _State, message: _Message, before: int) -> bool:
    """Whether everybody that the message waits for had acknowledged it before a time."""

    def first(account: str) -> int | None:
        times = [
            state.acks[message.pos, reader].acked_at_unix_ms if (message.pos, reader) in state.acks else millisecond(message.pos)
            for reader, seen in state.read.items()
            if _account_of(reader) == account and message.pos in seen
        ]
        return min(times, default=None)

    match message.to:
        case RoomAddress(room=room):
            waited_for = [first(member) for member in state.rooms[room].members]
        case DirectAddress(participant=participant):
            waited_for = [first(participant)]
        case SessionAddress():
            ack = state.acks.get((message.pos, text_of(message.to)))
            waited_for = [None if ack is None else ack.acked_at_unix_ms]
    return bool(waited_for) and all(at is not None and at < before for at in waited_for)


def _cut(wires: Iterable[bytes], limit: int, max_bytes: int) -> list[bytes]:
    """The first ``limit`` messages, fewer when they pass ``max_bytes``, but at least one."""
    kept: list[bytes] = []
    size = 0
    for wire in wires:
        size += len(wire)
        if len(kept) == limit or (kept and size > max_bytes):
            break
        kept.append(wire)
    return kept


def _folded(text: str) -> str:
    plain = "".join(c for c in unicodedata.normalize("NFKD", text) if not unicodedata.combining(c)).lower()
    return f" {' '.join(''.join(c if c.isalnum() else ' ' for c in plain).split())} "


def _holds(wire: bytes, wanted: Sequence[str]) -> bool:
    message = json.loads(wire)
    texts = [_folded(message["subject"]), _folded(message["body"])]
    return all(any(phrase in text for text in texts) for phrase in wanted)
