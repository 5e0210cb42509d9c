"""Inbox pages: the boxes of a reader, what of them a page holds, and the messages, in a few statements.

All functions run within one read transaction, so that a page, its unread count and the membership that
allows it are of one moment.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from mail4agent_api.mail import ParticipantAddress, Position
from mail4agent_core.mail.records import Page, PageQuery
from mail4agent_core.mail.wire import POSITION_MAX, cut, first_of, millisecond

from .connection import Database, columns
from .people import Reader, find_reader
from .posting import id_bytes

#: A combination of filters that walks no more messages than these takes a fraction of a millisecond.
SHORT_MESSAGES = 128
#: How many boxes one statement walks, newest first: those after it may hold nothing that is newer.
BOXES_STEP = 16

#: A message's position and box.
Spot = tuple[int, int]


class Box(NamedTuple):
    """A box of a reader, as it stands for that reader."""

    box_no: int
    unread: int
    last_pos: int
    last_sender: int
    other_pos: int


def boxes_of(db: Database, reader: Reader) -> list[Box]:
    """The reader's boxes now."""
    sql = (
        "SELECT b.box_no, b.n - coalesce(c.acked, 0), b.last_pos, b.last_sender, b.other_pos FROM "
        "(SELECT box_no FROM membership WHERE account_no = %s UNION ALL SELECT %s::bigint) mine "
        "JOIN box b ON b.box_no = mine.box_no "
        "LEFT JOIN counter c ON c.reader_no = %s AND c.box_no = b.box_no"
    )
    rows = db.execute(sql, (reader.account_no, reader.session_box, reader.reader_no)).fetchall()
    return [Box(*row) for row in rows]


def unread(db: Database, address: ParticipantAddress) -> int:
    """The reader's unread count: a subtraction for each box."""
    reader = find_reader(db, address)
    return 0 if reader is None else sum(box.unread for box in boxes_of(db, reader))


def _known(db: Database, at: Position) -> int | None:
    sql = "SELECT pos FROM place WHERE message_id = %s"
    row = db.execute(sql, (id_bytes(at.message_id),)).fetchone()
    return row[0] if row is not None and millisecond(row[0]) == at.created_at_unix_ms else None


def lower_bound(db: Database, after: Position | None) -> int:
    """The position that results stand after; one that is not known counts as the start of its millisecond."""
    if after is None:
        return 0
    return _known(db, after) or first_of(after.created_at_unix_ms) - 1


def upper_bound(db: Database, before: Position | None) -> int:
    """The position that results stand before; one that is not known counts as the end of its millisecond."""
    if before is None:
        return POSITION_MAX
    return _known(db, before) or first_of(before.created_at_unix_ms + 1)


def is_bounded(query: PageQuery) -> bool:
    """Whether one index gives the page; two filters walk what the first finds until the second agrees."""
    return not query.combines


def is_short(db: Database, address: ParticipantAddress, query: PageQuery) -> bool:
    """Whether so few messages stand in the query's range that any filters are bounded by it."""
    reader = find_reader(db, address)
    if reader is None:
        return True
    low, high = _range(db, query)
    boxes = [box.box_no for box in _candidates(db, boxes_of(db, reader), query, low)]
    if not boxes:
        return True
    sql = (
        "SELECT count(*) FROM (SELECT 1 FROM unnest(%b::bigint[]) mine (box_no) CROSS JOIN LATERAL "
        "(SELECT 1 FROM message m WHERE m.box_no = mine.box_no AND m.pos > %s AND m.pos < %s LIMIT %s) near "
        "LIMIT %s) counted"
    )
    row = db.execute(sql, (boxes, low, high, SHORT_MESSAGES + 1, SHORT_MESSAGES + 1)).fetchone()
    assert row is not None
    return row[0] <= SHORT_MESSAGES


def _range(db: Database, query: PageQuery) -> tuple[int, int]:
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
    thread_pos: int | None = None
    account_no: int | None = None
    correlation: str | None = None

    @property
    def filtered(self) -> bool:
        return (self.thread_pos, self.account_no, self.correlation) != (None, None, None)


