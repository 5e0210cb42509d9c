"""Deleting messages, one by one and by upkeep, without a counter going wrong.

``MailStore.sweep`` says what is settled.
"""

import sqlite3

from mail4agent_core.mail.records import Swept
from mail4agent_core.mail.wire import first_of, millisecond

from . import flow
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


def sweep(
    db: Connection, settled_before: int | None, keys_before: int, resume: int, idle_before: int
) -> Swept:
    """One bounded step of upkeep."""
    # Before the first message is looked at: it goes through the dead sessions that have mail to keep.
    complete = resume > 0 or _forget_sessions(db, settled_before or 0, idle_before)
    messages, reclaimed = _reclaim(db)
    keys = _expire_keys(db, keys_before)
    counted = flow.expire(db, keys_before)
    if not (complete and reclaimed and counted) or keys == STEP_MESSAGES:
        return Swept(messages, keys, resume)
    if settled_before is None:
        return Swept(messages, keys, None)
    settled, next_resume = _delete_settled(db, settled_before, resume)
    return Swept(messages + settled, keys, next_resume)


def _forget_sessions(db: Connection, dead_before: int, idle_before: int) -> bool:
    """Forget sessions that died before a time, or without mail before another, and give their boxes up.

    True when there are no more.

    Their readers stay: what they sent and acknowledged is theirs, and counts for their accounts.
    """
    left = STEP_READERS
    sql = (
        "SELECT s.reader_no, s.box_no FROM session s CROSS JOIN box b ON b.box_no = s.box_no "
        "WHERE s.dead_at < ? AND (s.dead_at < ? OR (b.n = 0 AND s.dead_at < ?)) LIMIT ?"
    )
    latest = max(dead_before, idle_before)
    rows = db.execute(sql, (latest, dead_before, idle_before, STEP_MESSAGES)).fetchall()
    for reader_no, box_no in rows:
        left = _forget_counters(db, "reader_no", reader_no, left)
        if left <= 0:
            return False
        db.execute("UPDATE box SET address = NULL WHERE box_no = ?", (box_no,))
        db.execute("DELETE FROM session WHERE reader_no = ?", (reader_no,))
    return len(rows) < STEP_MESSAGES


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
        "SELECT m.pos, m.box_no, m.account_no, b.address FROM message m JOIN box b ON b.box_no = m.box_no "
        "WHERE m.pos > ? AND m.pos < ? ORDER BY m.pos LIMIT ?"
    )
    rows = db.execute(sql, (resume, first_of(before), STEP_MESSAGES)).fetchall()
    deleted = work = 0
    for pos, box_no, sender_account, address in rows:
        if "/" in address:
            work += 1
            settled = _settled_for_session(db, address, box_no, pos, before)
        else:
            members = db.execute("SELECT account_no FROM membership WHERE box_no = ?", (box_no,)).fetchall()
            work += len(members)
            settled = bool(members) and all(
                _settled_for(db, account_no, box_no, pos, before, own=account_no == sender_account)
                for (account_no,) in members
            )
        if settled:
            work += delete_message(db, pos)
            deleted += 1
        if work >= STEP_READERS:
            return deleted, pos
    return deleted, rows[-1][0] if len(rows) == STEP_MESSAGES else None


def _settled_for_session(db: Connection, address: str, box_no: int, pos: int, before: int) -> bool:
    """Whether the one session that a message waits for had acknowledged it before a time."""
    (reader_no,) = db.execute("SELECT reader_no FROM reader WHERE address = ?", (address,)).fetchone()
    sql = "SELECT acked_at FROM ack WHERE pos = ? AND reader_no = ?"
    row = db.execute(sql, (pos, reader_no)).fetchone()
    return row[0] < before if row is not None else _covered(db, reader_no, box_no, pos, before)


def _settled_for(db: Connection, account_no: int, box_no: int, pos: int, before: int, *, own: bool) -> bool:
    """Whether one of an account's addresses had acknowledged the message before a time.

    The work follows the message's acknowledgements, not the account's sessions: what counts without one is
    what the account sent itself, or what its own reader found in a room.
    """
    sql = (
        "SELECT min(a.acked_at) FROM ack a CROSS JOIN reader r ON r.reader_no = a.reader_no "
        "WHERE a.pos = ? AND r.account_no = ?"
    )
    (acked_at,) = db.execute(sql, (pos, account_no)).fetchone()
    if acked_at is not None:
        return acked_at < before
    if own:
        return millisecond(pos) < before
    sql = "SELECT r.reader_no FROM participant p JOIN reader r ON r.address = p.id WHERE p.account_no = ?"
    (reader_no,) = db.execute(sql, (account_no,)).fetchone()
    return _covered(db, reader_no, box_no, pos, before)


def _covered(db: Connection, reader_no: int, box_no: int, pos: int, before: int) -> bool:
    return millisecond(pos) < before and covering(db, reader_no, box_no, pos) is not None
