"""Listeners and their rings, within one transaction."""

from collections.abc import Collection
from dataclasses import dataclass

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

from .batch import Transaction
from .connection import Database, columns

#: How long a daemon has a listener to itself from each ring on, in seconds: longer than a ring takes.
LEASE_SECS = 20

_DOORBELL = (
    "SELECT l.listener_no, l.owner, l.url, l.key, l.uid, l.outstanding, l.rung, l.given_up, l.last_rung_at, "
    "l.last_failed_at, l.failure, l.failures, l.failing_since, l.due_at FROM listener l"
)
#: What a listener that is taken for one that was just set has.
_FORGIVEN = "failure = NULL, failures = 0, failing_since = NULL, due_at = 0"


def _doorbell(row: tuple[object, ...]) -> Doorbell:
    number, owner, *rest = row
    return Doorbell(number, participant_of(str(owner)), *rest)  # pyright: ignore[reportArgumentType]


def doorbells_of(db: Database, account: ParticipantId) -> list[Doorbell]:
    """An account's listener, then its sessions'."""
    sql = (
        f"{_DOORBELL} WHERE l.account_no = (SELECT account_no FROM participant WHERE id = %s) "
        "ORDER BY l.owner"
    )
    return [_doorbell(row) for row in db.execute(sql, (account,))]


def set_listener(db: Database, owner: ParticipantAddress, url: str, key: str | None, uid: int | None) -> None:
    """Make or replace the listener of an owner whose account is registered."""
    sql = (
        "INSERT INTO listener (owner, account_no, url, key, uid, cursor) "
        "VALUES (%s, (SELECT account_no FROM participant WHERE id = %s), %s, %s, %s, "
        "(SELECT pos FROM clock WHERE one = 1)) "
        "ON CONFLICT (owner) DO UPDATE SET url = excluded.url, key = excluded.key, uid = excluded.uid, "
        + _FORGIVEN
    )
    db.execute(sql, (text_of(owner), owner.participant, url, key, uid))


def retry(db: Database, owner: ParticipantAddress) -> None:
    """Take a listener for one that was just set."""
    db.execute(f"UPDATE listener SET {_FORGIVEN} WHERE owner = %s", (text_of(owner),))


def listeners(db: Database, state: ListenerState, after: str | None, limit: int) -> list[Doorbell]:
    """The listeners of a state behind an owner, by their owners."""
    sql = f"{_DOORBELL} WHERE l.owner > %s AND {_of(state)} ORDER BY l.owner LIMIT %s"
    return [_doorbell(row) for row in db.execute(sql, (after or "", FAILED_LEAST[state], limit))]


def count(db: Database, state: ListenerState) -> int:
    """How many listeners are of a state."""
    sql = f"SELECT count(*) FROM listener l WHERE {_of(state)}"
    row = db.execute(sql, (FAILED_LEAST[state],)).fetchone()
    assert row is not None
    return row[0]


def _of(state: ListenerState) -> str:
    """What holds of a state's listeners; those that fail have an index of their own."""
    return f"{'' if state == 'all' else 'l.failures > 0 AND '}l.failures >= %s"


def drop_listener(db: Database, owner: ParticipantAddress) -> None:
    """Delete an owner's listener with its rings."""
    _drop(db, db.execute("SELECT listener_no FROM listener WHERE owner = %s", (text_of(owner),)).fetchall())


def drop_listeners_of(db: Database, account_no: int) -> None:
    """Delete the listeners of an account and its sessions."""
    _drop(db, db.execute("SELECT listener_no FROM listener WHERE account_no = %s", (account_no,)).fetchall())


def _drop(db: Database, numbers: list[tuple[int]]) -> None:
    for number in numbers:
        for table in ("ring", "listener_floor", "listener"):
            db.execute(f"DELETE FROM {table} WHERE listener_no = %s", number)


def joined(db: Database, account_no: int, box_no: int) -> None:
    """Keep an account's listeners from what stands in a room that it joins."""
    sql = (
        "INSERT INTO listener_floor SELECT l.listener_no, b.box_no, b.last_pos "
        "FROM listener l JOIN box b ON b.box_no = %s WHERE l.account_no = %s "
        "ON CONFLICT (listener_no, box_no) DO UPDATE SET pos = excluded.pos"
    )
    db.execute(sql, (box_no, account_no))


def owners(db: Database) -> list[str]:
    """The owners of every listener."""
    return [row[0] for row in db.execute("SELECT owner FROM listener ORDER BY owner")]


