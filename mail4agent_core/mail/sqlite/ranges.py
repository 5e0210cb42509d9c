"""Acknowledged positions as runs, and the counters that make unread a subtraction.

Invariant: for every reader and box, ``counter.acked`` is the number of the box's messages that its runs cover, and between two neighbouring runs stands at
least one message that neither covers.
"""

import sqlite3

Connection = sqlite3.Connection

MAX_POS = 2**63 - 1


def covering(db: Connection, reader_no: int, box_no: int, pos: int) -> tuple[int, int] | None:
    """The run that covers a position."""
    run = _at_or_before(db, reader_no, box_no, pos)
    return run if run is not None and run[1] >= pos else None


def _at_or_before(db: Connection, reader_no: int, box_no: int, pos: int) -> tuple[int, int] | None:
    return db.execute(
        "SELECT lo, hi FROM ack_range WHERE reader_no = ? AND box_no = ? AND lo <= ? ORDER BY lo DESC LIMIT 1", (reader_no, box_no, pos)
    ).fetchone()


def _after(db: Connection, reader_no: int, box_no: int, pos: int) -> tuple[int, int] | None:
    return db.execute(
        "SELECT lo, hi FROM ack_range WHERE reader_no = ? AND box_no = ? AND lo > ? ORDER BY lo LIMIT 1", (reader_no, box_no, pos)
    ).fetchone()


def _empty_between(db: Connection, box_no: int, low: int, high: int) -> bool:
    return not db.execute("SELECT EXISTS (SELECT 1 FROM message WHERE box_no = ? AND pos > ? AND pos < ?)", (box_no, low, high)).fetchone()[0]


def cover(db: Connection, reader_no: int, box_no: int, pos: int) -> bool:
    """Count a message of the box as acknowledged; False when it was already."""
    left = _at_or_before(db, reader_no, box_no, pos)
    if left is not None and left[1] >= pos:
        return False
    right = _after(db, reader_no, box_no, pos)
    low, high = pos, pos
    if right is not None and _empty_between(db, box_no, pos, right[0]):
        high = right[1]
        db.execute("DELETE FROM ack_range WHERE reader_no = ? AND box_no = ? AND lo = ?", (reader_no, box_no, right[0]))
    if left is not None and _empty_between(db, box_no, left[1], pos):
        low = left[0]
    db.execute("INSERT OR REPLACE INTO ack_range VALUES (?, ?, ?, ?)", (reader_no, box_no, low, high))
    add(db, reader_no, box_no, 1)
    return True


def add(db: Connection, reader_no: int, box_no: int, count: int) -> None:
    """Change a counter."""
    db.execute(
        "INSERT INTO counter VALUES (?, ?, ?) ON CONFLICT (reader_no, box_no) DO UPDATE SET acked = acked + excluded.acked",
        (reader_no, box_no, count),
    )


def cover_all(db: Connection, reader_no: int, box_no: int) -> None:
    """Count everything that stands in a box now as acknowledged."""
    n, last_pos = db.execute("SELECT n, last_pos FROM box WHERE box_no = ?", (box_no,)).fetchone()
    db.execute("DELETE FROM ack_range WHERE reader_no = ? AND box_no = ?", (reader_no, box_no))
    if n:
        db.execute("INSERT INTO ack_range VALUES (?, ?, 0, ?)", (reader_no, box_no, last_pos))
    db.execute("INSERT OR REPLACE INTO counter VALUES (?, ?, ?)", (reader_no, box_no, n))


def uncount(db: Connection, reader_no: int, box_no: int, pos: int) -> None:
    """Keep the invariant when a message is deleted (its row is gone already)."""
    left = _at_or_before(db, reader_no, box_no, pos)
    if left is not None and left[1] >= pos:
        add(db, reader_no, box_no, -1)
        return
    right = _after(db, reader_no, box_no, pos)
    if left is not None and right is not None and _empty_between(db, box_no, left[1], right[0]):
        db.execute("DELETE FROM ack_range WHERE reader_no = ? AND box_no = ? AND lo = ?", (reader_no, box_no, right[0]))
        db.execute("UPDATE ack_range SET hi = ? WHERE reader_no = ? AND box_no = ? AND lo = ?", (right[1], reader_no, box_no, left[0]))


def copy_account(db: Connection, account_no: int, reader_no: int) -> None:
    """Start a new reader of an account with everything that any of its readers has acknowledged."""
    runs = db.execute(
        "SELECT box_no, lo, hi FROM ack_range WHERE reader_no IN (SELECT reader_no FROM reader WHERE account_no = ? AND reader_no <> ?) ORDER BY box_no, lo",
        (account_no, reader_no),
    ).fetchall()
    merged: list[list[int]] = []
    for box_no, lo, hi in runs:
        last = merged[-1] if merged else None
        if last is not None and last[0] == box_no and (lo <= last[2] or _empty_between(db, box_no, last[2], lo)):
            last[2] = max(last[2], hi)
        else:
            merged.append([box_no, lo, hi])
    for box_no, lo, hi in merged:
        db.execute("INSERT INTO ack_range VALUES (?, ?, ?, ?)", (reader_no, box_no, lo, hi))
        count = db.execute("SELECT count(*) FROM message WHERE box_no = ? AND pos BETWEEN ? AND ?", (box_no, lo, hi)).fetchone()[0]
        add(db, reader_no, box_no, count)


def gaps(db: Connection, reader_no: int, box_no: int, low: int, high: int, count: int, newest_first: bool) -> tuple[list[tuple[int, int]], bool]:
    """Up to ``count`` open intervals of positions, within the open interval (low, high), that no run covers, and whether they are all.

    Each but the outer ones holds at least one message.
    """
    found: list[tuple[int, int]] = []
    if newest_first:
        edge = high
        sql = "SELECT lo, hi FROM ack_range WHERE reader_no = ? AND box_no = ? AND lo < ? ORDER BY lo DESC LIMIT ?"
        runs = db.execute(sql, (reader_no, box_no, high, count)).fetchall()
        for lo, hi in runs:
            if hi <= low:
                break
            if hi < edge:
                found.append((max(hi, low), edge))
            edge = min(edge, lo)
        else:
            if len(runs) == count:
                return found, False
        if edge > low:
            found.append((low, edge))
        return found, True
    first = _at_or_before(db, reader_no, box_no, low)
    edge = low if first is None else max(low, first[1])
    sql = "SELECT lo, hi FROM ack_range WHERE reader_no = ? AND box_no = ? AND lo > ? AND lo < ? ORDER BY lo LIMIT ?"
    runs = db.execute(sql, (reader_no, box_no, low, high, count)).fetchall()
    for lo, hi in runs:
        if lo > edge:
            found.append((edge, lo))
        edge = max(edge, hi)
    if len(runs) == count:
        return found, False
    if edge < high:
        found.append((edge, high))
    return found, True
