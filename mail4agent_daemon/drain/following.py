"""A whole drain: once through the box, or for as long as it runs, with pauses that grow when it fails."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from mail4agent_api.errors import (
    EpochChangedError,
    LeaseHeldError,
    OverloadedError,
    PermissionDeniedError,
    RateLimitedError,
    RefusalError,
    UnauthenticatedError,
)
from mail4agent_client import ClientError

from .box import BoxError, BoxKeyError, BoxRefusedError
from .draining import Drain, Tally
from .rows import Row

WAIT_SECS: Final = 25
#: Pages of one run: 10 million rows. A box that gives rows without end keeps no run for ever.
PAGES_MAX: Final = 100_000
PAUSE_SECS: Final = 1.0
PAUSE_MAX_SECS: Final = 300.0
TRIES: Final = 3
#: Seconds until rows that were left in the box are looked at once more.
LEFT_SECS: Final = 60.0

Kept = Callable[[int], None]


@dataclass(slots=True)
class Pauses:
    """How long one waits after failures: twice as long each time, less a part that is drawn."""

    sleep: Callable[[float], None]
    #: From 0 to 1.
    drawn: Callable[[], float]
    failures: int = field(default=0)

    def pause(self, at_least: float = 0.0) -> None:
        """Wait, at least so many seconds."""
        longest = min(PAUSE_MAX_SECS, PAUSE_SECS * 2.0 ** min(self.failures, 16))
        self.failures += 1
        self.sleep(max(at_least, longest * (0.5 + self.drawn() / 2)))


def once(
    drain: Drain, pauses: Pauses, kept: Kept, total: Tally, *, progress: Callable[[Tally], None]
) -> None:
    """Take in what is in the box, and end. ``total`` has what was done, also when this raises.

    ``progress`` is told the total after each page. Raises BoxError once the box failed three times in a row,
    and what home refuses everything with.
    """
    pages = 0
    while pages < PAGES_MAX:
        try:
            drain.lease()
            while pages < PAGES_MAX and (tally := drain.page(0)) is not None:
                pages += 1
                pauses.failures = 0
                total.add(tally)
                progress(total)
        except BoxRefusedError as refused:
            if isinstance(refused.refusal, LeaseHeldError) or not is_passing(refused):
                raise
            _retried(refused, pauses)
        except BoxError as failure:
            if not is_passing(failure):
                raise
            _retried(failure, pauses)
        else:
            kept(total.left)
            return


def _retried(failure: BoxError, pauses: Pauses) -> None:
    if pauses.failures >= TRIES - 1:
        raise failure
    pauses.pause(_asked_for(failure))


def follow(
    drain: Drain,
    pauses: Pauses,
    kept: Kept,
    report: Callable[[Tally], None],
    *,
    clock: Callable[[], float],
    tell: Callable[[str], None],
) -> None:
    """Take in whatever comes, until something ends it from outside. Raises only what stays as it is: a key
    that is none, a right that is missing.
    """
    left, again_at = 0, 0.0
    while True:
        try:
            # Rounded up: with a wait of none one would ask without a pause for the last part of a second.
            wait = WAIT_SECS if not left else max(0, min(WAIT_SECS, math.ceil(again_at - clock())))
            tally = drain.page(wait)
            pauses.failures = 0
            if tally is not None:
                if tally.left and not left:
                    again_at = clock() + LEFT_SECS
                left += tally.left
                report(tally)
            kept(left)
            if left and clock() >= again_at:
                left = 0
                drain.from_the_beginning()
        except (BoxError, RefusalError, ClientError) as failure:
            if not is_passing(failure):
                raise
            tell(said_of(failure))
            pauses.pause(_asked_for(failure))


def looked(drain: Drain, judge: Callable[[Row], bool]) -> Tally:
    """What is in the box: looked at under the lease, with nothing taken in. Raises BoxError."""
    total = Tally()
    drain.lease()
    for _ in range(PAGES_MAX):
        rows = drain.look(0)
        if not rows:
            break
        total.drained += len(rows)
        total.left += len(rows)
        total.invalid += sum(not judge(row) for row in rows)
        drain.passed()
    return total


def is_passing(failure: BoxError | RefusalError | ClientError) -> bool:
    """Whether a failure may be gone by the next try."""
    if isinstance(failure, BoxKeyError):
        return False
    refusal = failure.refusal if isinstance(failure, BoxRefusedError) else failure
    return not isinstance(refusal, UnauthenticatedError | PermissionDeniedError)


def said_of(failure: BoxError | RefusalError | ClientError) -> str:
    """What a person is told while a drain goes on."""
    refusal = failure.refusal if isinstance(failure, BoxRefusedError) else failure
    match refusal:
        case LeaseHeldError():
            return "another drain holds the lease of the box"
        case EpochChangedError():
            return "the box was built anew"
        case RefusalError():
            return f"refused: {refusal.kind}"
        case _:
            return str(failure)


def _asked_for(failure: BoxError | RefusalError | ClientError) -> float:
    """The seconds that a refusal asks for."""
    refusal = failure.refusal if isinstance(failure, BoxRefusedError) else failure
    if isinstance(refusal, LeaseHeldError | OverloadedError | RateLimitedError):
        return float(min(refusal.refusal.retry_after_secs, PAUSE_MAX_SECS))
    return 0.0
