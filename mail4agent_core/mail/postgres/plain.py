"""The page that nearly everybody asks for, without filters: all of it in one statement."""

from mail4agent_api.addresses import text_of
from mail4agent_api.mail import ParticipantAddress, Position, SessionAddress
from mail4agent_core.mail.records import Page, PageQuery
from mail4agent_core.mail.wire import COUNT_BITS, POSITION_MAX, cut, first_of

from .connection import Database
from .people import NOBODY
from .posting import id_bytes

#: As ``pages.page`` finds it: the reader, its boxes, the bounds, in each box the first positions between
#: them, and of these the first with their messages. There is always a row, for the unread count.
_PAGE = f"""
WITH reader AS MATERIALIZED (
    SELECT p.account_no, coalesce(r.reader_no, {NOBODY}) AS reader_no, coalesce(b.box_no, {NOBODY}) AS box_no
    FROM participant p LEFT JOIN reader r ON r.address = %(address)s
    LEFT JOIN box b ON b.address = %(session)s WHERE p.id = %(id)s AND p.removed_at IS NULL
), mine AS MATERIALIZED (
    SELECT b.box_no, b.last_pos, b.n - coalesce(c.acked, 0) AS unread FROM reader CROSS JOIN LATERAL
    (SELECT m.box_no FROM membership m WHERE m.account_no = reader.account_no UNION ALL SELECT reader.box_no)
    own JOIN box b ON b.box_no = own.box_no
    LEFT JOIN counter c ON c.box_no = b.box_no AND c.reader_no = reader.reader_no
), bounds AS MATERIALIZED (
    SELECT greatest(%(since)s, coalesce((SELECT pos FROM place WHERE message_id = %(after)s
    AND pos >> {COUNT_BITS} = %(after_ms)s), %(low)s)) AS low, coalesce((SELECT pos FROM place
    WHERE message_id = %(before)s AND pos >> {COUNT_BITS} = %(before_ms)s), %(high)s) AS high
), picked AS MATERIALIZED (
    SELECT found.pos, found.box_no FROM bounds CROSS JOIN mine CROSS JOIN LATERAL
    (SELECT m.pos, m.box_no FROM message m WHERE m.box_no = mine.box_no AND m.pos > bounds.low
    AND m.pos < bounds.high ORDER BY m.pos {{order}} LIMIT %(limit)s) found
    WHERE mine.last_pos > bounds.low ORDER BY found.pos {{order}} LIMIT %(limit)s
)
SELECT page.pos, page.wire, (SELECT coalesce(sum(unread), 0)::bigint FROM mine), bounds.low
FROM bounds LEFT JOIN (SELECT m.pos, m.wire FROM picked CROSS JOIN LATERAL
(SELECT pos, wire FROM message WHERE box_no = picked.box_no AND pos = picked.pos LIMIT 1) m) page ON true
ORDER BY page.pos {{order}}
"""
_OLDEST, _NEWEST = _PAGE.format(order="ASC"), _PAGE.format(order="DESC")


def is_plain(query: PageQuery) -> bool:
    """Whether a query has no filter but its bounds."""
    filters = (query.thread, query.sent_by, query.room, query.correlation)
    return not query.unread_only and all(part is None for part in filters)


def plain_page(db: Database, address: ParticipantAddress, query: PageQuery) -> Page:
    """One page of a reader's boxes."""
    text, since = text_of(address), query.since_unix_ms
    values = {
        "id": address.participant,
        "address": text,
        "session": text if isinstance(address, SessionAddress) else None,
        "since": 0 if since is None else first_of(since) - 1,
        "after": _id(query.after),
        "after_ms": _ms(query.after),
        "low": 0 if query.after is None else first_of(query.after.created_at_unix_ms) - 1,
        "before": _id(query.before),
        "before_ms": _ms(query.before),
        "high": POSITION_MAX if query.before is None else first_of(query.before.created_at_unix_ms + 1),
        "limit": query.limit,
    }
    rows = db.execute(_NEWEST if query.newest_first else _OLDEST, values).fetchall()
    _, _, unread, low = rows[0]
    found = [(pos, wire) for pos, wire, *_ in rows if pos is not None]
    wires = tuple(cut((wire for _, wire in found), query.limit, query.max_bytes))
    whole = len(wires) == len(found) < query.limit
    return Page(wires, unread, query.span(low, [pos for pos, _ in found[: len(wires)]], whole=whole))


def _id(at: Position | None) -> bytes | None:
    return None if at is None else id_bytes(at.message_id)


def _ms(at: Position | None) -> int:
    return 0 if at is None else at.created_at_unix_ms
