"""Listeners and their rings, within one transaction."""

import sqlite3
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from heapq import merge
from itertools import islice

from mail4agent_api.addresses import participant_of, text_of
from mail4agent_api.mail import ListenerState, ParticipantAddress, ParticipantId
from mail4agent_core.mail.doorbells import (
    FAILED_LEAST,
    KEEP_MS,
    OF_THE_MESSAGE,
    OUTSTANDING_MAX,
    PAUSE_MAX_MS,
    STEP,
    Attempt,
    Doorbell,
    Ring,
    Turn,
    is_rung,
    may_hear,
)
from mail4agent_core.mail.wire import first_of

from .writer import Transaction

Connection = sqlite3.Connection

_DOORBELL = (
    "SELECT l.listener_no, l.owner, l.url, l.key, l.uid, l.outstanding, l.rung, l.given_up, l.last_rung_at, "
    "l.last_failed_at, l.failure, l.failures, l.failing_since, l.due_at FROM listener l"
)
#: What a listener that is taken for one that was just set has.
_FORGIVEN = "failure = NULL, failures = 0, failing_since = NULL, due_at = 0"


def _doorbell(row: tuple[object, ...]) -> Doorbell:
    number, owner, *rest = row
    return Doorbell(number, participant_of(str(owner)), *rest)  # pyright: ignore[reportArgumentType]


def doorbells_of(db: Connection, account: ParticipantId) -> list[Doorbell]:
    """An account's listener, then its sessions'."""
    sql = (
        f"{_DOORBELL} WHERE l.account_no = (SELECT account_no FROM participant WHERE id = ?) ORDER BY l.owner"
    )
    return [_doorbell(row) for row in db.execute(sql, (account,))]


def set_listener(
    db: Connection, owner: ParticipantAddress, url: str, key: str | None, uid: int | None
) -> None:
    """Make or replace the listener of an owner whose account is registered."""
    sql = (
        "INSERT INTO listener (owner, account_no, url, key, uid, cursor) "
        "VALUES (?, (SELECT account_no FROM participant WHERE id = ?), ?, ?, ?, "
        "(SELECT coalesce(max(pos), 0) FROM message)) "
        "ON CONFLICT (owner) DO UPDATE SET url = excluded.url, key = excluded.key, uid = excluded.uid, "
        + _FORGIVEN
    )
    db.execute(sql, (text_of(owner), owner.participant, url, key, uid))


def retry(db: Connection, owner: ParticipantAddress) -> None:
    """Take a listener for one that was just set."""
    db.execute(f"UPDATE listener SET {_FORGIVEN} WHERE owner = ?", (text_of(owner),))


def listeners(db: Connection, state: ListenerState, after: str | None, limit: int) -> list[Doorbell]:
    """The listeners of a state behind an owner, by their owners."""
    sql = f"{_DOORBELL} WHERE l.owner > ? AND {_of(state)} ORDER BY l.owner LIMIT ?"
    return [_doorbell(row) for row in db.execute(sql, (after or "", FAILED_LEAST[state], limit))]


def count(db: Connection, state: ListenerState) -> int:
    """How many listeners are of a state."""
    sql = f"SELECT count(*) FROM listener l WHERE {_of(state)}"
    return db.execute(sql, (FAILED_LEAST[state],)).fetchone()[0]


def _of(state: ListenerState) -> str:
    """What holds of a state's listeners; those that fail have an index of their own."""
    return f"{'' if state == 'all' else 'l.failures > 0 AND '}l.failures >= ?"


def drop_listener(db: Connection, owner: ParticipantAddress) -> None:
    """Delete an owner's listener with its rings."""
    _drop(db, db.execute("SELECT listener_no FROM listener WHERE owner = ?", (text_of(owner),)).fetchall())


def drop_listeners_of(db: Connection, account_no: int) -> None:
    """Delete the listeners of an account and its sessions."""
    _drop(db, db.execute("SELECT listener_no FROM listener WHERE account_no = ?", (account_no,)).fetchall())


def _drop(db: Connection, numbers: list[tuple[int]]) -> None:
    for number in numbers:
        for table in ("ring", "listener_floor", "listener"):
            db.execute(f"DELETE FROM {table} WHERE listener_no = ?", number)


def joined(db: Connection, account_no: int, box_no: int) -> None:
    """Keep an account's listeners from what stands in a room that it joins."""
    sql = (
        "INSERT OR REPLACE INTO listener_floor SELECT l.listener_no, b.box_no, b.last_pos "
        "FROM listener l JOIN box b ON b.box_no = ? WHERE l.account_no = ?"
    )
    db.execute(sql, (box_no, account_no))


