"""Random histories of mail, members and attempts: both stores ring alike, and lose and repeat nothing."""

import random
from pathlib import Path

import pytest

from mail4agent_api.addresses import participant_of, text_of
from mail4agent_api.codec import decode
from mail4agent_api.mail import Message, RingFailure
from mail4agent_core.clock import HandClock
from mail4agent_core.mail.doorbells import Attempt, Ring
from mail4agent_core.mail.identity import Caller
from mail4agent_core.mail.memory import MemoryStore
from mail4agent_core.mail.sqlite import SqliteStore
from mail4agent_core.mail.sqlite.verify import verify

from .office import OTHER_SESSION, SESSION, Office

NAMES = ("ann", "bob", "cid")
FAILURES: tuple[RingFailure, ...] = ("refused", "bad_status", "timed_out", "port_not_yours")
STEPS = 250


class Pair:
    """Two offices that the same things happen in."""

    def __init__(self, offices: list[Office]) -> None:
        self.offices = offices
        self.people: dict[str, list[Caller]] = {}

    async def begin(self) -> list[str]:
        """Accounts with two sessions each, two rooms and a listener for everybody; their owners."""
        for office in self.offices:
            for caller in await office.accounts(*NAMES):
                for each in (caller, *[await office.session(caller, s) for s in (SESSION, OTHER_SESSION)]):
                    self.people.setdefault(text_of(each.address), []).append(each)
            for room in ("hall", "yard"):
                await office.room(room)
            for owner in self.people:
                await office.store.change(
                    lambda registry, owner=owner: registry.set_listener(
                        participant_of(owner), "u", None, None
                    )
                )
        return sorted(self.people)

    async def both(self, what: str, who: str, *rest: str) -> None:
        """Have an office's method carried out in both."""
        for index, office in enumerate(self.offices):
            caller = self.people[who][index]
            match what:
                case "send":
                    await office.send(caller, *rest)
                case "join":
                    await office.join(rest[0], caller)
                case _:
                    await office.leave(rest[0], caller)

    async def turns(
        self, owner: str, rings: list[Ring | None], now: int, failure: RingFailure | None
    ) -> tuple[list[Ring | None], bool]:
        """The next turn in both, which must be alike, after an attempt at the last; whether more is due."""
        found: list[tuple[bytes | None, int | None]] = []
        after: list[Ring | None] = []
        for office, ring in zip(self.offices, rings, strict=True):
            attempt = None if ring is None else Attempt(ring, now, failure, now + 1_000 if failure else 0)
            turn = await office.store.next_ring(owner, attempt, now)
            assert turn is not None
            after.append(turn.ring)
            found.append((None if turn.ring is None else turn.ring.wire, turn.due_at))
        assert found[0] == found[1]
        return after, found[0] != (None, None)


@pytest.mark.promise("doorbell.once", "doorbell.who-is-rung")
@pytest.mark.parametrize("seed", range(6))
async def test_random_histories_ring_alike_in_both_stores(
    tmp_path: Path, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Same rings in the same order, each message once for each listener, and a sound file in the end."""
    for module in ("memory", "sqlite"):
        for name, value in (("OUTSTANDING_MAX", 6), ("STEP", 3)):
            monkeypatch.setattr(f"mail4agent_core.mail.{module}.doorbells.{name}", value)
    choose, clock = random.Random(seed), HandClock()
    path = tmp_path / "mail.sqlite3"
    store = await SqliteStore.open(path, clock)
    pair = Pair([Office(MemoryStore(clock), clock), Office(store, clock)])
    owners = await pair.begin()
    rings: dict[str, list[Ring | None]] = {owner: [None, None] for owner in owners}
    heard: dict[str, list[str]] = {owner: [] for owner in owners}

    async def turn(owner: str, *, may_fail: bool) -> bool:
        before = rings[owner]
        failure = choose.choice(FAILURES) if may_fail and choose.random() < 0.4 else None
        if before[0] is not None and failure is None:
            heard[owner].append(decode(Message, before[0].wire).subject)
        rings[owner], more = await pair.turns(owner, before, clock.now_ms(), failure)
        return more

    for n in range(STEPS):
        who = choose.choice(owners)
        match choose.randrange(10):
            case 0:
                await pair.both("join", who, choose.choice(("hall", "yard")))
            case 1:
                await pair.both("leave", who, choose.choice(("hall", "yard")))
            case 2:
                clock.step(choose.choice((1, 500, 1_000, 3_600_000, 30_000_000)))
            case 3 | 4 | 5:
                await turn(who, may_fail=True)
            case _:
                await pair.both("send", who, choose.choice([*owners, "#hall", "#yard"]), str(n))
    clock.step(300_001)
    for owner in owners:
        for _ in range(3 * STEPS):
            if not await turn(owner, may_fail=False):
                break
        assert rings[owner] == [None, None]
        assert len(heard[owner]) == len(set(heard[owner]))
    shown = [
        [
            (text_of(each.owner), each.outstanding, each.rung, each.given_up, each.failure)
            for name in NAMES
            for each in await office.store.look(
                lambda registry, name=name: registry.listeners_of(participant_of(name).participant)
            )
        ]
        for office in pair.offices
    ]
    assert shown[0] == shown[1]
    assert all(outstanding == 0 for _, outstanding, *_ in shown[0])
    assert any(heard.values())
    await store.close()
    assert verify(path) == []
