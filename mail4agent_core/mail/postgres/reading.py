"""Single messages, threads, what was sent, and what waiting needs to know.

Each runs within one read transaction.
"""

from mail4agent_api.addresses import participant_of
from mail4agent_api.mail import Ack, MessageId, ParticipantAddress, Position
from mail4agent_core.mail.records import ACKS_SHOWN, Seen, Sent
from mail4agent_core.mail.wire import cut, position

from .connection import Database, Row
from .pages import Box, Spot, boxes_of, lower_bound, upper_bound, wires_of
from .people import Reader, find_reader, reads_box
from .posting import id_bytes, id_text


def box_addresses(db: Database, address: ParticipantAddress) -> frozenset[str]:
    """The text addresses of a reader's boxes."""
    reader = find_reader(db, address)
    if reader is None:
        return frozenset()
    sql = (
        "SELECT b.address FROM (SELECT box_no FROM membership WHERE account_no = %s UNION ALL "
        "SELECT %s::bigint) mine JOIN box b ON b.box_no = mine.box_no"
    )
    return frozenset(row[0] for row in db.execute(sql, (reader.account_no, reader.session_box)).fetchall())


def message(db: Database, address: ParticipantAddress, message_id: MessageId) -> Seen:
    """One message that the reader may read or wrote."""
    sql = (
        "SELECT p.box_no, p.sender_no, m.wire FROM place p CROSS JOIN LATERAL (SELECT wire FROM message "
        "WHERE box_no = p.box_no AND pos = p.pos LIMIT 1) m WHERE p.message_id = %s"
    )
    row = db.execute(sql, (id_bytes(message_id),)).fetchone()
    if row is None:
        return Seen("missing")
    reader = find_reader(db, address)
    if reader is None or not _may_read(db, reader, row[0], row[1]):
        return Seen("hidden")
    return Seen("seen", row[2])


def _may_read(db: Database, reader: Reader, box_no: int, sender_no: int) -> bool:
    return sender_no == reader.reader_no or reads_box(db, reader, box_no)


def thread(
    db: Database,
    address: ParticipantAddress,
    message_id: MessageId,
    after: Position | None,
    *,
    limit: int,
    max_bytes: int,
) -> list[bytes]:
    """The messages of a thread that the reader may read or wrote, oldest first."""
    reader = find_reader(db, address)
    sql = "SELECT thread_pos, thread_box FROM place WHERE message_id = %s"
    row = db.execute(sql, (id_bytes(message_id),)).fetchone()
    if reader is None or row is None:
        return []
    spots = _thread(db, reader, (row[0], row[1]), lower_bound(db, after), limit)
    return cut(wires_of(db, spots), limit, max_bytes)


def _thread(db: Database, reader: Reader, root: Spot, low: int, limit: int) -> list[Spot]:
    thread_pos, thread_box = root
    spots: set[Spot] = set()
    sql = "SELECT sender_no FROM message WHERE box_no = %s AND pos = %s"
    first = db.execute(sql, (thread_box, thread_pos)).fetchone()
    if first is not None and thread_pos > low and _may_read(db, reader, thread_box, first[0]):
        spots.add(root)
    boxes = [box.box_no for box in boxes_of(db, reader) if box.last_pos > max(low, thread_pos)]
    reads = (
        "SELECT m.pos, m.box_no FROM unnest(%b::bigint[]) w (box_no) CROSS JOIN LATERAL (SELECT pos, box_no "
        "FROM message m WHERE m.box_no = w.box_no AND m.thread_pos = %s AND m.thread_pos <> m.pos "
        "AND m.pos > %s ORDER BY m.pos LIMIT %s) m ORDER BY m.pos LIMIT %s"
    )
    if boxes:
        spots |= {
            (row[0], row[1]) for row in db.execute(reads, (boxes, thread_pos, low, limit, limit)).fetchall()
        }
    wrote = (
        "SELECT pos, box_no FROM sent WHERE sender_no = %s AND thread_pos = %s AND thread_pos <> pos "
        "AND pos > %s ORDER BY pos LIMIT %s"
    )
    # What it both reads and wrote is found twice.
    spots |= {
        (row[0], row[1]) for row in db.execute(wrote, (reader.reader_no, thread_pos, low, limit)).fetchall()
    }
    return sorted(spots)[:limit]


