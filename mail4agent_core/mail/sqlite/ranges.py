"""Acknowledged positions as runs, and the counters that make unread a subtraction.

Invariant: for every reader and box, ``counter.acked`` is the number of the box's messages that its runs
cover, and between two neighbouring runs stands at least one message that neither covers.
"""

import sqlite3
from collections.abc import Iterable, Iterator

Connection = sqlite3.Connection
Run = tuple[int, int]


def covering(db: Connection, reader_no: int, box_no: int, pos: int) -> Run | None:
    """The run that covers a position."""
    run = _at_or_before(db, reader_no, box_no, pos)
    return run if run is not None and run[1] >= pos else None


def _at_or_before(db: Connection, reader_no: int, box_no: int, pos: int) -> Run | None:
    sql = (
        "SELECT lo, hi FROM ack_range WHERE reader_no = ? AND box_no = ? AND lo <= ? ORDER BY lo DESC LIMIT 1"
    )
    return db.execute(sql, (reader_no, box_no, pos)).fetchone()


def _after(db: Connection, reader_no: int, box_no: int, pos: int) -> Run | None:
    sql = "SELECT lo, hi FROM ack_range WHERE reader_no = ? AND box_no = ? AND lo > ? ORDER BY lo LIMIT 1"
    return db.execute(sql, (reader_no, box_no, pos)).fetchone()


def _empty_between(db: Connection, box_no: int, low: int, high: int) -> bool:
    sql = "SELECT EXISTS (SELECT 1 FROM message WHERE box_no = ? AND pos > ? AND pos < ?)"
    return not db.execute(sql, (box_no, low, high)).fetchone()[0]


def cover(db: Connection, reader_no: int, box_no: int, pos: int) -> None:
    """Count a message of the box as acknowledged, once."""
    left = _at_or_before(db, reader_no, box_no, pos)
    if left is not None and left[1] >= pos:
        return
    right = _after(db, reader_no, box_no, pos)
    low, high = pos, pos
    if right is not None and _empty_between(db, box_no, pos, right[0]):
        high = right[1]
        sql = "DELETE FROM ack_range WHERE reader_no = ? AND box_no = ? AND lo = ?"
        db.execute(sql, (reader_no, box_no, right[0]))
    if left is not None and _empty_between(db, box_no, left[1], pos):
        low = left[0]
    db.execute("INSERT OR REPLACE INTO ack_range VALUES (?, ?, ?, ?)", (reader_no, box_no, low, high))
    _add(db, reader_no, box_no, 1)


def cover_for(db: Connection, account_no: int, reader_no: int, box_no: int, pos: int) -> None:
    """As ``cover``, by a reader of an account: it counts for where the account's next session starts, too."""
    cover(db, reader_no, box_no, pos)
    common_no = common_reader(db, account_no)
    if common_no is not None:
        cover(db, common_no, box_no, pos)


def common_reader(db: Connection, account_no: int) -> int | None:
    """The reader that stands for all addresses of an account, once it has had a session."""
    sql = "SELECT common_reader FROM participant WHERE account_no = ?"
    return db.execute(sql, (account_no,)).fetchone()[0]


def _add(db: Connection, reader_no: int, box_no: int, count: int) -> None:
    sql = "INSERT INTO counter VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET acked = acked + excluded.acked"
    db.execute(sql, (reader_no, box_no, count))


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
        _add(db, reader_no, box_no, -1)
        return
    right = _after(db, reader_no, box_no, pos)
    if left is not None and right is not None and _empty_between(db, box_no, left[1], right[0]):
        where = "WHERE reader_no = ? AND box_no = ? AND lo = ?"
        db.execute(f"DELETE FROM ack_range {where}", (reader_no, box_no, right[0]))
        db.execute(f"UPDATE ack_range SET hi = ? {where}", (right[1], reader_no, box_no, left[0]))


def start_session(db: Connection, account_no: int, reader_no: int) -> None:
    """Start a session's reader with everything that any address of its account has acknowledged.

    The work follows the runs, not the messages and not the sessions that there were: those runs are kept
    together in a reader of their own.
    """
    common_no = common_reader(db, account_no)
    if common_no is None:
        common_no = db.execute(
            "INSERT INTO reader (address, account_no) "
            "SELECT id || '/*', account_no FROM participant WHERE account_no = ?",
            (account_no,),
        ).lastrowid
        assert common_no is not None
        _copy_account(db, account_no, common_no)
        sql = "UPDATE participant SET common_reader = ? WHERE account_no = ?"
        db.execute(sql, (common_no, account_no))
    readable = "reader_no = ? AND box_no IN (SELECT box_no FROM membership WHERE account_no = ?)"
    for table, columns in (("counter", "box_no, acked"), ("ack_range", "box_no, lo, hi")):
        db.execute(
            f"INSERT INTO {table} SELECT ?, {columns} FROM {table} WHERE {readable}",
            (reader_no, common_no, account_no),
        )


