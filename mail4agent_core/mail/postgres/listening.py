"""Hearing of what other daemons committed.

A notification is a hint that the table ``change`` has more rows. It is looked at all the same every
``POLL_SECS``, so that nothing is missed where notifications do not come through, and after a connection was
lost. A daemon that was away for longer than changes are kept is told that everything may have changed.
"""

import asyncio
import logging
import os
import random
import select
import threading
import time
from collections.abc import Callable

from mail4agent_core.mail.store import Listener

from .connection import Database, connect
from .writer import CHANNEL, PAUSE_MAX_SECS, PAUSE_SECS

#: How often the clock row is looked at when nothing is heard, in seconds.
POLL_SECS = 0.2
#: How many changes are taken at a time.
STEP = 500
#: How long changes are kept for daemons that are away, how often the old ones go, in seconds, and how many at
#: a time at most.
KEPT_SECS = 600.0
FORGET_SECS = 10.0
FORGOTTEN = 10_000

_log = logging.getLogger(__name__)


class Listening:
    """A thread with a connection of its own that tells a listener, on the event loop, of foreign commits."""

    def __init__(self, url: str, origin: str, loop: asyncio.AbstractEventLoop, listener: Listener) -> None:
        self._url = url
        self._origin = origin
        self._loop = loop
        self._listener = listener
        #: A pipe that is written to at the end, so that waiting on the connection ends too.
        self._ending, self._end = os.pipe()
        self._ended = False
        self._heard_to: int | None = None
        self._started: asyncio.Future[None] = loop.create_future()
        self._thread = threading.Thread(target=self._main, name="mail-listener", daemon=True)

    async def open(self) -> None:
        """Start, and hear of every commit from then on."""
        self._thread.start()
        await self._started

    async def close(self) -> None:
        """Stop listening."""
        if not self._ended:
            self._ended = True
            os.write(self._end, b".")
            await asyncio.to_thread(self._thread.join)
            os.close(self._ending)
            os.close(self._end)

    def _main(self) -> None:
        pause = 0.0
        while not self._ended:
            db: Database | None = None
            try:
                db = connect(self._url, self._origin)
                db.command(f"LISTEN {CHANNEL}")
                self._hear(db)
                if pause:
                    _log.warning("changes of other daemons are heard again")
                pause = 0.0
                self._told(self._started_once)
                self._follow(db)
            except Exception as fault:  # noqa: BLE001  # whatever it is, listening must go on
                if not pause:
                    _log.error("changes of other daemons are not heard", exc_info=fault)
                pause = min(max(pause * 2, PAUSE_SECS), PAUSE_MAX_SECS)
                self._told(self._started_once)
                self._rest(pause * random.uniform(0.5, 1))  # noqa: S311  # spreads them
            finally:
                if db is not None:
                    db.close()

    def _rest(self, secs: float) -> None:
        select.select([self._ending], [], [], secs)

    def _started_once(self) -> None:
        if not self._started.done():
            self._started.set_result(None)

    def _told(self, call: Callable[[], None]) -> None:
        if not self._loop.is_closed():
            self._loop.call_soon_threadsafe(call)

    def _follow(self, db: Database) -> None:
        waiting = select.poll()
        waiting.register(db.connection.fileno(), select.POLLIN)
        waiting.register(self._ending, select.POLLIN)
        forgotten_at = time.monotonic()
        while not self._ended:
            waiting.poll(POLL_SECS * 1000)
            for _ in db.connection.notifies(timeout=0):
                pass
            if not self._ended:
                self._hear(db)
            if time.monotonic() - forgotten_at > FORGET_SECS:
                forgotten_at = time.monotonic()
                _forget_changes(db)

    def _hear(self, db: Database) -> None:
        """Tell of the changes since the last look."""
        row = db.execute("SELECT changes FROM clock WHERE one = 1").fetchone()
        assert row is not None
        newest: int = row[0]
        heard_to = self._heard_to = newest if self._heard_to is None else self._heard_to
        while heard_to < newest:
            sql = "SELECT seq, origin, addresses FROM change WHERE seq > %s ORDER BY seq LIMIT %s"
            rows = db.execute(sql, (heard_to, STEP)).fetchall()
            changed = {
                address for _, origin, addresses in rows if origin != self._origin for address in addresses
            }
            if not rows or rows[0][0] != heard_to + 1:
                # Some are gone: whoever waits looks, and whoever is known is looked up anew.
                sql = "SELECT address FROM box WHERE address IS NOT NULL"
                changed |= {row[0] for row in db.execute(sql)}
                heard_to = newest
            else:
                heard_to = rows[-1][0]
            self._heard_to = heard_to
            if changed:
                told = frozenset(changed)
                self._told(lambda told=told: self._listener(told))


def _forget_changes(db: Database) -> None:
    """Delete changes that every daemon has heard of by now, or will do without. The daemons share this."""
    sql = (
        "DELETE FROM change WHERE seq IN (SELECT seq FROM (SELECT seq, at FROM change ORDER BY seq LIMIT %s "
        "FOR UPDATE SKIP LOCKED) oldest WHERE at < clock_timestamp() - make_interval(secs => %s))"
    )
    db.execute(sql, (FORGOTTEN, KEPT_SECS))
