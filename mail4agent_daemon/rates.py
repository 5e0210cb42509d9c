"""How fast requests are taken: a bucket of tokens for each connection and one for each account.

A request costs a token, and one for each started 64 KiB of its body, which it declares before any of it is
read. ``mail.send_many`` costs one more for each message beyond the first: that is known once it is decoded,
and is taken from the account before anything is stored. A wait costs its token once, however long it parks.

A bucket is one number, the moment at which it will be full again. A full one is not kept. An account that is
registered anew under a purged id begins with what the old one left, which is over when the bucket is full.
"""

import math
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass

from mail4agent_api.errors import RateLimitedError

from .link import Link

#: One token is paid for each started piece of a body.
PIECE_BYTES = 65_536
#: A body that does not declare its size pays for this many.
UNDECLARED_BYTES = 2_097_152
#: Accounts whose buckets are kept; past it the one that was idle longest is forgotten, and so full again.
BUCKETS_MAX = 8_192
#: The contract's bound of ``retry_after_secs``.
RETRY_MAX_SECS = 86_400


@dataclass(frozen=True, slots=True)
class Rate:
    """Tokens a second, and how many a bucket holds; no limit where either is 0."""

    per_sec: int
    burst: int

    @property
    def is_limit(self) -> bool:
        """Whether there is a limit at all."""
        return bool(self.per_sec and self.burst)

    def take(self, full_at: float, now: float, cost: int) -> float:
        """Take tokens from a bucket that is full at ``full_at``; return when it will be full again.

        What costs more than a bucket holds takes a whole one. Raises RateLimitedError; nothing is taken then.
        """
        after = max(full_at, now) + min(cost, self.burst) / self.per_sec
        short_secs = after - now - self.burst / self.per_sec
        # Rounding must not refuse the last token of a bucket.
        if short_secs > 1e-6:
            raise RateLimitedError(retry_after_secs=max(1, min(math.ceil(short_secs), RETRY_MAX_SECS)))
        return after


def cost_of(body_bytes: int | None) -> int:
    """What a request costs whose body has so many bytes; None: it does not say."""
    return 1 + -(-(UNDECLARED_BYTES if body_bytes is None else body_bytes) // PIECE_BYTES)


class Rates:
    """The buckets of one daemon. ``now`` gives monotonic seconds."""

    def __init__(self, connection: Rate, account: Rate, now: Callable[[], float]) -> None:
        self._connection = connection
        self._account = account
        self._now = now
        #: When each account's bucket is full again, the longest idle first.
        self._full_at: OrderedDict[str, float] = OrderedDict()
        #: How many requests were refused, by whose bucket was empty.
        self.refused = {"connection": 0, "account": 0}

    def __len__(self) -> int:
        """How many accounts' buckets are kept."""
        return len(self._full_at)

    def admit_connection(self, link: Link | None, cost: int) -> None:
        """Take tokens from a connection's bucket. Raises RateLimitedError."""
        if link is None or not self._connection.is_limit:
            return
        try:
            link.full_at = self._connection.take(link.full_at, self._now(), cost)
        except RateLimitedError:
            self.refused["connection"] += 1
            raise

    def admit_account(self, account: str, cost: int) -> None:
        """Take tokens from an account's bucket. Raises RateLimitedError."""
        if not cost or not self._account.is_limit:
            return
        now, kept = self._now(), self._full_at
        try:
            full_at = self._account.take(kept.get(account, now), now, cost)
        except RateLimitedError:
            self.refused["account"] += 1
            raise
        kept[account] = full_at
        kept.move_to_end(account)
        # One comes at most: two looks at the idle end make the number follow the accounts that are busy.
        for _ in range(2):
            idle = next(iter(kept), None)
            if idle is None or (kept[idle] > now and len(kept) <= BUCKETS_MAX):
                break
            del kept[idle]
