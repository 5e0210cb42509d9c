"""One operation from its request to its answer, over as many attempts as are safe.

No I/O: a transport carries out the steps. A step generator yields ``Ask`` and is sent an ``Answer``, or has a
``ClientError`` thrown into it; it yields ``Pause`` and is sent None; it returns the decoded response or
raises the refusal.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Generator
from dataclasses import dataclass
from typing import Any, TypeVar

from mail4agent_api._wire import WireModel
from mail4agent_api.codec import decode, encode
from mail4agent_api.errors import OverloadedError, RateLimitedError, RefusalError, error_of
from mail4agent_api.mail import InboxRequest, Refusal, SendManyRequest, WaitRequest
from mail4agent_api.operations import Operation
from mail4agent_client.errors import AnswerInvalidError, ClientError, ConnectFailedError, ConnectionLostError

#: The daemon holds a waiting caller no longer than this, in seconds, whatever it asks for.
LONGEST_WAIT_SECS = 60
#: Statuses of refusals for a while.
BUSY = frozenset({429, 503})
_SECS = re.compile(r"[0-9]{1,6}")

R = TypeVar("R", bound=WireModel)


@dataclass(frozen=True, slots=True)
class Ask:
    """Send one request and read its whole answer."""

    method: str
    path: str
    #: None: the request has no body.
    body: bytes | None
    authenticated: bool
    #: Seconds that the daemon may let pass before it answers, because it was asked to wait.
    wait_secs: int


@dataclass(frozen=True, slots=True)
class Answer:
    """One answer, read to its end."""

    status: int
    retry_after: str | None
    body: bytes


@dataclass(frozen=True, slots=True)
class Pause:
    """Let this many seconds pass."""

    secs: float


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """How often and how long one call is tried again where that is safe. Times are in seconds."""

    #: Attempts in all; 1: never again.
    attempts: int = 4
    #: The first pause is up to this long, each next one up to twice as long.
    first_pause: float = 0.1
    longest_pause: float = 5.0
    #: All pauses of one call together; a Retry-After beyond what is left of it ends the call at once.
    all_pauses: float = 20.0


ONCE = RetryPolicy(attempts=1)


@dataclass(slots=True)
class Backoff:
    """Pauses that double up to a bound, each cut by chance so that callers who failed together do not come
    back together.
    """

    first: float
    longest: float
    chance: Callable[[], float] = random.random
    failures: int = 0

    def next(self, at_least: float = 0.0) -> float:
        """The next pause in seconds."""
        pause = min(self.longest, self.first * 2.0 ** min(self.failures, 30))
        self.failures += 1
        return max(at_least, pause * (0.5 + 0.5 * self.chance()))

    def reset(self) -> None:
        """Start over after a success."""
        self.failures = 0


def safe_to_repeat(operation: Operation, request: WireModel | None) -> bool:
    """Whether a second request can change nothing that the first did not: reads, and what the table of
    operations says of writes.
    """
    match operation.retry:
        case "always":
            return True
        case "key":
            return getattr(request, "idempotency_key", None) is not None
        case "keys":
            return isinstance(request, SendManyRequest) and all(
                m.idempotency_key is not None for m in request.messages
            )
        case "never":
            return operation.effect == "read"


def retry_after(failure: ClientError | RefusalError, header: str | None = None) -> float:
    """Seconds that the daemon asks to be left alone for, 0 when it says nothing."""
    if header is not None and _SECS.fullmatch(header):
        return float(header)
    if isinstance(failure, RateLimitedError | OverloadedError):
        return float(failure.refusal.retry_after_secs)
    return 0.0


def exchange(
    operation: Operation,
    response: type[R],
    request: WireModel | None,
    policy: RetryPolicy,
    chance: Callable[[], float] = random.random,
) -> Generator[Ask | Pause, Answer | None, R]:
    """The steps of one call. Raises RefusalError (also for a request that is past a bound, before anything is
    sent) and ClientError.
    """
    ask = Ask(
        operation.method,
        operation.path,
        None if request is None else encode(request),
        operation.authenticated,
        _wait_secs(request),
    )
    attempts = policy.attempts if safe_to_repeat(operation, request) else 1
    backoff = Backoff(policy.first_pause, policy.longest_pause, chance)
    left = policy.all_pauses
    while True:
        attempts -= 1
        at_least = 0.0
        try:
            answer = yield ask
            assert answer is not None  # an Ask is answered or thrown at
            if answer.status == 200:
                return _decoded(response, answer)
            failure = _refused(answer)
            at_least = retry_after(failure, answer.retry_after)
            again = answer.status in BUSY
        except (ConnectFailedError, ConnectionLostError) as fault:
            failure, again = fault, True
        pause = backoff.next(at_least)
        if not again or attempts <= 0 or pause > left:
            raise failure
        left -= pause
        yield Pause(pause)


def _wait_secs(request: WireModel | None) -> int:
    if isinstance(request, InboxRequest | WaitRequest):
        return min(request.wait_secs or 0, LONGEST_WAIT_SECS)
    return 0


def _decoded(response: type[R], answer: Answer) -> R:
    try:
        return decode(response, answer.body)
    except RefusalError as wrong:
        # Raised as it is, it would read as the daemon's refusal of the request.
        reason = _reason(wrong)
    raise AnswerInvalidError(answer.status, reason)


def _refused(answer: Answer) -> RefusalError | AnswerInvalidError:
    refusal_type: Any = Refusal
    try:
        refusal: Refusal = decode(refusal_type, answer.body)
    except RefusalError as wrong:
        return AnswerInvalidError(answer.status, _reason(wrong))
    return error_of(refusal)


def _reason(wrong: RefusalError) -> str:
    refusal: Any = wrong.refusal
    if refusal.kind == "too_large":
        return f"{refusal.field} is {refusal.actual} where at most {refusal.limit} is allowed"
    return f"{refusal.field} {refusal.reason}"
