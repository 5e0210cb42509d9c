"""Full text: filled behind the sends, asked with the reader's present boxes.

The index is contentless: it holds words and positions, no text. A message is deleted from it with the words
that it was indexed with.
"""

import json
import sqlite3

from mail4agent_api.mail import ParticipantAddress
from mail4agent_core.mail.records import SearchQuery
from mail4agent_core.mail.wire import cut
from mail4agent_core.mail.words import words_of

from .people import NOBODY, find_reader

Connection = sqlite3.Connection

#: How much one step indexes, so that a send never waits long behind it: messages, and bytes of them.
STEP = 100
STEP_BYTES = 262_144
WATERMARK = "indexed"
_INSERT = "INSERT INTO found (rowid, scope, subject, body) VALUES (?, ?, ?, ?)"
_DELETE = "INSERT INTO found (found, rowid, scope, subject, body) VALUES ('delete', ?, ?, ?, ?)"


def watermark(db: Connection) -> int:
    """The position up to which messages are indexed."""
    row = db.execute("SELECT value FROM number WHERE name = ?", (WATERMARK,)).fetchone()
    return 0 if row is None else row[0]


def index_step(db: Connection, step: int = STEP) -> bool:
    """Index the next messages; True when more may wait."""
    mark = watermark(db)
    sql = "SELECT pos, box_no, wire FROM message WHERE pos > ? ORDER BY pos LIMIT ?"
    count = size = 0
    for pos, box_no, wire in db.execute(sql, (mark, step)):
        db.execute(_INSERT, _document(pos, box_no, wire))
        mark, count, size = pos, count + 1, size + len(wire)
        if size > STEP_BYTES:
            break
    if count:
        db.execute("INSERT OR REPLACE INTO number VALUES (?, ?)", (WATERMARK, mark))
    return count == step or size > STEP_BYTES


def _document(pos: int, box_no: int, wire: bytes) -> tuple[int, str, str, str]:
    message = json.loads(wire)
    return pos, f"b{box_no}", " ".join(words_of(message["subject"])), " ".join(words_of(message["body"]))


def forget(db: Connection, pos: int, box_no: int, wire: bytes) -> None:
    """Delete a message from the index."""
    if pos <= watermark(db):
        db.execute(_DELETE, _document(pos, box_no, wire))


def newest_pos(db: Connection) -> int:
    """The position of the newest message of all, 0 when there is none."""
    return db.execute("SELECT coalesce(max(pos), 0) FROM message").fetchone()[0]


def behind(db: Connection, pos: int) -> bool:
    """Whether messages up to a position wait to be indexed."""
    sql = "SELECT EXISTS (SELECT 1 FROM message WHERE pos > ? AND pos <= ?)"
    return bool(db.execute(sql, (watermark(db), pos)).fetchone()[0])


def search(
    db: Connection, address: ParticipantAddress, query: SearchQuery, high: int, max_bytes: int
) -> list[bytes]:
    """The reader's messages that hold every phrase, newest first."""
    reader = find_reader(db, address)
    if reader is None:
        return []
    sql = "SELECT box_no FROM membership WHERE account_no = ? UNION ALL SELECT ?"
    boxes = {row[0] for row in db.execute(sql, (reader.account_no, reader.session_box))} - {NOBODY}
    if query.room is not None:
        row = db.execute("SELECT box_no FROM room WHERE id = ?", (query.room,)).fetchone()
        boxes &= set(row or ())
    if not boxes:
        return []
    # A word holds letters, digits and their marks alone: quoted, none is read as an operator or a column.
    phrases = " AND ".join('"' + " ".join(phrase) + '"' for phrase in query.phrases)
    scope = " OR ".join(f"b{box_no}" for box_no in sorted(boxes))
    match = f"scope : ({scope}) AND {{subject body}} : ({phrases})"
    where, values = "", list[object]()
    if query.sent_by is not None:
        where = "AND m.account_no = (SELECT account_no FROM participant WHERE id = ?)"
        values.append(query.sent_by)
    sql = (
        "SELECT m.wire FROM found f CROSS JOIN message m ON m.pos = f.rowid "
        f"WHERE found MATCH ? AND f.rowid < ? {where} ORDER BY f.rowid DESC LIMIT ?"
    )
    rows = db.execute(sql, (match, high, *values, query.limit))
    return cut((row[0] for row in rows), query.limit, max_bytes)
