"""Checking a database: is it whole, and do its counters say the truth?"""

import sqlite3
from pathlib import Path

from .faults import StoreForeignError, StoreNewerError
from .schema import APPLICATION_ID, migrations

Connection = sqlite3.Connection

FINDINGS_MAX = 20


def verify(path: Path) -> list[str]:
    """Return what is wrong with a database, nothing when it is sound. It is only read; a daemon may be using it.

    Raises StoreForeignError or StoreNewerError, and sqlite3.Error when it cannot be read at all.
    """
    db = sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True, isolation_level=None, timeout=5)
    try:
        db.execute("PRAGMA query_only = 1")
        db.execute("BEGIN")
        if db.execute("PRAGMA application_id").fetchone()[0] != APPLICATION_ID:
            raise StoreForeignError(path)
        version, known = db.execute("PRAGMA user_version").fetchone()[0], len(migrations())
        if version > known:
            raise StoreNewerError(path, version, known)
        findings = [f"integrity: {row[0]}" for row in db.execute(f"PRAGMA integrity_check({FINDINGS_MAX})") if row[0] != "ok"]
        return findings or [*_boxes(db), *_counters(db), *_runs(db)][:FINDINGS_MAX]
    finally:
        db.close()


def _boxes(db: Connection) -> list[str]:
    sql = (
        "SELECT b.box_no, b.n, count(m.pos) FROM box b LEFT JOIN message m ON m.box_no = b.box_no WHERE b.address IS NOT NULL "
        "GROUP BY b.box_no HAVING b.n <> count(m.pos) OR coalesce(max(m.pos), 0) > b.last_pos"
    )
    return [f"box {box_no} counts {n} messages and holds {held}" for box_no, n, held in db.execute(sql)]


def _counters(db: Connection) -> list[str]:
    sql = (
        "SELECT c.reader_no, c.box_no, c.acked, (SELECT count(*) FROM ack_range r JOIN message m ON m.box_no = r.box_no AND m.pos BETWEEN r.lo AND r.hi "
        "WHERE r.reader_no = c.reader_no AND r.box_no = c.box_no) AS covered FROM counter c JOIN box b ON b.box_no = c.box_no "
        "WHERE b.address IS NOT NULL AND c.acked <> covered"
    )
    return [f"reader {reader} counts {acked} acknowledged in box {box} and its runs cover {covered}" for reader, box, acked, covered in db.execute(sql)]


def _runs(db: Connection) -> list[str]:
    sql = (
        "SELECT reader_no, box_no, hi, next FROM (SELECT reader_no, box_no, lo, hi, lead(lo) OVER (PARTITION BY reader_no, box_no ORDER BY lo) AS next FROM ack_range) r "
        "WHERE next IS NOT NULL AND (hi >= next OR NOT EXISTS (SELECT 1 FROM message m WHERE m.box_no = r.box_no AND m.pos > r.hi AND m.pos < r.next))"
    )
    return [f"runs of reader {reader} in box {box} meet at {hi} and {lo}" for reader, box, hi, lo in db.execute(sql)]
