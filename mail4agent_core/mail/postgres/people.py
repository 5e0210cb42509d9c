"""Looking up readers and their boxes by their text addresses."""

from dataclasses import dataclass

from mail4agent_api.addresses import text_of
from mail4agent_api.mail import ParticipantAddress, SessionAddress

from .connection import Database
from .ranges import start_session

#: What stands for a reader that the store has not met, and for a box that it has not.
NOBODY = -1


@dataclass(frozen=True, slots=True)
class Reader:
    """An exact address as the store knows it."""

    reader_no: int
    account_no: int
    #: The session's own box; for an account its box is a membership.
    session_box: int
    #: The reader that stands for all addresses of the account, once it has had a session.
    common_no: int | None


def find_reader(db: Database, address: ParticipantAddress) -> Reader | None:
    """The reader of an address, None unless its account is registered and not removed."""
    return find_readers(db, (address,)).get(text_of(address))


def find_readers(db: Database, addresses: tuple[ParticipantAddress, ...]) -> dict[str, Reader]:
    """Readers by their text addresses; those are left out whose accounts are not registered or removed."""
    sql = (
        "SELECT a.address, r.reader_no, p.account_no, b.box_no, p.common_reader "
        "FROM unnest(%b::text[], %b::text[], %b::bool[]) a (address, id, is_session) "
        "CROSS JOIN LATERAL (SELECT account_no, common_reader FROM participant "
        "WHERE id = a.id AND removed_at IS NULL LIMIT 1) p "
        "LEFT JOIN reader r ON r.address = a.address "
        "LEFT JOIN box b ON b.address = a.address AND a.is_session"
    )
    named = {text_of(each): each for each in addresses}
    values = (
        list(named),
        [each.participant for each in named.values()],
        [isinstance(each, SessionAddress) for each in named.values()],
    )
    return {
        row[0]: Reader(
            NOBODY if row[1] is None else row[1], row[2], NOBODY if row[3] is None else row[3], row[4]
        )
        for row in db.execute(sql, values).fetchall()
    }


def active_reader(db: Database, address: ParticipantAddress) -> Reader | None:
    """As ``find_reader``, for the writer: a session is met by this."""
    return active_readers(db, (address,)).get(text_of(address))


def active_readers(db: Database, addresses: tuple[ParticipantAddress, ...]) -> dict[str, Reader]:
    """As ``find_readers``, for the writer: sessions are met by this."""
    found = find_readers(db, addresses)
    unmet: list[ParticipantAddress] = []
    for address in {text_of(each): each for each in addresses}.values():
        reader = found.get(text_of(address))
        if reader is not None and not is_met(address, reader):
            _meet(db, address, reader.account_no)
            unmet.append(address)
    # The account's first session gives it a common reader, which the others now have too.
    return find_readers(db, addresses) if unmet else found


def is_met(address: ParticipantAddress, reader: Reader) -> bool:
    """Whether an address has its reader, and a session its box."""
    forgotten = isinstance(address, SessionAddress) and reader.session_box == NOBODY
    return reader.reader_no != NOBODY and not forgotten


def _meet(db: Database, address: ParticipantAddress, account_no: int) -> None:
    text = text_of(address)
    # A session that retention has forgotten begins anew when it turns up after all.
    db.execute("UPDATE reader SET address = NULL WHERE address = %s", (text,))
    row = db.execute(
        "INSERT INTO reader (address, account_no) VALUES (%s, %s) RETURNING reader_no", (text, account_no)
    ).fetchone()
    assert row is not None
    db.execute("INSERT INTO box (address, owner) VALUES (%s, %s)", (text, address.participant))
    start_session(db, account_no, row[0])


def reads_box(db: Database, reader: Reader, box_no: int) -> bool:
    """Whether a box is one of the reader's now."""
    if box_no == reader.session_box:
        return True
    sql = "SELECT 1 FROM membership WHERE account_no = %s AND box_no = %s"
    return db.execute(sql, (reader.account_no, box_no)).fetchone() is not None
