"""Turns at a long look: one of an account at a time, in order, and none is lost."""

import pytest

from mail4agent_daemon.limits import Limits
from mail4agent_daemon.turns import Turns
from mail4agent_daemon.waiting import Outcome, Ticket, Waiters

pytestmark = pytest.mark.promise("mail.filtered-waits-are-not-refused")


@pytest.fixture
def tickets() -> list[Ticket]:
    """Three waits of alice and one of bob."""
    waiters = Waiters(Limits())
    return [waiters.register([name], name) for name in ("alice", "alice", "alice", "bob")]


async def test_turns_come_one_at_a_time_in_order(tickets: list[Ticket]) -> None:
    """Who asks while another looks is woken when its turn has come, and has it then."""
    turns, (first, second, third, other) = Turns(), tickets
    assert [turns.take(each) for each in tickets] == [True, False, False, True]
    turns.leave(first)
    assert await second.wait(0) is Outcome.WOKEN
    assert await third.wait(0) is Outcome.TIMED_OUT
    assert [turns.take(each) for each in (third, second)] == [False, True]
    turns.leave(second)
    assert await third.wait(0) is Outcome.WOKEN
    for each in (third, other):
        turns.leave(each)
    assert (turns._holders, turns._queues) == ({}, {})


async def test_who_leaves_the_queue_is_passed_over(tickets: list[Ticket]) -> None:
    """A wait that ends while it is queued, or when its turn has just come, holds nobody up."""
    turns, (first, second, third, other) = Turns(), tickets
    for each in (first, second, third):
        turns.take(each)
    turns.leave(second)
    turns.leave(second)
    turns.leave(other)
    turns.leave(first)
    assert await second.wait(0) is Outcome.TIMED_OUT
    assert await third.wait(0) is Outcome.WOKEN
    turns.leave(third)
    assert (turns._holders, turns._queues) == ({}, {})
