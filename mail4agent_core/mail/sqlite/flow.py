"""Counting who wrote to which box, slot by slot, within the transaction of the posting."""

import sqlite3

from mail4agent_api.mail import ParticipantId
from mail4agent_core.mail.flow import STEP, FlowCount, FlowCounts, slot_at, slot_of

Connection = sqlite3.Connection

_COUNT = (
    "INSERT INTO flow VALUES (?, ?, ?, 1, ?) "
    "ON CONFLICT DO UPDATE SET messages = messages + 1, last_pos = excluded.last_pos"
)
_MOST = (
    "SELECT sender, target, sum(n), max(last), count(*) OVER (), sum(sum(n)) OVER () FROM ("
    "SELECT p.id AS sender, CASE instr(b.address, '/') WHEN 0 THEN b.address "
    "ELSE substr(b.address, 1, instr(b.address, '/') - 1) END AS target, f.n AS n, f.last AS last "
    "FROM (SELECT account_no, box_no, sum(messages) AS n, max(last_pos) AS last FROM flow "
    "WHERE slot >= ? GROUP BY account_no, box_no) f "
    "CROSS JOIN participant p ON p.account_no = f.account_no "
    "CROSS JOIN box b ON b.box_no = f.box_no AND b.address IS NOT NULL"
    ") GROUP BY sender, target ORDER BY sum(n) DESC, sender, target LIMIT ?"
)


def count(db: Connection, pos: int, account_no: int, box_no: int) -> None:
    """Count one post."""
    db.execute(_COUNT, (slot_of(pos), account_no, box_no, pos))


def most(db: Connection, slot: int, limit: int) -> FlowCounts:
    """Those who wrote most from a slot on."""
    rows = db.execute(_MOST, (slot, limit)).fetchall()
    counts = tuple(FlowCount(ParticipantId(row[0]), *row[1:4]) for row in rows)
    return FlowCounts(counts, *(rows[0][4:] if rows else (0, 0)))


def expire(db: Connection, before_ms: int) -> bool:
    """Delete counts of slots before a time's; False when more may be left."""
    oldest = "SELECT slot, account_no, box_no FROM flow WHERE slot < ? LIMIT ?"
    sql = f"DELETE FROM flow WHERE (slot, account_no, box_no) IN ({oldest})"
    return db.execute(sql, (slot_at(before_ms), STEP)).rowcount < STEP
