"""Reading: inbox pages, threads, what was sent. Every query is bounded by its page, not by the mailbox.

All functions run within one read transaction, so that a page, its unread count and the membership that allows it are of one moment.
"""

import json
import sqlite3
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from heapq import merge

from mail4agent_api.addresses import participant_of
from mail4agent_api.mail import Ack, MessageId, ParticipantAddress, Position

from ..store import Page, PageQuery, Seen, Sent
from ..wire import POSITION_MAX, first_of, millisecond, position
from .people import Reader, find_reader, reads_box
from .posting import id_bytes, id_text
from .ranges import gaps

Connection = sqlite3.Connection

ACKS_SHOWN = 64


@dataclass(frozen=True, slots=True)
class _Box:
    box_no: int
    last_pos: int
    unread: int


def _boxes(db: Connection, reader: Reader) -> list[_Box]:
    sql = (
        "SELECT b.box_no, b.last_pos, b.n - coalesce(c.acked, 0) FROM "
        "(SELECT box_no FROM membership WHERE account_no = ?1 UNION ALL SELECT ?2) mine "
        "JOIN box b ON b.box_no = mine.box_no LEFT JOIN counter c ON c.reader_no = ?3 AND c.box_no = b.box_no"
    )
    return [_Box(*row) for row in db.execute(sql, (reader.account_no, reader.session_box, reader.reader_no))]


def box_addresses(db: Connection, address: ParticipantAddress) -> frozenset[str]:
    """The text addresses of a reader's boxes."""
    reader = find_reader(db, address)
    if reader is None:
        return frozenset()
    sql = "SELECT address FROM box WHERE address IS NOT NULL AND box_no IN (SELECT box_no FROM membership WHERE account_no = ? UNION ALL SELECT ?)"
    return frozenset(row[0] for row in db.execute(sql, (reader.account_no, reader.session_box)))


def unread(db: Connection, address: ParticipantAddress) -> int:
    """The reader's unread count: a subtraction for each box."""
    reader = find_reader(db, address)
    return 0 if reader is None else sum(box.unread for box in _boxes(db, reader))


def _known(db: Connection, at: Position) -> int | None:
    row = db.execute("SELECT pos FROM message WHERE message_id = ?", (id_bytes(at.message_id),)).fetchone()
    # Only a position that was shown is taken; another id would let a stranger's message be probed for.
    return row[0] if row is not None and millisecond(row[0]) == at.created_at_unix_ms else None


def lower_bound(db: Connection, after: Position | None) -> int:
    """The position that results stand after. An unknown one counts as the start of its millisecond: repeat rather than miss."""
    if after is None:
        return 0
    return _known(db, after) or first_of(after.created_at_unix_ms) - 1


def upper_bound(db: Connection, before: Position | None) -> int:
    """The position that results stand before."""
    if before is None:
        return POSITION_MAX
    return _known(db, before) or first_of(before.created_at_unix_ms + 1)


@dataclass(frozen=True, slots=True)
class _Filter:
    """Which messages of a box are meant: the index to walk and what must hold besides."""

    index: str
    where: str
    values: tuple[object, ...]


def _filter(db: Connection, query: PageQuery) -> _Filter | None:
    """None: nothing can match."""
    index, parts, values = "message_box", list[str](), list[object]()
    if query.sent_by is not None:
        row = db.execute("SELECT account_no FROM participant WHERE id = ?", (query.sent_by,)).fetchone()
        if row is None:
            return None
        index = "message_account"
        parts.append("AND account_no = ?")
        values.append(row[0])
    if query.correlation is not None:
        index = "message_correlation"
        parts.append("AND correlation = ?")
        values.append(query.correlation)
    if query.thread is not None:
        row = db.execute("SELECT thread_pos FROM message WHERE message_id = ?", (id_bytes(query.thread),)).fetchone()
        if row is None:
            return None
        index = "message_thread"
        parts.append("AND thread_pos = ?")
        values.append(row[0])
    return _Filter(index, " ".join(parts), tuple(values))


