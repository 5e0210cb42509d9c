"""Retention runs once a day, by itself, and goes on after a failure."""

import asyncio
from pathlib import Path

import pytest

from mail4agent_api.errors import StoreUnavailableError
from mail4agent_core.clock import HandClock
from mail4agent_core.mail.administration import DAY_MS, Administration
from mail4agent_core.mail.sessions import Sessions
from mail4agent_daemon.upkeep import keep_sessions, keep_up, run_if_due

from .host.served import until
from .inside import Inside, inside

pytestmark = pytest.mark.promise("admin.retention-spares-unsettled-mail")


def runs(daemon: Inside) -> list[dict[str, object]]:
    """What was logged of runs."""
    return [record for record in daemon.log if record["event"] == "retention"]


async def test_settled_mail_goes_at_its_time_and_the_rest_stays(tmp_path: Path) -> None:
    """At a start 181 days later the acknowledged message is gone, the other is not; the report says so."""
    clock = HandClock()
    async with inside(tmp_path / "home", clock=clock) as first:
        await first.add("ada", "ben")
        settled = await first.send("ada", "ben")
        kept = await first.send("ada", "ben")
        assert (await first.post("/mail/ack", {"message_id": settled}, "ben")).status == 200
        keys = first.keys
    clock.step(181 * DAY_MS)
    async with inside(tmp_path / "home", clock=clock) as second:
        second.keys.update({name: keys[name] for name in ("ada", "ben")})
        await until(lambda: bool(runs(second)))
        assert [
            message["message_id"]
            for message in (await second.post("/mail/inbox", {}, "ben")).json["messages"]
        ] == [kept]
        report = (await second.post("/admin/retention", {})).json
        assert report["last_run_unix_ms"] == clock.now_ms()
        assert (report["keep_days"], report["removed_messages"]) == (180, 1)


async def test_a_run_comes_once_a_day(inside: Inside) -> None:
    """Within a day nothing is done; a clock that was set back does not put the next run off for ever."""
    store, clock = inside.made.store, inside.clock
    administration = Administration(store, clock, None, 180)  # pyright: ignore[reportArgumentType]
    log = inside.made.connections.log
    await until(lambda: bool(runs(inside)))
    for step, due in ((DAY_MS - 1, False), (1, True), (0, False), (-3 * DAY_MS, True), (0, False)):
        clock.step(step)
        assert await run_if_due(administration, clock, log) is due


async def test_a_run_that_fails_is_logged_and_tried_again(
    inside: Inside, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever failed, upkeep goes on."""
    faults: list[Exception] = [StoreUnavailableError(operation="sweep"), RuntimeError("odd")]
    monkeypatch.setattr("mail4agent_daemon.upkeep.LOOK_SECS", 0)
    stop = asyncio.Event()

    class Failing(Administration):
        async def run_retention(self) -> None:
            if not faults:
                stop.set()
                return
            raise faults.pop(0)

    await until(lambda: bool(runs(inside)))
    inside.clock.step(2 * DAY_MS)
    administration = Failing(inside.made.store, inside.clock, None, 180)  # pyright: ignore[reportArgumentType]
    await asyncio.wait_for(keep_up(administration, inside.clock, inside.made.connections.log, stop), 20)
    failed = [record["failure"][0]["type"] for record in inside.log if record["event"] == "retention_failed"]
    assert failed == ["StoreUnavailableError", "RuntimeError"]


@pytest.mark.promise("session.cheap-to-know")
async def test_signs_of_life_are_written_each_minute_and_at_the_stop(
    inside: Inside, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A minute that fails is logged, and the next one comes."""
    faults: list[Exception] = [StoreUnavailableError(operation="change"), RuntimeError("odd")]
    monkeypatch.setattr("mail4agent_daemon.upkeep.FLUSH_SECS", 0)
    stop = asyncio.Event()
    written: list[bool] = []

    class Failing(Sessions):
        async def flush(self) -> None:
            if faults:
                raise faults.pop(0)
            written.append(stop.is_set())
            stop.set()

    sessions = Failing(
        inside.made.store,
        inside.clock,
        None,  # pyright: ignore[reportArgumentType]
        alive=lambda process: False,
        parked=lambda name: False,
    )
    await asyncio.wait_for(keep_sessions(sessions, inside.made.connections.log, stop), 20)
    assert written == [False, True]
    failed = [record for record in inside.log if record["event"] == "sessions_not_written"]
    assert len(failed) == 2
