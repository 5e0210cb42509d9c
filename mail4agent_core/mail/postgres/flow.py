"""Counting who wrote to which box, slot by slot, within the transaction of the posting."""

from collections.abc import Iterable

from mail4agent_api.mail import ParticipantId
from mail4agent_core.mail.flow import STEP, FlowCount, FlowCounts, slot_at, slot_of

from .connection import Database, columns

_COUNT = (
    "INSERT INTO flow SELECT * FROM unnest(%s::bigint[], %s::bigint[], %s::bigint[], %s::bigint[], "
    "%s::bigint[]) ON CONFLICT (slot, account_no, box_no) DO UPDATE "
    "SET messages = flow.messages + excluded.messages, last_pos = excluded.last_pos"
)
_MOST = (
    "SELECT sender, target, sum(n)::bigint, max(last), (count(*) OVER ())::bigint, "
    "(sum(sum(n)) OVER ())::bigint FROM ("
    "SELECT p.id AS sender, split_part(b.address, '/', 1) AS target, f.n, f.last FROM ("
    "SELECT account_no, box_no, sum(messages) AS n, max(last_pos) AS last FROM flow "
    "WHERE slot >= %s GROUP BY account_no, box_no) f "
    "JOIN participant p ON p.account_no = f.account_no "
    "JOIN box b ON b.box_no = f.box_no AND b.address IS NOT NULL"
    ') pairs GROUP BY sender, target ORDER BY sum(n) DESC, sender COLLATE "C", target COLLATE "C" LIMIT %s'
)


def count(db: Database, posted: Iterable[tuple[int, int, int]]) -> None:
    """Count posts, each as its position, its account and its box, in the order of their positions."""
    counted: dict[tuple[int, int, int], tuple[int, int]] = {}
    for pos, account_no, box_no in posted:
        key = slot_of(pos), account_no, box_no
        counted[key] = counted.get(key, (0, 0))[0] + 1, pos
    db.execute(_COUNT, columns([(*key, *each) for key, each in counted.items()], 5))


def most(db: Database, slot: int, limit: int) -> FlowCounts:
    """Those who wrote most from a slot on."""
    rows = db.execute(_MOST, (slot, limit)).fetchall()
    counts = tuple(FlowCount(ParticipantId(row[0]), *row[1:4]) for row in rows)
    return FlowCounts(counts, *(rows[0][4:] if rows else (0, 0)))


def expire(db: Database, before_ms: int) -> bool:
    """Delete counts of slots before a time's; False when more may be left."""
    sql = (
        "DELETE FROM flow WHERE (slot, account_no, box_no) IN "
        "(SELECT slot, account_no, box_no FROM flow WHERE slot < %s LIMIT %s)"
    )
    return db.execute(sql, (slot_at(before_ms), STEP)).rowcount < STEP
