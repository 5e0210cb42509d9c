"""Sessions, within one transaction."""

from typing import Any

from mail4agent_api.mail import ParticipantId, SessionAddress, SessionId
from mail4agent_core.mail.process import ProcessId
from mail4agent_core.mail.session import Session

from .connection import Database
from .people import active_reader

_SESSION = (
    "SELECT p.id, s.id, s.boot_id, s.pid, s.start_ticks, s.attested, s.corroborated, s.declared, "
    "s.first_seen, s.last_seen, s.dead_at "
    "FROM session s JOIN participant p ON p.account_no = s.account_no"
)
#: The last of one account: one place of an index, so that however many there were more cost nothing.
_UNDEAD = f"{_SESSION} WHERE s.account_no = %s AND s.dead_at IS NULL ORDER BY s.reader_no DESC LIMIT %s"
_DEAD = f"{_SESSION} WHERE s.account_no = %s AND s.dead_at > %s ORDER BY s.dead_at DESC LIMIT %s"


def _session_of_row(row: tuple[Any, ...]) -> Session:
    account, session, boot_id, pid, start_ticks, *rest = row
    process = None if boot_id is None else ProcessId(boot_id, pid, start_ticks)
    address = SessionAddress.model_construct(
        kind="session", participant=ParticipantId(account), session=SessionId(session)
    )
    return Session(address, process, *rest)


class PostgresSessions:
    """Implements the SessionRegistry Protocol."""

    def __init__(self, db: Database) -> None:
        self._db = db

    def _one(self, where: str, value: object) -> Session | None:
        row = self._db.execute(f"{_SESSION} WHERE {where} = %s", (value,)).fetchone()
        return None if row is None else _session_of_row(row)

    def get(self, session: SessionId) -> Session | None:
        return self._one("s.id", session)

    def holding(self, digest: bytes) -> Session | None:
        return self._one("s.digest", digest)

    def listed(self, dead_after: int, most: int) -> list[Session]:
        accounts = self._db.execute("SELECT account_no FROM participant WHERE removed_at IS NULL").fetchall()
        rows = [
            row
            for (account_no,) in accounts
            for last, values in ((_UNDEAD, (account_no, most)), (_DEAD, (account_no, dead_after, most)))
            for row in self._db.execute(last, values)
        ]
        return [_session_of_row(row) for row in sorted(rows, key=lambda row: row[:2])]

    def undead(self, after: SessionId | None, limit: int) -> list[Session]:
        rows = self._db.execute(
            f"{_SESSION} WHERE s.dead_at IS NULL AND s.id > %s ORDER BY s.id LIMIT %s", (after or "", limit)
        )
        return [_session_of_row(row) for row in rows]

    def issued(self, account: ParticipantId) -> list[Session]:
        rows = self._db.execute(
            f"{_SESSION} WHERE s.account_no = (SELECT account_no FROM participant WHERE id = %s) "
            "AND s.digest IS NOT NULL ORDER BY s.id",
            (account,),
        )
        return [_session_of_row(row) for row in rows]

    def keep(self, session: Session, digest: bytes | None = None) -> None:
        reader = active_reader(self._db, session.address)
        assert reader is not None, "the account is registered"
        process = session.process
        named = (None, None, None) if process is None else (process.boot_id, process.pid, process.start_ticks)
        values = (
            reader.reader_no,
            reader.account_no,
            reader.session_box,
            session.address.session,
            *named,
            digest,
            session.attested,
            session.corroborated,
            session.declared,
            session.first_seen,
            session.last_seen,
            session.dead_at,
        )
        sql = (
            f"INSERT INTO session VALUES ({', '.join(['%s'] * len(values))}) "
            "ON CONFLICT (reader_no) DO UPDATE SET "
            "boot_id = excluded.boot_id, pid = excluded.pid, start_ticks = excluded.start_ticks, "
            "digest = coalesce(excluded.digest, session.digest), attested = excluded.attested, "
            "corroborated = excluded.corroborated, declared = excluded.declared, "
            "first_seen = excluded.first_seen, last_seen = excluded.last_seen, dead_at = excluded.dead_at"
        )
        self._db.execute(sql, values)

    def see(self, session: SessionId, last_seen: int) -> None:
        self._db.execute(
            "UPDATE session SET last_seen = %s, "
            "dead_at = CASE WHEN pid IS NOT NULL AND dead_at < %s THEN NULL ELSE dead_at END "
            "WHERE id = %s AND last_seen < %s",
            (last_seen, last_seen, session, last_seen),
        )

    def bury(self, session: SessionId, dead_at: int) -> None:
        self._db.execute(
            "UPDATE session SET dead_at = coalesce(dead_at, %s), digest = NULL WHERE id = %s",
            (dead_at, session),
        )

    def end_credentials(self, account_no: int, now: int) -> None:
        """End those of an account's issued sessions."""
        self._db.execute(
            "UPDATE session SET dead_at = coalesce(dead_at, %s), digest = NULL "
            "WHERE account_no = %s AND digest IS NOT NULL",
            (now, account_no),
        )

    def boot(self, boot_id: str, boot_ms: int) -> int:
        self._db.execute("INSERT INTO boot VALUES (%s, %s) ON CONFLICT DO NOTHING", (boot_id, boot_ms))
        row = self._db.execute("SELECT boot_ms FROM boot WHERE boot_id = %s", (boot_id,)).fetchone()
        assert row is not None
        return row[0]


def owner_of(db: Database, session: SessionId) -> ParticipantId | None:
    """The account that a session's id belongs to."""
    row = db.execute(
        "SELECT p.id FROM session s JOIN participant p ON p.account_no = s.account_no WHERE s.id = %s",
        (session,),
    ).fetchone()
    return None if row is None else ParticipantId(row[0])
