"""Storing messages and acknowledgements, within the writer's transaction."""

import sqlite3
from collections.abc import Sequence
from typing import Literal

from mail4agent_api.addresses import text_of
from mail4agent_api.errors import RefusalError, UnauthenticatedError
from mail4agent_api.mail import (
    Ack,
    DirectAddress,
    MessageId,
    ParticipantAddress,
    ParticipantId,
    RoomAddress,
    SessionAddress,
)
from mail4agent_core.clock import Clock
from mail4agent_core.mail.posting import Posted, Posting, Prior, Sight, judge
from mail4agent_core.mail.wire import millisecond, next_pos

from . import flow
from .people import Reader, active_reader, reads_box
from .ranges import cover_for
from .sessions import owner_of
from .writer import Transaction

Connection = sqlite3.Connection


def id_bytes(message_id: MessageId) -> bytes:
    """A message id as it is stored."""
    return bytes.fromhex(message_id[4:])


def id_text(stored: bytes) -> MessageId:
    """A stored message id as it is on the wire."""
    return MessageId(f"m4a_{stored.hex()}")


class _Facts:
    """What the database knows of one posting; what was found is kept for storing it."""

    def __init__(self, db: Connection, posting: Posting) -> None:
        self._db = db
        self._posting = posting
        self.sender: Reader | None = None
        self.box_no = 0
        #: Whether the sender reads the box that it posts to.
        self.in_box = False
        self.thread_pos: int | None = None

    def sender_exists(self) -> bool:
        self.sender = active_reader(self._db, self._posting.sender)
        return self.sender is not None

    def prior(self) -> Prior | None:
        assert self.sender is not None
        sql = "SELECT message_id, content FROM idempotency WHERE reader_no = ? AND key = ?"
        row = self._db.execute(sql, (self.sender.reader_no, self._posting.key)).fetchone()
        return None if row is None else Prior(id_text(row[0]), row[1])

    def target(self) -> Literal["missing", "open", "members", "member"]:
        assert self.sender is not None
        match self._posting.to:
            case DirectAddress(participant=participant):
                return self._private(participant, participant)
            case SessionAddress(participant=participant):
                return self._private(participant, text_of(self._posting.to))
            case RoomAddress(room=room):
                row = self._db.execute("SELECT box_no, posting FROM room WHERE id = ?", (room,)).fetchone()
                if row is None:
                    return "missing"
                self.box_no, self.in_box = row[0], reads_box(self._db, self.sender, row[0])
                return "member" if self.in_box else row[1]

    def _private(self, participant: str, address: str) -> Literal["missing", "open"]:
        """The box of an account or of a session that was met."""
        sql = (
            "SELECT b.box_no FROM participant p JOIN box b ON b.address = ? "
            "WHERE p.id = ? AND p.removed_at IS NULL"
        )
        row = self._db.execute(sql, (address, participant)).fetchone()
        if row is None:
            return "missing"
        self.box_no = row[0]
        if participant == self._posting.sender.participant:
            assert self.sender is not None
            self.in_box = reads_box(self._db, self.sender, row[0])
        return "open"

    def owner(self) -> ParticipantId | None:
        assert isinstance(self._posting.to, SessionAddress)
        return owner_of(self._db, self._posting.to.session)

    def reply(self) -> Sight:
        assert self.sender is not None
        assert self._posting.reply_to is not None
        sql = "SELECT thread_pos, box_no, sender_no FROM message WHERE message_id = ?"
        row = self._db.execute(sql, (id_bytes(self._posting.reply_to),)).fetchone()
        if row is None:
            return "missing"
        self.thread_pos = row[0]
        own = row[2] == self.sender.reader_no
        return "seen" if own or reads_box(self._db, self.sender, row[1]) else "hidden"


def post(transaction: Transaction, postings: Sequence[Posting], clock: Clock) -> list[Posted | RefusalError]:
    """Judge and store each posting in order. No message is stored for a refused one."""
    outcomes: list[Posted | RefusalError] = []
    for posting in postings:
        facts = _Facts(transaction.db, posting)
        try:
            known = judge(posting, facts)
        except RefusalError as refusal:
            outcomes.append(refusal.with_traceback(None))
            continue
        if known is None:
            _append(transaction, posting, facts, clock)
        outcomes.append(known or Posted(posting.message_id, fresh=True))
    return outcomes


_INSERT = "INSERT INTO message VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
_COUNT = (
    "UPDATE box SET n = n + 1, other_pos = CASE last_sender WHEN ? THEN other_pos ELSE last_pos END, "
    "last_sender = ?, last_pos = ? WHERE box_no = ?"
)


def _append(transaction: Transaction, posting: Posting, facts: _Facts, clock: Clock) -> None:
    db, sender, box_no = transaction.db, facts.sender, facts.box_no
    assert sender is not None
    pos = transaction.last_pos = next_pos(transaction.last_pos, clock.now_ms())
    created_at = millisecond(pos)
    message_id = id_bytes(posting.message_id)
    db.execute(
        _INSERT,
        (
            pos,
            message_id,
            box_no,
            sender.reader_no,
            sender.account_no,
            pos if facts.thread_pos is None else facts.thread_pos,
            posting.correlation,
            posting.wire(created_at),
        ),
    )
    db.execute(_COUNT, (sender.reader_no, sender.reader_no, pos, box_no))
    flow.count(db, pos, sender.account_no, box_no)
    if facts.in_box:
        cover_for(db, sender.account_no, sender.reader_no, box_no, pos)
    if posting.key is not None:
        values = (sender.reader_no, posting.key, posting.content, message_id, created_at)
        db.execute("INSERT INTO idempotency VALUES (?, ?, ?, ?, ?)", values)
    transaction.posted += 1
    transaction.changed.add(text_of(posting.to))


def acknowledge(
    transaction: Transaction, address: ParticipantAddress, message_ids: Sequence[MessageId], clock: Clock
) -> list[Ack | Sight]:
    """Acknowledge each message in order; a repeat gets the first acknowledgement.

    Raises UnauthenticatedError when the reader's account is not registered any more.
    """
    db = transaction.db
    reader = active_reader(db, address)
    if reader is None:
        raise UnauthenticatedError
    outcomes: list[Ack | Sight] = []
    for message_id in message_ids:
        sql = "SELECT pos, box_no FROM message WHERE message_id = ?"
        row = db.execute(sql, (id_bytes(message_id),)).fetchone()
        if row is None or not reads_box(db, reader, row[1]):
            outcomes.append("missing" if row is None else "hidden")
            continue
        pos, box_no = row
        at = max(clock.now_ms(), millisecond(pos))
        sql = (
            "INSERT INTO ack VALUES (?, ?, ?) "
            "ON CONFLICT DO UPDATE SET acked_at = acked_at RETURNING acked_at"
        )
        (at,) = db.execute(sql, (pos, reader.reader_no, at)).fetchone()
        cover_for(db, reader.account_no, reader.reader_no, box_no, pos)
        outcomes.append(Ack(message_id=message_id, reader=address, acked_at_unix_ms=at))
    return outcomes
