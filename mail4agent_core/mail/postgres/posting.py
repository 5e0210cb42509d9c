"""Storing messages and acknowledgements, within the writer's transaction, many at a time."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from mail4agent_api.addresses import text_of
from mail4agent_api.errors import RefusalError, UnauthenticatedError
from mail4agent_api.mail import (
    Ack,
    Address,
    DirectAddress,
    MessageId,
    ParticipantAddress,
    ParticipantId,
    RoomAddress,
    SessionAddress,
)
from mail4agent_core.mail.posting import Posted, Posting, Prior, Sight, judge
from mail4agent_core.mail.wire import millisecond, next_pos

from . import flow
from .batch import Transaction
from .connection import Database, columns
from .people import Reader, active_readers
from .ranges import Mark, cover
from .sessions import owner_of


def id_bytes(message_id: MessageId) -> bytes:
    """A message id as it is stored."""
    return bytes.fromhex(message_id[4:])


def id_text(stored: bytes) -> MessageId:
    """A stored message id as it is on the wire."""
    return MessageId(f"m4a_{stored.hex()}")


class _Place(NamedTuple):
    """Where a message stands."""

    box_no: int
    pos: int
    sender_no: int
    thread_pos: int
    thread_box: int


@dataclass(slots=True)
class _Box:
    """A box that is posted to."""

    box_no: int
    last_pos: int
    last_sender: int
    other_pos: int
    #: Who may post, where it is a room.
    posting: Literal["open", "members"] = "open"
    added: int = 0


@dataclass(slots=True)
class _Known:
    """What the database knows of some postings, and what those before added to it."""

    db: Database
    readers: dict[str, Reader]
    boxes: dict[str, _Box] = field(default_factory=dict[str, _Box])
    keys: dict[tuple[int, str], Prior] = field(default_factory=dict[tuple[int, str], Prior])
    places: dict[MessageId, _Place] = field(default_factory=dict[MessageId, _Place])
    memberships: set[tuple[int, int]] = field(default_factory=set[tuple[int, int]])

    def reads(self, reader: Reader, box_no: int) -> bool:
        return box_no == reader.session_box or (reader.account_no, box_no) in self.memberships


def _gathered(db: Database, postings: Sequence[Posting]) -> _Known:
    """One statement for each kind of thing, however many the postings are."""
    known = _Known(db, active_readers(db, tuple(each.sender for each in postings)))
    _find_boxes(known, {text_of(each.to): each.to for each in postings})
    replies = sorted({each.reply_to for each in postings if each.reply_to is not None})
    known.places = _places(db, replies)
    keyed = sorted(
        {
            (reader.reader_no, each.key)
            for each in postings
            if each.key is not None and (reader := known.readers.get(text_of(each.sender))) is not None
        }
    )
    if keyed:
        sql = (
            "SELECT w.reader_no, w.key, i.message_id, i.content FROM unnest(%b::bigint[], %b::text[]) "
            "w (reader_no, key) CROSS JOIN LATERAL (SELECT message_id, content FROM idempotency "
            "WHERE reader_no = w.reader_no AND key = w.key LIMIT 1) i"
        )
        for reader_no, key, message_id, content in db.execute(sql, columns(keyed, 2)).fetchall():
            known.keys[reader_no, key] = Prior(id_text(message_id), content)
    boxes = {each.box_no for each in known.boxes.values()} | {each.box_no for each in known.places.values()}
    known.memberships = _memberships(db, known.readers.values(), boxes)
    return known


def _find_boxes(known: _Known, targets: dict[str, Address]) -> None:
    private = {text: to for text, to in targets.items() if not isinstance(to, RoomAddress)}
    if private:
        sql = (
            "SELECT b.* FROM unnest(%b::text[], %b::text[]) a (address, id) "
            "CROSS JOIN LATERAL (SELECT 1 FROM participant WHERE id = a.id AND removed_at IS NULL LIMIT 1) p "
            "CROSS JOIN LATERAL (SELECT address, box_no, last_pos, last_sender, other_pos FROM box "
            "WHERE address = a.address LIMIT 1) b"
        )
        named = (list(private), [to.participant for to in private.values()])
        for address, *row in known.db.execute(sql, named).fetchall():
            known.boxes[address] = _Box(*row)
    rooms = [to.room for to in targets.values() if isinstance(to, RoomAddress)]
    if rooms:
        sql = (
            "SELECT b.address, b.box_no, b.last_pos, b.last_sender, b.other_pos, r.posting FROM room r "
            "JOIN box b ON b.box_no = r.box_no WHERE r.id = ANY(%b::text[])"
        )
        for address, *row in known.db.execute(sql, (rooms,)).fetchall():
            known.boxes[address] = _Box(*row)


def _places(db: Database, message_ids: Sequence[MessageId]) -> dict[MessageId, _Place]:
    if not message_ids:
        return {}
    sql = (
        "SELECT message_id, box_no, pos, sender_no, thread_pos, thread_box FROM place "
        "WHERE message_id = ANY(%b::bytea[])"
    )
    rows = db.execute(sql, ([id_bytes(each) for each in message_ids],)).fetchall()
    return {id_text(stored): _Place(*row) for stored, *row in rows}


def _memberships(db: Database, readers: Iterable[Reader], boxes: Iterable[int]) -> set[tuple[int, int]]:
    sql = (
        "SELECT account_no, box_no FROM membership "
        "WHERE account_no = ANY(%b::bigint[]) AND box_no = ANY(%b::bigint[])"
    )
    accounts, numbers = sorted({each.account_no for each in readers}), sorted(boxes)
    return {(row[0], row[1]) for row in db.execute(sql, (accounts, numbers)).fetchall()} if numbers else set()


class _Facts:
    """What is known of one posting; what was found is kept for storing it."""

    def __init__(self, known: _Known, posting: Posting) -> None:
        self._known = known
        self._posting = posting
        self.sender = known.readers.get(text_of(posting.sender))
        self.box: _Box | None = None
        self.replied: _Place | None = None

    def sender_exists(self) -> bool:
        return self.sender is not None

    def prior(self) -> Prior | None:
        assert self.sender is not None
        assert self._posting.key is not None
        return self._known.keys.get((self.sender.reader_no, self._posting.key))

    def target(self) -> Literal["missing", "open", "members", "member"]:
        self.box = self._known.boxes.get(text_of(self._posting.to))
        if self.box is None:
            return "missing"
        if isinstance(self._posting.to, DirectAddress | SessionAddress):
            return "open"
        return "member" if self.in_box else self.box.posting

    @property
    def in_box(self) -> bool:
        """Whether the sender reads the box that it posts to."""
        assert self.sender is not None
        assert self.box is not None
        return self._known.reads(self.sender, self.box.box_no)

    def owner(self) -> ParticipantId | None:
        assert isinstance(self._posting.to, SessionAddress)
        return owner_of(self._known.db, self._posting.to.session)

    def reply(self) -> Sight:
        assert self.sender is not None
        assert self._posting.reply_to is not None
        self.replied = self._known.places.get(self._posting.reply_to)
        if self.replied is None:
            return "missing"
        own = self.replied.sender_no == self.sender.reader_no
        return "seen" if own or self._known.reads(self.sender, self.replied.box_no) else "hidden"


@dataclass(slots=True)
class _Added:
    """Rows to insert."""

    messages: list[tuple[object, ...]] = field(default_factory=list[tuple[object, ...]])
    keys: list[tuple[object, ...]] = field(default_factory=list[tuple[object, ...]])
    marks: list[Mark] = field(default_factory=list[Mark])


def post(transaction: Transaction, asked: Sequence[Sequence[Posting]]) -> list[list[Posted | RefusalError]]:
    """Judge and store each posting in order. No message is stored for a refused one."""
    known = _gathered(transaction.db, [posting for postings in asked for posting in postings])
    added = _Added()
    outcomes = [[_outcome(transaction, posting, known, added) for posting in postings] for postings in asked]
    _store(transaction, known, added)
    return outcomes


def _outcome(
    transaction: Transaction, posting: Posting, known: _Known, added: _Added
) -> Posted | RefusalError:
    facts = _Facts(known, posting)
    try:
        prior = judge(posting, facts)
    except RefusalError as refusal:
        return refusal.with_traceback(None)
    if prior is not None:
        return prior
    _append(transaction, posting, facts, known, added)
    return Posted(posting.message_id, fresh=True)


def _append(transaction: Transaction, posting: Posting, facts: _Facts, known: _Known, added: _Added) -> None:
    sender, box = facts.sender, facts.box
    assert sender is not None
    assert box is not None
    pos = transaction.last_pos = next_pos(transaction.last_pos, transaction.clock.now_ms())
    created_at = millisecond(pos)
    message_id = id_bytes(posting.message_id)
    thread = (pos, box.box_no) if facts.replied is None else facts.replied[3:]
    added.messages.append(
        (
            box.box_no,
            pos,
            message_id,
            sender.reader_no,
            sender.account_no,
            thread[0],
            posting.correlation,
            posting.wire(created_at),
            thread[1],
        )
    )
    known.places[posting.message_id] = _Place(box.box_no, pos, sender.reader_no, *thread)
    if box.last_sender != sender.reader_no:
        box.other_pos = box.last_pos
    box.last_sender, box.last_pos, box.added = sender.reader_no, pos, box.added + 1
    if facts.in_box:
        added.marks += [Mark(box.box_no, each, pos) for each in _counted(sender)]
    if posting.key is not None:
        added.keys.append((sender.reader_no, posting.key, posting.content, message_id, created_at))
        known.keys[sender.reader_no, posting.key] = Prior(posting.message_id, posting.content)
    transaction.posted += 1
    transaction.changed.add(text_of(posting.to))


def _counted(reader: Reader) -> tuple[int, ...]:
    """For whom it counts that a reader has acknowledged: also for where the account's next session starts."""
    return (reader.reader_no,) if reader.common_no is None else (reader.reader_no, reader.common_no)


