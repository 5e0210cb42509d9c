"""When a call is made again, and how long it waits: the rule core, driven by hand."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

import pytest

from mail4agent_api._wire import WireModel
from mail4agent_api.codec import decode_value
from mail4agent_api.errors import OverloadedError, RateLimitedError, StoreUnavailableError
from mail4agent_api.mail import InboxRequest, SendManyRequest, SendRequest, WaitRequest, WhoAmI, WhoAmIRequest
from mail4agent_api.note import NoteRequest
from mail4agent_api.operations import OPERATIONS
from mail4agent_client import ConnectionLostError, RetryPolicy, TimedOutError, letter
from mail4agent_client.connection import Connection
from mail4agent_client.exchange import Answer, Ask, Backoff, Pause, exchange, safe_to_repeat
from mail4agent_client.settings import settings_of

LOST = ConnectionLostError("http://127.0.0.1")
POLICY = RetryPolicy(attempts=4, first_pause=1.0, longest_pause=3.0, all_pauses=10.0)
NOTE = decode_value(
    NoteRequest, {"run": "demo", "node": "docs", "addressee": "worker", "text": "keep the flag"}
)
KEYED = letter("bob", "", "b", key="k")
KEYLESS = letter("bob", "", "b").model_copy(update={"idempotency_key": None})


def _steps(policy: RetryPolicy = POLICY) -> Generator[Any, Any, WhoAmI]:
    return exchange(OPERATIONS["mail.whoami"], WhoAmI, WhoAmIRequest(), policy, chance=lambda: 1.0)


def test_pauses_double_up_to_their_bound_and_the_last_fault_is_raised() -> None:
    """Four attempts have three pauses between them."""
    steps = _steps()
    pauses: list[float] = []
    step = next(steps)
    for _ in range(3):
        assert isinstance(step, Ask)
        pause = steps.throw(LOST)
        pauses.append(pause.secs)
        step = steps.send(None)
    assert pauses == [1.0, 2.0, 3.0]
    with pytest.raises(ConnectionLostError):
        steps.throw(LOST)


def test_chance_takes_up_to_half_of_a_pause() -> None:
    """Callers who failed together come back apart."""
    assert Backoff(1.0, 8.0, chance=lambda: 0.0).next() == 0.5
    assert Backoff(1.0, 8.0, chance=lambda: 1.0).next() == 1.0


def test_a_pause_stays_bounded_however_often_it_failed() -> None:
    """A day of failures neither overflows nor waits a day."""
    backoff = Backoff(0.2, 30.0, chance=lambda: 1.0, failures=100_000)
    assert backoff.next() == 30.0


@pytest.mark.parametrize(
    ("header", "secs"), [("2", 2.0), ("0", 1.0), (None, 3.0), ("soon", 3.0), ("-1", 3.0), ("٣", 3.0)]
)
def test_the_daemons_own_time_is_the_least_pause(header: str | None, secs: float) -> None:
    """The header says when; without a usable one the refusal does."""
    steps = _steps()
    next(steps)
    pause = steps.send(Answer(429, header, b'{"kind": "rate_limited", "retry_after_secs": 3}'))
    assert pause == Pause(secs)


def test_a_time_beyond_what_is_left_is_not_waited_for() -> None:
    """A caller with ten seconds of patience is told at once that an hour is asked for."""
    steps = _steps()
    next(steps)
    with pytest.raises(OverloadedError):
        steps.send(Answer(503, "3600", b'{"kind": "overloaded", "retry_after_secs": 3600}'))


def test_all_pauses_of_a_call_together_are_bounded() -> None:
    """Many attempts do not make patience endless."""
    steps = _steps(RetryPolicy(attempts=1000, first_pause=4.0, longest_pause=4.0, all_pauses=10.0))
    next(steps)
    for _ in range(2):
        assert steps.throw(LOST) == Pause(4.0)
        steps.send(None)
    with pytest.raises(ConnectionLostError):
        steps.throw(LOST)


def test_a_store_that_could_not_write_is_asked_again() -> None:
    """Nothing was changed, so a repeat is a first try."""
    steps = _steps()
    next(steps)
    assert steps.send(Answer(503, None, b'{"kind": "store_unavailable", "operation": "x"}')) == Pause(1.0)
    once = _steps(RetryPolicy(attempts=1))
    next(once)
    with pytest.raises(StoreUnavailableError):
        once.send(Answer(503, None, b'{"kind": "store_unavailable", "operation": "x"}'))


def test_a_timeout_is_raised_at_once() -> None:
    """A daemon that hangs is not helped by a second request."""
    steps = _steps()
    next(steps)
    with pytest.raises(TimedOutError):
        steps.throw(TimedOutError("http://127.0.0.1", 1.0))


@pytest.mark.promise("client.retries-only-what-is-safe")
def test_every_row_says_whether_a_repeat_is_safe() -> None:
    """Reads and rows marked always are; rows marked never are not; sends are when they carry keys."""
    for row in OPERATIONS.values():
        if row.retry in {"key", "keys"}:
            continue
        assert safe_to_repeat(row, None) is (row.retry == "always" or row.effect == "read"), row.name


@pytest.mark.parametrize(
    ("operation", "request_", "safe"),
    [
        ("mail.send", KEYED, True),
        ("mail.send", KEYLESS, False),
        ("note.deliver", NOTE.model_copy(update={"idempotency_key": "k"}), True),
        ("note.deliver", NOTE, False),
        ("mail.send_many", SendManyRequest(messages=[KEYED, KEYED]), True),
        ("mail.send_many", SendManyRequest(messages=[KEYED, KEYLESS]), False),
    ],
)
def test_a_send_is_safe_to_repeat_only_when_every_part_has_a_key(
    operation: str, request_: WireModel, safe: bool
) -> None:
    """One message without a key could be posted twice."""
    assert safe_to_repeat(OPERATIONS[operation], request_) is safe


def test_a_busy_answer_to_an_unsafe_request_is_raised() -> None:
    """The rule of the table holds for every reason to try again."""
    steps = exchange(OPERATIONS["mail.send"], WhoAmI, KEYLESS, POLICY)
    next(steps)
    with pytest.raises(RateLimitedError):
        steps.send(Answer(429, "0", b'{"kind": "rate_limited", "retry_after_secs": 1}'))


@pytest.mark.parametrize(
    ("operation", "request_", "wait"),
    [
        ("mail.inbox", InboxRequest(wait_secs=60), 60),
        ("mail.inbox", InboxRequest(wait_secs=65535), 60),
        ("mail.inbox", InboxRequest(), 0),
        ("mail.wait", WaitRequest(), 25),
        ("mail.send", KEYED, 0),
    ],
)
def test_the_answer_is_awaited_for_longer_than_the_daemon_was_asked_to_wait(
    operation: str, request_: SendRequest, wait: int
) -> None:
    """A poll of a minute must not meet a timeout of half a minute."""
    ask = next(exchange(OPERATIONS[operation], WhoAmI, request_, POLICY))
    assert isinstance(ask, Ask)
    connection = Connection(settings_of(environment={}), answer_secs=30.0)
    assert connection.deadline_secs(ask) == wait + 30.0
    assert connection.request(ask).extensions["timeout"]["read"] == wait + 30.0
