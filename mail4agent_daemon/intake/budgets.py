"""Budgets: buckets in memory for what is counted by the minute or hour, rows in the database for a day's.

A bucket is one number, the moment at which it will be full again. Who is forgotten because there are too many
begins with a full one; the day's budgets, which are in the database, hold for everybody all the same.
"""

import hashlib
import math
import sqlite3
from collections import OrderedDict
from collections.abc import Callable

from mail4agent_api.errors import RateLimitedError

#: Buckets that are kept of one kind.
BUCKETS_MAX = 50_000
DAY_MS = 86_400_000
_RETRY_MAX_SECS = 86_400


class Buckets:
    """So many in so many seconds, for each of many; all of them may come at once. ``now`` gives seconds."""

    def __init__(self, amount: int, secs: float, now: Callable[[], float]) -> None:
        self._amount = amount
        self._secs = secs
        self._now = now
        self._full_at: OrderedDict[str, float] = OrderedDict()

    def __len__(self) -> int:
        """How many are kept."""
        return len(self._full_at)

    def take(self, who: str) -> None:
        """Take one. Raises RateLimitedError; nothing is taken then."""
        if not self._amount:
            return
        now, kept = self._now(), self._full_at
        after = max(kept.get(who, now), now) + self._secs / self._amount
        short = after - now - self._secs
        if short > 1e-6:
            raise RateLimitedError(retry_after_secs=max(1, min(math.ceil(short), _RETRY_MAX_SECS)))
        kept[who] = after
        kept.move_to_end(who)
        for _ in range(2):
            idle = next(iter(kept))
            if kept[idle] > now and len(kept) <= BUCKETS_MAX:
                break
            del kept[idle]

    def check(self, who: str) -> None:
        """Refuse when there is none to take; takes none. Raises RateLimitedError."""
        if self._amount:
            now = self._now()
            short = max(self._full_at.get(who, now), now) + self._secs / self._amount - now - self._secs
            if short > 1e-6:
                raise RateLimitedError(retry_after_secs=max(1, min(math.ceil(short), _RETRY_MAX_SECS)))


def spend(db: sqlite3.Connection, budget: str, who: str, *, amount: int, most: int, now_ms: int) -> None:
    """Spend of a day's budget, which ends at midnight UTC. Raises RateLimitedError; nothing is spent then."""
    if not most:
        return
    day = now_ms // DAY_MS
    # Not the address itself: the row outlives the submission by up to a day.
    key = hashlib.sha256(who.encode()).hexdigest()
    found = db.execute(
        "SELECT amount FROM spent WHERE day = ? AND budget = ? AND who = ?", (day, budget, key)
    ).fetchone()
    before: int = found[0] if found else 0
    if before + amount > most:
        raise RateLimitedError(
            retry_after_secs=max(1, min(((day + 1) * DAY_MS - now_ms) // 1_000, _RETRY_MAX_SECS))
        )
    db.execute(
        "INSERT INTO spent VALUES (?, ?, ?, ?) ON CONFLICT DO UPDATE SET amount = amount + excluded.amount",
        (day, budget, key, amount),
    )