def owners(db: Connection) -> list[str]:
    """The owners of every listener."""
    return [row[0] for row in db.execute("SELECT owner FROM listener ORDER BY owner")]


def listening_to(db: Connection, boxes: Collection[str]) -> list[str]:
    """The owners whose listeners are told of mail in any of the boxes."""
    found: set[str] = set()
    in_room = (
        "SELECT l.owner FROM box b JOIN membership m ON m.box_no = b.box_no "
        "JOIN listener l ON l.account_no = m.account_no WHERE b.address = ?"
    )
    of_account = "SELECT owner FROM listener WHERE owner = :account OR (owner > :first AND owner < :last)"
    for box in boxes:
        account, slash, _ = box.partition("/")
        if box.startswith("#"):
            found |= {row[0] for row in db.execute(in_room, (box,))}
        elif slash:
            # A session's mail is for its own listener and its account's.
            found |= {
                row[0]
                for row in db.execute("SELECT owner FROM listener WHERE owner IN (?, ?)", (account, box))
            }
        else:
            named = {"account": box, "first": f"{box}/", "last": f"{box}0"}
            found |= {row[0] for row in db.execute(of_account, named)}
    return sorted(found)


@dataclass(slots=True)
class _Bell:
    """A listener's row, and its account."""

    doorbell: Doorbell
    account_no: int
    cursor: int
    due_at: int
    hears: bool


def _bell(db: Connection, owner: str) -> _Bell | None:
    sql = (
        f"{_DOORBELL.replace(' FROM listener l', '')}, l.account_no, l.cursor, l.due_at, p.capabilities, "
        "p.secret_digest IS NOT NULL FROM listener l JOIN participant p ON p.account_no = l.account_no "
        "WHERE l.owner = ?"
    )
    row = db.execute(sql, (owner,)).fetchone()
    if row is None:
        return None
    *first, account_no, cursor, due_at, capabilities, has_secret = row
    hears = "/" not in owner or may_hear(frozenset(capabilities.split()), has_secret=bool(has_secret))
    return _Bell(_doorbell(tuple(first)), account_no, cursor, due_at, hears)


def next_ring(transaction: Transaction, owner: str, attempt: Attempt | None, now: int) -> Turn | None:
    """As ``DoorbellStore.next_ring`` says."""
    db = transaction.db
    bell = _bell(db, owner)
    if bell is None:
        return None
    number = bell.doorbell.number
    if attempt is not None and attempt.counts_for(bell.doorbell):
        _note(db, attempt)
    oldest = first_of(max(now - KEEP_MS, 0))
    more = _look_over(transaction, owner, bell, oldest)
    bell = _bell(db, owner)
    assert bell is not None
    # A clock that was set back does not silence a listener.
    if now < bell.due_at <= now + PAUSE_MAX_MS:
        return Turn(due_at=bell.due_at if bell.doorbell.outstanding or more else None)
    for _ in range(STEP):
        sql = (
            "SELECT r.attempts, r.pos, m.wire, m.box_no FROM ring r LEFT JOIN message m ON m.pos = r.pos "
            "WHERE r.listener_no = ? ORDER BY r.attempts, r.pos LIMIT 1"
        )
        row = db.execute(sql, (number,)).fetchone()
        if row is None:
            return Turn(due_at=now if more else None)
        attempts, pos, wire, box_no = row
        wanted = wire is not None and bell.hears and _reads(db, owner, bell.account_no, box_no)
        if wire is not None and wanted and pos >= oldest:
            return Turn(ring=Ring(bell.doorbell, pos, attempts, wire))
        db.execute("DELETE FROM ring WHERE (listener_no, attempts, pos) = (?, ?, ?)", (number, attempts, pos))
        sql = (
            "UPDATE listener SET outstanding = outstanding - 1, given_up = given_up + ? WHERE listener_no = ?"
        )
        db.execute(sql, (wanted, number))
    return Turn(due_at=now)


