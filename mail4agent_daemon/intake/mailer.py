"""Mails with links: owed in the database until the server has taken them, tried again for hours.

A token exists in the clear while one attempt runs and in the mail; the box keeps its digest. Each attempt
makes one of its own, so nothing on the disk leads anywhere. A mail says what the form is called and nothing
that somebody typed: whoever names another's address sends him no words of his own.
"""

import asyncio
import hashlib
import sqlite3
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Protocol

from mail4agent_core.clock import Clock
from mail4agent_core.outbox.item import OutboxKind
from mail4agent_core.outbox.sink import NotSentError, Outgoing
from mail4agent_daemon.log import Log

from .database import Database
from .links import add_link, digest_of, new_token
from .shelf import Shelf

#: Mails on their way at once.
AT_ONCE = 8
#: Seconds until the next attempt, by how many there were; after the last the mail is given up.
PAUSES_SECS = (30, 120, 600, 1_800, 3_600, 3_600, 7_200, 14_400)
#: How long nothing due is waited for before the next look.
LOOK_SECS = 30.0


class Post(Protocol):
    """What carries an email; ``SmtpSink`` does."""

    async def deliver(self, outgoing: Outgoing) -> str:
        """Hand it over. Raises NotSentError when nothing left, anything else when that is not known."""
        ...


@dataclass(frozen=True, slots=True)
class _Owed:
    pending: int
    attempts: int
    type_id: str
    version: int
    address: str
    expires_ms: int


class Mailer:
    """Sends what is owed. ``wake`` when something is."""

    def __init__(
        self, database: Database, shelf: Shelf, post: Post, *, public_url: str, clock: Clock, log: Log
    ) -> None:
        self._database = database
        self._shelf = shelf
        self._post = post
        self._public_url = public_url
        self._clock = clock
        self._log = log
        self._owed = asyncio.Event()

    def wake(self) -> None:
        """Something is owed."""
        self._owed.set()

    async def run(self) -> None:
        """Send until cancelled."""
        while True:
            self._owed.clear()
            try:
                busy = await self.send_due()
            except Exception as failure:  # noqa: BLE001  a database that fails now may work later
                self._log.failed("mailer_failed", failure)
                busy = 0
            if not busy:
                with suppress(TimeoutError):
                    async with asyncio.timeout(LOOK_SECS):
                        await self._owed.wait()

    async def send_due(self) -> int:
        """Try what is due, some at once; how many were tried."""
        owed = await self._database.run(_due(self._clock.now_ms()))
        await asyncio.gather(*(self._one(each) for each in owed))
        return len(owed)

    async def _one(self, owed: _Owed) -> None:
        form = self._shelf.of(owed.type_id, owed.version)
        if form is None:
            await self._database.run(_settled(owed))
            return
        token = new_token()
        await self._database.run(_begun(owed, token, self._clock.now_ms()))
        hours = max(1, round((owed.expires_ms - self._clock.now_ms()) / 3_600_000))
        args = {
            "to": [owed.address],
            "subject": f"Please confirm: {form.manifest.title}",
            "body": _text(form.manifest.title, f"{self._public_url}/confirm/{token}", hours),
        }
        key = hashlib.sha256(token.encode()).hexdigest()
        # Its id is public in the mail, and must not be the digest that is kept of the token.
        key = hashlib.sha256(f"message {key}".encode()).hexdigest()
        outgoing = Outgoing("", "", OutboxKind.MESSAGE, args, None, None, (), owed.attempts + 1, key)
        try:
            await self._post.deliver(outgoing)
        except NotSentError:
            self._log.warning("mail_not_sent", attempts=owed.attempts + 1)
            await self._database.run(_forgotten(token))
        except Exception as failure:  # noqa: BLE001  whatever became of it, a further mail does no harm
            self._log.failed("mail_unknown", failure, attempts=owed.attempts + 1)
        else:
            await self._database.run(_settled(owed))


def _text(title: str, link: str, hours: int) -> str:
    good = "an hour" if hours == 1 else f"{hours} hours"
    return (
        f"Somebody, most likely you, filled in the form “{title}” and gave this address.\n\n"
        f"To confirm it, open this page and press the button:\n\n{link}\n\n"
        f"The link is good for {good}, once. If it was not you, do nothing:\n"
        "what was sent is deleted and nobody is told.\n"
    )


def _due(now_ms: int) -> Callable[[sqlite3.Connection], list[_Owed]]:
    def run(db: sqlite3.Connection) -> list[_Owed]:
        rows = db.execute(
            "SELECT p.id, l.attempts, p.type_id, p.type_version, p.address, p.expires_ms FROM letter l"
            " JOIN pending p ON p.id = l.pending WHERE l.due_ms <= ? AND p.expires_ms > ?"
            " ORDER BY l.due_ms, p.id LIMIT ?",
            (now_ms, now_ms, AT_ONCE),
        )
        return [_Owed(*row) for row in rows]

    return run


def _begun(owed: _Owed, token: str, now_ms: int) -> Callable[[sqlite3.Connection], None]:
    """Before the attempt: its link is good, and a crash in between costs one attempt."""

    def run(db: sqlite3.Connection) -> None:
        # It may have been confirmed by an earlier mail, or swept.
        if db.execute("SELECT 1 FROM letter WHERE pending = ?", (owed.pending,)).fetchone() is None:
            return
        add_link(db, owed.pending, "confirm", token)
        if owed.attempts < len(PAUSES_SECS):
            db.execute(
                "UPDATE letter SET attempts = attempts + 1, due_ms = ? WHERE pending = ?",
                (now_ms + PAUSES_SECS[owed.attempts] * 1_000, owed.pending),
            )
        else:
            db.execute("DELETE FROM letter WHERE pending = ?", (owed.pending,))

    return run


def _settled(owed: _Owed) -> Callable[[sqlite3.Connection], None]:
    def run(db: sqlite3.Connection) -> None:
        db.execute("DELETE FROM letter WHERE pending = ?", (owed.pending,))

    return run


def _forgotten(token: str) -> Callable[[sqlite3.Connection], None]:
    def run(db: sqlite3.Connection) -> None:
        db.execute("DELETE FROM token WHERE digest = ?", (digest_of(token),))

    return run