def _span(db: Database, reader: Reader, query: PageQuery) -> _Span | None:
    """None: nothing can match."""
    thread_pos = account_no = None
    if query.thread is not None:
        sql = "SELECT thread_pos FROM place WHERE message_id = %s"
        row = db.execute(sql, (id_bytes(query.thread),)).fetchone()
        if row is None:
            return None
        thread_pos = row[0]
    if query.sent_by is not None:
        row = db.execute("SELECT account_no FROM participant WHERE id = %s", (query.sent_by,)).fetchone()
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


#: An open interval of positions in a box.
_Within = tuple[int, int, int]


def _walk(db: Database, within: Sequence[_Within], span: _Span) -> list[Spot]:
    """The first spots inside some intervals, in order, each interval walked along the narrowest index."""
    if not within:
        return []
    order = "DESC" if span.newest_first else "ASC"
    where, more = "", list[object]()
    if span.account_no is not None:
        where += " AND m.account_no = %s"
        more.append(span.account_no)
    if span.correlation is not None:
        where += " AND m.correlation = %s"
        more.append(span.correlation)
    if span.unread_only and span.filtered:
        # The run that begins at or before a message covers it, or none does.
        where += (
            " AND coalesce((SELECT a.hi FROM ack_range a WHERE a.box_no = m.box_no AND a.reader_no = %s "
            "AND a.lo <= m.pos ORDER BY a.lo DESC LIMIT 1), 0) < m.pos"
        )
        more.append(span.reader_no)
    inside = "m.box_no = w.box_no AND m.pos > w.low AND m.pos < w.high"
    ordered = f"{where} ORDER BY m.pos {order} LIMIT %s"
    one = f"(SELECT m.pos, m.box_no FROM message m WHERE {inside}{ordered})"
    values: list[object] = [*more, span.limit]
    if span.thread_pos is not None:
        replies = f"m.thread_pos = %s AND m.thread_pos <> m.pos AND {inside}"
        one = (
            f"((SELECT m.pos, m.box_no FROM message m WHERE {replies}{ordered}) UNION ALL "
            f"(SELECT m.pos, m.box_no FROM message m WHERE m.pos = %s AND {inside}{ordered}))"
        )
        values = [span.thread_pos, *more, span.limit, span.thread_pos, *more, 1]
    sql = (
        "SELECT found.pos, found.box_no FROM unnest(%b::bigint[], %b::bigint[], %b::bigint[]) "
        f"w (box_no, low, high) CROSS JOIN LATERAL {one} found ORDER BY found.pos {order} LIMIT %s"
    )
    rows = db.execute(sql, (*columns(within, 3), *values, span.limit)).fetchall()
    return [(row[0], row[1]) for row in rows]


def _gaps(db: Database, boxes: Sequence[Box], span: _Span) -> list[_Within]:
    """Where unread messages of some boxes stand: the first intervals that no run covers.

    Of those of a box, each holds a message, except the outermost two and those that the ends of the span cut.
    So ``limit`` messages stand in the first ``limit`` + 2 of them, if they stand anywhere.
    """
    count = span.limit + 3
    first = (
        "(SELECT a.lo, a.hi FROM ack_range a WHERE a.box_no = w.box_no AND a.reader_no = %s AND a.lo {at} %s "
        "ORDER BY a.lo DESC LIMIT %s)"
    )
    if span.newest_first:
        found, values = first.format(at="<"), [span.reader_no, span.high, count]
    else:
        found = (
            f"({first.format(at='<=')} UNION ALL (SELECT a.lo, a.hi FROM ack_range a WHERE "
            "a.box_no = w.box_no AND a.reader_no = %s AND a.lo > %s AND a.lo < %s ORDER BY a.lo LIMIT %s))"
        )
        values = [span.reader_no, span.low, 1, span.reader_no, span.low, span.high, count]
    sql = (
        "SELECT w.box_no, run.lo, run.hi FROM unnest(%b::bigint[]) w (box_no) "
        f"CROSS JOIN LATERAL {found} run ORDER BY run.lo"
    )
    runs: dict[int, list[tuple[int, int]]] = {box.box_no: [] for box in boxes}
    for box_no, lo, hi in db.execute(sql, ([box.box_no for box in boxes], *values)).fetchall():
        runs[box_no].append((lo, hi))
    return [
        (box_no, low, high) for box_no, those in runs.items() for low, high in _between(those, span, count)
    ]


