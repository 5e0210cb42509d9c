"""Checking a database: is it whole, and do its counters say the truth?"""

import sqlite3
from collections.abc import Iterator
from pathlib import Path

from .faults import StoreForeignError
from .schema import connect_inspector, schema_of

FINDINGS_MAX = 20

#: Each finds rows that should not be, with the sentence that names them.
_CHECKS = {
    "box {} counts {} messages and holds {}": (
        "SELECT b.box_no, b.n, count(m.pos) FROM box b LEFT JOIN message m ON m.box_no = b.box_no WHERE "
        "b.address IS NOT NULL GROUP BY b.box_no HAVING b.n <> count(m.pos) OR coalesce(max(m.pos), 0) > "
        "b.last_pos"
    ),
    "reader {} counts {} acknowledged in box {} and its runs cover {}": (
        "SELECT c.reader_no, c.acked, c.box_no, (SELECT count(*) FROM ack_range r JOIN message m ON "
        "m.box_no = r.box_no AND m.pos BETWEEN r.lo AND r.hi WHERE r.reader_no = c.reader_no AND r.box_no "
        "= c.box_no) AS covered FROM counter c JOIN box b ON b.box_no = c.box_no WHERE b.address IS NOT "
        "NULL AND c.acked <> covered"
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
        "SELECT a.reader_no, a.pos FROM ack a JOIN message m ON m.pos = a.pos JOIN box b ON b.box_no = "
        "m.box_no AND b.address IS NOT NULL JOIN reader r ON r.reader_no = a.reader_no AND r.address IS "
        "NOT NULL JOIN box own ON own.address = r.address "
        "WHERE coalesce((SELECT hi FROM ack_range k WHERE k.reader_no = a.reader_no AND k.box_no "
        "= m.box_no AND k.lo <= a.pos ORDER BY k.lo DESC LIMIT 1), 0) < a.pos"
    ),
    "message {} stands in no box": ("SELECT pos FROM message WHERE box_no NOT IN (SELECT box_no FROM box)"),
    "message {} says another id or time than its row": (
        "SELECT pos FROM (SELECT pos, message_id, CAST(wire AS TEXT) AS text FROM message) "
        "WHERE CASE json_valid(text) WHEN 0 THEN 1 ELSE "
        "json_extract(text, '$.message_id') IS NOT 'm4a_' || lower(hex(message_id)) "
        "OR json_extract(text, '$.created_at_unix_ms') IS NOT pos >> 20 END"
    ),
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
        "p.account_no = s.account_no AND r.address = p.id || '/' || s.id AND b.address = r.address)"
    ),
    "room {} has no box": (
        "SELECT r.box_no FROM room r WHERE NOT EXISTS (SELECT 1 FROM box b WHERE b.box_no = r.box_no AND "
        "b.address = '#' || r.id)"
    ),
}
#: Likewise, of tables that an older database has not.
_LISTENER_CHECKS = {
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


def verify(path: Path) -> list[str]:
    """Return what is wrong with a database, nothing when it is sound.

    It is only read; a daemon may be using it.

    Raises StoreForeignError or StoreNewerError, and sqlite3.Error when it cannot be read at all.
    """
    db = connect_inspector(path)
    try:
        db.execute("BEGIN")
        if schema_of(db, path) == 0:
            raise StoreForeignError(path)
        checked = db.execute(f"PRAGMA integrity_check({FINDINGS_MAX})")
        findings = [f"integrity: {row[0]}" for row in checked if row[0] != "ok"]
        return findings or [finding for _, finding in zip(range(FINDINGS_MAX), _findings(db), strict=False)]
    except sqlite3.DatabaseError as fault:
        if fault.sqlite_errorcode & 0xFF == sqlite3.SQLITE_CORRUPT:
            return ["integrity: the file is damaged"]
        if fault.sqlite_errorcode == sqlite3.SQLITE_NOTADB:
            raise StoreForeignError(path) from fault
        raise
    finally:
        db.close()


def _findings(db: sqlite3.Connection) -> Iterator[str]:
    table = "SELECT EXISTS (SELECT 1 FROM sqlite_schema WHERE name = 'listener')"
    (has_listeners,) = db.execute(table).fetchone()
    for sentence, sql in (_CHECKS | (_LISTENER_CHECKS if has_listeners else {})).items():
        for row in db.execute(sql):
            yield sentence.format(*row)