def listening_to(db: Database, boxes: Collection[str]) -> list[str]:
    """The owners whose listeners are told of mail in any of the boxes."""
    found: set[str] = set()
    in_room = (
        "SELECT l.owner FROM box b JOIN membership m ON m.box_no = b.box_no "
        "JOIN listener l ON l.account_no = m.account_no WHERE b.address = %s"
    )
    of_account = "SELECT owner FROM listener WHERE owner = %s OR (owner > %s AND owner < %s)"
    for box in boxes:
        account, slash, _ = box.partition("/")
        if box.startswith("#"):
            found |= {row[0] for row in db.execute(in_room, (box,))}
        elif slash:
            # A session's mail is for its own listener and its account's.
            found |= {
                row[0]
                for row in db.execute("SELECT owner FROM listener WHERE owner IN (%s, %s)", (account, box))
            }
        else:
            found |= {row[0] for row in db.execute(of_account, (box, f"{box}/", f"{box}0"))}
    return sorted(found)


@dataclass(slots=True)
class _Bell:
    """A listener's row, and its account."""

    doorbell: Doorbell
    account_no: int
    cursor: int
    due_at: int
    hears: bool


def _bell(db: Database, owner: str) -> _Bell | None:
    sql = (
        f"{_DOORBELL.replace(' FROM listener l', '')}, l.account_no, l.cursor, l.due_at, p.capabilities, "
        "p.secret_digest IS NOT NULL FROM listener l JOIN participant p ON p.account_no = l.account_no "
        "WHERE l.owner = %s"
    )
    row = db.execute(sql, (owner,)).fetchone()
    if row is None:
        return None
    *first, account_no, cursor, due_at, capabilities, has_secret = row
    hears = "/" not in owner or may_hear(frozenset(capabilities.split()), has_secret=bool(has_secret))
    return _Bell(_doorbell(tuple(first)), account_no, cursor, due_at, hears)


def next_ring(
    transaction: Transaction, origin: str, owner: str, attempt: Attempt | None, now: int
) -> Turn | None:
    """As ``DoorbellStore.next_ring`` says, for the daemon ``origin``.

    While another daemon has the listener, there is nothing to do but to look again when that daemon's lease
    ends, unless it goes on. What became of a ring is noted all the same.
    """
    turn = _next_ring(transaction, origin, owner, attempt, now)
    sql = (
        "UPDATE listener SET leased_by = %s, leased_until = clock_timestamp() + make_interval(secs => %s) "
        "WHERE owner = %s AND (leased_by = %s OR leased_until IS NULL OR leased_until < clock_timestamp())"
    )
    if turn is not None and turn.ring is not None:
        transaction.db.execute(sql, (origin, LEASE_SECS, owner, origin))
    elif turn is not None:
        sql = "UPDATE listener SET leased_by = NULL, leased_until = NULL WHERE owner = %s AND leased_by = %s"
        transaction.db.execute(sql, (owner, origin))
    return turn


def _leased(db: Database, owner: str, origin: str) -> int:
    """For how many milliseconds another daemon has a listener."""
    sql = (
        "SELECT ceil(extract(epoch FROM leased_until - clock_timestamp()) * 1000)::bigint FROM listener "
        "WHERE owner = %s AND leased_by <> %s AND leased_until > clock_timestamp()"
    )
    row = db.execute(sql, (owner, origin)).fetchone()
    return 0 if row is None else row[0]


def _next_ring(
    transaction: Transaction, origin: str, owner: str, attempt: Attempt | None, now: int
) -> Turn | None:
    db = transaction.db
    bell = _bell(db, owner)
    if bell is None:
        return None
    number = bell.doorbell.number
    if attempt is not None and attempt.counts_for(bell.doorbell):
        _note(db, attempt)
    leased = _leased(db, owner, origin)
    if leased:
        return Turn(due_at=now + leased)
    oldest = first_of(max(now - KEEP_MS, 0))
    more = _look_over(transaction, owner, bell, oldest)
    bell = _bell(db, owner)
    assert bell is not None
    # A clock that was set back does not silence a listener.
    if now < bell.due_at <= now + PAUSE_MAX_MS:
        return Turn(due_at=bell.due_at if bell.doorbell.outstanding or more else None)
    for _ in range(STEP):
        sql = (
            "SELECT r.attempts, r.pos, m.wire, r.box_no FROM ring r "
            "LEFT JOIN LATERAL (SELECT wire FROM message WHERE box_no = r.box_no AND pos = r.pos LIMIT 1) m "
            "ON true WHERE r.listener_no = %s ORDER BY r.attempts, r.pos LIMIT 1"
        )
        row = db.execute(sql, (number,)).fetchone()
        if row is None:
            return Turn(due_at=now if more else None)
        attempts, pos, wire, box_no = row
        wanted = wire is not None and bell.hears and _reads(db, owner, bell.account_no, box_no)
        if wire is not None and wanted and pos >= oldest:
            return Turn(ring=Ring(bell.doorbell, pos, attempts, wire))
        db.execute(
            "DELETE FROM ring WHERE (listener_no, attempts, pos) = (%s, %s, %s)", (number, attempts, pos)
        )
        sql = (
            "UPDATE listener SET outstanding = outstanding - 1, given_up = given_up + %s "
            "WHERE listener_no = %s"
        )
        db.execute(sql, (int(wanted), number))
    return Turn(due_at=now)