def _note(db: Connection, attempt: Attempt) -> None:
    """Take note of what became of a ring."""
    number = attempt.ring.doorbell.number
    place = (number, attempt.ring.attempts, attempt.ring.pos)
    if attempt.failure is None:
        gone = db.execute("DELETE FROM ring WHERE (listener_no, attempts, pos) = (?, ?, ?)", place).rowcount
        sql = (
            "UPDATE listener SET outstanding = outstanding - ?, rung = rung + ?, last_rung_at = ?, "
            f"{_FORGIVEN} WHERE listener_no = ?"
        )
        db.execute(sql, (gone, gone, attempt.at, number))
        return
    if attempt.failure in OF_THE_MESSAGE:
        sql = "UPDATE ring SET attempts = attempts + 1 WHERE (listener_no, attempts, pos) = (?, ?, ?)"
        db.execute(sql, place)
    sql = (
        "UPDATE listener SET last_failed_at = ?, failure = ?, failures = failures + 1, due_at = ?, "
        "failing_since = coalesce(failing_since, ?) WHERE listener_no = ?"
    )
    db.execute(sql, (attempt.at, attempt.failure, attempt.retry_at, attempt.at, number))


def _look_over(transaction: Transaction, owner: str, bell: _Bell, oldest: int) -> bool:
    """Make rings of the next messages behind the cursor; whether more may stand there."""
    db, number = transaction.db, bell.doorbell.number
    (outstanding,) = db.execute(
        "SELECT outstanding FROM listener WHERE listener_no = ?", (number,)
    ).fetchone()
    step = min(STEP, OUTSTANDING_MAX - outstanding)
    if step <= 0:
        return True
    found = list(islice(merge(*_behind(db, owner, bell, step)), step))
    cursor = found[-1].pos if len(found) == step else transaction.last_pos
    if cursor <= bell.cursor:
        return False
    wanted = [
        each.pos
        for each in found
        if bell.hears
        and is_rung(owner, each.box, each.sender, same_account=each.account_no == bell.account_no)
    ]
    fresh = [pos for pos in wanted if pos >= oldest]
    db.executemany("INSERT INTO ring VALUES (?, 0, ?)", [(number, pos) for pos in fresh])
    sql = (
        "UPDATE listener SET cursor = ?, outstanding = outstanding + ?, given_up = given_up + ? "
        "WHERE listener_no = ?"
    )
    db.execute(sql, (cursor, len(fresh), len(wanted) - len(fresh), number))
    db.execute("DELETE FROM listener_floor WHERE listener_no = ? AND pos <= ?", (number, cursor))
    return len(found) == step


@dataclass(frozen=True, slots=True, order=True)
class _Candidate:
    """A message behind the cursor."""

    pos: int
    box: str
    sender: str | None
    account_no: int


def _behind(db: Connection, owner: str, bell: _Bell, limit: int) -> list[Iterator[_Candidate]]:
    """The next messages behind the cursor, each box of the owner by itself."""
    number = bell.doorbell.number
    own = "SELECT box_no FROM box WHERE address = :owner"
    if "/" not in owner:
        own = (
            "SELECT box_no FROM box INDEXED BY box_session WHERE instr(address, '/') > 0 "
            "AND substr(address, 1, instr(address, '/') - 1) = :owner AND last_pos > :cursor"
        )
    sql = (
        "SELECT b.box_no, b.address, max(:cursor, coalesce(f.pos, 0)) FROM "
        f"(SELECT box_no FROM membership WHERE account_no = :account UNION ALL {own}) mine "
        "CROSS JOIN box b ON b.box_no = mine.box_no "
        "LEFT JOIN listener_floor f ON f.listener_no = :number AND f.box_no = b.box_no "
        "WHERE b.last_pos > max(:cursor, coalesce(f.pos, 0))"
    )
    named = {"owner": owner, "account": bell.account_no, "cursor": bell.cursor, "number": number}
    boxes = db.execute(sql, named).fetchall()
    messages = (
        "SELECT m.pos, r.address, m.account_no FROM message m INDEXED BY message_box "
        "LEFT JOIN reader r ON r.reader_no = m.sender_no WHERE m.box_no = ? AND m.pos > ? "
        "ORDER BY m.pos LIMIT ?"
    )
    return [
        iter([_Candidate(pos, box, sender, account_no) for pos, sender, account_no in rows])
        for rows, box in (
            (db.execute(messages, (box_no, low, limit)).fetchall(), box) for box_no, box, low in boxes
        )
    ]


def _reads(db: Connection, owner: str, account_no: int, box_no: int) -> bool:
    """Whether a message in a box is still one to tell an owner of."""
    sql = (
        "SELECT EXISTS (SELECT 1 FROM membership WHERE account_no = ? AND box_no = ?) OR EXISTS "
        "(SELECT 1 FROM box WHERE box_no = ? AND (address = ? OR instr(address, ?) = 1))"
    )
    return bool(db.execute(sql, (account_no, box_no, box_no, owner, f"{owner}/")).fetchone()[0])
