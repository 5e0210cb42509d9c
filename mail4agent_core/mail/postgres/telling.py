"""What a reader was told of: one position, which only moves forward."""

from mail4agent_api.errors import UnauthenticatedError
from mail4agent_api.mail import ParticipantAddress
from mail4agent_core.mail.records import Telling

from .batch import Transaction
from .connection import Database
from .pages import unread_after, wires_of
from .people import Reader, active_reader, find_reader
from .reading import newest


def peek(db: Database, address: ParticipantAddress, limit: int) -> tuple[Telling, bool]:
    """What a reader would be told of, and whether it has ever asked.

    Raises UnauthenticatedError when its account is not registered.
    """
    reader = find_reader(db, address)
    if reader is None:
        raise UnauthenticatedError
    return _telling(db, address, reader, limit)[0], _told(db, reader) is not None


def tell(transaction: Transaction, address: ParticipantAddress, limit: int) -> Telling:
    """Tell a reader of its oldest unread messages past those it was told of, and move its position past them.

    Raises UnauthenticatedError when its account is not registered any more.
    """
    db = transaction.db
    reader = active_reader(db, address)
    if reader is None:
        raise UnauthenticatedError
    telling, last = _telling(db, address, reader, limit)
    sql = "UPDATE reader SET told = greatest(coalesce(told, 0), %s) WHERE reader_no = %s"
    db.execute(sql, (last, reader.reader_no))
    return telling


def covers(db: Database, address: ParticipantAddress, span: tuple[int, int]) -> bool:
    """Whether a page moves a reader's position: it goes on where the position is, and further."""
    told = _told(db, find_reader(db, address))
    return told is not None and span[0] <= told < span[1]


def shown(transaction: Transaction, address: ParticipantAddress, span: tuple[int, int]) -> None:
    """Move a reader's position past what a page has shown it."""
    reader = find_reader(transaction.db, address)
    if reader is not None:
        sql = "UPDATE reader SET told = %s WHERE reader_no = %s AND told >= %s AND told < %s"
        transaction.db.execute(sql, (span[1], reader.reader_no, *span))


def _told(db: Database, reader: Reader | None) -> int | None:
    if reader is None:
        return None
    row = db.execute("SELECT told FROM reader WHERE reader_no = %s", (reader.reader_no,)).fetchone()
    return None if row is None else row[0]


def _telling(db: Database, address: ParticipantAddress, reader: Reader, limit: int) -> tuple[Telling, int]:
    """With the position of the last message, 0 when there is none."""
    spots, unread = unread_after(db, reader, _told(db, reader) or 0, limit + 1)
    shown = spots[:limit]
    telling = Telling(tuple(wires_of(db, shown)), len(spots) > limit, unread, newest(db, address))
    return telling, shown[-1][0] if shown else 0