def _between(runs: list[tuple[int, int]], span: _Span, count: int) -> list[tuple[int, int]]:
    """The open intervals of a span between runs in order, as far as the runs were looked up."""
    # Of more runs than these, the last one that was found is an end: what lies beyond it is not known.
    cut_off = len(runs) >= count
    low = runs[0][1] if cut_off and span.newest_first else span.low
    high = runs[-1][0] if cut_off and not span.newest_first else span.high
    gaps: list[tuple[int, int]] = []
    edge = max(low, span.low)
    for lo, hi in runs:
        if edge + 1 < min(lo, high):
            gaps.append((edge, min(lo, high)))
        edge = max(edge, hi)
    if edge + 1 < high:
        gaps.append((edge, high))
    return gaps


def _positions(db: Database, boxes: Sequence[Box], span: _Span) -> list[Spot]:
    if span.unread_only and not span.filtered:
        return _walk(db, _gaps(db, boxes, span), span)
    return _walk(db, [(box.box_no, span.low, span.high) for box in boxes], span)


def _candidates(db: Database, boxes: list[Box], query: PageQuery, low: int) -> list[Box]:
    """The boxes that can hold a message of the page, the one with the newest message first."""
    found = [box for box in boxes if box.last_pos > low and (box.unread or not query.unread_only)]
    if query.room is not None:
        row = db.execute("SELECT box_no FROM room WHERE id = %s", (query.room,)).fetchone()
        found = [box for box in found if row is not None and box.box_no == row[0]]
    return sorted(found, key=lambda box: box.last_pos, reverse=True)


def _picked(db: Database, boxes: list[Box], span: _Span) -> list[Spot]:
    """The first spots of some boxes, which come with the newest message first."""
    if not boxes:
        return []
    if not span.newest_first:
        return _positions(db, boxes, span)
    spots: list[Spot] = []
    for start in range(0, len(boxes), BOXES_STEP):
        some = boxes[start : start + BOXES_STEP]
        if len(spots) == span.limit and some[0].last_pos < spots[-1][0]:
            break  # these boxes, and all after them, have nothing newer than what is found
        spots = sorted((*spots, *_positions(db, some, span)), reverse=True)[: span.limit]
    return spots


def unread_after(db: Database, reader: Reader, low: int, limit: int) -> tuple[list[Spot], int]:
    """The first spots past ``low`` that a reader has not acknowledged, and how many it has not in all."""
    boxes = boxes_of(db, reader)
    span = _Span(
        reader_no=reader.reader_no,
        low=low,
        high=POSITION_MAX,
        limit=limit,
        newest_first=False,
        unread_only=True,
    )
    behind = [box for box in boxes if box.unread and box.last_pos > low]
    return _picked(db, behind, span), sum(box.unread for box in boxes)


def wires_of(db: Database, spots: Sequence[Spot], *, newest_first: bool = False) -> list[bytes]:
    """The encoded messages at spots, in order."""
    if not spots:
        return []
    order = "DESC" if newest_first else "ASC"
    sql = (
        "SELECT m.wire FROM unnest(%b::bigint[], %b::bigint[]) w (pos, box_no) CROSS JOIN LATERAL "
        "(SELECT wire FROM message WHERE box_no = w.box_no AND pos = w.pos LIMIT 1) m "
        f"ORDER BY w.pos {order}"
    )
    return [row[0] for row in db.execute(sql, columns(spots, 2)).fetchall()]


def page(db: Database, address: ParticipantAddress, query: PageQuery) -> Page:
    """One page of a reader's boxes."""
    reader = find_reader(db, address)
    if reader is None:
        return Page((), 0)
    boxes = boxes_of(db, reader)
    total = sum(box.unread for box in boxes)
    span = _span(db, reader, query)
    if span is None or span.low >= span.high:
        return Page((), total)
    spots = _picked(db, _candidates(db, boxes, query, span.low), span)
    if not spots:
        return Page((), total)
    found = wires_of(db, spots, newest_first=span.newest_first)
    wires = tuple(cut(found, span.limit, query.max_bytes))
    whole = len(wires) == len(spots) < span.limit
    return Page(wires, total, query.span(span.low, [pos for pos, _ in spots[: len(wires)]], whole=whole))
