"""Accounts and rooms, within one transaction."""

from collections.abc import Sequence
from typing import Any

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
from .connection import Database, columns
from .deletion import delete_message
from .posting import id_bytes
from .ranges import cover_all
from .sessions import PostgresSessions

_ACCOUNT = (
    "SELECT id, label, capabilities, created_at, secret_issued_at, removed_at, attestation FROM participant"
)
_ROOM = (
    "SELECT r.id, r.posting, (SELECT count(*) FROM membership m WHERE m.box_no = r.box_no), b.n, "
    "r.created_at "
    "FROM room r JOIN box b ON b.box_no = r.box_no"
)
#: Above every number that is given.
_BOX = "INSERT INTO box (address) VALUES (%s) RETURNING box_no"
_LAST = 2**63 - 1
#: The number of the last entry of the audit.
AUDITED = "audited"


def account_of_row(row: Sequence[Any]) -> Account:
    """An account as its row says."""
    return Account(ParticipantId(row[0]), row[1], frozenset(row[2].split()), *row[3:])


def accounts_by_digest(db: Database, digests: Sequence[bytes]) -> dict[bytes, Account]:
    """The accounts whose secrets have these digests.

    The index is searched for the digest: what the time tells of that is nothing of a secret.
    """
    sql = (
        "SELECT w.digest, p.* FROM unnest(%b::bytea[]) w (digest) "
        f"CROSS JOIN LATERAL ({_ACCOUNT} WHERE secret_digest = w.digest LIMIT 1) p"
    )
    rows = db.execute(sql, (list(digests),)).fetchall()
    return {digest: account_of_row(row) for digest, *row in rows}


