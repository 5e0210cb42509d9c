"""Deleting messages, one by one and by upkeep, without a counter going wrong.

``MailStore.sweep`` says what is settled. The steps are small: a writer's turn is everybody's.
"""

from mail4agent_core.mail.records import Swept
from mail4agent_core.mail.wire import first_of

from . import flow
from .connection import Database
from .ranges import covering, uncount

#: How much one step of upkeep does: messages and keys looked at, and rows of readers changed.
STEP_MESSAGES = 100
STEP_READERS = 1_000


def delete_message(db: Database, box_no: int, pos: int) -> int:
    """Delete a message that exists; return how many readers' counters were looked at."""
    _delete_rows(db, [(box_no, pos)])
    db.execute("UPDATE box SET n = n - 1 WHERE box_no = %s", (box_no,))
    return uncount(db, box_no, pos)


def _delete_rows(db: Database, spots: list[tuple[int, int]]) -> None:
    """Delete messages from every table that holds them; each place of theirs is named by its key."""
    boxes, positions = [box_no for box_no, _ in spots], [pos for _, pos in spots]
    each = "FROM unnest(%b::bigint[], %b::bigint[]) w (box_no, pos)"
    sql = (
        f"SELECT m.message_id, m.sender_no {each} JOIN message m ON m.box_no = w.box_no AND m.pos = w.pos "
        "ORDER BY m.pos"
    )
    rows = db.execute(sql, (boxes, positions)).fetchall()
    with db.pipelined():
        for table in ("message", "found", "ack"):
            sql = f"DELETE FROM {table} m USING {each[5:]} WHERE m.box_no = w.box_no AND m.pos = w.pos"
            db.execute(sql, (boxes, positions))
        db.execute("DELETE FROM place WHERE message_id = ANY(%b::bytea[])", ([row[0] for row in rows],))
        sql = "DELETE FROM sent WHERE sender_no = ANY(%b::bigint[]) AND pos = ANY(%b::bigint[])"
        db.execute(sql, (sorted({row[1] for row in rows}), positions))


def sweep(db: Database, settled_before: int | None, keys_before: int, resume: int, idle_before: int) -> Swept:
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


def _forget_sessions(db: Database, dead_before: int, idle_before: int) -> bool:
    """Forget sessions that died before a time, or without mail before another, and give their boxes up.

    True when there are no more.

    Their readers stay: what they sent and acknowledged is theirs, and counts for their accounts.
    """
    left = STEP_READERS
    sql = (
        "SELECT s.reader_no, s.box_no FROM session s JOIN box b ON b.box_no = s.box_no "
        "WHERE s.dead_at < %s AND (s.dead_at < %s OR (b.n = 0 AND s.dead_at < %s)) LIMIT %s"
    )
    latest = max(dead_before, idle_before)
    rows = db.execute(sql, (latest, dead_before, idle_before, STEP_MESSAGES)).fetchall()
    for reader_no, box_no in rows:
        left = _forget_counters(db, "reader_no", reader_no, left)
        if left <= 0:
            return False
        db.execute("UPDATE box SET address = NULL, owner = NULL WHERE box_no = %s", (box_no,))
        db.execute("DELETE FROM session WHERE reader_no = %s", (reader_no,))
    return len(rows) < STEP_MESSAGES


def _reclaim(db: Database) -> tuple[int, bool]:
    """Delete what boxes and readers that were given up have left; True when nothing is.

    Nobody reads those boxes, so no counter of theirs matters.
    """
    sql = (
        "SELECT m.box_no, m.pos FROM box b JOIN message m ON m.box_no = b.box_no "
        "WHERE b.address IS NULL LIMIT %s"
    )
    rows = db.execute(sql, (STEP_MESSAGES,)).fetchall()
    if rows:
        _delete_rows(db, [(row[0], row[1]) for row in rows])
    if len(rows) == STEP_MESSAGES:
        return len(rows), False
    left = STEP_READERS
    for (box_no,) in db.execute("SELECT box_no FROM box WHERE address IS NULL").fetchall():
        left = _forget_counters(db, "box_no", box_no, left)
        if left <= 0:
            return len(rows), False
        db.execute("DELETE FROM box WHERE box_no = %s", (box_no,))
    for (reader_no,) in db.execute("SELECT reader_no FROM reader WHERE address IS NULL").fetchall():
        left = _forget_counters(db, "reader_no", reader_no, left)
        if left <= 0:
            return len(rows), False
        db.execute("DELETE FROM reader WHERE reader_no = %s", (reader_no,))
    return len(rows), True


