"""Looking up accounts, readers and boxes by their text addresses."""

import sqlite3
from dataclasses import dataclass

from mail4agent_api.addresses import text_of
from mail4agent_api.mail import ParticipantAddress, SessionAddress

from .ranges import copy_account

Connection = sqlite3.Connection

#: What stands for a reader that the store has not met: it has acknowledged nothing.
NOBODY = -1


@dataclass(frozen=True, slots=True)
class Reader:
    """An exact address as the store knows it."""

    reader_no: int
    account_no: int
    #: The session's own box; for an account its box is a membership.
    session_box: int


def find_reader(db: Connection, address: ParticipantAddress) -> Reader | None:
    """The reader of an address, None when its account is not registered (removed accounts are)."""
    row = db.execute("SELECT account_no FROM participant WHERE id = ?", (address.participant,)).fetchone()
    if row is None:
        return None
    text = text_of(address)
    known = db.execute("SELECT reader_no FROM reader WHERE address = ?", (text,)).fetchone()
    box = db.execute("SELECT box_no FROM box WHERE address = ?", (text,)).fetchone() if isinstance(address, SessionAddress) else None
    return Reader(NOBODY if known is None else known[0], row[0], NOBODY if box is None else box[0])


def active_reader(db: Connection, address: ParticipantAddress) -> Reader | None:
    """The reader of an address whose account is registered and not removed; a session is met by this."""
    row = db.execute("SELECT account_no FROM participant WHERE id = ? AND removed_at IS NULL", (address.participant,)).fetchone()
    if row is None:
        return None
    if isinstance(address, SessionAddress):
        return meet(db, address, row[0])
    known = db.execute("SELECT reader_no FROM reader WHERE address = ?", (text_of(address),)).fetchone()
    return Reader(known[0], row[0], NOBODY)


def meet(db: Connection, session: SessionAddress, account_no: int) -> Reader:
    """The reader of a session, made at its first contact: it starts where its account stands."""
    text = text_of(session)
    known = db.execute("SELECT r.reader_no, b.box_no FROM reader r JOIN box b ON b.address = r.address WHERE r.address = ?", (text,)).fetchone()
    if known is not None:
        return Reader(known[0], account_no, known[1])
    reader_no = db.execute("INSERT INTO reader (address, account_no) VALUES (?, ?)", (text, account_no)).lastrowid
    box_no = db.execute("INSERT INTO box (address) VALUES (?)", (text,)).lastrowid
    assert reader_no is not None and box_no is not None
    copy_account(db, account_no, reader_no)
    return Reader(reader_no, account_no, box_no)


def reads_box(db: Connection, reader: Reader, box_no: int) -> bool:
    """Whether a box is one of the reader's now."""
    if box_no == reader.session_box:
        return True
    sql = "SELECT EXISTS (SELECT 1 FROM membership WHERE account_no = ? AND box_no = ?)"
    return bool(db.execute(sql, (reader.account_no, box_no)).fetchone()[0])
