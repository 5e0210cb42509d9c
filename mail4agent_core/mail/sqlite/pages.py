"""Inbox pages. What is bounded by the page runs on the event loop, a combination of filters over a long
range does not.

All functions run within one read transaction, so that a page, its unread count and the membership that
allows it are of one moment.
"""

import json
import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass
from heapq import merge, nlargest
from typing import NamedTuple

from mail4agent_api.mail import ParticipantAddress, Position
from mail4agent_core.mail.records import Page, PageQuery
from mail4agent_core.mail.wire import POSITION_MAX, cut, first_of, millisecond

from .people import Reader, find_reader
from .posting import id_bytes
from .ranges import gaps

Connection = sqlite3.Connection

#: A combination of filters that walks no more messages than these takes a fraction of a millisecond.
SHORT_MESSAGES = 128


class Box(NamedTuple):
    """A box of a reader, as it stands for that reader. Readers in a thousand rooms make many of them."""

    box_no: int
    unread: int
    last_pos: int
    last_sender: int
    other_pos: int


def boxes_of(db: Connection, reader: Reader) -> list[Box]:
    """The reader's boxes now."""
    sql = (
        "SELECT b.box_no, b.n - coalesce(c.acked, 0), b.last_pos, b.last_sender, b.other_pos FROM "
        "(SELECT box_no FROM membership WHERE account_no = ? UNION ALL SELECT ?) mine "
        "CROSS JOIN box b ON b.box_no = mine.box_no "
        "LEFT JOIN counter c ON c.reader_no = ? AND c.box_no = b.box_no"
    )
    rows = db.execute(sql, (reader.account_no, reader.session_box, reader.reader_no))
    return list(map(Box._make, rows))


def unread(db: Connection, address: ParticipantAddress) -> int:
    """The reader's unread count: a subtraction for each box."""
    reader = find_reader(db, address)
    return 0 if reader is None else sum(box.unread for box in boxes_of(db, reader))


def _known(db: Connection, at: Position) -> int | None:
    row = db.execute("SELECT pos FROM message WHERE message_id = ?", (id_bytes(at.message_id),)).fetchone()
    return row[0] if row is not None and millisecond(row[0]) == at.created_at_unix_ms else None


def lower_bound(db: Connection, after: Position | None) -> int:
    """The position that results stand after; one that is not known counts as the start of its millisecond."""
    if after is None:
        return 0
    return _known(db, after) or first_of(after.created_at_unix_ms) - 1


def upper_bound(db: Connection, before: Position | None) -> int:
    """The position that results stand before; one that is not known counts as the end of its millisecond."""
    if before is None:
        return POSITION_MAX
    return _known(db, before) or first_of(before.created_at_unix_ms + 1)


def is_bounded(query: PageQuery) -> bool:
    """Whether one index gives the page; two filters walk what the first finds until the second agrees."""
    return not query.combines


def is_short(db: Connection, address: ParticipantAddress, query: PageQuery) -> bool:
    """Whether so few messages stand in the query's range that any filters are bounded by it."""
    reader = find_reader(db, address)
    if reader is None:
        return True
    low, high = _range(db, query)
    left = SHORT_MESSAGES
    sql = (
        "SELECT count(*) FROM (SELECT 1 FROM message INDEXED BY message_box "
        "WHERE box_no = ? AND pos > ? AND pos < ? LIMIT ?)"
    )
    for box in _candidates(db, boxes_of(db, reader), query, low):
        left -= db.execute(sql, (box.box_no, low, high, left + 1)).fetchone()[0]
        if left < 0:
            return False
    return True


def _range(db: Connection, query: PageQuery) -> tuple[int, int]:
    """The open interval of positions that a query asks for."""
    low = lower_bound(db, query.after)
    if query.since_unix_ms is not None:
        low = max(low, first_of(query.since_unix_ms) - 1)
    return low, upper_bound(db, query.before)


@dataclass(frozen=True, slots=True)
class _Span:
    """What is looked for in each box: an open interval of positions in an order, and the filters."""

    reader_no: int
    low: int
    high: int
    limit: int
    newest_first: bool
    unread_only: bool
    thread_pos: int | None
    account_no: int | None
    correlation: str | None

    @property
    def filtered(self) -> bool:
        return (self.thread_pos, self.account_no, self.correlation) != (None, None, None)


def _span(db: Connection, reader: Reader, query: PageQuery) -> _Span | None:
    """None: nothing can match."""
    thread_pos = account_no = None
    if query.thread is not None:
        sql = "SELECT thread_pos FROM message WHERE message_id = ?"
        row = db.execute(sql, (id_bytes(query.thread),)).fetchone()
        if row is None:
            return None
        thread_pos = row[0]
    if query.sent_by is not None:
        row = db.execute("SELECT account_no FROM participant WHERE id = ?", (query.sent_by,)).fetchone()
        if row is None:
            return None
        account_no = row[0]
    low, high = _range(db, query)
    return _Span(
        reader_no=reader.reader_no,
        low=low,
        high=high,
        limit=query.limit,
        newest_first=query.newest_first,
        unread_only=query.unread_only,
        thread_pos=thread_pos,
        account_no=account_no,
        correlation=query.correlation,
    )