def _positions(db: Connection, box_no: int, low: int, high: int, limit: int, newest_first: bool, only: _Filter) -> list[int]:
    order = "DESC" if newest_first else "ASC"
    sql = f"SELECT pos FROM message INDEXED BY {only.index} WHERE box_no = ? AND pos > ? AND pos < ? {only.where} ORDER BY pos {order} LIMIT ?"
    return [row[0] for row in db.execute(sql, (box_no, low, high, *only.values, limit))]


def _unread_positions(db: Connection, reader: Reader, box_no: int, low: int, high: int, limit: int, newest_first: bool, only: _Filter) -> list[int]:
    found: list[int] = []
    while len(found) < limit and low < high:
        spans, complete = gaps(db, reader.reader_no, box_no, low, high, limit + 1, newest_first)
        for start, end in spans:
            found += _positions(db, box_no, start, end, limit - len(found), newest_first, only)
            if len(found) >= limit:
                return found
        if complete or not spans:
            break
        if newest_first:
            high = spans[-1][0] + 1
        else:
            low = spans[-1][1] - 1
    return found


def _wires(db: Connection, positions: list[int], newest_first: bool, max_bytes: int) -> list[bytes]:
    order = "DESC" if newest_first else "ASC"
    sql = f"SELECT wire FROM message WHERE pos IN (SELECT value FROM json_each(?)) ORDER BY pos {order}"
    cursor = db.execute(sql, (json.dumps(positions),))
    kept = within((row[0] for row in cursor), max_bytes)
    cursor.close()
    return kept


def within(wires: Iterable[bytes], max_bytes: int) -> list[bytes]:
    """The first messages that fit, but at least one."""
    kept: list[bytes] = []
    size = 0
    for wire in wires:
        size += len(wire)
        if kept and size > max_bytes:
            break
        kept.append(wire)
    return kept


def page(db: Connection, address: ParticipantAddress, query: PageQuery) -> Page:
    """One page of a reader's boxes."""
    reader = find_reader(db, address)
    if reader is None:
        return Page((), 0)
    boxes = _boxes(db, reader)
    total = sum(box.unread for box in boxes)
    low, high = lower_bound(db, query.after), upper_bound(db, query.before)
    if query.since_unix_ms is not None:
        low = max(low, first_of(query.since_unix_ms) - 1)
    only = _filter(db, query)
    candidates = [box.box_no for box in boxes if box.last_pos > low and (box.unread > 0 or not query.unread_only)]
    if query.room is not None:
        row = db.execute("SELECT box_no FROM room WHERE id = ?", (query.room,)).fetchone()
        candidates = [box_no for box_no in candidates if row is not None and box_no == row[0]]
    if only is None or not candidates:
        return Page((), total)
    runs: list[list[int]] = []
    for box_no in candidates:
        if query.unread_only:
            runs.append(_unread_positions(db, reader, box_no, low, high, query.limit, query.newest_first, only))
        else:
            runs.append(_positions(db, box_no, low, high, query.limit, query.newest_first, only))
    positions = runs[0] if len(runs) == 1 else list(_first(merge(*runs, reverse=query.newest_first), query.limit))
    return Page(tuple(_wires(db, positions, query.newest_first, query.max_bytes)) if positions else (), total)


def _first(positions: Iterator[int], limit: int) -> Iterator[int]:
    for _, pos in zip(range(limit), positions, strict=False):
        yield pos


def message(db: Connection, address: ParticipantAddress, message_id: MessageId) -> Seen:
    """One message that the reader may read or wrote."""
    row = db.execute("SELECT box_no, sender_no, wire FROM message WHERE message_id = ?", (id_bytes(message_id),)).fetchone()
    if row is None:
        return Seen("missing")
    reader = find_reader(db, address)
    if reader is None or (row[1] != reader.reader_no and not reads_box(db, reader, row[0])):
        return Seen("hidden")
    return Seen("seen", row[2])


