"""What the front door left behind goes by itself: marks of who never acts again, files of killed writers."""

import asyncio
from pathlib import Path

import pytest

from mail4agent_api.addresses import text_of
from mail4agent_api.mail import SessionAddress
from mail4agent_core.clock import HandClock
from mail4agent_core.frontdoor.briefed import Briefed
from mail4agent_core.frontdoor.store import Frontdoor
from mail4agent_core.mail.administration import DAY_MS
from mail4agent_core.mail.memory import MemoryStore
from mail4agent_daemon.upkeep import keep_tidy, tidy_frontdoor
from tests.core.mail.office import SESSION, Office

from .host.served import until
from .inside import Inside, inside


@pytest.mark.promise("frontdoor.marks-end-with-their-sessions")
async def test_marks_of_who_never_acts_again_are_forgotten_and_no_others(tmp_path: Path) -> None:
    """A removed account's, a forgotten session's, and one's that has been dead for a day."""
    clock = HandClock()
    store, requests = MemoryStore(clock), tmp_path / "requests"
    office = Office(store, clock)
    ann, *_ = await office.accounts("ann", "bob", "cid")
    issued = await office.sessions.issue(ann)
    session = text_of(issued.address)
    assert isinstance(issued.address, SessionAddress)
    name = issued.address.session
    briefed = Briefed(requests)
    for address in (session, f"ann/{SESSION}", "bob", "cid"):
        briefed.mark(address)
    await office.remove("cid")
    await tidy_frontdoor(briefed, requests, store, clock)
    assert set(briefed.marked()) == {"ann", session, "bob"}
    await store.change(lambda registry: registry.sessions.bury(name, clock.now_ms()))
    clock.step(DAY_MS)
    await tidy_frontdoor(briefed, requests, store, clock)
    assert briefed.has(session)
    clock.step(1)
    await tidy_frontdoor(briefed, requests, store, clock)
    assert set(briefed.marked()) == {"ann", "bob"}
    assert not briefed.has(session)
    assert briefed.has("bob")


@pytest.mark.promise("frontdoor.killed-writers-leave-nothing")
async def test_a_start_sweeps_what_killed_writers_left(tmp_path: Path) -> None:
    """Of their own form; the original's files and everything else stay."""
    home = tmp_path / "home"
    requests = home / "requests"
    with Frontdoor.open(requests):
        left = requests / ".0000000004-visit.json.0123456789abcdef.tmp"
        kept = [requests / "0000000005-visit.json.tmp", requests / "notes.txt"]
        for path in (left, *kept):
            path.write_text("{")
    home.chmod(0o700)
    async with inside(home):
        await until(lambda: not left.exists())
    assert all(path.exists() for path in kept)


async def test_tidying_that_fails_is_logged_and_comes_again(
    inside: Inside, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever failed, the next day's still comes."""
    monkeypatch.setattr("mail4agent_daemon.upkeep.DAY_MS", 0)
    stop, runs = asyncio.Event(), list[int]()

    async def tidy() -> None:
        runs.append(1)
        if len(runs) == 2:
            stop.set()
            return
        raise RuntimeError("odd")

    await asyncio.wait_for(keep_tidy(tidy, inside.made.connections.log, stop), 20)
    failed = [each["failure"][0]["type"] for each in inside.log if each["event"] == "frontdoor_not_tidied"]
    assert failed == ["RuntimeError"]
