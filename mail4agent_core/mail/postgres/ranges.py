"""Acknowledged positions as runs, and the counters that make unread a subtraction.

Invariant: for every reader and box, ``counter.acked`` is the number of the box's messages that its runs
cover, and between two neighbouring runs stands at least one message that neither covers.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from .connection import Database, columns

Run = tuple[int, int]

#: The run at or before a position and the one after it, of a reader in a box: each in one place of the key.
_LEFT = (
    "(SELECT lo, hi FROM ack_range a WHERE a.box_no = w.box_no AND a.reader_no = w.reader_no "
    "AND a.lo <= w.pos ORDER BY a.lo DESC LIMIT 1)"
)
_RIGHT = (
    "(SELECT lo, hi FROM ack_range a WHERE a.box_no = w.box_no AND a.reader_no = w.reader_no "
    "AND a.lo > w.pos ORDER BY a.lo LIMIT 1)"
)


class Mark(NamedTuple):
    """A message that a reader has acknowledged."""

    box_no: int
    reader_no: int
    pos: int


def covering(db: Database, reader_no: int, box_no: int, pos: int) -> Run | None:
    """The run that covers a position."""
    sql = (
        "SELECT lo, hi FROM ack_range WHERE box_no = %s AND reader_no = %s AND lo <= %s "
        "ORDER BY lo DESC LIMIT 1"
    )
    row = db.execute(sql, (box_no, reader_no, pos)).fetchone()
    return (row[0], row[1]) if row is not None and row[1] >= pos else None


def cover(db: Database, marks: Iterable[Mark]) -> None:
    """Count messages as acknowledged, each once; they stand in their boxes already.

    A few statements, however many there are.
    """
    wanted = sorted(set(marks))
    if not wanted:
        return
    runs, fresh = _around(db, wanted)
    if not fresh:
        return
    ordered = {
        pair: sorted({*runs.get(pair, ()), *((pos, pos) for pos in positions)})
        for pair, positions in fresh.items()
    }
    added = {pair: frozenset(positions) for pair, positions in fresh.items()}
    tested = [
        (pair[0], left[1], right[0])
        for pair, intervals in ordered.items()
        for left, right in pairwise(intervals)
        if left[0] in added[pair] or right[0] in added[pair]
    ]
    empty = _empty(db, tested)
    gone: list[tuple[int, int, int]] = []
    made: list[tuple[int, int, int, int]] = []
    for (box_no, reader_no), intervals in ordered.items():
        new = added[box_no, reader_no]
        for group in _joined(box_no, intervals, empty):
            if any(lo in new for lo, _ in group):
                gone += [(box_no, reader_no, lo) for lo, _ in group if lo not in new]
                made.append((box_no, reader_no, group[0][0], group[-1][1]))
    _replace(db, gone, made)
    sql = (
        "INSERT INTO counter SELECT * FROM unnest(%b::bigint[], %b::bigint[], %b::bigint[]) "
        "ON CONFLICT (box_no, reader_no) DO UPDATE SET acked = counter.acked + excluded.acked"
    )
    db.execute(sql, columns([(*pair, len(positions)) for pair, positions in fresh.items()], 3))


def _around(
    db: Database, wanted: Sequence[Mark]
) -> tuple[dict[tuple[int, int], set[Run]], dict[tuple[int, int], list[int]]]:
    """The runs next to each mark, and the positions that none covers; by box and reader."""
    sql = (
        "SELECT w.box_no, w.reader_no, w.pos, l.lo, l.hi, r.lo, r.hi "
        "FROM unnest(%b::bigint[], %b::bigint[], %b::bigint[]) w (box_no, reader_no, pos) "
        f"LEFT JOIN LATERAL {_LEFT} l ON true LEFT JOIN LATERAL {_RIGHT} r ON true"
    )
    runs: dict[tuple[int, int], set[Run]] = {}
    fresh: dict[tuple[int, int], list[int]] = {}
    for box_no, reader_no, pos, left, left_end, right, right_end in db.execute(
        sql, columns(wanted, 3)
    ).fetchall():
        if left is not None and left_end >= pos:
            continue
        fresh.setdefault((box_no, reader_no), []).append(pos)
        near = runs.setdefault((box_no, reader_no), set())
        if left is not None:
            near.add((left, left_end))
        if right is not None:
            near.add((right, right_end))
    return runs, fresh


def _empty(db: Database, gaps: Sequence[tuple[int, int, int]]) -> frozenset[tuple[int, int, int]]:
    """Those of some open intervals, each with its box before it, that no message stands in."""
    if not gaps:
        return frozenset()
    sql = (
        "SELECT g.box_no, g.low, g.high FROM unnest(%b::bigint[], %b::bigint[], %b::bigint[]) "
        "g (box_no, low, high) WHERE (SELECT 1 FROM message m WHERE m.box_no = g.box_no "
        "AND m.pos > g.low AND m.pos < g.high LIMIT 1) IS NULL"
    )
    return frozenset(
        (row[0], row[1], row[2]) for row in db.execute(sql, columns(sorted(set(gaps)), 3)).fetchall()
    )


def _joined(
    box_no: int, intervals: Sequence[Run], empty: frozenset[tuple[int, int, int]]
) -> Iterator[list[Run]]:
    """Intervals in order, those together that nothing parts."""
    group: list[Run] = []
    for interval in intervals:
        if group and (box_no, group[-1][1], interval[0]) not in empty:
            yield group
            group = []
        group.append(interval)
    yield group


def _replace(
    db: Database, gone: Sequence[tuple[int, int, int]], made: Sequence[tuple[int, int, int, int]]
) -> None:
    if gone:
        sql = (
            "DELETE FROM ack_range a USING unnest(%b::bigint[], %b::bigint[], %b::bigint[]) "
            "g (box_no, reader_no, lo) WHERE (a.box_no, a.reader_no, a.lo) = (g.box_no, g.reader_no, g.lo)"
        )
        db.execute(sql, columns(gone, 3))
    sql = "INSERT INTO ack_range SELECT * FROM unnest(%b::bigint[], %b::bigint[], %b::bigint[], %b::bigint[])"
    db.execute(sql, columns(made, 4))


def cover_all(db: Database, reader_no: int, box_no: int) -> None:
    """Count everything that stands in a box now as acknowledged."""
    pair = (box_no, reader_no)
    db.execute("DELETE FROM ack_range WHERE box_no = %s AND reader_no = %s", pair)
    sql = "INSERT INTO ack_range SELECT box_no, %s, 0, last_pos FROM box WHERE box_no = %s AND n > 0"
    db.execute(sql, (reader_no, box_no))
    sql = (
        "INSERT INTO counter SELECT box_no, %s, n FROM box WHERE box_no = %s "
        "ON CONFLICT (box_no, reader_no) DO UPDATE SET acked = excluded.acked"
    )
    db.execute(sql, (reader_no, box_no))


def uncount(db: Database, box_no: int, pos: int) -> int:
    """Keep the invariant for every reader of a box when a message is deleted (its row is gone already).

    Returns how many readers were looked at.
    """
    sql = (
        "SELECT w.reader_no, l.lo, l.hi, r.lo, r.hi "
        "FROM (SELECT reader_no, box_no, %s::bigint AS pos FROM counter WHERE box_no = %s) w "
        f"LEFT JOIN LATERAL {_LEFT} l ON true LEFT JOIN LATERAL {_RIGHT} r ON true"
    )
    rows = db.execute(sql, (pos, box_no)).fetchall()
    covered = [row[0] for row in rows if row[1] is not None and row[2] >= pos]
    if covered:
        sql = "UPDATE counter SET acked = acked - 1 WHERE box_no = %s AND reader_no = ANY(%s)"
        db.execute(sql, (box_no, covered))
    parted = [row for row in rows if row[1] is not None and row[2] < pos and row[3] is not None]
    empty = _empty(db, [(box_no, row[2], row[3]) for row in parted])
    joined = [row for row in parted if (box_no, row[2], row[3]) in empty]
    if joined:
        gone = [(box_no, row[0], lo) for row in joined for lo in (row[1], row[3])]
        _replace(db, gone, [(box_no, row[0], row[1], row[4]) for row in joined])
    return len(rows)


def start_session(db: Database, account_no: int, reader_no: int) -> None:
    """Start a session's reader with everything that any address of its account has acknowledged.

    The work follows the runs, not the messages and not the sessions that there were: those runs are kept
    together in a reader of their own.
    """
    row = db.execute("SELECT common_reader FROM participant WHERE account_no = %s", (account_no,)).fetchone()
    assert row is not None
    common_no = row[0]
    if common_no is None:
        sql = (
            "INSERT INTO reader (address, account_no) SELECT id || '/*', account_no FROM participant "
            "WHERE account_no = %s RETURNING reader_no"
        )
        made = db.execute(sql, (account_no,)).fetchone()
        assert made is not None
        common_no = made[0]
        _copy_account(db, account_no, common_no)
        sql = "UPDATE participant SET common_reader = %s WHERE account_no = %s"
        db.execute(sql, (common_no, account_no))
    readable = "reader_no = %s AND box_no IN (SELECT box_no FROM membership WHERE account_no = %s)"
    for table, columns_of in (("counter", "acked"), ("ack_range", "lo, hi")):
        db.execute(
            f"INSERT INTO {table} SELECT box_no, %s, {columns_of} FROM {table} WHERE {readable}",
            (reader_no, common_no, account_no),
        )


def _copy_account(db: Database, account_no: int, reader_no: int) -> None:
    """Give a reader everything that any reader of its account has acknowledged.

    The counter of the reader who acknowledged most is taken over, and only what others have beyond its runs
    is counted.
    """
    sql = (
        "SELECT c.box_no, c.reader_no, c.acked FROM reader r JOIN counter c ON c.reader_no = r.reader_no "
        "WHERE r.account_no = %s AND r.reader_no <> %s ORDER BY c.box_no, c.acked DESC"
    )
    readers: dict[int, list[tuple[int, int]]] = {}
    for box_no, other_no, acked in db.execute(sql, (account_no, reader_no)).fetchall():
        readers.setdefault(box_no, []).append((other_no, acked))
    for box_no, ((first_no, most), *others) in readers.items():
        acked, runs = most, _runs(db, first_no, box_no)
        for other_no, _ in others:
            for lo, hi in _beyond(_runs(db, other_no, box_no), runs):
                sql = "SELECT count(*) FROM message WHERE box_no = %s AND pos BETWEEN %s AND %s"
                counted = db.execute(sql, (box_no, lo, hi)).fetchone()
                assert counted is not None
                acked += counted[0]
            runs = _merged(db, box_no, (*runs, *_runs(db, other_no, box_no)))
        db.execute("INSERT INTO counter VALUES (%s, %s, %s)", (box_no, reader_no, acked))
        _replace(db, (), [(box_no, reader_no, lo, hi) for lo, hi in runs])


def _runs(db: Database, reader_no: int, box_no: int) -> list[Run]:
    sql = "SELECT lo, hi FROM ack_range WHERE box_no = %s AND reader_no = %s ORDER BY lo"
    return [(row[0], row[1]) for row in db.execute(sql, (box_no, reader_no)).fetchall()]


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


def _merged(db: Database, box_no: int, runs: Iterable[Run]) -> list[Run]:
    """The union of runs, those that no message parts joined."""
    apart: list[Run] = []
    for lo, hi in sorted(runs):
        if apart and lo <= apart[-1][1]:
            apart[-1] = apart[-1][0], max(apart[-1][1], hi)
        else:
            apart.append((lo, hi))
    if not apart:
        return []
    gaps = [(box_no, left[1], right[0]) for left, right in pairwise(apart)]
    groups = _joined(box_no, apart, _empty(db, gaps))
    return [(group[0][0], group[-1][1]) for group in groups]
