"""Sessions across restarts of the daemon, across corrections of the clock, and while they wait."""

import dataclasses
from pathlib import Path

import pytest

from mail4agent_core.clock import HandClock
from mail4agent_daemon import app
from mail4agent_daemon.attest import Attestor, Boot

from .host.served import until
from .inside import Inside, inside

HOUR_MS = 3_600_000


async def session_of(daemon: Inside) -> str:
    """The session that this process is: the operator's, who called first."""
    address = (await daemon.post("/mail/whoami", {})).json["address"]
    assert address["kind"] == "session"
    return address["session"]


@pytest.mark.promise("identity.clock-changes-nothing")
@pytest.mark.parametrize("correction_ms", [HOUR_MS, -HOUR_MS])
async def test_a_clock_that_is_set_by_an_hour_changes_no_running_session(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, correction_ms: int
) -> None:
    """After a restart under the other clock it has its id, its mail and its life."""
    async with inside(tmp_path / "home") as daemon:
        await daemon.add("ben")
        ben = daemon.keys["ben"]
        session = await session_of(daemon)
        target = {"kind": "session", "participant": "operator", "session": session}
        sent = await daemon.post("/mail/send", {"to": target, "subject": "s", "body": "before"}, "ben")
        assert sent.status == 200, sent.body

    def corrected(attestor: Attestor) -> Boot:
        boot = true_boot(attestor)
        return dataclasses.replace(boot, boot_ms=boot.boot_ms + correction_ms)

    true_boot = Attestor.boot
    monkeypatch.setattr(app.Attestor, "boot", corrected)
    clock = HandClock(HandClock().now_ms() + correction_ms)
    async with inside(tmp_path / "home", clock=clock) as daemon:
        daemon.keys["ben"] = ben
        assert await session_of(daemon) == session
        page = (await daemon.post("/mail/inbox", {})).json
        assert [message["body"] for message in page["messages"]] == ["before"]
        again = await daemon.post("/mail/send", {"to": target, "subject": "s", "body": "after"}, "ben")
        assert again.status == 200, again.body
        directory = (await daemon.post("/mail/directory", {}, "ben")).json
        (operator,) = (entry for entry in directory["participants"] if entry["id"] == "operator")
        assert [(entry["id"], entry["live"]) for entry in operator["sessions"]] == [(session, True)]


@pytest.mark.promise("session.live-means-live")
async def test_an_issued_session_that_waits_is_live_however_long_ago_it_was_used(tmp_path: Path) -> None:
    """Its parked call counts as it stands; when that ends, so does its life in the directory."""
    async with inside(tmp_path / "home") as daemon:
        await daemon.add("ben")
        issued = (await daemon.post("/mail/session", {}, "ben")).json
        daemon.keys["issued"] = issued["secret"]
        wire = await daemon.park("/mail/wait", {"wait_secs": 60}, "issued")
        daemon.clock.step(HOUR_MS)

        async def lives() -> bool:
            directory = (await daemon.post("/mail/directory", {}, "operator")).json
            (ben,) = (entry for entry in directory["participants"] if entry["id"] == "ben")
            (entry,) = (each for each in ben["sessions"] if each["id"] == issued["address"]["session"])
            return entry["live"]

        assert await lives()
        wire.close()
        await until(lambda: daemon.made.waiters.parked == 0)
        assert not await lives()
