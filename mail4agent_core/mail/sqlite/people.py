"""Looking up readers and their boxes by their text addresses."""

import sqlite3
from dataclasses import dataclass

from mail4agent_api.addresses import text_of
from mail4agent_api.mail import ParticipantAddress, SessionAddress

from .ranges import start_session

Connection = sqlite3.Connection

#: What stands for a reader that the store has not met, and for a box that it has not.
NOBODY = -1


@dataclass(frozen=True, slots=True)
class Reader:
    """An exact address as the store knows it."""

    reader_no: int
    account_no: int
    #: The session's own box; for an account its box is a membership.
    session_box: int


def find_reader(db: Connection, address: ParticipantAddress) -> Reader | None:
    """The reader of an address, None unless its account is registered and not removed."""
    text = text_of(address)
    if isinstance(address, SessionAddress):
        sql = (
            "SELECT r.reader_no, p.account_no, b.box_no FROM participant p "
            "LEFT JOIN reader r ON r.address = ? LEFT JOIN box b ON b.address = ? "
            "WHERE p.id = ? AND p.removed_at IS NULL"
        )
        row = db.execute(sql, (text, text, address.participant)).fetchone()
    else:
        sql = (
            "SELECT r.reader_no, p.account_no, NULL FROM participant p JOIN reader r ON r.address = p.id "
            "WHERE p.id = ? AND p.removed_at IS NULL"
        )
        row = db.execute(sql, (text,)).fetchone()
    if row is None:
        return None
    return Reader(NOBODY if row[0] is None else row[0], row[1], NOBODY if row[2] is None else row[2])


def active_reader(db: Connection, address: ParticipantAddress) -> Reader | None:
    """As ``find_reader``, for the writer: a session is met by this."""
    reader = find_reader(db, address)
    if reader is None:
        return None
    forgotten = isinstance(address, SessionAddress) and reader.session_box == NOBODY
    if reader.reader_no != NOBODY and not forgotten:
        return reader
    text = text_of(address)
    # A session that retention has forgotten begins anew when it turns up after all.
    db.execute("UPDATE reader SET address = NULL WHERE address = ?", (text,))
    reader_no = db.execute(
        "INSERT INTO reader (address, account_no) VALUES (?, ?)", (text, reader.account_no)
    ).lastrowid
    box_no = db.execute("INSERT INTO box (address) VALUES (?)", (text,)).lastrowid
    assert reader_no is not None
    assert box_no is not None
    start_session(db, reader.account_no, reader_no)
    return Reader(reader_no, reader.account_no, box_no)


def reads_box(db: Connection, reader: Reader, box_no: int) -> bool:
    """Whether a box is one of the reader's now."""
    if box_no == reader.session_box:
        return True
    sql = "SELECT EXISTS (SELECT 1 FROM membership WHERE account_no = ? AND box_no = ?)"
    return bool(db.execute(sql, (reader.account_no, box_no)).fetchone()[0])
