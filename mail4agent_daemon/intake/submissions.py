"""What becomes of a submission: sent, confirmed, whole, queued. Each step is a job of the database.

A step that finds no live token says the same whether it was never made, was spent or ran out.
"""

import json
import sqlite3
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from mail4agent_api.errors import OverloadedError, UnknownPathError
from mail4agent_core.frontdoor.manifest import Form

from .budgets import DAY_MS, spend
from .links import Purpose, add_link, digest_of
from .settings import BudgetSettings
from .shelf import Shelf, tidy
from .uploads import Upload

#: How long the files of a confirmed submission are waited for.
UPLOAD_MS = 48 * 3_600_000
_HOUR_MS = 3_600_000
_SWEPT_MAX = 500


@dataclass(frozen=True, slots=True)
class Pending:
    """A submission that is not in the queue yet."""

    id: int
    form: Form
    values: Mapping[str, Any]
    created_ms: int

    @property
    def files(self) -> tuple[str, ...]:
        """The fields of files that are asked for with these values."""
        shown = self.form.shown(self.values)
        return tuple(each.name for each in self.form.fields if each.kind == "file" and each.name in shown)


class Submissions:
    """The jobs."""

    def __init__(self, shelf: Shelf, budgets: BudgetSettings) -> None:
        self._shelf = shelf
        self._budgets = budgets

    def sent(
        self, form: Form, values: Mapping[str, Any], address: str, now_ms: int
    ) -> Callable[[sqlite3.Connection], int]:
        """Take one that is valid but for its files, and owe its address a mail.

        The job raises RateLimitedError past a day's budget, OverloadedError in a full box.
        """
        budgets = self._budgets
        hours = form.manifest.verification.expires_hours if form.manifest.verification else 48
        contents = json.dumps(values, ensure_ascii=False, separators=(",", ":"))

        def run(db: sqlite3.Connection) -> int:
            waiting = db.execute(
                "SELECT (SELECT count(*) FROM pending) + (SELECT count(*) FROM queue)"
            ).fetchone()[0]
            if waiting >= budgets.waiting_max:
                raise OverloadedError(retry_after_secs=600)
            # One mailbox, however its address is written.
            who = address.lower()
            most = budgets.mails_per_recipient_per_day
            spend(db, "mail", who, amount=1, most=most, now_ms=now_ms)
            spend(db, "day", "", amount=1, most=budgets.submissions_per_day, now_ms=now_ms)
            expires = now_ms + hours * _HOUR_MS
            row = (form.id, form.version, address, contents, now_ms, expires)
            pending = db.execute(
                "INSERT INTO pending (type_id, type_version, address, contents, created_ms, expires_ms)"
                " VALUES (?, ?, ?, ?, ?, ?)",
                row,
            ).lastrowid
            assert pending is not None
            db.execute("INSERT INTO letter (pending, due_ms) VALUES (?, ?)", (pending, now_ms))
            return pending

        return run

    def found(self, token: str, purpose: Purpose, now_ms: int) -> Callable[[sqlite3.Connection], Pending]:
        """Find what a live token leads to; nothing is changed. The job raises UnknownPathError."""
        digest = digest_of(token)

        def run(db: sqlite3.Connection) -> Pending:
            row = db.execute(
                "SELECT p.id, p.type_id, p.type_version, p.contents, p.created_ms FROM token t"
                " JOIN pending p ON p.id = t.pending"
                " WHERE t.digest = ? AND t.purpose = ? AND p.expires_ms > ?",
                (digest, purpose, now_ms),
            ).fetchone()
            form = None if row is None else self._shelf.of(row[1], row[2])
            if row is None or form is None:
                raise UnknownPathError
            return Pending(row[0], form, json.loads(row[3]), row[4])

        return run

    def confirmed(
        self, token: str, upload: str, now_ms: int
    ) -> Callable[[sqlite3.Connection], tuple[Pending, bool]]:
        """Spend a token: what it led to is queued, or waits for files under the token ``upload``.

        True where it waits. The job raises UnknownPathError.
        """
        find = self.found(token, "confirm", now_ms)

        def run(db: sqlite3.Connection) -> tuple[Pending, bool]:
            pending = find(db)
            if not pending.files:
                _queue(db, pending, (), now_ms)
                return pending, False
            db.execute("DELETE FROM token WHERE pending = ?", (pending.id,))
            db.execute("DELETE FROM letter WHERE pending = ?", (pending.id,))
            db.execute(
                "UPDATE pending SET confirmed = 1, expires_ms = ? WHERE id = ?",
                (now_ms + UPLOAD_MS, pending.id),
            )
            add_link(db, pending.id, "upload", upload)
            return pending, True

        return run

    def completed(
        self, token: str, uploads: Iterable[Upload], now_ms: int
    ) -> Callable[[sqlite3.Connection], None]:
        """Queue a submission with its files. The job raises UnknownPathError."""
        find = self.found(token, "upload", now_ms)
        files = tuple(uploads)

        def run(db: sqlite3.Connection) -> None:
            _queue(db, find(db), files, now_ms)

        return run


def _queue(db: sqlite3.Connection, pending: Pending, uploads: tuple[Upload, ...], now_ms: int) -> None:
    form = pending.form
    days = form.manifest.retain_days
    seq = db.execute(
        "INSERT INTO queue (type_id, type_version, contents, created_ms, remove_ms)"
        " SELECT type_id, type_version, contents, created_ms, ? FROM pending WHERE id = ?",
        (None if days is None else now_ms + days * DAY_MS, pending.id),
    ).lastrowid
    assert seq is not None
    for each in uploads:
        db.execute(
            "INSERT INTO blob VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            (each.blob, seq, each.field, each.filename, len(each.content), each.sha256, each.content_type,
             each.content),
        )  # fmt: skip
    db.execute("DELETE FROM pending WHERE id = ?", (pending.id,))


def swept(now_ms: int) -> Callable[[sqlite3.Connection], int]:
    """Delete what was never confirmed or completed in time, and what its type keeps no longer; how many."""

    def run(db: sqlite3.Connection) -> int:
        late = db.execute(
            "DELETE FROM pending WHERE id IN (SELECT id FROM pending WHERE expires_ms <= ? LIMIT ?)",
            (now_ms, _SWEPT_MAX),
        ).rowcount
        old = db.execute("DELETE FROM queue WHERE remove_ms <= ?", (now_ms,)).rowcount
        db.execute("DELETE FROM spent WHERE day < ?", (now_ms // DAY_MS,))
        if late or old:
            tidy(db)
        return late + old

    return run
