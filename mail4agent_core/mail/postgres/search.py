"""Full text: hashes of the words, filled behind the sends, asked with the reader's present boxes.

A hash stands for its word in an index whose entries are bounded, whatever strangers write. What it finds is
compared with the words of the message itself.
"""

import json
import zlib
from collections.abc import Iterator, Sequence

from mail4agent_api.mail import ParticipantAddress
from mail4agent_core.mail.records import SearchQuery
from mail4agent_core.mail.wire import cut
from mail4agent_core.mail.words import words_of

from .connection import Database, columns
from .people import NOBODY, find_reader

#: How much one step indexes, so that a send never waits long behind it: messages, and bytes of them.
STEP = 100
STEP_BYTES = 262_144
WATERMARK = "indexed"
#: How many messages are compared at a time.
COMPARED = 64


def watermark(db: Database) -> int:
    """The position up to which messages are indexed."""
    row = db.execute("SELECT value FROM number WHERE name = %s", (WATERMARK,)).fetchone()
    return 0 if row is None else row[0]


def index_step(db: Database) -> bool:
    """Index the next messages; True when more may wait."""
    mark = watermark(db)
    sql = "SELECT pos, box_no, wire FROM message WHERE pos > %s ORDER BY pos LIMIT %s"
    rows: list[tuple[int, int, str]] = []
    size = 0
    for pos, box_no, wire in db.execute(sql, (mark, STEP)).fetchall():
        subject, body = _texts(wire)
        hashes = {_hash(word) for word in (*subject, *body)}
        rows.append((box_no, pos, f"{{{','.join(map(str, hashes))}}}"))
        size += len(wire)
        if size > STEP_BYTES:
            break
    if rows:
        sql = (
            "INSERT INTO found SELECT box_no, pos, words::int[] "
            "FROM unnest(%b::bigint[], %b::bigint[], %b::text[]) w (box_no, pos, words)"
        )
        db.execute(sql, columns(rows, 3))
        sql = "INSERT INTO number VALUES (%s, %s) ON CONFLICT (name) DO UPDATE SET value = excluded.value"
        db.execute(sql, (WATERMARK, rows[-1][1]))
    return len(rows) == STEP or size > STEP_BYTES


def _hash(word: str) -> int:
    """A number of 32 bits with a sign, as the index holds them."""
    unsigned = zlib.crc32(word.encode())
    return unsigned - (1 << 32) if unsigned >= 1 << 31 else unsigned


def _texts(wire: bytes) -> tuple[tuple[str, ...], tuple[str, ...]]:
    message = json.loads(wire)
    return words_of(message["subject"]), words_of(message["body"])


def newest_pos(db: Database) -> int:
    """The position of the newest message of all, 0 when there is none."""
    row = db.execute("SELECT pos FROM message ORDER BY pos DESC LIMIT 1").fetchone()
    return 0 if row is None else row[0]


def behind(db: Database, pos: int) -> bool:
    """Whether messages up to a position wait to be indexed."""
    sql = "SELECT 1 FROM message WHERE pos > %s AND pos <= %s LIMIT 1"
    return db.execute(sql, (watermark(db), pos)).fetchone() is not None


def search(
    db: Database, address: ParticipantAddress, query: SearchQuery, high: int, max_bytes: int
) -> list[bytes]:
    """The reader's messages that hold every phrase, newest first."""
    reader = find_reader(db, address)
    if reader is None:
        return []
    sql = "SELECT box_no FROM membership WHERE account_no = %s UNION ALL SELECT %s::bigint"
    boxes = {row[0] for row in db.execute(sql, (reader.account_no, reader.session_box))} - {NOBODY}
    if query.room is not None:
        row = db.execute("SELECT box_no FROM room WHERE id = %s", (query.room,)).fetchone()
        boxes &= set(row or ())
    if not boxes:
        return []
    return cut(_holding(db, sorted(boxes), query, high), query.limit, max_bytes)


def _holding(db: Database, boxes: Sequence[int], query: SearchQuery, high: int) -> Iterator[bytes]:
    # The index of the words is of the kind that is read in no other way.
    db.command("SET LOCAL enable_bitmapscan = on")
    hashes = sorted({_hash(word) for phrase in query.phrases for word in phrase})
    where, values = "", list[object]()
    if query.sent_by is not None:
        where = "AND m.account_no = (SELECT account_no FROM participant WHERE id = %s) "
        values.append(query.sent_by)
    sql = (
        "SELECT m.pos, m.wire FROM found f JOIN message m ON m.box_no = f.box_no AND m.pos = f.pos "
        f"WHERE f.box_no = ANY(%b::bigint[]) AND f.words @> %b::int[] AND f.pos < %s {where}"
        "ORDER BY f.pos DESC LIMIT %s"
    )
    while True:
        rows = db.execute(sql, (boxes, hashes, high, *values, COMPARED)).fetchall()
        for _, wire in rows:
            texts = _texts(wire)
            if all(any(_occurs(phrase, text) for text in texts) for phrase in query.phrases):
                yield wire
        if len(rows) < COMPARED:
            return
        high = rows[-1][0]


def _occurs(phrase: tuple[str, ...], text: tuple[str, ...]) -> bool:
    last = len(text) - len(phrase)
    return any(text[at : at + len(phrase)] == phrase for at in range(last + 1) if text[at] == phrase[0])
