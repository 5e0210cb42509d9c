"""What the store in memory holds, and what follows from it."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace

from mail4agent_api.addresses import text_of
from mail4agent_api.mail import (
    Ack,
    AuditEntry,
    DirectAddress,
    MessageId,
    ParticipantAddress,
    ParticipantId,
    Position,
    RoomAddress,
    RoomId,
    SessionAddress,
    SessionId,
)
from mail4agent_core.mail.doorbells import Doorbell
from mail4agent_core.mail.posting import Prior, Sight
from mail4agent_core.mail.records import Account, RoomPosting
from mail4agent_core.mail.session import Session
from mail4agent_core.mail.wire import POSITION_MAX, first_of, millisecond


@dataclass(slots=True)
class Registration:
    """An account; its number is not given again when its id is."""

    number: int
    account: Account


@dataclass(slots=True)
class Reader:
    """An exact address that reads or sends, with the positions that count as acknowledged for it."""

    number: int
    account: ParticipantId
    read: set[int] = field(default_factory=set[int])
    #: The position up to which it was told of its mail, None when it has never asked.
    told: int | None = None


@dataclass(frozen=True, slots=True)
class Stored:
    """A message, with the numbers of its sender and the sender's account."""

    pos: int
    message_id: MessageId
    sender: int
    account: int
    to: DirectAddress | SessionAddress | RoomAddress
    box: str
    thread: int
    correlation: str | None
    wire: bytes


@dataclass(slots=True)
class Chamber:
    """A room's own state; its messages stand in its box."""

    posting: RoomPosting
    created_at: int
    members: set[ParticipantId] = field(default_factory=set[ParticipantId])


@dataclass(slots=True)
class Key:
    """An idempotency key's effect and its time."""

    prior: Prior
    created_at: int


@dataclass(frozen=True, slots=True)
class Kept:
    """A session, and the digest of its credential until that ends."""

    session: Session
    digest: bytes | None


@dataclass(slots=True)
class Bell:
    """A listener; its rings map positions to the attempts that may have failed by the message."""

    doorbell: Doorbell
    cursor: int
    due_at: int = 0
    rings: dict[int, int] = field(default_factory=dict[int, int])
    floors: dict[str, int] = field(default_factory=dict[str, int])


