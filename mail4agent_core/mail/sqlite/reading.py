"""Single messages, threads, what was sent, and what waiting needs to know.

Each runs within one read transaction.
"""

import sqlite3
from collections.abc import Iterator
from heapq import merge

from mail4agent_api.addresses import participant_of
from mail4agent_api.mail import Ack, MessageId, ParticipantAddress, Position
from mail4agent_core.mail.records import ACKS_SHOWN, Seen, Sent
from mail4agent_core.mail.wire import cut, position

from .pages import Box, boxes_of, lower_bound, upper_bound
from .people import Reader, find_reader, reads_box
from .posting import id_bytes, id_text

Connection = sqlite3.Connection


def box_addresses(db: Connection, address: ParticipantAddress) -> frozenset[str]:
    """The text addresses of a reader's boxes."""
    reader = find_reader(db, address)
    if reader is None:
        return frozenset()
    sql = (
        "SELECT address FROM box WHERE box_no IN "
        "(SELECT box_no FROM membership WHERE account_no = ? UNION ALL SELECT ?)"
    )
    return frozenset(row[0] for row in db.execute(sql, (reader.account_no, reader.session_box)))


def message(db: Connection, address: ParticipantAddress, message_id: MessageId) -> Seen:
    """One message that the reader may read or wrote."""
    sql = "SELECT box_no, sender_no, wire FROM message WHERE message_id = ?"
    row = db.execute(sql, (id_bytes(message_id),)).fetchone()
    if row is None:
        return Seen("missing")
    reader = find_reader(db, address)
    if reader is None or not _may_read(db, reader, row[0], row[1]):
        return Seen("hidden")
    return Seen("seen", row[2])


def _may_read(db: Connection, reader: Reader, box_no: int, sender_no: int) -> bool:
    return sender_no == reader.reader_no or reads_box(db, reader, box_no)


def thread(
    db: Connection,
    address: ParticipantAddress,
    message_id: MessageId,
    after: Position | None,
    *,
    limit: int,
    max_bytes: int,
) -> list[bytes]:
    """The messages of a thread that the reader may read or wrote, oldest first."""
    reader = find_reader(db, address)
    row = db.execute(
        "SELECT thread_pos FROM message WHERE message_id = ?", (id_bytes(message_id),)
    ).fetchone()
    if reader is None or row is None:
        return []
    return cut(_thread(db, reader, row[0], lower_bound(db, after), limit), limit, max_bytes)


def _thread(db: Connection, reader: Reader, thread_pos: int, low: int, limit: int) -> Iterator[bytes]:
    root = db.execute("SELECT box_no, sender_no, wire FROM message WHERE pos = ?", (thread_pos,)).fetchone()
    if root is not None and thread_pos > low and _may_read(db, reader, root[0], root[1]):
        yield root[2]
    sql = (
        "SELECT pos FROM message INDEXED BY {index} WHERE thread_pos = ? AND thread_pos <> pos AND {key} = ? "
        "AND pos > ? ORDER BY pos LIMIT ?"
    )
    reads = sql.format(index="message_thread", key="box_no")
    wrote = sql.format(index="message_thread_sender", key="sender_no")
    runs = [
        db.execute(reads, (thread_pos, box.box_no, low, limit))
        for box in boxes_of(db, reader)
        if box.last_pos > max(low, thread_pos)
    ]
    runs.append(db.execute(wrote, (thread_pos, reader.reader_no, low, limit)))
    last = 0
    for (pos,) in merge(*runs):
        if pos != last:  # what it both reads and wrote is found twice
            yield db.execute("SELECT wire FROM message WHERE pos = ?", (pos,)).fetchone()[0]
        last = pos


def sent(
    db: Connection, address: ParticipantAddress, before: Position | None, limit: int, max_bytes: int
) -> list[Sent]:
    """What an exact address sent, newest first."""
    reader = find_reader(db, address)
    if reader is None:
        return []
    # Nobody can read it: the account it is for was removed, its box was given up with an account or room, or
    # the session it is for died before it acknowledged it.
    sql = (
        "SELECT m.wire, m.pos, m.message_id, b.address IS NULL OR EXISTS (SELECT 1 FROM participant p "
        "WHERE p.id = substr(b.address, 1, instr(b.address || '/', '/') - 1) AND p.removed_at IS NOT NULL) "
        "OR EXISTS (SELECT 1 FROM session s WHERE s.box_no = m.box_no AND s.dead_at IS NOT NULL AND NOT "
        "EXISTS (SELECT 1 FROM ack a WHERE a.pos = m.pos AND a.reader_no = s.reader_no)) "
        "FROM message m INDEXED BY message_sender JOIN box b ON b.box_no = m.box_no "
        "WHERE m.sender_no = ? AND m.pos < ? ORDER BY m.pos DESC LIMIT ?"
    )
    rows = db.execute(sql, (reader.reader_no, upper_bound(db, before), limit))
    return cut((_sent(db, *row) for row in rows), limit, max_bytes)


def _sent(db: Connection, wire: bytes, pos: int, stored_id: bytes, undeliverable: int) -> Sent:
    given = "FROM ack a JOIN reader r ON r.reader_no = a.reader_no WHERE a.pos = ? AND r.address IS NOT NULL"
    message_id = id_text(stored_id)
    sql = f"SELECT r.address, a.acked_at {given} ORDER BY a.acked_at, r.address LIMIT ?"
    acks = tuple(
        Ack(message_id=message_id, reader=participant_of(reader), acked_at_unix_ms=at)
        for reader, at in db.execute(sql, (pos, ACKS_SHOWN))
    )
    count = len(acks)
    if count == ACKS_SHOWN:
        (count,) = db.execute(f"SELECT count(*) {given}", (pos,)).fetchone()
    return Sent(wire, acks, count, bool(undeliverable))


def newest(db: Connection, address: ParticipantAddress) -> Position | None:
    """The newest position in a reader's boxes."""
    reader = find_reader(db, address)
    if reader is None:
        return None
    newest_at = "SELECT max(pos) FROM message WHERE box_no = ?"
    top = 0
    # A box's last message may be deleted: those before it in the box are looked for then.
    for box in sorted(boxes_of(db, reader), key=lambda box: box.last_pos, reverse=True):
        if box.last_pos <= top:
            break
        top = max(top, db.execute(newest_at, (box.box_no,)).fetchone()[0] or 0)
    if not top:
        return None
    (stored_id,) = db.execute("SELECT message_id FROM message WHERE pos = ?", (top,)).fetchone()
    return position(top, id_text(stored_id))


def stands_after(db: Connection, address: ParticipantAddress, after: Position | None) -> bool:
    """Whether a message that is not the reader's own stands after a position."""
    reader = find_reader(db, address)
    if reader is None:
        return False
    low = lower_bound(db, after)
    return any(_other_stands(db, box, reader.reader_no, low) for box in boxes_of(db, reader))


def _other_stands(db: Connection, box: Box, reader_no: int, low: int) -> bool:
    newest_other = box.other_pos if box.last_sender == reader_no else box.last_pos
    if newest_other <= low:
        return False
    sql = "SELECT EXISTS (SELECT 1 FROM message WHERE pos = ?)"
    if db.execute(sql, (newest_other,)).fetchone()[0]:
        return True
    # That message was deleted: look for another.
    sql = (
        "SELECT EXISTS (SELECT 1 FROM message INDEXED BY message_box "
        "WHERE box_no = ? AND pos > ? AND sender_no <> ?)"
    )
    return bool(db.execute(sql, (box.box_no, low, reader_no)).fetchone()[0])
