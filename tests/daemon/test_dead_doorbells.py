"""Doorbells that die: who is told, once, and what an operator can do about it."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from mail4agent_api.errors import PermissionDeniedError, UnknownParticipantError
from mail4agent_api.mail import ListenerListRequest, ListenerRetryRequest, ParticipantId
from mail4agent_core.clock import HandClock
from mail4agent_core.mail.doorbells import DEAD_FAILURES, pause_ms
from mail4agent_core.mail.identity import READ, account_caller

from .receiver import receiving
from .tower import Tower, sent, tower

BOB = ParticipantId("bob")
#: Nobody listens there.
URL = "http://127.0.0.1:9/"


@pytest.fixture
async def bells(tmp_path: Path) -> AsyncIterator[Tower]:
    """Doorbells with the accounts ann and bob."""
    async with tower(tmp_path / "mail.sqlite3", HandClock()) as one:
        await one.office.accounts("ann", "bob")
        yield one


async def died(bells: Tower, url: str = URL) -> None:
    """Let bob's listener die."""
    await bells.hang("bob", url)
    await sent(bells)
    await bells.quiet()
    for failures in range(1, DEAD_FAILURES):
        await bells.later(pause_ms(failures, 1.0))


async def dead(bells: Tower) -> int:
    """How many listeners are."""
    page = await bells.desk.listener_list(bells.office.operator, ListenerListRequest(state="dead"))
    return page.total


@pytest.mark.promise("doorbell.dead-is-shown")
async def test_who_subscribed_is_told_once_when_a_doorbell_dies(bells: Tower) -> None:
    """When the store knows it, and not with a further failure; the log says it once too."""
    told: list[None] = []
    bells.doorbells.subscribe(lambda: told.append(None))
    await died(bells)
    assert (len(told), await dead(bells)) == (1, 1)
    await bells.later(pause_ms(DEAD_FAILURES, 1.0))
    assert (len(told), await dead(bells)) == (1, 1)
    assert [line["owner"] for line in bells.log if line["event"] == "doorbell_dead"] == ["bob"]


@pytest.mark.promise("doorbell.dead-is-shown")
async def test_who_subscribed_is_told_when_a_dead_doorbell_answers(bells: Tower) -> None:
    """At the end of its pause, when its program is there again."""
    told: list[None] = []
    bells.doorbells.subscribe(lambda: told.append(None))
    async with receiving() as receiver:
        await receiver.close()
        await died(bells, receiver.url)
        await receiver.open()
        await bells.later(pause_ms(DEAD_FAILURES, 1.0))
        await receiver.heard_of(1)
        await bells.quiet()
    assert (len(told), await dead(bells)) == (2, 0)


@pytest.mark.promise("doorbell.dead-is-tried-again")
async def test_a_dead_doorbell_that_is_tried_again_rings_without_the_rest_of_its_pause(bells: Tower) -> None:
    """The clock stands still meanwhile."""
    async with receiving() as receiver:
        await receiver.close()
        await died(bells, receiver.url)
        await receiver.open()
        await bells.desk.listener_retry(bells.office.operator, ListenerRetryRequest(account=BOB))
        bells.doorbells.hear("bob")
        await receiver.heard_of(1)
        await bells.quiet()
    record = await bells.record("bob")
    assert (record.rung, record.outstanding, record.failure, await dead(bells)) == (1, 0, None, 0)


async def test_only_operators_see_and_try_again_what_is_dead(bells: Tower) -> None:
    """Nobody else, and no account that is not there."""
    bob = account_caller(BOB, (READ,))
    with pytest.raises(PermissionDeniedError):
        await bells.desk.listener_list(bob, ListenerListRequest())
    with pytest.raises(PermissionDeniedError):
        await bells.desk.listener_retry(bob, ListenerRetryRequest(account=BOB))
    nobody = ListenerRetryRequest(account=ParticipantId("nobody"))
    with pytest.raises(UnknownParticipantError):
        await bells.desk.listener_retry(bells.office.operator, nobody)