class PostgresRegistry:
    """Implements the Registry Protocol; ``changed`` gathers the accounts whose rights a command changed."""

    def __init__(self, db: Database, changed: set[str]) -> None:
        self._db = db
        self._changed = changed
        self.sessions = PostgresSessions(db)
        self._deeds: list[Deed] = []

    def account(self, account: ParticipantId) -> Account | None:
        row = self._db.execute(f"{_ACCOUNT} WHERE id = %s", (account,)).fetchone()
        return None if row is None else account_of_row(row)

    def holding(self, digest: bytes) -> Account | None:
        return accounts_by_digest(self._db, (digest,)).get(digest)

    def accounts(self, after: ParticipantId | None, limit: int | None) -> list[Account]:
        rows = self._db.execute(
            f"{_ACCOUNT} WHERE id > %s ORDER BY id LIMIT %s::bigint", (after or "", limit)
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
            "VALUES (%s, %s, %s, %s, %s, %s, %s) RETURNING account_no"
        )
        made = self._db.execute(
            sql, (account, label, digest, " ".join(sorted(capabilities)), now, now, attestation)
        ).fetchone()
        box = self._db.execute(_BOX, (account,)).fetchone()
        assert made is not None
        assert box is not None
        account_no, box_no = made[0], box[0]
        self._db.execute("INSERT INTO membership VALUES (%s, %s)", (account_no, box_no))
        self._db.execute("INSERT INTO reader (address, account_no) VALUES (%s, %s)", (account, account_no))

    def set_secret(self, account: ParticipantId, digest: bytes | None, now: int) -> None:
        issued = None if digest is None else now
        self._db.execute(
            "UPDATE participant SET secret_digest = %s, secret_issued_at = %s WHERE id = %s",
            (digest, issued, account),
        )
        self.sessions.end_credentials(self._number(account), now)
        self._changed.add(account)

    def set_attestation(self, account: ParticipantId, attestation: AttestationPolicy) -> None:
        self._db.execute("UPDATE participant SET attestation = %s WHERE id = %s", (attestation, account))
        self._changed.add(account)

    def set_capabilities(self, account: ParticipantId, capabilities: frozenset[str]) -> None:
        self._db.execute(
            "UPDATE participant SET capabilities = %s WHERE id = %s",
            (" ".join(sorted(capabilities)), account),
        )
        self._changed.add(account)

    def retire(self, account: ParticipantId, now: int) -> None:
        self.set_secret(account, None, now)
        self._db.execute("UPDATE participant SET removed_at = %s WHERE id = %s", (now, account))
        self._db.execute(
            "DELETE FROM membership WHERE account_no = %s AND box_no IN (SELECT box_no FROM room)",
            (self._number(account),),
        )
        doorbells.drop_listeners_of(self._db, self._number(account))

    def erase(self, account: ParticipantId) -> int:
        account_no = self._number(account)
        doorbells.drop_listeners_of(self._db, account_no)
        # "0" follows "/": the account's own box and those of its sessions.
        named = (account, f"{account}/", f"{account}0")
        counted = self._db.execute(
            "SELECT coalesce(sum(n), 0)::bigint FROM box "
            "WHERE address = %s OR (address > %s AND address < %s)",
            named,
        ).fetchone()
        assert counted is not None
        self._db.execute(
            "UPDATE box SET address = NULL, owner = NULL "
            "WHERE address = %s OR (address > %s AND address < %s)",
            named,
        )
        self._db.execute("DELETE FROM session WHERE account_no = %s", (account_no,))
        self._db.execute("UPDATE reader SET address = NULL WHERE account_no = %s", (account_no,))
        self._db.execute("DELETE FROM membership WHERE account_no = %s", (account_no,))
        self._db.execute("DELETE FROM participant WHERE account_no = %s", (account_no,))
        return counted[0]

    def _number(self, account: ParticipantId) -> int:
        row = self._db.execute("SELECT account_no FROM participant WHERE id = %s", (account,)).fetchone()
        assert row is not None, "the account is registered"
        return row[0]

    def knows(self, session: SessionAddress) -> bool:
        sql = "SELECT 1 FROM box WHERE address = %s"
        return self._db.execute(sql, (text_of(session),)).fetchone() is not None

    def has_room(self, room: RoomId) -> bool:
        return self._db.execute("SELECT 1 FROM room WHERE id = %s", (room,)).fetchone() is not None

    def room_ids(self) -> list[RoomId]:
        return [RoomId(row[0]) for row in self._db.execute("SELECT id FROM room ORDER BY id")]

    def room(self, room: RoomId) -> Room | None:
        row = self._db.execute(f"{_ROOM} WHERE r.id = %s", (room,)).fetchone()
        return None if row is None else Room(RoomId(row[0]), *row[1:])

    def rooms(self, after: RoomId | None, limit: int | None) -> list[Room]:
        rows = self._db.execute(
            f"{_ROOM} WHERE r.id > %s ORDER BY r.id LIMIT %s::bigint", (after or "", limit)
        )
        return [Room(RoomId(row[0]), *row[1:]) for row in rows]

    def add_room(self, room: RoomId, posting: RoomPosting, now: int) -> None:
        box = self._db.execute(_BOX, (f"#{room}",)).fetchone()
        assert box is not None
        self._db.execute("INSERT INTO room VALUES (%s, %s, %s, %s)", (box[0], room, posting, now))

    def erase_room(self, room: RoomId) -> None:
        self._changed.update(self.members(room, None, None))
        box_no = self._box(room)
        self._db.execute("DELETE FROM membership WHERE box_no = %s", (box_no,))
        self._db.execute("DELETE FROM listener_floor WHERE box_no = %s", (box_no,))
        self._db.execute("DELETE FROM room WHERE box_no = %s", (box_no,))
        self._db.execute("UPDATE box SET address = NULL WHERE box_no = %s", (box_no,))

    def _box(self, room: RoomId) -> int:
        row = self._db.execute("SELECT box_no FROM room WHERE id = %s", (room,)).fetchone()
        assert row is not None, "the room is there"
        return row[0]

    def members(self, room: RoomId, after: ParticipantId | None, limit: int | None) -> list[ParticipantId]:
        sql = (
            "SELECT p.id FROM membership m JOIN participant p ON p.account_no = m.account_no "
            "WHERE m.box_no = %s AND p.id > %s ORDER BY p.id LIMIT %s::bigint"
        )
        return [ParticipantId(row[0]) for row in self._db.execute(sql, (self._box(room), after or "", limit))]

    def rooms_of(self, account: ParticipantId) -> list[RoomId]:
        sql = (
            "SELECT r.id FROM membership m JOIN room r ON r.box_no = m.box_no "
            "WHERE m.account_no = (SELECT account_no FROM participant WHERE id = %s) ORDER BY r.id"
        )
        return [RoomId(row[0]) for row in self._db.execute(sql, (account,))]

    def join(self, room: RoomId, account: ParticipantId) -> None:
        account_no, box_no = self._number(account), self._box(room)
        added = self._db.execute(
            "INSERT INTO membership VALUES (%s, %s) ON CONFLICT DO NOTHING", (account_no, box_no)
        ).rowcount
        if added:
            for (reader_no,) in self._db.execute(
                "SELECT r.reader_no FROM reader r JOIN box b ON b.address = r.address "
                "WHERE r.account_no = %s "
                "UNION ALL SELECT common_reader FROM participant WHERE account_no = %s "
                "AND common_reader IS NOT NULL",
                (account_no, account_no),
            ).fetchall():
                cover_all(self._db, reader_no, box_no)
            doorbells.joined(self._db, account_no, box_no)
            self._changed.add(account)

    def leave(self, room: RoomId, account: ParticipantId) -> None:
        sql = (
            "DELETE FROM membership "
            "WHERE account_no = (SELECT account_no FROM participant WHERE id = %s) AND box_no = %s"
        )
        self._db.execute(sql, (account, self._box(room)))
        self._changed.add(account)

    def erase_message(self, message_id: MessageId) -> bool:
        row = self._db.execute(
            "SELECT box_no, pos FROM place WHERE message_id = %s", (id_bytes(message_id),)
        ).fetchone()
        if row is None:
            return False
        delete_message(self._db, row[0], row[1])
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
        self._deeds.append(deed)

    def write_deeds(self) -> None:
        """Add what was recorded to the audit: in a few statements, however much a command has done."""
        deeds, self._deeds = self._deeds, []
        if not deeds:
            return
        row = self._db.execute(
            "INSERT INTO number VALUES (%s, %s) ON CONFLICT (name) DO UPDATE SET "
            "value = number.value + excluded.value RETURNING value",
            (AUDITED, len(deeds)),
        ).fetchone()
        assert row is not None
        first = row[0] - len(deeds) + 1
        rows = [
            (number, deed.at_unix_ms, deed.actor, deed.operation, deed.target, deed.detail)
            for number, deed in enumerate(deeds, first)
        ]
        sql = (
            "INSERT INTO audit SELECT * FROM unnest(%b::bigint[], %b::bigint[], %b::text[], %b::text[], "
            "%b::text[], %b::text[])"
        )
        self._db.execute(sql, columns(rows, 6))
        self._db.execute("DELETE FROM audit WHERE number <= %s", (row[0] - ENTRIES_MAX,))

    def audit(self, before: int | None, limit: int) -> list[AuditEntry]:
        self.write_deeds()
        rows = self._db.execute(
            "SELECT number, at_unix_ms, actor, operation, target, detail FROM audit WHERE number < %s "
            "ORDER BY number DESC LIMIT %s",
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
        self.write_deeds()
        old = "SELECT number FROM audit WHERE at_unix_ms < %s ORDER BY at_unix_ms LIMIT %s"
        return self._db.execute(f"DELETE FROM audit WHERE number IN ({old})", (before, limit)).rowcount