def sent(
    db: Database, address: ParticipantAddress, before: Position | None, limit: int, max_bytes: int
) -> list[Sent]:
    """What an exact address sent, newest first."""
    reader = find_reader(db, address)
    if reader is None:
        return []
    # Nobody can read it: the account it is for was removed, its box was given up with an account or room, or
    # the session it is for died before it acknowledged it. (The inner limit keeps the planner from looking up
    # all that stands in the box.)
    sql = (
        "SELECT m.wire, m.pos, m.box_no, m.message_id, b.address IS NULL OR EXISTS (SELECT 1 FROM "
        "participant p WHERE p.id = split_part(b.address, '/', 1) AND p.removed_at IS NOT NULL) "
        "OR EXISTS (SELECT 1 FROM session s WHERE s.box_no = m.box_no AND s.dead_at IS NOT NULL "
        "AND NOT EXISTS (SELECT 1 FROM ack a WHERE a.box_no = m.box_no AND a.pos = m.pos "
        "AND a.reader_no = s.reader_no)) "
        "FROM (SELECT pos, box_no FROM sent WHERE sender_no = %s AND pos < %s ORDER BY pos DESC LIMIT %s) s "
        "CROSS JOIN LATERAL (SELECT * FROM message m WHERE m.box_no = s.box_no AND m.pos = s.pos LIMIT 1) m "
        "JOIN box b ON b.box_no = m.box_no "
        "ORDER BY m.pos DESC"
    )
    rows = db.execute(sql, (reader.reader_no, upper_bound(db, before), limit)).fetchall()
    return cut((_sent(db, row) for row in rows), limit, max_bytes)


def _sent(db: Database, found: Row) -> Sent:
    wire, pos, box_no, stored_id, undeliverable = found
    given = (
        "FROM ack a JOIN reader r ON r.reader_no = a.reader_no "
        "WHERE a.box_no = %s AND a.pos = %s AND r.address IS NOT NULL"
    )
    message_id = id_text(stored_id)
    sql = f"SELECT r.address, a.acked_at {given} ORDER BY a.acked_at, r.address LIMIT %s"
    acks = tuple(
        Ack(message_id=message_id, reader=participant_of(reader), acked_at_unix_ms=at)
        for reader, at in db.execute(sql, (box_no, pos, ACKS_SHOWN)).fetchall()
    )
    count = len(acks)
    if count == ACKS_SHOWN:
        row = db.execute(f"SELECT count(*) {given}", (box_no, pos)).fetchone()
        assert row is not None
        count = row[0]
    return Sent(wire, acks, count, undeliverable)


def newest(db: Database, address: ParticipantAddress) -> Position | None:
    """The newest position in a reader's boxes."""
    reader = find_reader(db, address)
    if reader is None:
        return None
    newest_at = "SELECT pos, message_id FROM message WHERE box_no = %s ORDER BY pos DESC LIMIT 1"
    top: tuple[int, bytes] | None = None
    # A box's last message may be deleted: those before it in the box are looked for then.
    for box in sorted(boxes_of(db, reader), key=lambda box: box.last_pos, reverse=True):
        if box.last_pos <= (0 if top is None else top[0]):
            break
        row = db.execute(newest_at, (box.box_no,)).fetchone()
        if row is not None and (top is None or row[0] > top[0]):
            top = row[0], row[1]
    return None if top is None else position(top[0], id_text(top[1]))


def stands_after(db: Database, address: ParticipantAddress, after: Position | None) -> bool:
    """Whether a message that is not the reader's own stands after a position."""
    reader = find_reader(db, address)
    if reader is None:
        return False
    low = lower_bound(db, after)
    return any(_other_stands(db, box, reader.reader_no, low) for box in boxes_of(db, reader))


def _other_stands(db: Database, box: Box, reader_no: int, low: int) -> bool:
    newest_other = box.other_pos if box.last_sender == reader_no else box.last_pos
    if newest_other <= low:
        return False
    sql = "SELECT 1 FROM message WHERE box_no = %s AND pos = %s"
    if db.execute(sql, (box.box_no, newest_other)).fetchone() is not None:
        return True
    # That message was deleted: look for another.
    sql = "SELECT 1 FROM message WHERE box_no = %s AND pos > %s AND sender_no <> %s LIMIT 1"
    return db.execute(sql, (box.box_no, low, reader_no)).fetchone() is not None
