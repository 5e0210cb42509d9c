"""Accounts and rooms, within one transaction."""

import sqlite3

from mail4agent_api.addresses import participant_of, text_of
from mail4agent_api.mail import (
    AttestationPolicy,
    AuditEntry,
    ListenerState,
    MessageId,
    ParticipantAddress,
    ParticipantId,
    RoomId,
    SessionAddress,
)
from mail4agent_core.mail.audit import ENTRIES_MAX, Deed
from mail4agent_core.mail.doorbells import Doorbell
from mail4agent_core.mail.identity import OPERATOR
from mail4agent_core.mail.records import Account, Room, RoomPosting

from . import doorbells
from .deletion import delete_message
from .posting import id_bytes
from .ranges import cover_all
from .sessions import SqliteSessions

Connection = sqlite3.Connection

_ACCOUNT = (
    "SELECT id, label, capabilities, created_at, secret_issued_at, removed_at, attestation FROM participant"
)
_ROOM = (
    "SELECT r.id, r.posting, (SELECT count(*) FROM membership m WHERE m.box_no = r.box_no), b.n, "
    "r.created_at "
    "FROM room r JOIN box b ON b.box_no = r.box_no"
)
#: No limit, in SQLite's words.
_ALL = -1
#: Above every number that SQLite gives.
_LAST = 2**63 - 1


def account_of_row(
    row: tuple[str, str | None, str, int, int | None, int | None, AttestationPolicy],
) -> Account:
    """An account as its row says."""
    return Account(ParticipantId(row[0]), row[1], frozenset(row[2].split()), *row[3:])


def account_by_digest(db: Connection, digest: bytes) -> Account | None:
    """The account whose secret has this digest.

    The index is searched for the digest: what the time tells of that is nothing of a secret.
    """
    row = db.execute(f"{_ACCOUNT} WHERE secret_digest = ?", (digest,)).fetchone()
    return None if row is None else account_of_row(row)


