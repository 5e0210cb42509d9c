"""The mail store in memory."""

import json
from collections.abc import Callable, Collection, Iterable, Sequence
from pathlib import Path
from typing import Literal, NoReturn, TypeVar

from mail4agent_api.addresses import text_of
from mail4agent_api.errors import RefusalError, StoreUnavailableError, UnauthenticatedError
from mail4agent_api.mail import (
    Ack,
    DirectAddress,
    MessageId,
    ParticipantAddress,
    ParticipantId,
    Position,
    RoomAddress,
    SessionAddress,
)
from mail4agent_core.clock import Clock
from mail4agent_core.mail.doorbells import Attempt, Turn
from mail4agent_core.mail.flow import FlowCounts, slot_at, slot_of
from mail4agent_core.mail.posting import Posted, Posting, Prior, Sight, judge
from mail4agent_core.mail.records import (
    ACKS_SHOWN,
    Account,
    Page,
    PageQuery,
    SearchQuery,
    Seen,
    Sent,
    Swept,
    Telling,
)
from mail4agent_core.mail.store import Listener, Registry
from mail4agent_core.mail.wire import POSITION_MAX, cut, first_of, millisecond, next_pos, position
from mail4agent_core.mail.words import words_of

from . import doorbells
from .flow import most
from .registry import MemoryRegistry
from .state import Key, State, Stored

T = TypeVar("T")


class _Facts:
    """What the state knows of one posting."""

    def __init__(self, state: State, posting: Posting) -> None:
        self._state = state
        self._posting = posting

    def sender_exists(self) -> bool:
        if not self._state.is_active(self._posting.sender.participant):
            return False
        self._state.met(self._posting.sender)
        return True

    def prior(self) -> Prior | None:
        assert self._posting.key is not None
        kept = self._state.keys.get((self._state.reader_no(self._posting.sender), self._posting.key))
        return None if kept is None else kept.prior

    def target(self) -> Literal["missing", "open", "members", "member"]:
        match self._posting.to:
            case DirectAddress(participant=participant) | SessionAddress(participant=participant):
                known = text_of(self._posting.to) in self._state.boxes
                return "open" if known and self._state.is_active(participant) else "missing"
            case RoomAddress(room=name):
                room = self._state.rooms.get(name)
                if room is None:
                    return "missing"
                return "member" if self._posting.sender.participant in room.members else room.posting

    def owner(self) -> ParticipantId | None:
        assert isinstance(self._posting.to, SessionAddress)
        kept = self._state.sessions.get(self._posting.to.session)
        return None if kept is None else kept.session.address.participant

    def reply(self) -> Sight:
        assert self._posting.reply_to is not None
        return self._state.sight(self._posting.sender, self._posting.reply_to)


