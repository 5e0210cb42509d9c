"""Both clients against a real daemon that is killed and started again."""

from __future__ import annotations

import asyncio
import threading
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from mail4agent_client import MailClient, RetryPolicy, SyncMailClient

PATIENCE = 30.0
QUICK: dict[str, Any] = {"first_pause": 0.01, "longest_pause": 0.1}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Where the daemon of this test lives, through all its restarts."""
    made = tmp_path / "d"
    made.mkdir()
    return made


def test_a_watch_goes_on_behind_the_last_message_after_the_daemon_was_killed(
    start_daemon: Any, furnish: Any, folder: Path
) -> None:
    """Nothing is missed and nothing shown twice; the reader is told of the fault and need do nothing."""
    told = threading.Event()

    async def watched(url: str, token: str, first: asyncio.Event) -> list[str]:
        async with MailClient(url, token=token) as bob:
            watch = bob.watch("unread", on_fault=lambda *_: told.set(), **QUICK)
            bodies = [(await anext(watch)).body]
            first.set()
            return [*bodies, (await anext(watch)).body, (await anext(watch)).body]

    async def main() -> list[str]:
        first = asyncio.Event()
        with start_daemon(folder) as daemon:
            furnish(daemon, "ops")
            token = daemon.key("bob").read_text()
            await asyncio.to_thread(_send, daemon.url, daemon.key("alice"), "one")
            reading = asyncio.create_task(watched(daemon.url, token, first))
            await asyncio.wait_for(first.wait(), PATIENCE)
            daemon.process.kill()
            assert await asyncio.to_thread(told.wait, PATIENCE)
        with start_daemon(folder, urlsplit(daemon.url).port) as daemon:
            for text in ("two", "three"):
                await asyncio.to_thread(_send, daemon.url, daemon.key("alice"), text)
            return await asyncio.wait_for(reading, PATIENCE)

    assert asyncio.run(main()) == ["one", "two", "three"]


def _send(url: str, key: Path, text: str) -> None:
    with SyncMailClient(url, token_file=key) as alice:
        alice.send_text("bob", text)


def test_a_keyed_send_into_a_restart_arrives_once(start_daemon: Any, furnish: Any, folder: Path) -> None:
    """The client that waits the restart out sends one message, though it asked more than once."""
    with start_daemon(folder) as daemon:
        furnish(daemon, "ops")
        daemon.process.kill()
    policy = RetryPolicy(attempts=1000, first_pause=0.01, longest_pause=0.05, all_pauses=PATIENCE)
    with SyncMailClient(daemon.url, token_file=daemon.key("alice"), retries=policy) as alice:
        sending = threading.Thread(target=alice.send_text, args=("bob", "hello"))
        sending.start()
        with (
            start_daemon(folder, urlsplit(daemon.url).port),
            SyncMailClient(daemon.url, token_file=daemon.key("bob")) as bob,
        ):
            sending.join(PATIENCE)
            assert [message.body for message in bob.inbox(wait_secs=10).messages] == ["hello"]


def test_a_watch_that_was_cut_short_is_used_further(daemon: Any) -> None:
    """A timeout around one step costs no message."""

    async def main() -> str:
        async with (
            MailClient(daemon.url, token_file=daemon.key("alice")) as alice,
            MailClient(daemon.url, token_file=daemon.key("bob")) as bob,
        ):
            watch = bob.watch("now", correlation="cut")
            with pytest.raises(TimeoutError):
                await asyncio.wait_for(anext(watch), 0.3)
            await alice.send_text("bob", "late", correlation="cut")
            return (await asyncio.wait_for(anext(watch), PATIENCE)).body

    assert asyncio.run(main()) == "late"