def _copy_account(db: Connection, account_no: int, reader_no: int) -> None:
    """Give a reader everything that any reader of its account has acknowledged.

    The counter of the reader who acknowledged most is taken over, and only what others have beyond its runs
    is counted.
    """
    sql = (
        "SELECT c.box_no, c.reader_no, c.acked FROM reader r JOIN counter c ON c.reader_no = r.reader_no "
        "WHERE r.account_no = ? AND r.reader_no <> ? ORDER BY c.box_no, c.acked DESC"
    )
    readers: dict[int, list[tuple[int, int]]] = {}
    for box_no, other_no, acked in db.execute(sql, (account_no, reader_no)):
        readers.setdefault(box_no, []).append((other_no, acked))
    for box_no, ((first_no, most), *others) in readers.items():
        acked, runs = most, _runs(db, first_no, box_no)
        for other_no, _ in others:
            for lo, hi in _beyond(_runs(db, other_no, box_no), runs):
                sql = "SELECT count(*) FROM message WHERE box_no = ? AND pos BETWEEN ? AND ?"
                acked += db.execute(sql, (box_no, lo, hi)).fetchone()[0]
            runs = list(_merged(db, box_no, (*runs, *_runs(db, other_no, box_no))))
        db.execute("INSERT INTO counter VALUES (?, ?, ?)", (reader_no, box_no, acked))
        db.executemany(
            "INSERT INTO ack_range VALUES (?, ?, ?, ?)", [(reader_no, box_no, lo, hi) for lo, hi in runs]
        )


def _runs(db: Connection, reader_no: int, box_no: int) -> list[Run]:
    sql = "SELECT lo, hi FROM ack_range WHERE reader_no = ? AND box_no = ? ORDER BY lo"
    return db.execute(sql, (reader_no, box_no)).fetchall()


def _beyond(runs: list[Run], base: list[Run]) -> Iterator[Run]:
    """What runs cover and the base does not; both are in order."""
    index = 0
    for lo, hi in runs:
        start = lo
        while index < len(base) and base[index][1] < start:
            index += 1
        at = index
        while at < len(base) and base[at][0] <= hi:
            if base[at][0] > start:
                yield start, base[at][0] - 1
            start = base[at][1] + 1
            at += 1
        if start <= hi:
            yield start, hi


def _merged(db: Connection, box_no: int, runs: Iterable[Run]) -> Iterator[Run]:
    """The union of runs, those that no message parts joined."""
    last: Run | None = None
    for lo, hi in sorted(runs):
        if last is None:
            last = lo, hi
        elif lo <= last[1] or _empty_between(db, box_no, last[1], lo):
            last = last[0], max(last[1], hi)
        else:
            yield last
            last = lo, hi
    if last is not None:
        yield last


def gaps(
    db: Connection, reader_no: int, box_no: int, within: Run, *, count: int, newest_first: bool
) -> list[Run]:
    """The first ``count`` open intervals of positions, inside an open interval, that no run covers.

    Each holds a message, except the outermost two and those that the ends of the interval cut.
    """
    low, high = within
    found: list[Run] = []
    if newest_first:
        edge = high
        sql = "SELECT lo, hi FROM ack_range WHERE reader_no = ? AND box_no = ? AND lo < ? ORDER BY lo DESC"
        for lo, hi in db.execute(sql, (reader_no, box_no, high)):
            if hi + 1 < edge:
                found.append((max(hi, low), edge))
            edge = min(edge, lo)
            if len(found) == count or edge <= low:
                return found
        return [*found, (low, edge)]
    first = _at_or_before(db, reader_no, box_no, low)
    edge = low if first is None else max(low, first[1])
    sql = "SELECT lo, hi FROM ack_range WHERE reader_no = ? AND box_no = ? AND lo > ? AND lo < ? ORDER BY lo"
    for lo, hi in db.execute(sql, (reader_no, box_no, low, high)):
        if edge + 1 < lo:
            found.append((edge, lo))
        edge = max(edge, hi)
        if len(found) == count:
            return found
    return [*found, (edge, high)] if edge < high else found
