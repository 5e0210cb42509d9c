"""Mail written straight into a closed store file: a million messages in seconds, ten million in minutes.

What is written is what the store writes for direct messages without keys, replies or sessions: the rows of
``message`` with their encoding, the counts of the box and of the flow. The last one is compared with what the
codec makes of it, and ``verify`` compares all of them with their rows and counters.
"""

import sqlite3
from contextlib import closing
from pathlib import Path

from mail4agent_api.codec import decode, encode
from mail4agent_api.mail import Message
from mail4agent_core.mail.flow import SLOT_MS, slot_of
from mail4agent_core.mail.wire import COUNT_BITS

#: Rows of a statement: they are held in memory until their ids have been used twice.
STEP = 100_000
_ROWS = f"""
INSERT INTO message
WITH RECURSIVE step (k) AS (VALUES (:first) UNION ALL SELECT k + 1 FROM step WHERE k < :last),
fresh AS MATERIALIZED (SELECT k, randomblob(12) AS id, :base + (k << {COUNT_BITS}) AS pos FROM step)
SELECT pos, id, :box, :sender, :account, pos, NULL, CAST(
    '{{"message_id":"m4a_' || lower(hex(id)) || '","from":{{"kind":"direct","participant":"writer"}},'
    || '"to":{{"kind":"direct","participant":"reader"}},"subject":"Figures ' || k || '","body":"'
    || substr(replace(:text, '@', 'n' || (k % 1000)), 1 + k % 9, :chars)
    || '","reply_to":null,"correlation":null,"refs":[],"created_at_unix_ms":' || (pos >> {COUNT_BITS}) || '}}'
AS BLOB) FROM fresh
"""
_TEXT = "the figures of the week are in and the build of branch seven waits for review by who is free @. "


def grow(path: Path, size: int, chars: int) -> None:
    """Add messages from ``writer`` to ``reader``, one a millisecond, until ``reader`` has ``size``."""
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        for pragma in ("journal_mode = OFF", "synchronous = OFF", "cache_size = -1000000", "threads = 2"):
            db.execute(f"PRAGMA {pragma}")
        sql = "SELECT box_no, n, last_pos FROM box WHERE address = 'reader'"
        box, standing, base = db.execute(sql).fetchone()
        sender, account = db.execute(
            "SELECT reader_no, account_no FROM reader WHERE address = 'writer'"
        ).fetchone()
        indexes = db.execute(
            "SELECT name, sql FROM sqlite_master "
            "WHERE tbl_name = 'message' AND type = 'index' AND sql IS NOT NULL"
        ).fetchall()
        for name, _ in indexes:
            db.execute(f"DROP INDEX {name}")
        count = size - standing
        values = {"base": base, "box": box, "sender": sender, "account": account, "chars": chars}
        text = _TEXT * (chars // (len(_TEXT) - 1) + 2)
        for first in range(1, count + 1, STEP):
            last = min(first + STEP - 1, count)
            db.execute(_ROWS, {**values, "first": first, "last": last, "text": text})
        for _, sql in indexes:
            db.execute(sql)
        _count(db, box, account, base)
        db.execute("PRAGMA journal_mode = WAL")
        (wire,) = db.execute("SELECT wire FROM message ORDER BY pos DESC LIMIT 1").fetchone()
    if encode(decode(Message, wire)) != wire:
        raise RuntimeError("the codec would have written something else")


def _count(db: sqlite3.Connection, box: int, account: int, base: int) -> None:
    """What posting counts besides."""
    last = db.execute("SELECT max(pos) FROM message").fetchone()[0]
    n = db.execute("SELECT count(*) FROM message WHERE box_no = ?", (box,)).fetchone()[0]
    db.execute("UPDATE box SET n = ?, last_pos = ? WHERE box_no = ?", (n, last, box))
    slot = slot_of(base)
    while slot <= slot_of(last):
        sql = (
            "INSERT INTO flow SELECT ?, ?, ?, count(*), max(pos) FROM message WHERE pos >= ? AND pos < ? "
            "HAVING count(*) > 0 ON CONFLICT DO UPDATE SET messages = excluded.messages, "
            "last_pos = excluded.last_pos"
        )
        db.execute(sql, (slot, account, box, first_of_slot(slot), first_of_slot(slot + 1)))
        slot += 1


def first_of_slot(slot: int) -> int:
    """The first position of a slot."""
    return slot * SLOT_MS << COUNT_BITS
