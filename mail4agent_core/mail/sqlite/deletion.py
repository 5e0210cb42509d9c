"""Deleting messages, one by one and by retention, without a counter going wrong.

Retention deletes what is settled: account mail once any address of the account acknowledged it, session mail once that session did, room mail once each
present member account did. Mail that waits for somebody is never deleted by it, nor is the mail of a room without members.
"""

import sqlite3

from ..store import Swept
from ..wire import first_of, millisecond
from .ranges import covering, uncount
from .search import forget

Connection = sqlite3.Connection

#: How much one step of upkeep does: messages looked at, and readers' counters changed.
STEP_MESSAGES = 200
STEP_READERS = 2_000


def delete_message(db: Connection, pos: int) -> int:
    """Delete a message that exists; return how many readers' counters were looked at."""
    box_no, wire = db.execute("SELECT box_no, wire FROM message WHERE pos = ?", (pos,)).fetchone()
    forget(db, pos, box_no, wire)
    db.execute("DELETE FROM message WHERE pos = ?", (pos,))
    db.execute("DELETE FROM ack WHERE pos = ?", (pos,))
    db.execute("UPDATE box SET n = n - 1 WHERE box_no = ?", (box_no,))
    readers = db.execute("SELECT reader_no FROM counter WHERE box_no = ?", (box_no,)).fetchall()
    for (reader_no,) in readers:
        uncount(db, reader_no, box_no, pos)
    return len(readers)


def sweep(db: Connection, settled_before: int | None, keys_before: int, resume: int) -> Swept:
    """One bounded step of upkeep."""
    messages = _reclaim(db)
    keys = _expire_keys(db, keys_before)
    if messages == STEP_MESSAGES or keys == STEP_MESSAGES:
        return Swept(messages, keys, resume)
    if settled_before is None:
        return Swept(messages, keys, None)
    settled, next_resume = _delete_settled(db, settled_before, resume)
    return Swept(messages + settled, keys, next_resume)


def _reclaim(db: Connection) -> int:
    """Delete messages of boxes that were given up, then the empty boxes. Nobody reads them, so no counter matters."""
    sql = "SELECT m.pos, m.box_no, m.wire FROM box b JOIN message m INDEXED BY message_box ON m.box_no = b.box_no WHERE b.address IS NULL LIMIT ?"
    rows = db.execute(sql, (STEP_MESSAGES,)).fetchall()
    for pos, box_no, wire in rows:
        forget(db, pos, box_no, wire)
        db.execute("DELETE FROM message WHERE pos = ?", (pos,))
        db.execute("DELETE FROM ack WHERE pos = ?", (pos,))
    if len(rows) < STEP_MESSAGES:
        for (box_no,) in db.execute("SELECT box_no FROM box WHERE address IS NULL").fetchall():
            db.execute("DELETE FROM ack_range WHERE (reader_no, box_no) IN (SELECT reader_no, box_no FROM counter WHERE box_no = ?)", (box_no,))
            db.execute("DELETE FROM counter WHERE box_no = ?", (box_no,))
            db.execute("DELETE FROM box WHERE box_no = ?", (box_no,))
    return len(rows)


def _expire_keys(db: Connection, before: int) -> int:
    sql = "DELETE FROM idempotency WHERE (reader_no, key) IN (SELECT reader_no, key FROM idempotency WHERE created_at < ? LIMIT ?)"
    return db.execute(sql, (before, STEP_MESSAGES)).rowcount


def _delete_settled(db: Connection, before: int, resume: int) -> tuple[int, int | None]:
    sql = "SELECT m.pos, m.box_no, b.address FROM message m JOIN box b ON b.box_no = m.box_no WHERE m.pos > ? AND m.pos < ? ORDER BY m.pos LIMIT ?"
    rows = db.execute(sql, (resume, first_of(before), STEP_MESSAGES)).fetchall()
    deleted = work = 0
    for pos, box_no, address in rows:
        accounts = _waited_for(db, box_no, address)
        work += len(accounts)
        if accounts and all(_settled_for(db, readers, box_no, pos, before) for readers in accounts):
            work += delete_message(db, pos)
            deleted += 1
        if work >= STEP_READERS:
            return deleted, pos
    return deleted, rows[-1][0] if len(rows) == STEP_MESSAGES else None


def _waited_for(db: Connection, box_no: int, address: str) -> list[list[int]]:
    """For each account (or the one session) that a box's mail waits for: its readers."""
    if "/" in address:
        return [[row[0] for row in db.execute("SELECT reader_no FROM reader WHERE address = ?", (address,))]]
    accounts = db.execute("SELECT account_no FROM membership WHERE box_no = ?", (box_no,)).fetchall()
    return [[row[0] for row in db.execute("SELECT reader_no FROM reader WHERE account_no = ?", account)] for account in accounts]


def _settled_for(db: Connection, readers: list[int], box_no: int, pos: int, before: int) -> bool:
    """Whether one of an account's readers had acknowledged the message before a time; its own and what was there when it joined count from the start."""
    for reader_no in readers:
        row = db.execute("SELECT acked_at FROM ack WHERE pos = ? AND reader_no = ?", (pos, reader_no)).fetchone()
        if row is not None:
            if row[0] < before:
                return True
        elif covering(db, reader_no, box_no, pos) is not None and millisecond(pos) < before:
            return True
    return False