def _walk(db: Connection, box_no: int, within: tuple[int, int], limit: int, span: _Span) -> list[int]:
    """Positions of one box inside an open interval, in order, found by the narrowest index."""
    index, where, values = "message_box", "", (box_no, *within)
    more: list[str | int] = []
    if span.account_no is not None:
        index, where = "message_account", "AND account_no = ?"
        more.append(span.account_no)
    if span.correlation is not None:
        index, where = "message_correlation", f"{where} AND correlation = ?"
        more.append(span.correlation)
    if span.unread_only and span.filtered:
        # The run that begins at or before a message covers it, or none does.
        where += (
            " AND coalesce((SELECT hi FROM ack_range r WHERE r.reader_no = ? AND r.box_no = message.box_no "
            "AND r.lo <= message.pos ORDER BY r.lo DESC LIMIT 1), 0) < pos"
        )
        more.append(span.reader_no)
    order = "DESC" if span.newest_first else "ASC"
    ordered = f"{where} ORDER BY pos {order} LIMIT ?"
    inside = "box_no = ? AND pos > ? AND pos < ?"
    if span.thread_pos is None:
        sql = f"SELECT pos FROM message INDEXED BY {index} WHERE {inside} {ordered}"
        return [row[0] for row in db.execute(sql, (*values, *more, limit))]
    replies = (
        "SELECT pos FROM message INDEXED BY message_thread "
        f"WHERE thread_pos = ? AND thread_pos <> pos AND {inside} {ordered}"
    )
    found = [row[0] for row in db.execute(replies, (span.thread_pos, *values, *more, limit))]
    root = f"SELECT pos FROM message WHERE pos = ? AND {inside} {ordered}"
    first = [row[0] for row in db.execute(root, (span.thread_pos, *values, *more, 1))]
    return ([*found, *first] if span.newest_first else [*first, *found])[:limit]


def _positions(db: Connection, box_no: int, span: _Span) -> list[int]:
    if not span.unread_only or span.filtered:
        return _walk(db, box_no, (span.low, span.high), span.limit, span)
    found: list[int] = []
    # Of so many gaps all but one are sure to hold a message.
    interval, count = (span.low, span.high), span.limit + 1
    for gap in gaps(db, span.reader_no, box_no, interval, count=count, newest_first=span.newest_first):
        found += _walk(db, box_no, gap, span.limit - len(found), span)
        if len(found) == span.limit:
            break
    return found


def _candidates(db: Connection, boxes: list[Box], query: PageQuery, low: int) -> list[Box]:
    """The boxes that can hold a message of the page, the one with the newest message first."""
    found = [box for box in boxes if box.last_pos > low and (box.unread or not query.unread_only)]
    if query.room is not None:
        row = db.execute("SELECT box_no FROM room WHERE id = ?", (query.room,)).fetchone()
        found = [box for box in found if row is not None and box.box_no == row[0]]
    return sorted(found, key=lambda box: box.last_pos, reverse=True)


def _picked(db: Connection, boxes: list[Box], span: _Span) -> list[int]:
    """The first positions of some boxes; newest first, the box with the newest message comes first."""
    positions: list[int] = []
    for box in boxes:
        if span.newest_first and len(positions) == span.limit and box.last_pos < positions[-1]:
            break  # this box, and every one after it, has nothing newer than what is found
        found = _positions(db, box.box_no, span)
        if not positions:
            positions = found
        elif span.newest_first:
            positions = nlargest(span.limit, (*positions, *found))
        else:
            positions = [pos for _, pos in zip(range(span.limit), merge(positions, found), strict=False)]
    return positions


def unread_after(db: Connection, reader: Reader, low: int, limit: int) -> tuple[list[int], int]:
    """The first positions past ``low`` that a reader has not acknowledged, and how many it has not in all."""
    boxes = boxes_of(db, reader)
    span = _Span(
        reader_no=reader.reader_no,
        low=low,
        high=POSITION_MAX,
        limit=limit,
        newest_first=False,
        unread_only=True,
        thread_pos=None,
        account_no=None,
        correlation=None,
    )
    behind = [box for box in boxes if box.unread and box.last_pos > low]
    return _picked(db, behind, span), sum(box.unread for box in boxes)


def wires_of(db: Connection, positions: list[int], *, newest_first: bool = False) -> Iterator[bytes]:
    """The encoded messages at positions, in order."""
    order = "DESC" if newest_first else "ASC"
    sql = f"SELECT wire FROM message WHERE pos IN (SELECT value FROM json_each(?)) ORDER BY pos {order}"
    return (row[0] for row in db.execute(sql, (json.dumps(positions),)))


def page(db: Connection, address: ParticipantAddress, query: PageQuery) -> Page:
    """One page of a reader's boxes."""
    reader = find_reader(db, address)
    if reader is None:
        return Page((), 0)
    boxes = boxes_of(db, reader)
    total = sum(box.unread for box in boxes)
    span = _span(db, reader, query)
    if span is None or span.low >= span.high:
        return Page((), total)
    positions = _picked(db, _candidates(db, boxes, query, span.low), span)
    if not positions:
        return Page((), total)
    wires = tuple(cut(wires_of(db, positions, newest_first=span.newest_first), span.limit, query.max_bytes))
    whole = len(wires) == len(positions) < span.limit
    return Page(wires, total, query.span(span.low, positions[: len(wires)], whole=whole))