@dataclass(slots=True)
class State:
    """Everything. Boxes and readers are named by text addresses; positions in a box are in order."""

    accounts: dict[ParticipantId, Registration] = field(default_factory=dict[ParticipantId, Registration])
    digests: dict[bytes, ParticipantId] = field(default_factory=dict[bytes, ParticipantId])
    rooms: dict[RoomId, Chamber] = field(default_factory=dict[RoomId, Chamber])
    readers: dict[str, Reader] = field(default_factory=dict[str, Reader])
    boxes: dict[str, list[int]] = field(default_factory=dict[str, list[int]])
    at: dict[int, Stored] = field(default_factory=dict[int, Stored])
    positions: dict[MessageId, int] = field(default_factory=dict[MessageId, int])
    acks: dict[int, dict[int, Ack]] = field(default_factory=dict[int, dict[int, Ack]])
    keys: dict[tuple[int, str], Key] = field(default_factory=dict[tuple[int, str], Key])
    numbers: dict[str, int] = field(default_factory=dict[str, int])
    bells: dict[str, Bell] = field(default_factory=dict[str, Bell])
    #: By number, the oldest first.
    audit: list[AuditEntry] = field(default_factory=list[AuditEntry])
    #: The number of the newest entry there ever was.
    audited: int = 0
    #: How many messages each account, by its number, posted to each box in each slot, and the last position.
    flow: dict[tuple[int, int, str], tuple[int, int]] = field(
        default_factory=dict[tuple[int, int, str], tuple[int, int]]
    )
    sessions: dict[SessionId, Kept] = field(default_factory=dict[SessionId, Kept])
    boots: dict[str, int] = field(default_factory=dict[str, int])
    #: Numbers given so far, to accounts and to readers alike.
    given: int = 0

    def copy(self) -> "State":
        """A copy that shares nothing that changes."""
        return State(
            accounts={name: replace(each) for name, each in self.accounts.items()},
            digests=dict(self.digests),
            rooms={name: replace(room, members=set(room.members)) for name, room in self.rooms.items()},
            readers={name: replace(reader, read=set(reader.read)) for name, reader in self.readers.items()},
            boxes={name: list(box) for name, box in self.boxes.items()},
            at=dict(self.at),
            positions=dict(self.positions),
            acks={pos: dict(given) for pos, given in self.acks.items()},
            keys=dict(self.keys),
            numbers=dict(self.numbers),
            bells={
                name: replace(bell, rings=dict(bell.rings), floors=dict(bell.floors))
                for name, bell in self.bells.items()
            },
            audit=list(self.audit),
            audited=self.audited,
            flow=dict(self.flow),
            sessions=dict(self.sessions),
            boots=dict(self.boots),
            given=self.given,
        )

    def number(self) -> int:
        """A number that was never given before."""
        self.given += 1
        return self.given

    def is_active(self, account: ParticipantId) -> bool:
        """Whether an account is registered and not removed."""
        present = self.accounts.get(account)
        return present is not None and present.account.removed_at is None

    def boxes_of(self, address: ParticipantAddress) -> set[str]:
        """The boxes that a reader reads now."""
        account = address.participant
        if not self.is_active(account):
            return set()
        own = {text_of(address), str(account)} & self.boxes.keys()
        return own | {f"#{name}" for name, room in self.rooms.items() if account in room.members}

    def reader_no(self, address: ParticipantAddress) -> int:
        """The number of a reader, 0 for one that was not met or whose account was removed."""
        reader = self.readers.get(text_of(address))
        return 0 if reader is None or not self.is_active(reader.account) else reader.number

    def read_by(self, address: ParticipantAddress) -> set[int]:
        """What counts as acknowledged for a reader."""
        reader = self.readers.get(text_of(address))
        return set() if reader is None else reader.read

    def readers_of(self, account: ParticipantId) -> list[Reader]:
        """Every reader of an account."""
        return [reader for reader in self.readers.values() if reader.account == account]

    def met(self, address: ParticipantAddress) -> Reader:
        """The reader of an address whose account is active; a session is met by this."""
        name = text_of(address)
        reader = self.readers.get(name)
        if reader is None or name not in self.boxes:
            account = address.participant
            if reader is not None:
                # A session that retention has forgotten begins anew when it turns up after all.
                self.forget_reader(name)
            read = {pos for other in self.readers_of(account) for pos in other.read}
            reader = self.readers[name] = Reader(self.number(), account, read)
            self.boxes[name] = []
        return reader

    def forget_reader(self, name: str) -> None:
        """Drop a reader with its acknowledgements."""
        number = self.readers.pop(name).number
        for given in self.acks.values():
            given.pop(number, None)

    def sight(self, address: ParticipantAddress, message_id: MessageId) -> Sight:
        """What a reader has to do with a message."""
        pos = self.positions.get(message_id)
        if pos is None:
            return "missing"
        message = self.at[pos]
        seen = message.box in self.boxes_of(address) or message.sender == self.reader_no(address)
        return "seen" if seen else "hidden"

    def lower(self, after: Position | None) -> int:
        """The position that results stand after."""
        if after is None:
            return 0
        return self._known(after) or first_of(after.created_at_unix_ms) - 1

    def upper(self, before: Position | None) -> int:
        """The position that results stand before."""
        if before is None:
            return POSITION_MAX
        return self._known(before) or first_of(before.created_at_unix_ms + 1)

    def _known(self, at: Position) -> int | None:
        pos = self.positions.get(at.message_id)
        return pos if pos is not None and millisecond(pos) == at.created_at_unix_ms else None

    def standing(self, boxes: Iterable[str], low: int, high: int, *, newest_first: bool) -> Iterator[Stored]:
        """The messages of some boxes between two positions, in order."""
        found = sorted(
            (pos for box in boxes for pos in self.boxes[box] if low < pos < high), reverse=newest_first
        )
        return (self.at[pos] for pos in found)

    def untold(self, address: ParticipantAddress) -> list[Stored]:
        """A reader's unread messages past those that it was told of, in order."""
        known = self.readers.get(text_of(address))
        low, read = (0, set[int]()) if known is None else (known.told or 0, known.read)
        standing = self.standing(self.boxes_of(address), low, POSITION_MAX, newest_first=False)
        return [message for message in standing if message.pos not in read]

    def forget_sessions(self, dead_before: int, idle_before: int) -> int:
        """Forget sessions that died before a time, or without mail before another; return how many messages
        stood in their boxes.
        """
        gone = 0
        for name, kept in list(self.sessions.items()):
            box = text_of(kept.session.address)
            dead_at = kept.session.dead_at
            if dead_at is not None and (
                dead_at < dead_before or (dead_at < idle_before and not self.boxes[box])
            ):
                for pos in list(self.boxes[box]):
                    self.delete(pos)
                    gone += 1
                self.give_up(box)
                del self.sessions[name]
        return gone

    def give_up(self, box: str) -> None:
        """Drop a box and what was counted of it: one that is made under its name later starts anew."""
        self.boxes.pop(box, None)
        self.flow = {key: each for key, each in self.flow.items() if key[2] != box}

    def delete(self, pos: int) -> None:
        """Delete a message with what is known of its reading."""
        message = self.at.pop(pos)
        del self.positions[message.message_id]
        self.boxes[message.box].remove(pos)
        self.acks.pop(pos, None)
        for reader in self.readers.values():
            reader.read.discard(pos)

    def is_settled(self, message: Stored, before: int) -> bool:
        """Whether everybody that a message waits for had acknowledged it before a time."""
        match message.to:
            case RoomAddress(room=room):
                waited_for = [self.readers_of(member) for member in self.rooms[room].members]
            case DirectAddress(participant=participant):
                waited_for = [self.readers_of(participant)]
            case SessionAddress():
                waited_for = [[self.readers[message.box]]]
        return bool(waited_for) and all(self._settled_for(each, message.pos, before) for each in waited_for)

    def _settled_for(self, readers: list[Reader], pos: int, before: int) -> bool:
        given = self.acks.get(pos, {})
        times = [given[reader.number].acked_at_unix_ms for reader in readers if reader.number in given]
        if times:
            return min(times) < before
        return millisecond(pos) < before and any(pos in reader.read for reader in readers)