def thread(db: Connection, address: ParticipantAddress, message_id: MessageId, after: Position | None, limit: int, max_bytes: int) -> list[bytes]:
    """The messages of a thread that the reader may read or wrote, oldest first."""
    reader = find_reader(db, address)
    if reader is None:
        return []
    sql = (
        "SELECT wire FROM message INDEXED BY message_thread WHERE thread_pos = (SELECT thread_pos FROM message WHERE message_id = ?1) AND pos > ?2 "
        "AND (sender_no = ?3 OR box_no = ?4 OR EXISTS (SELECT 1 FROM membership m WHERE m.account_no = ?5 AND m.box_no = message.box_no)) ORDER BY pos LIMIT ?6"
    )
    values = (id_bytes(message_id), lower_bound(db, after), reader.reader_no, reader.session_box, reader.account_no, limit)
    return within((row[0] for row in db.execute(sql, values)), max_bytes)


def sent(db: Connection, address: ParticipantAddress, before: Position | None, limit: int, max_bytes: int) -> list[Sent]:
    """What an exact address sent, newest first."""
    reader = find_reader(db, address)
    if reader is None:
        return []
    # Nobody can read it: its account was removed, or its box given up with its account or room.
    sql = (
        "SELECT m.wire, m.pos, m.message_id, b.address IS NULL OR EXISTS (SELECT 1 FROM participant p WHERE p.id = b.address AND p.removed_at IS NOT NULL) "
        "FROM message m INDEXED BY message_sender JOIN box b ON b.box_no = m.box_no WHERE m.sender_no = ? AND m.pos < ? ORDER BY m.pos DESC LIMIT ?"
    )
    rows = db.execute(sql, (reader.reader_no, upper_bound(db, before), limit)).fetchall()
    kept = len(within((row[0] for row in rows), max_bytes))
    return [_sent(db, *row) for row in rows[:kept]]


def _sent(db: Connection, wire: bytes, pos: int, stored_id: bytes, undeliverable: int) -> Sent:
    sql = (
        "SELECT r.address, a.acked_at FROM ack a JOIN reader r ON r.reader_no = a.reader_no WHERE a.pos = ? AND r.address IS NOT NULL "
        "ORDER BY a.acked_at, r.address LIMIT ?"
    )
    message_id = id_text(stored_id)
    acks = tuple(Ack(message_id=message_id, reader=participant_of(reader), acked_at_unix_ms=at) for reader, at in db.execute(sql, (pos, ACKS_SHOWN)))
    (count,) = db.execute("SELECT count(*) FROM ack a JOIN reader r ON r.reader_no = a.reader_no WHERE a.pos = ? AND r.address IS NOT NULL", (pos,)).fetchone()
    return Sent(wire, acks, count, bool(undeliverable))


def newest(db: Connection, address: ParticipantAddress) -> Position | None:
    """The newest position in a reader's boxes."""
    reader = find_reader(db, address)
    if reader is None:
        return None
    sql = "SELECT max(pos) FROM message WHERE box_no = ?"
    tops = [db.execute(sql, (box.box_no,)).fetchone()[0] for box in _boxes(db, reader)]
    top = max((pos for pos in tops if pos is not None), default=None)
    if top is None:
        return None
    return position(top, id_text(db.execute("SELECT message_id FROM message WHERE pos = ?", (top,)).fetchone()[0]))


def stands_after(db: Connection, address: ParticipantAddress, after: Position | None) -> bool:
    """Whether a message that is not the reader's own stands after a position."""
    reader = find_reader(db, address)
    if reader is None:
        return False
    low = lower_bound(db, after)
    sql = "SELECT EXISTS (SELECT 1 FROM message INDEXED BY message_box WHERE box_no = ? AND pos > ? AND sender_no <> ?)"
    boxes = (box for box in _boxes(db, reader) if box.last_pos > low)
    return any(db.execute(sql, (box.box_no, low, reader.reader_no)).fetchone()[0] for box in boxes)
