"""Mailboxes of a thousand to ten million messages, made once and kept between runs.

The first thousand messages are the store's own ``post``, the others are written as it would write them
(``offline``), and up to a million all are checked as ``mail4agent doctor`` checks a database. Each is a data
folder of the daemon with the accounts ``writer`` and ``reader``, kept in the system's folder for temporary
files.
"""

import hashlib
import os
import random
import shutil
import sqlite3
import tempfile
from contextlib import closing
from pathlib import Path
from time import perf_counter

import offline

from mail4agent_api.mail import DirectAddress, ParticipantId, Position, SendRequest
from mail4agent_core.clock import SystemClock
from mail4agent_core.ids import RandomIds, digest_of
from mail4agent_core.mail.posting import posting_of
from mail4agent_core.mail.sqlite import SqliteStore
from mail4agent_core.mail.sqlite.posting import id_text
from mail4agent_core.mail.sqlite.schema import connect_writer, migrations
from mail4agent_core.mail.sqlite.search import WATERMARK, index_step
from mail4agent_core.mail.sqlite.verify import verify
from mail4agent_core.mail.store import Registry
from mail4agent_core.mail.wire import position

SIZES = (1_000, 100_000, 1_000_000)
WRITER_SECRET, READER_SECRET = "77" * 32, "72" * 32
READER = DirectAddress(participant=ParticipantId("reader"))
WRITER = DirectAddress(participant=ParticipantId("writer"))
#: How many messages are posted.
POSTED = 1_000
#: Larger ones are not filled into the index for search and not checked whole: either takes minutes.
CHECKED_MAX = 1_000_000
BODY_CHARS = 400
#: Bodies of a mailbox that would otherwise fill the disk.
SHORT_CHARS = 40
#: A position that is used has at least so many messages after it.
PAGE_MAX = 50
_TEXT = "figures of the week are in and the build of branch seven waits for review by who is free today"


def kept() -> Path:
    """Where mailboxes are kept; another database schema has another folder."""
    schema = hashlib.sha256("".join(sql for _, sql in migrations()).encode()).hexdigest()[:12]
    return Path(tempfile.gettempdir()) / f"mail4agent-bench-{os.getuid()}-{schema}"


async def mailbox(size: int, chars: int = BODY_CHARS) -> Path:
    """The data folder with ``size`` messages of so many characters to ``reader``, made when there is none."""
    name = str(size) if chars == BODY_CHARS else f"{size}-of-{chars}"
    home = kept() / name
    if not home.exists():
        begun = perf_counter()
        partial = kept() / f"{name}.partial"
        shutil.rmtree(partial, ignore_errors=True)
        partial.mkdir(mode=0o700, parents=True)
        await _fill(partial / "mail.sqlite3", size, chars)
        findings = verify(partial / "mail.sqlite3") if size <= CHECKED_MAX else []
        if findings:
            raise RuntimeError(f"the mailbox of {size} messages is not sound: {findings}")
        partial.rename(home)
        took = perf_counter() - begun
        print(
            f"made a mailbox of {size:,} messages of {chars} characters in {took:.0f} s: {home}", flush=True
        )
    return home


class _Earlier:
    """A clock before the time of the messages that are written after it, one a millisecond."""

    def __init__(self, size: int) -> None:
        self._since_ms = size + 3_600_000

    def now_ms(self) -> int:
        return SystemClock().now_ms() - self._since_ms


async def _fill(path: Path, size: int, chars: int) -> None:
    ids = RandomIds()
    store = await SqliteStore.open(path, _Earlier(size))
    try:
        await store.change(_register)
        postings = [posting_of(WRITER, _request(n, chars), ids.message_id()) for n in range(POSTED)]
        outcomes = await store.post(postings)
        if len(outcomes) != POSTED or any(isinstance(each, Exception) for each in outcomes):
            raise RuntimeError("a posting was refused")
    finally:
        await store.close()
    if size > POSTED:
        offline.grow(path, size, chars)
    _index(path, whole=size <= CHECKED_MAX)


def _register(registry: Registry) -> None:
    now = SystemClock().now_ms()
    for name, secret in (("writer", WRITER_SECRET), ("reader", READER_SECRET)):
        registry.add_account(
            ParticipantId(name), None, digest_of(secret), frozenset(("mail:send", "mail:read")), now
        )


def _request(number: int, chars: int) -> SendRequest:
    words = _TEXT.split()
    turn = number % len(words)
    sentence = " ".join((*words[turn:], *words[:turn], f"n{number % 1000}."))
    body = (f"{sentence} " * (chars // len(sentence) + 1))[:chars]
    return SendRequest(to=READER, subject=f"Figures {number}", body=body)


def _index(path: Path, *, whole: bool) -> None:
    """Do at once what the daemon does in its idle moments, so that it is idle when it is measured.

    Not ``whole``: leave the index empty, and have nothing wait for it.
    """
    db = connect_writer(path)
    try:
        if not whole:
            sql = "INSERT OR REPLACE INTO number SELECT ?, max(pos) FROM message"
            db.execute(sql, (WATERMARK,))
        more = True
        while more:
            db.execute("BEGIN IMMEDIATE")
            more = index_step(db, 10_000)
            db.execute("COMMIT")
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    finally:
        db.close()


def some_positions(home: Path, count: int) -> list[Position]:
    """Positions spread over a mailbox, each with a full page after it; the same ones on each call."""
    with _opened(home) as db:
        found = [row[0] for row in db.execute("SELECT pos FROM message ORDER BY pos")]
        chosen = random.Random(len(found)).choices(found[:-PAGE_MAX], k=count)
        return [_position(db, pos) for pos in chosen]


def last_position(home: Path) -> Position:
    """The newest message's position."""
    with _opened(home) as db:
        return _position(db, db.execute("SELECT max(pos) FROM message").fetchone()[0])


def _opened(home: Path) -> closing[sqlite3.Connection]:
    return closing(sqlite3.connect(f"{(home / 'mail.sqlite3').as_uri()}?mode=ro", uri=True))


def _position(db: sqlite3.Connection, pos: int) -> Position:
    return position(
        pos, id_text(db.execute("SELECT message_id FROM message WHERE pos = ?", (pos,)).fetchone()[0])
    )
