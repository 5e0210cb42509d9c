"""Readers by the thousand against a daemon process: all are answered, nobody else is kept waiting."""

import asyncio
import json
import resource
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from mail4agent_daemon.limits import Limits

from .host.served import Wire, until
from .inside import Daemons
from .running import Daemon, running

READERS = 1_000
ACCOUNTS = 4
EMPTY = {"/mail/inbox": {"messages": [], "unread": 0}, "/mail/wait": {"unread": 0, "newest": None}}


@contextmanager
def many_files() -> Iterator[None]:
    """Room for the connections of this process, whatever its soft bound is."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


async def parked(daemon: Daemon) -> int:
    """How many wait now, as the daemon counts them."""
    text = (await asyncio.to_thread(daemon.get, "/metrics")).body.decode()
    return next(
        int(float(line.split()[1]))
        for line in text.splitlines()
        if line.startswith("mail4agent_parked_readers ")
    )


async def waiting(daemon: Daemon, account: str, path: str) -> Wire:
    """A connection on which a wait was asked for."""
    wire = Wire(*await asyncio.open_connection("127.0.0.1", daemon.port))
    body = json.dumps({"wait_secs": 60})
    await wire.send(
        f"POST {path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {daemon.keys[account]}\r\n"
        f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n{body}".encode()
    )
    return wire


@pytest.mark.promise("mail.wait-is-released", "daemon.stop-is-graceful")
async def test_a_thousand_readers_get_an_empty_page_at_the_stop(tmp_path: Path) -> None:
    """Not one connection breaks, and the daemon ends in order and in its time."""
    paths = tuple(EMPTY)
    with many_files(), running(tmp_path / "home") as daemon:
        accounts = [f"reader-{number}" for number in range(ACCOUNTS)]
        for account in accounts:
            daemon.add(account)
        asked = [(accounts[n % ACCOUNTS], paths[n // ACCOUNTS % 2]) for n in range(READERS)]
        wires = [await waiting(daemon, *each) for each in asked]
        async with asyncio.timeout(20):
            while await parked(daemon) < READERS:
                continue
        ending = asyncio.create_task(asyncio.to_thread(daemon.stop))
        for (_, path), wire in zip(asked, wires, strict=True):
            answer = await wire.answer()
            assert (answer.status, answer.json) == (200, EMPTY[path])
            assert await wire.rest() == b""
            wire.close()
        assert await ending == 0
        events = [record["event"] for record in daemon.log]
        assert events[-1] == "stopped"
        assert "stop_forced" not in events


@pytest.mark.promise("mail.wait-blocks-nobody")
async def test_somebody_else_is_answered_between_the_readers_of_a_room(daemons: Daemons) -> None:
    """While a post wakes all members of a room, a request that comes later is answered before the last."""
    inside = await daemons.start()
    await inside.post("/admin/room", {"id": "desk"})
    await inside.post("/admin/room/member/add", {"room": "desk", "participant": "ben"})
    wires = [
        await inside.park("/mail/wait", {"wait_secs": 60}, "ben")
        for _ in range(Limits().parked_per_account_max)
    ]
    await inside.send("ada", "#desk")
    left = inside.made.waiters.parked
    assert (await inside.post("/mail/whoami", {}, "eve")).status == 200
    assert 0 < inside.made.waiters.parked < left
    assert {(await wire.answer()).json["unread"] for wire in wires} == {1}
    await until(lambda: inside.made.waiters.parked == 0)


@pytest.mark.promise("mail.wait-blocks-nobody")
async def test_a_whole_share_of_waits_in_many_rooms_is_kept_as_one(daemons: Daemons) -> None:
    """What a further wait of an account costs does not grow with its rooms; each room wakes every one."""
    inside = await daemons.start()
    rooms = [f"room-{number}" for number in range(50)]
    for room in rooms:
        await inside.post("/admin/room", {"id": room})
        await inside.post("/admin/room/member/add", {"room": room, "participant": "ben"})
    wires = [await inside.park("/mail/inbox", {"wait_secs": 60}, "ben") for _ in range(20)]
    waiters = inside.made.waiters
    assert len(waiters._groups) == 1
    assert {len(groups) for groups in waiters._by_key.values()} == {1}
    # The rooms, the account and the session that this process is.
    assert len(waiters._by_key) == len(rooms) + 2
    await inside.send("ada", f"#{rooms[-1]}")
    assert {(await wire.answer()).json["unread"] for wire in wires} == {1}
    assert (waiters._groups, waiters._by_key) == ({}, {})