def _forget_counters(db: Database, key: str, number: int, left: int) -> int:
    """Delete up to ``left`` runs and counters of a box or a reader; return how many more may be."""
    sql = f"SELECT box_no, reader_no FROM counter WHERE {key} = %s LIMIT %s"
    for pair in db.execute(sql, (number, left)).fetchall():
        run = "SELECT lo FROM ack_range WHERE box_no = %s AND reader_no = %s LIMIT %s"
        sql = f"DELETE FROM ack_range WHERE box_no = %s AND reader_no = %s AND lo IN ({run})"
        runs = db.execute(sql, (*pair, *pair, left)).rowcount
        if runs == left:
            return 0
        db.execute("DELETE FROM counter WHERE box_no = %s AND reader_no = %s", pair)
        left -= runs + 1
        if left <= 0:
            return 0
    return left


def _expire_keys(db: Database, before: int) -> int:
    sql = (
        "DELETE FROM idempotency WHERE (reader_no, key) IN "
        "(SELECT reader_no, key FROM idempotency WHERE created_at < %s LIMIT %s)"
    )
    return db.execute(sql, (before, STEP_MESSAGES)).rowcount


def _delete_settled(db: Database, before: int, resume: int) -> tuple[int, int | None]:
    sql = (
        "SELECT m.pos, m.box_no, m.account_no, b.address FROM message m JOIN box b ON b.box_no = m.box_no "
        "WHERE m.pos > %s AND m.pos < %s ORDER BY m.pos LIMIT %s"
    )
    rows = db.execute(sql, (resume, first_of(before), STEP_MESSAGES)).fetchall()
    deleted = work = 0
    for pos, box_no, sender_account, address in rows:
        if "/" in address:
            work += 1
            settled = _settled_for_session(db, address, box_no, pos, before)
        else:
            members, settled = _settled_for_members(db, box_no, pos, sender_account, before)
            work += members
        if settled:
            work += delete_message(db, box_no, pos)
            deleted += 1
        if work >= STEP_READERS:
            return deleted, pos
    return deleted, rows[-1][0] if len(rows) == STEP_MESSAGES else None


def _settled_for_session(db: Database, address: str, box_no: int, pos: int, before: int) -> bool:
    """Whether the one session that a message of an earlier time waits for had acknowledged it before."""
    sql = (
        "SELECT r.reader_no, (SELECT acked_at FROM ack a WHERE a.box_no = %s AND a.pos = %s "
        "AND a.reader_no = r.reader_no) FROM reader r WHERE r.address = %s"
    )
    row = db.execute(sql, (box_no, pos, address)).fetchone()
    assert row is not None, "a session's box has a reader"
    return row[1] < before if row[1] is not None else covering(db, row[0], box_no, pos) is not None


def _settled_for_members(
    db: Database, box_no: int, pos: int, sender_account: int, before: int
) -> tuple[int, bool]:
    """How many accounts read a box, and whether a message of an earlier time is settled for each.

    The work follows the message's acknowledgements, not the accounts' sessions: what counts without one is
    what the account sent itself, or what its own reader found in a room.
    """
    covered = (
        "coalesce((SELECT k.hi FROM ack_range k WHERE k.box_no = m.box_no AND k.reader_no = own.reader_no "
        "AND k.lo <= %s ORDER BY k.lo DESC LIMIT 1), -1) >= %s"
    )
    sql = (
        f"SELECT count(*), coalesce(bool_and(CASE WHEN given.at IS NOT NULL THEN given.at < %s "
        f"WHEN m.account_no = %s THEN true ELSE {covered} END), false) FROM membership m "
        "JOIN participant p ON p.account_no = m.account_no JOIN reader own ON own.address = p.id "
        "LEFT JOIN (SELECT r.account_no, min(a.acked_at) AS at FROM ack a JOIN reader r "
        "ON r.reader_no = a.reader_no WHERE a.box_no = %s AND a.pos = %s GROUP BY r.account_no) given "
        "ON given.account_no = m.account_no WHERE m.box_no = %s"
    )
    row = db.execute(sql, (before, sender_account, pos, pos, box_no, pos, box_no)).fetchone()
    assert row is not None
    return row[0], row[1]
