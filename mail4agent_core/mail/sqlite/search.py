"""Full text: filled behind the sends, asked with the reader's present boxes.

The index is contentless: it holds words and positions, no text. A message is deleted from it with the text that it was indexed with.
"""

import json
import sqlite3
from typing import Any

from mail4agent_api.mail import ParticipantAddress

from ..store import SearchQuery
from .people import NOBODY, find_reader

Connection = sqlite3.Connection

#: How many messages one step indexes, so that a send never waits long behind it.
STEP = 100
WATERMARK = "indexed"
_INSERT = "INSERT INTO found (rowid, scope, subject, body) VALUES (?, ?, ?, ?)"


def watermark(db: Connection) -> int:
    """The position up to which messages are indexed."""
    row = db.execute("SELECT value FROM number WHERE name = ?", (WATERMARK,)).fetchone()
    return 0 if row is None else row[0]


def index_step(db: Connection, step: int = STEP) -> bool:
    """Index the next messages; True when more wait."""
    rows = db.execute("SELECT pos, box_no, wire FROM message WHERE pos > ? ORDER BY pos LIMIT ?", (watermark(db), step)).fetchall()
    db.executemany(_INSERT, [_document(*row) for row in rows])
    if rows:
        db.execute("INSERT OR REPLACE INTO number VALUES (?, ?)", (WATERMARK, rows[-1][0]))
    return len(rows) == step


def _document(pos: int, box_no: int, wire: bytes) -> tuple[int, str, Any, Any]:
    message = json.loads(wire)
    return pos, f"b{box_no}", message["subject"], message["body"]


def forget(db: Connection, pos: int, box_no: int, wire: bytes) -> None:
    """Delete a message from the index."""
    if pos <= watermark(db):
        db.execute("INSERT INTO found (found, rowid, scope, subject, body) VALUES ('delete', ?, ?, ?, ?)", _document(pos, box_no, wire))


def behind(db: Connection) -> bool:
    """Whether messages wait to be indexed."""
    return bool(db.execute("SELECT EXISTS (SELECT 1 FROM message WHERE pos > ?)", (watermark(db),)).fetchone()[0])


def search(db: Connection, address: ParticipantAddress, query: SearchQuery, high: int) -> list[bytes]:
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
    # Each phrase holds letters and digits alone (``engine.phrases_of``): quoted, none is read as an operator or a column.
    phrases = " AND ".join('"' + " ".join(phrase) + '"' for phrase in query.phrases)
    match = f"scope : ({' OR '.join(f'b{box_no}' for box_no in sorted(boxes))}) AND {{subject body}} : ({phrases})"
    where, values = "", list[object]()
    if query.sent_by is not None:
        where = "AND m.account_no = (SELECT account_no FROM participant WHERE id = ?)"
        values.append(query.sent_by)
    sql = f"SELECT m.wire FROM found f CROSS JOIN message m ON m.pos = f.rowid WHERE found MATCH ? AND f.rowid < ? {where} ORDER BY f.rowid DESC LIMIT ?"
    return [row[0] for row in db.execute(sql, (match, high, *values, query.limit))]
