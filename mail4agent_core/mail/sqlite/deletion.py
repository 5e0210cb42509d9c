"""Deleting messages, one by one and by upkeep, without a counter going wrong.

``MailStore.sweep`` says what is settled.
"""

import sqlite3

from mail4agent_core.mail.store import Swept
from mail4agent_core.mail.wire import first_of, millisecond

from .ranges import covering, uncount
from .search import forget
from .writer import HIGHEST

Connection = sqlite3.Connection

#: How much one step of upkeep does: messages and keys looked at, and rows of readers changed.
STEP_MESSAGES = 200
STEP_READERS = 2_000


def delete_message(db: Connection, pos: int) -> int:
    """Delete a message that exists; return how many readers' counters were looked at."""
    box_no = _delete_row(db, pos)
    db.execute("UPDATE box SET n = n - 1 WHERE box_no = ?", (box_no,))
    readers = db.execute("SELECT reader_no FROM counter WHERE box_no = ?", (box_no,)).fetchall()
    for (reader_no,) in readers:
        uncount(db, reader_no, box_no, pos)
    return len(readers)


def _delete_row(db: Connection, pos: int) -> int:
    box_no, wire = db.execute("SELECT box_no, wire FROM message WHERE pos = ?", (pos,)).fetchone()
    forget(db, pos, box_no, wire)
    db.execute("DELETE FROM message WHERE pos = ?", (pos,))
    db.execute("DELETE FROM ack WHERE pos = ?", (pos,))
    return box_no


def sweep(db: Connection, settled_before: int | None, keys_before: int, resume: int) -> Swept:
    """One bounded step of upkeep."""
    messages, complete = _reclaim(db)
    keys = _expire_keys(db, keys_before)
    if not complete or keys == STEP_MESSAGES:
        return Swept(messages, keys, resume)
    if settled_before is None:
        return Swept(messages, keys, None)
    settled, next_resume = _delete_settled(db, settled_before, resume)
    return Swept(messages + settled, keys, next_resume)


def _reclaim(db: Connection) -> tuple[int, bool]:
    """Delete what boxes and readers that were given up have left; True when nothing is.

    Nobody reads those boxes, so no counter of theirs matters.
    """
    sql = (
        "SELECT m.pos FROM box b JOIN message m INDEXED BY message_box ON m.box_no = b.box_no "
        "WHERE b.address IS NULL LIMIT ?"
    )
    rows = db.execute(sql, (STEP_MESSAGES,)).fetchall()
    for (pos,) in rows:
        _delete_row(db, pos)
    if len(rows) == STEP_MESSAGES:
        return len(rows), False
    left = STEP_READERS
    for (box_no,) in db.execute("SELECT box_no FROM box WHERE address IS NULL").fetchall():
        left = _forget_counters(db, "box_no", box_no, left)
        if left <= 0:
            return len(rows), False
        sql = (
            "INSERT INTO number SELECT ?, last_pos FROM box WHERE box_no = ? "
            "ON CONFLICT DO UPDATE SET value = max(value, excluded.value)"
        )
        db.execute(sql, (HIGHEST, box_no))
        db.execute("DELETE FROM box WHERE box_no = ?", (box_no,))
    for (reader_no,) in db.execute("SELECT reader_no FROM reader WHERE address IS NULL").fetchall():
        left = _forget_counters(db, "reader_no", reader_no, left)
        if left <= 0:
            return len(rows), False
        db.execute("DELETE FROM reader WHERE reader_no = ?", (reader_no,))
    return len(rows), True


def _forget_counters(db: Connection, key: str, number: int, left: int) -> int:
    """Delete up to ``left`` runs and counters of a box or a reader; return how many more may be."""
    sql = f"SELECT reader_no, box_no FROM counter WHERE {key} = ? LIMIT ?"
    for pair in db.execute(sql, (number, left)).fetchall():
        run = "SELECT lo FROM ack_range WHERE reader_no = ? AND box_no = ? LIMIT ?"
        sql = f"DELETE FROM ack_range WHERE reader_no = ? AND box_no = ? AND lo IN ({run})"
        runs = db.execute(sql, (*pair, *pair, left)).rowcount
        if runs == left:
            return 0
        db.execute("DELETE FROM counter WHERE reader_no = ? AND box_no = ?", pair)
        left -= runs + 1
        if left <= 0:
            return 0
    return left


def _expire_keys(db: Connection, before: int) -> int:
    sql = (
        "DELETE FROM idempotency WHERE (reader_no, key) IN "
        "(SELECT reader_no, key FROM idempotency WHERE created_at < ? LIMIT ?)"
    )
    return db.execute(sql, (before, STEP_MESSAGES)).rowcount


def _delete_settled(db: Connection, before: int, resume: int) -> tuple[int, int | None]:
    sql = (
        "SELECT m.pos, m.box_no, b.address FROM message m JOIN box b ON b.box_no = m.box_no "
        "WHERE m.pos > ? AND m.pos < ? ORDER BY m.pos LIMIT ?"
    )
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
    sql = "SELECT reader_no FROM reader WHERE account_no = ?"
    return [[row[0] for row in db.execute(sql, account)] for account in accounts]


def _settled_for(db: Connection, readers: list[int], box_no: int, pos: int, before: int) -> bool:
    """Whether one of an account's readers had acknowledged the message before a time."""
    sql = "SELECT acked_at FROM ack WHERE pos = ? AND reader_no = ?"
    given = [row[0] for reader_no in readers for row in db.execute(sql, (pos, reader_no))]
    if given:
        return min(given) < before
    return millisecond(pos) < before and any(covering(db, reader_no, box_no, pos) for reader_no in readers)