class SqliteRegistry:
    """Implements the Registry Protocol; ``changed`` gathers the accounts whose rights a command changed."""

    def __init__(self, db: Connection, changed: set[str]) -> None:
        self._db = db
        self._changed = changed
        self.sessions = SqliteSessions(db)

    def account(self, account: ParticipantId) -> Account | None:
        row = self._db.execute(f"{_ACCOUNT} WHERE id = ?", (account,)).fetchone()
        return None if row is None else account_of_row(row)

    def holding(self, digest: bytes) -> Account | None:
        return account_by_digest(self._db, digest)

    def accounts(self, after: ParticipantId | None, limit: int | None) -> list[Account]:
        rows = self._db.execute(
            f"{_ACCOUNT} WHERE id > ? ORDER BY id LIMIT ?", (after or "", _ALL if limit is None else limit)
        )
        return [account_of_row(row) for row in rows]

    def live_operators(self) -> int:
        rows = self._db.execute("SELECT capabilities FROM participant WHERE secret_digest IS NOT NULL")
        return sum(OPERATOR in row[0].split() for row in rows)

    def add_account(  # noqa: PLR0917  # what an account is made of
        self,
        account: ParticipantId,
        label: str | None,
        digest: bytes,
        capabilities: frozenset[str],
        now: int,
        attestation: AttestationPolicy = "inherit",
    ) -> None:
        sql = (
            "INSERT INTO participant "
            "(id, label, secret_digest, capabilities, created_at, secret_issued_at, attestation) "
            "VALUES (?, ?, ?, ?, ?, ?, ?)"
        )
        account_no = self._db.execute(
            sql, (account, label, digest, " ".join(sorted(capabilities)), now, now, attestation)
        ).lastrowid
        box_no = self._db.execute("INSERT INTO box (address) VALUES (?)", (account,)).lastrowid
        self._db.execute("INSERT INTO membership VALUES (?, ?)", (account_no, box_no))
        self._db.execute("INSERT INTO reader (address, account_no) VALUES (?, ?)", (account, account_no))

    def set_secret(self, account: ParticipantId, digest: bytes | None, now: int) -> None:
        issued = None if digest is None else now
        self._db.execute(
            "UPDATE participant SET secret_digest = ?, secret_issued_at = ? WHERE id = ?",
            (digest, issued, account),
        )
        self.sessions.end_credentials(self._number(account), now)
        self._changed.add(account)

    def set_attestation(self, account: ParticipantId, attestation: AttestationPolicy) -> None:
        self._db.execute("UPDATE participant SET attestation = ? WHERE id = ?", (attestation, account))
        self._changed.add(account)

    def set_capabilities(self, account: ParticipantId, capabilities: frozenset[str]) -> None:
        self._db.execute(
            "UPDATE participant SET capabilities = ? WHERE id = ?", (" ".join(sorted(capabilities)), account)
        )
        self._changed.add(account)

    def retire(self, account: ParticipantId, now: int) -> None:
        self.set_secret(account, None, now)
        self._db.execute("UPDATE participant SET removed_at = ? WHERE id = ?", (now, account))
        self._db.execute(
            "DELETE FROM membership WHERE account_no = ? AND box_no IN (SELECT box_no FROM room)",
            (self._number(account),),
        )
        doorbells.drop_listeners_of(self._db, self._number(account))

    def erase(self, account: ParticipantId) -> int:
        account_no = self._number(account)
        doorbells.drop_listeners_of(self._db, account_no)
        # "0" follows "/": the account's own box and those of its sessions.
        named = (account, f"{account}/", f"{account}0")
        (messages,) = self._db.execute(
            "SELECT coalesce(sum(n), 0) FROM box WHERE address = ? OR (address > ? AND address < ?)", named
        ).fetchone()
        self._db.execute(
            "UPDATE box SET address = NULL WHERE address = ? OR (address > ? AND address < ?)", named
        )
        self._db.execute("DELETE FROM session WHERE account_no = ?", (account_no,))
        self._db.execute("UPDATE reader SET address = NULL WHERE account_no = ?", (account_no,))
        self._db.execute("DELETE FROM membership WHERE account_no = ?", (account_no,))
        self._db.execute("DELETE FROM participant WHERE account_no = ?", (account_no,))
        return messages

    def _number(self, account: ParticipantId) -> int:
        return self._db.execute("SELECT account_no FROM participant WHERE id = ?", (account,)).fetchone()[0]

    def knows(self, session: SessionAddress) -> bool:
        sql = "SELECT EXISTS (SELECT 1 FROM box WHERE address = ?)"
        return bool(self._db.execute(sql, (text_of(session),)).fetchone()[0])

    def has_room(self, room: RoomId) -> bool:
        return bool(
            self._db.execute("SELECT EXISTS (SELECT 1 FROM room WHERE id = ?)", (room,)).fetchone()[0]
        )

    def room_ids(self) -> list[RoomId]:
        return [RoomId(row[0]) for row in self._db.execute("SELECT id FROM room ORDER BY id")]

    def room(self, room: RoomId) -> Room | None:
        row = self._db.execute(f"{_ROOM} WHERE r.id = ?", (room,)).fetchone()
        return None if row is None else Room(RoomId(row[0]), *row[1:])

    def rooms(self, after: RoomId | None, limit: int | None) -> list[Room]:
        rows = self._db.execute(
            f"{_ROOM} WHERE r.id > ? ORDER BY r.id LIMIT ?", (after or "", _ALL if limit is None else limit)
        )
        return [Room(RoomId(row[0]), *row[1:]) for row in rows]

    def add_room(self, room: RoomId, posting: RoomPosting, now: int) -> None:
        box_no = self._db.execute("INSERT INTO box (address) VALUES (?)", (f"#{room}",)).lastrowid
        self._db.execute("INSERT INTO room VALUES (?, ?, ?, ?)", (box_no, room, posting, now))

    def erase_room(self, room: RoomId) -> None:
        self._changed.update(self.members(room, None, None))
        box_no = self._box(room)
        self._db.execute("DELETE FROM membership WHERE box_no = ?", (box_no,))
        self._db.execute("DELETE FROM listener_floor WHERE box_no = ?", (box_no,))
        self._db.execute("DELETE FROM room WHERE box_no = ?", (box_no,))
        self._db.execute("UPDATE box SET address = NULL WHERE box_no = ?", (box_no,))

    def _box(self, room: RoomId) -> int:
        return self._db.execute("SELECT box_no FROM room WHERE id = ?", (room,)).fetchone()[0]

    def members(self, room: RoomId, after: ParticipantId | None, limit: int | None) -> list[ParticipantId]:
        sql = (
            "SELECT p.id FROM membership m JOIN participant p ON p.account_no = m.account_no "
            "WHERE m.box_no = ? AND p.id > ? ORDER BY p.id LIMIT ?"
        )
        return [
            ParticipantId(row[0])
            for row in self._db.execute(sql, (self._box(room), after or "", _ALL if limit is None else limit))
        ]

    def rooms_of(self, account: ParticipantId) -> list[RoomId]:
        sql = (
            "SELECT r.id FROM membership m JOIN room r ON r.box_no = m.box_no "
            "WHERE m.account_no = (SELECT account_no FROM participant WHERE id = ?) ORDER BY r.id"
        )
        return [RoomId(row[0]) for row in self._db.execute(sql, (account,))]

    def join(self, room: RoomId, account: ParticipantId) -> None:
        account_no, box_no = self._number(account), self._box(room)
        added = self._db.execute(
            "INSERT INTO membership VALUES (?, ?) ON CONFLICT DO NOTHING", (account_no, box_no)
        ).rowcount
        if added:
            for (reader_no,) in self._db.execute(
                "SELECT r.reader_no FROM reader r JOIN box b ON b.address = r.address WHERE r.account_no = ? "
                "UNION ALL SELECT common_reader FROM participant WHERE account_no = ? "
                "AND common_reader IS NOT NULL",
                (account_no, account_no),
            ).fetchall():
                cover_all(self._db, reader_no, box_no)
            doorbells.joined(self._db, account_no, box_no)
            self._changed.add(account)

    def leave(self, room: RoomId, account: ParticipantId) -> None:
        sql = (
            "DELETE FROM membership "
            "WHERE account_no = (SELECT account_no FROM participant WHERE id = ?) AND box_no = ?"
        )
        self._db.execute(sql, (account, self._box(room)))
        self._changed.add(account)

    def erase_message(self, message_id: MessageId) -> bool:
        row = self._db.execute(
            "SELECT pos FROM message WHERE message_id = ?", (id_bytes(message_id),)
        ).fetchone()
        if row is None:
            return False
        delete_message(self._db, row[0])
        return True

    def listeners_of(self, account: ParticipantId) -> list[Doorbell]:
        return doorbells.doorbells_of(self._db, account)

    def listeners(self, state: ListenerState, after: str | None, limit: int) -> list[Doorbell]:
        return doorbells.listeners(self._db, state, after, limit)

    def listener_count(self, state: ListenerState) -> int:
        return doorbells.count(self._db, state)

    def retry_listener(self, owner: ParticipantAddress) -> None:
        doorbells.retry(self._db, owner)

    def set_listener(self, owner: ParticipantAddress, url: str, key: str | None, uid: int | None) -> None:
        doorbells.set_listener(self._db, owner, url, key, uid)

    def drop_listener(self, owner: ParticipantAddress) -> None:
        doorbells.drop_listener(self._db, owner)

    def record(self, deed: Deed) -> None:
        number = self._db.execute(
            "INSERT INTO audit (at_unix_ms, actor, operation, target, detail) VALUES (?, ?, ?, ?, ?)",
            (deed.at_unix_ms, deed.actor, deed.operation, deed.target, deed.detail),
        ).lastrowid
        assert number is not None
        self._db.execute("DELETE FROM audit WHERE number <= ?", (number - ENTRIES_MAX,))

    def audit(self, before: int | None, limit: int) -> list[AuditEntry]:
        rows = self._db.execute(
            "SELECT number, at_unix_ms, actor, operation, target, detail FROM audit WHERE number < ? "
            "ORDER BY number DESC LIMIT ?",
            (_LAST if before is None else before, limit),
        )
        return [
            AuditEntry(
                number=row[0],
                at_unix_ms=row[1],
                actor=participant_of(row[2]),
                operation=row[3],
                target=row[4],
                detail=row[5],
            )
            for row in rows
        ]

    def expire_audit(self, before: int, limit: int) -> int:
        old = "SELECT number FROM audit WHERE at_unix_ms < ? ORDER BY at_unix_ms LIMIT ?"
        return self._db.execute(f"DELETE FROM audit WHERE number IN ({old})", (before, limit)).rowcount