def _note(db: Database, attempt: Attempt) -> None:
    """Take note of what became of a ring."""
    number = attempt.ring.doorbell.number
    place = (number, attempt.ring.attempts, attempt.ring.pos)
    if attempt.failure is None:
        gone = db.execute(
            "DELETE FROM ring WHERE (listener_no, attempts, pos) = (%s, %s, %s)", place
        ).rowcount
        sql = (
            "UPDATE listener SET outstanding = outstanding - %s, rung = rung + %s, last_rung_at = %s, "
            f"{_FORGIVEN} WHERE listener_no = %s"
        )
        db.execute(sql, (gone, gone, attempt.at, number))
        return
    if attempt.failure in OF_THE_MESSAGE:
        sql = "UPDATE ring SET attempts = attempts + 1 WHERE (listener_no, attempts, pos) = (%s, %s, %s)"
        db.execute(sql, place)
    sql = (
        "UPDATE listener SET last_failed_at = %s, failure = %s, failures = failures + 1, due_at = %s, "
        "failing_since = coalesce(failing_since, %s) WHERE listener_no = %s"
    )
    db.execute(sql, (attempt.at, attempt.failure, attempt.retry_at, attempt.at, number))


def _look_over(transaction: Transaction, owner: str, bell: _Bell, oldest: int) -> bool:
    """Make rings of the next messages behind the cursor; whether more may stand there."""
    db, number = transaction.db, bell.doorbell.number
    row = db.execute("SELECT outstanding FROM listener WHERE listener_no = %s", (number,)).fetchone()
    assert row is not None
    step = min(STEP, OUTSTANDING_MAX - row[0])
    if step <= 0:
        return True
    found = _behind(db, owner, bell, step)
    cursor = found[-1].pos if len(found) == step else transaction.last_pos
    if cursor <= bell.cursor:
        return False
    wanted = [
        (each.pos, each.box_no)
        for each in found
        if bell.hears
        and is_rung(owner, each.box, each.sender, same_account=each.account_no == bell.account_no)
    ]
    fresh = [(pos, box_no) for pos, box_no in wanted if pos >= oldest]
    if fresh:
        sql = "INSERT INTO ring SELECT %s, 0, * FROM unnest(%b::bigint[], %b::bigint[])"
        db.execute(sql, (number, *columns(fresh, 2)))
    sql = (
        "UPDATE listener SET cursor = %s, outstanding = outstanding + %s, given_up = given_up + %s "
        "WHERE listener_no = %s"
    )
    db.execute(sql, (cursor, len(fresh), len(wanted) - len(fresh), number))
    db.execute("DELETE FROM listener_floor WHERE listener_no = %s AND pos <= %s", (number, cursor))
    return len(found) == step


@dataclass(frozen=True, slots=True)
class _Candidate:
    """A message behind the cursor."""

    pos: int
    box: str
    sender: str | None
    account_no: int
    box_no: int


def _behind(db: Database, owner: str, bell: _Bell, limit: int) -> list[_Candidate]:
    """The next messages behind the cursor, in order."""
    own = "SELECT box_no FROM box WHERE address = %s AND last_pos > %s"
    if "/" not in owner:
        own = "SELECT box_no FROM box WHERE owner = %s AND last_pos > %s"
    low = "greatest(%s, coalesce(f.pos, 0))"
    sql = (
        "SELECT m.pos, b.address, r.address, m.account_no, b.box_no FROM "
        f"(SELECT box_no FROM membership WHERE account_no = %s UNION ALL {own}) mine "
        "JOIN box b ON b.box_no = mine.box_no "
        "LEFT JOIN listener_floor f ON f.listener_no = %s AND f.box_no = b.box_no "
        "CROSS JOIN LATERAL (SELECT pos, sender_no, account_no FROM message m WHERE m.box_no = b.box_no "
        f"AND m.pos > {low} ORDER BY m.pos LIMIT %s) m LEFT JOIN reader r ON r.reader_no = m.sender_no "
        f"WHERE b.last_pos > {low} ORDER BY m.pos LIMIT %s"
    )
    cursor = bell.cursor
    values = (bell.account_no, owner, cursor, bell.doorbell.number, cursor, limit, cursor, limit)
    return [_Candidate(*row) for row in db.execute(sql, values)]


def _reads(db: Database, owner: str, account_no: int, box_no: int) -> bool:
    """Whether a message in a box is still one to tell an owner of."""
    sql = (
        "SELECT EXISTS (SELECT 1 FROM membership WHERE account_no = %s AND box_no = %s) OR EXISTS "
        "(SELECT 1 FROM box WHERE box_no = %s AND (address = %s OR owner = %s))"
    )
    row = db.execute(sql, (account_no, box_no, box_no, owner, owner)).fetchone()
    assert row is not None
    return row[0]