class MemoryStore:
    """Mail in memory, lost with the process. Implements the MailStore Protocol."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._state = State()
        self._last = 0
        self._listeners: list[Listener] = []
        self._closed = False

    def subscribe(self, listener: Listener) -> None:
        self._listeners.append(listener)

    def _tell(self, changed: Iterable[str]) -> None:
        told = frozenset(changed)
        for listener in self._listeners if told else ():
            listener(told)

    def _open(self, operation: str) -> State:
        if self._closed:
            raise StoreUnavailableError(operation=operation)
        return self._state

    async def authenticate(self, digest: bytes) -> Account | None:
        state = self._open("authenticate")
        owner = state.digests.get(digest)
        return None if owner is None else state.accounts[owner].account

    async def post(self, postings: Sequence[Posting]) -> list[Posted | RefusalError]:
        state = self._open("post")
        try:
            next_pos(self._last + len(postings), self._clock.now_ms())
        except OverflowError as fault:
            raise StoreUnavailableError(operation="post") from fault
        outcomes: list[Posted | RefusalError] = []
        changed: set[str] = set()
        for posting in postings:
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

    def _append(self, state: State, posting: Posting) -> str:
        pos = self._last = next_pos(self._last, self._clock.now_ms())
        sender = state.met(posting.sender)
        thread = pos
        if posting.reply_to is not None:
            thread = state.at[state.positions[posting.reply_to]].thread
        message = Stored(
            pos=pos,
            message_id=posting.message_id,
            sender=sender.number,
            account=state.accounts[sender.account].number,
            to=posting.to,
            box=text_of(posting.to),
            thread=thread,
            correlation=posting.correlation,
            wire=posting.wire(millisecond(pos)),
        )
        state.at[pos] = message
        state.positions[posting.message_id] = pos
        state.boxes[message.box].append(pos)
        sender.read.add(pos)
        counted = slot_of(pos), message.account, message.box
        state.flow[counted] = state.flow.get(counted, (0, 0))[0] + 1, pos
        if posting.key is not None:
            prior = Prior(posting.message_id, posting.content)
            state.keys[sender.number, posting.key] = Key(prior, millisecond(pos))
        return message.box

    async def acknowledge(
        self, reader: ParticipantAddress, message_ids: Sequence[MessageId]
    ) -> list[Ack | Sight]:
        state = self._open("acknowledge")
        if not state.is_active(reader.participant):
            raise UnauthenticatedError
        own, boxes = state.met(reader), state.boxes_of(reader)
        outcomes: list[Ack | Sight] = []
        for message_id in message_ids:
            pos = state.positions.get(message_id)
            if pos is None or state.at[pos].box not in boxes:
                outcomes.append("missing" if pos is None else "hidden")
                continue
            at = max(self._clock.now_ms(), millisecond(pos))
            fresh = Ack(message_id=message_id, reader=reader, acked_at_unix_ms=at)
            outcomes.append(state.acks.setdefault(pos, {}).setdefault(own.number, fresh))
            own.read.add(pos)
        return outcomes

    async def page(self, reader: ParticipantAddress, query: PageQuery) -> Page:
        state = self._open("page")
        low, high = state.lower(query.after), state.upper(query.before)
        if query.since_unix_ms is not None:
            low = max(low, first_of(query.since_unix_ms) - 1)
        boxes = state.boxes_of(reader)
        if query.room is not None:
            boxes &= {f"#{query.room}"}
        read = state.read_by(reader) if query.unread_only else frozenset[int]()
        thread = _thread_of(state, query.thread)
        account = _number_of(state, query.sent_by)
        found = [
            message
            for message in state.standing(boxes, low, high, newest_first=query.newest_first)
            if message.pos not in read
            and thread in (None, message.thread)
            and account in (None, message.account)
            and query.correlation in (None, message.correlation)
        ]
        wires = tuple(cut((message.wire for message in found), query.limit, query.max_bytes))
        positions = [message.pos for message in found[: len(wires)]]
        span = query.span(low, positions, whole=len(wires) == len(found) < query.limit)
        return Page(wires, self._unread(state, reader), span)

    async def unread(self, reader: ParticipantAddress) -> int:
        return self._unread(self._open("unread"), reader)

    @staticmethod
    def _unread(state: State, reader: ParticipantAddress) -> int:
        read = state.read_by(reader)
        return sum(pos not in read for box in state.boxes_of(reader) for pos in state.boxes[box])

    async def message(self, reader: ParticipantAddress, message_id: MessageId) -> Seen:
        state = self._open("message")
        sight = state.sight(reader, message_id)
        return Seen(sight, state.at[state.positions[message_id]].wire if sight == "seen" else b"")

    async def thread(
        self,
        reader: ParticipantAddress,
        message_id: MessageId,
        after: Position | None,
        limit: int,
        max_bytes: int,
    ) -> list[bytes]:
        state = self._open("thread")
        low, thread = state.lower(after), _thread_of(state, message_id)
        wires = (
            message.wire
            for pos, message in sorted(state.at.items())
            if pos > low and message.thread == thread and state.sight(reader, message.message_id) == "seen"
        )
        return cut(wires, limit, max_bytes)

    async def search(self, reader: ParticipantAddress, query: SearchQuery, max_bytes: int) -> list[bytes]:
        state = self._open("search")
        boxes = state.boxes_of(reader)
        if query.room is not None:
            boxes &= {f"#{query.room}"}
        account = _number_of(state, query.sent_by)
        wires = (
            message.wire
            for message in state.standing(boxes, 0, state.upper(query.before), newest_first=True)
            if account in (None, message.account) and _holds(message.wire, query.phrases)
        )
        return cut(wires, query.limit, max_bytes)

    async def sent(
        self, sender: ParticipantAddress, before: Position | None, limit: int, max_bytes: int
    ) -> list[Sent]:
        state = self._open("sent")
        high, number = state.upper(before), state.reader_no(sender)
        rows = (
            _sent(state, message)
            for pos, message in sorted(state.at.items(), reverse=True)
            if pos < high and message.sender == number
        )
        return cut(rows, limit, max_bytes)

    async def flow(self, account: ParticipantId, since_ms: int, limit: int) -> FlowCounts:  # noqa: ARG002
        return most(self._open("flow"), slot_at(since_ms), limit)

    async def newest(self, reader: ParticipantAddress) -> Position | None:
        state = self._open("newest")
        for message in state.standing(state.boxes_of(reader), 0, POSITION_MAX, newest_first=True):
            return position(message.pos, message.message_id)
        return None

    async def stands_after(self, reader: ParticipantAddress, after: Position | None) -> bool:
        state = self._open("stands_after")
        own = state.reader_no(reader)
        found = state.standing(state.boxes_of(reader), state.lower(after), POSITION_MAX, newest_first=False)
        return any(message.sender != own for message in found)

    async def tell(self, reader: ParticipantAddress, limit: int) -> Telling:
        state = self._open("tell")
        if not state.is_active(reader.participant):
            raise UnauthenticatedError
        person = state.met(reader)
        untold = state.untold(reader)
        person.told = max((message.pos for message in untold[:limit]), default=person.told or 0)
        wires = tuple(message.wire for message in untold[:limit])
        return Telling(wires, len(untold) > limit, self._unread(state, reader), await self.newest(reader))

    async def shown(self, reader: ParticipantAddress, span: tuple[int, int]) -> None:
        person = self._open("shown").readers.get(text_of(reader))
        if person is not None and person.told is not None and span[0] <= person.told < span[1]:
            person.told = span[1]

    async def meet(self, session: SessionAddress) -> None:
        state = self._open("meet")
        if state.is_active(session.participant):
            state.met(session)

    async def boxes(self, reader: ParticipantAddress) -> frozenset[str]:
        return frozenset(self._open("boxes").boxes_of(reader))

    async def change(self, command: Callable[[Registry], T]) -> T:
        saved = self._open("change").copy()
        registry = MemoryRegistry(self._state)
        try:
            result = command(registry)
        except BaseException:
            self._state = saved
            raise
        self._tell(registry.changed)
        return result

    async def look(self, query: Callable[[Registry], T]) -> T:
        return query(MemoryRegistry(self._open("look")))

    async def survey(self, account: ParticipantId, query: Callable[[Registry], T]) -> T:  # noqa: ARG002  # nothing is shared
        return query(MemoryRegistry(self._open("survey")))

    async def doorbells(self) -> list[str]:
        return sorted(self._open("doorbells").bells)

    async def listening_to(self, boxes: Collection[str]) -> list[str]:
        return doorbells.listening_to(self._open("listening_to"), boxes)

    async def next_ring(self, owner: str, attempt: Attempt | None, now: int) -> Turn | None:
        return doorbells.next_ring(self._open("next_ring"), self._last, owner, attempt, now)

    async def sweep(
        self, settled_before: int | None, keys_before: int, resume: int, idle_before: int = 0
    ) -> Swept:
        state = self._open("sweep")
        settled = [
            pos
            for pos, message in state.at.items()
            if settled_before is not None
            and pos > resume
            and pos < first_of(settled_before)
            and state.is_settled(message, settled_before)
        ]
        for pos in settled:
            state.delete(pos)
        forgotten = state.forget_sessions(settled_before or 0, idle_before)
        state.flow = {key: each for key, each in state.flow.items() if key[0] >= slot_at(keys_before)}
        before = len(state.keys)
        state.keys = {name: key for name, key in state.keys.items() if key.created_at >= keys_before}
        return Swept(len(settled) + forgotten, before - len(state.keys), None)

    async def remember(self, name: str, value: int | None) -> int | None:
        numbers = self._open("remember").numbers
        if value is not None:
            numbers[name] = value
        return numbers.get(name)

    async def backup(self, target: Path) -> NoReturn:  # noqa: ARG002  # there is nothing to copy
        raise StoreUnavailableError(operation="backup")

    async def close(self) -> None:
        self._closed = True


def _thread_of(state: State, message_id: MessageId | None) -> int | None:
    """The thread of a message, 0 for one that is not there, None for none."""
    if message_id is None:
        return None
    pos = state.positions.get(message_id)
    return 0 if pos is None else state.at[pos].thread


def _number_of(state: State, account: ParticipantId | None) -> int | None:
    """The number of an account, 0 for one that is not there, None for none."""
    if account is None:
        return None
    present = state.accounts.get(account)
    return 0 if present is None else present.number


def _sent(state: State, message: Stored) -> Sent:
    acks = list(state.acks.get(message.pos, {}).values())
    acks.sort(key=lambda ack: (ack.acked_at_unix_ms, text_of(ack.reader)))
    gone = not isinstance(message.to, RoomAddress) and not state.is_active(message.to.participant)
    if isinstance(message.to, SessionAddress):
        kept = state.sessions.get(message.to.session)
        dead = kept is not None and kept.session.dead_at is not None
        gone = gone or (dead and state.reader_no(message.to) not in state.acks.get(message.pos, {}))
    return Sent(message.wire, tuple(acks[:ACKS_SHOWN]), len(acks), gone)


def _holds(wire: bytes, phrases: Sequence[Sequence[str]]) -> bool:
    message = json.loads(wire)
    texts = [f" {' '.join(words_of(message[part]))} " for part in ("subject", "body")]
    return all(any(f" {' '.join(phrase)} " in text for text in texts) for phrase in phrases)