_MESSAGE = (
    "INSERT INTO message SELECT * FROM unnest(%b::bigint[], %b::bigint[], %b::bytea[], %b::bigint[], "
    "%b::bigint[], %b::bigint[], %b::text[], %b::bytea[])"
)
_PLACE = (
    "INSERT INTO place SELECT * FROM unnest(%b::bytea[], %b::bigint[], %b::bigint[], %b::bigint[], "
    "%b::bigint[], %b::bigint[])"
)
_SENT = "INSERT INTO sent SELECT * FROM unnest(%b::bigint[], %b::bigint[], %b::bigint[], %b::bigint[])"
_COUNT = (
    "UPDATE box b SET n = b.n + w.added, last_pos = w.last_pos, last_sender = w.last_sender, "
    "other_pos = w.other_pos FROM unnest(%b::bigint[], %b::bigint[], %b::bigint[], %b::bigint[], "
    "%b::bigint[]) w (box_no, added, last_pos, last_sender, other_pos) WHERE b.box_no = w.box_no"
)
_KEY = (
    "INSERT INTO idempotency SELECT * FROM unnest(%b::bigint[], %b::text[], %b::bytea[], %b::bytea[], "
    "%b::bigint[])"
)


def _store(transaction: Transaction, known: _Known, added: _Added) -> None:
    if not added.messages:
        return
    db = transaction.db
    boxes, positions, ids, senders, accounts, threads, _, _, thread_boxes = columns(added.messages, 9)
    counted = [
        (each.box_no, each.added, each.last_pos, each.last_sender, each.other_pos)
        for each in known.boxes.values()
        if each.added
    ]
    with db.pipelined():
        db.execute(_MESSAGE, columns(added.messages, 8))
        db.execute(_PLACE, (ids, boxes, positions, senders, threads, thread_boxes))
        db.execute(_SENT, (senders, positions, boxes, threads))
        db.execute(_COUNT, columns(counted, 5))
        flow.count(db, zip(positions, accounts, boxes, strict=True))
        if added.keys:
            db.execute(_KEY, columns(added.keys, 5))
    cover(db, added.marks)


