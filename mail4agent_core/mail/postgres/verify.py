"""Checking a database: do its counters and its tables that say the same thing agree?"""

from .connection import Database, checked, connect, shown
from .faults import DatabaseForeignError
from .schema import schema_of

FINDINGS_MAX = 20

#: Each finds rows that should not be, with the sentence that names them.
_CHECKS = {
    "box {} counts {} messages and holds {}": (
        "SELECT b.box_no, b.n, count(m.pos) FROM box b LEFT JOIN message m ON m.box_no = b.box_no WHERE "
        "b.address IS NOT NULL GROUP BY b.box_no HAVING b.n <> count(m.pos) OR coalesce(max(m.pos), 0) > "
        "b.last_pos"
    ),
    "reader {} counts {} acknowledged in box {} and its runs cover {}": (
        "SELECT * FROM (SELECT c.reader_no, c.acked, c.box_no, (SELECT count(*) FROM ack_range r JOIN "
        "message m ON m.box_no = r.box_no AND m.pos BETWEEN r.lo AND r.hi WHERE r.reader_no = c.reader_no "
        "AND r.box_no = c.box_no) AS covered FROM counter c JOIN box b ON b.box_no = c.box_no "
        "WHERE b.address IS NOT NULL) counted WHERE acked <> covered"
    ),
    "runs of reader {} in box {} meet at {}": (
        "SELECT reader_no, box_no, hi FROM (SELECT reader_no, box_no, hi, lead(lo) OVER (PARTITION BY "
        "reader_no, box_no ORDER BY lo) AS next FROM ack_range) r WHERE next IS NOT NULL AND (hi >= next "
        "OR NOT EXISTS (SELECT 1 FROM message m WHERE m.box_no = r.box_no AND m.pos > r.hi AND m.pos < "
        "r.next)) AND EXISTS (SELECT 1 FROM box b WHERE b.box_no = r.box_no AND b.address IS NOT NULL)"
    ),
    "runs of reader {} in box {} have no counter": (
        "SELECT DISTINCT reader_no, box_no FROM ack_range r WHERE NOT EXISTS (SELECT 1 FROM counter c "
        "WHERE c.reader_no = r.reader_no AND c.box_no = r.box_no)"
    ),
    "acknowledgement of reader {} at {} is not in its runs": (
        "SELECT a.reader_no, a.pos FROM ack a JOIN message m ON m.box_no = a.box_no AND m.pos = a.pos "
        "JOIN box b ON b.box_no = m.box_no AND b.address IS NOT NULL JOIN reader r ON r.reader_no = "
        "a.reader_no AND r.address IS NOT NULL JOIN box own ON own.address = r.address "
        "WHERE coalesce((SELECT hi FROM ack_range k WHERE k.reader_no = a.reader_no AND k.box_no "
        "= m.box_no AND k.lo <= a.pos ORDER BY k.lo DESC LIMIT 1), 0) < a.pos"
    ),
    "acknowledgement at {} is of no message": (
        "SELECT pos FROM ack a WHERE NOT EXISTS (SELECT 1 FROM message m WHERE m.box_no = a.box_no "
        "AND m.pos = a.pos)"
    ),
    "message {} stands in no box": (
        "SELECT pos FROM message m WHERE NOT EXISTS (SELECT 1 FROM box b WHERE b.box_no = m.box_no)"
    ),
    "message {} is not found by its id": (
        "SELECT m.pos FROM message m WHERE NOT EXISTS (SELECT 1 FROM place p WHERE p.message_id = "
        "m.message_id AND p.box_no = m.box_no AND p.pos = m.pos AND p.sender_no = m.sender_no AND "
        "p.thread_pos = m.thread_pos)"
    ),
    "message {} is not found by its sender": (
        "SELECT m.pos FROM message m WHERE NOT EXISTS (SELECT 1 FROM sent s WHERE s.sender_no = m.sender_no "
        "AND s.pos = m.pos AND s.box_no = m.box_no AND s.thread_pos = m.thread_pos)"
    ),
    "{} places are of no message": (
        "SELECT n FROM (SELECT (SELECT count(*) FROM place) + (SELECT count(*) FROM sent) "
        "- 2 * (SELECT count(*) FROM message) AS n) counted WHERE n <> 0"
    ),
    "{} entries of the search index are of no message": (
        "SELECT n FROM (SELECT count(*) AS n FROM found f WHERE NOT EXISTS (SELECT 1 FROM message m WHERE "
        "m.box_no = f.box_no AND m.pos = f.pos)) counted WHERE n <> 0"
    ),
    "message {} says another id or time than its row": (
        "SELECT pos FROM (SELECT pos, message_id, convert_from(wire, 'UTF8')::json AS said FROM message) m "
        "WHERE said->>'message_id' <> 'm4a_' || encode(message_id, 'hex') "
        "OR (said->>'created_at_unix_ms')::bigint <> pos >> 20"
    ),
    "message {} stands past the clock": ("SELECT m.pos FROM message m JOIN clock c ON c.pos < m.pos"),
    "account {} has no reader, box or membership of its own": (
        "SELECT p.account_no FROM participant p WHERE NOT EXISTS (SELECT 1 FROM reader r JOIN box b ON "
        "b.address = r.address JOIN membership m ON m.box_no = b.box_no AND m.account_no = p.account_no "
        "WHERE r.address = p.id AND r.account_no = p.account_no)"
    ),
    "membership of account {} in box {} names what is gone": (
        "SELECT account_no, box_no FROM membership WHERE account_no NOT IN (SELECT account_no FROM "
        "participant) OR box_no NOT IN (SELECT box_no FROM box WHERE address IS NOT NULL)"
    ),
    "session of reader {} has no reader or box of its own": (
        "SELECT s.reader_no FROM session s WHERE NOT EXISTS (SELECT 1 FROM participant p JOIN reader r ON "
        "r.reader_no = s.reader_no AND r.account_no = p.account_no JOIN box b ON b.box_no = s.box_no WHERE "
        "p.account_no = s.account_no AND r.address = p.id || '/' || s.id AND b.address = r.address "
        "AND b.owner = p.id)"
    ),
    "room {} has no box": (
        "SELECT r.box_no FROM room r WHERE NOT EXISTS (SELECT 1 FROM box b WHERE b.box_no = r.box_no AND "
        "b.address = '#' || r.id)"
    ),
    "listener {} counts {} outstanding rings and has {}": (
        "SELECT l.listener_no, l.outstanding, count(r.pos) FROM listener l LEFT JOIN ring r ON "
        "r.listener_no = l.listener_no GROUP BY l.listener_no HAVING l.outstanding <> count(r.pos)"
    ),
    "listener {} belongs to no account": (
        "SELECT listener_no FROM listener WHERE account_no NOT IN (SELECT account_no FROM participant)"
    ),
    "ring of listener {} at {} has no listener": (
        "SELECT listener_no, pos FROM ring WHERE listener_no NOT IN (SELECT listener_no FROM listener)"
    ),
}


def verify(url: str) -> list[str]:
    """Return what is wrong with a database, nothing when it is sound. It is only read, at one moment.

    Raises DatabaseAddressError, DatabaseForeignError or DatabaseNewerError, and psycopg.Error when it
    cannot be read at all.
    """
    checked(url)
    db = connect(url, "verify")
    try:
        db.command("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
        if schema_of(db, shown(url)) == 0:
            raise DatabaseForeignError(shown(url))
        return findings_of(db)
    finally:
        db.close()


def findings_of(db: Database) -> list[str]:
    """The same, within a transaction."""
    # Every row is looked at: the planner may use whatever is fastest, for as long as it takes.
    db.command(
        "SET LOCAL enable_seqscan = on; SET LOCAL enable_mergejoin = on; SET LOCAL enable_hashjoin = on"
    )
    db.command("SET LOCAL enable_bitmapscan = on; SET LOCAL enable_sort = on")
    db.command("SET LOCAL statement_timeout = 0")
    found: list[str] = []
    for sentence, sql in _CHECKS.items():
        found += [sentence.format(*row) for row in db.execute(f"{sql} LIMIT {FINDINGS_MAX}")]
    return found[:FINDINGS_MAX]