#: Who acknowledges what.
Acked = tuple[ParticipantAddress, Sequence[MessageId]]


def acknowledge(
    transaction: Transaction, asked: Sequence[Acked]
) -> list[list[Ack | Sight] | UnauthenticatedError]:
    """Acknowledge each message in order; a repeat gets the first acknowledgement.

    UnauthenticatedError for a reader whose account is not registered any more.
    """
    db = transaction.db
    readers = active_readers(db, tuple(address for address, _ in asked))
    places = _places(db, sorted({each for _, message_ids in asked for each in message_ids}))
    memberships = _memberships(db, readers.values(), {each.box_no for each in places.values()})
    known = _Known(db, readers, places=places, memberships=memberships)
    given = _given(db, asked, known)
    fresh: dict[Mark, int] = {}
    marks: list[Mark] = []
    answers: list[list[Ack | Sight] | UnauthenticatedError] = []
    for address, message_ids in asked:
        reader = readers.get(text_of(address))
        if reader is None:
            answers.append(UnauthenticatedError())
            continue
        outcomes: list[Ack | Sight] = []
        for message_id in message_ids:
            place = places.get(message_id)
            if place is None or not known.reads(reader, place.box_no):
                outcomes.append("missing" if place is None else "hidden")
                continue
            mark = Mark(place.box_no, reader.reader_no, place.pos)
            if mark not in given:
                given[mark] = fresh[mark] = max(transaction.clock.now_ms(), millisecond(place.pos))
            marks += [Mark(place.box_no, each, place.pos) for each in _counted(reader)]
            outcomes.append(Ack(message_id=message_id, reader=address, acked_at_unix_ms=given[mark]))
        answers.append(outcomes)
    if fresh:
        sql = "INSERT INTO ack SELECT * FROM unnest(%b::bigint[], %b::bigint[], %b::bigint[], %b::bigint[])"
        rows = [(mark.box_no, mark.pos, mark.reader_no, at) for mark, at in fresh.items()]
        db.execute(sql, columns(rows, 4))
    cover(db, marks)
    return answers


def _given(db: Database, asked: Sequence[Acked], known: _Known) -> dict[Mark, int]:
    """The acknowledgements on record, with their times."""
    wanted = {
        (place.box_no, place.pos, reader.reader_no)
        for address, message_ids in asked
        if (reader := known.readers.get(text_of(address))) is not None
        for message_id in message_ids
        if (place := known.places.get(message_id)) is not None
    }
    if not wanted:
        return {}
    sql = (
        "SELECT w.box_no, w.reader_no, w.pos, a.acked_at FROM unnest(%b::bigint[], %b::bigint[], "
        "%b::bigint[]) w (box_no, pos, reader_no) CROSS JOIN LATERAL (SELECT acked_at FROM ack "
        "WHERE (box_no, pos, reader_no) = (w.box_no, w.pos, w.reader_no) LIMIT 1) a"
    )
    rows = db.execute(sql, columns(sorted(wanted), 3)).fetchall()
    return {Mark(box_no, reader_no, pos): at for box_no, reader_no, pos, at in rows}
