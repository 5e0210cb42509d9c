"""Who watches a mailbox wakes when something is put there."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from queue import Queue
from types import SimpleNamespace

import pytest

from mail4agent_core.mailbox import MailboxStore
from mail4agent_core.mailbox.watch import FolderBell, NotifyBell, bell_for, watch

from .post import Post, original, placed

BOUND_SECS = 20


@pytest.fixture(params=["watchfiles", "polling"])
def bells(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """With the optional package, and as if it were not installed."""
    if request.param == "polling":
        monkeypatch.setitem(sys.modules, "watchfiles._rust_notify", None)
    return request.param


@pytest.fixture
def seen(store: MailboxStore) -> Iterator[Queue[list[str]]]:
    """What a watch in a thread of its own yields, until the test ends."""
    found: Queue[list[str]] = Queue()
    stop = threading.Event()

    def follow() -> None:
        with MailboxStore.open(store.root) as own:
            for pending in watch(own, "chat", stop):
                found.put([message.body for message in pending])

    thread = threading.Thread(target=follow)
    thread.start()
    yield found
    stop.set()
    thread.join(BOUND_SECS)
    assert not thread.is_alive()


@pytest.mark.promise("mailbox.a-watch-wakes")
def test_a_watch_yields_what_is_put_there(bells: str, store: MailboxStore, seen: Queue[list[str]]) -> None:
    """At the start, after a send, and after a file that another program put there."""
    post = Post(store)
    post.sent("one")
    assert seen.get(timeout=BOUND_SECS) == ["one"]
    post.sent("two")
    assert seen.get(timeout=BOUND_SECS) == ["one", "two"]
    store.claim("chat", "s", None)
    placed(store, original(body="theirs"))
    assert seen.get(timeout=BOUND_SECS) == ["theirs"]


@pytest.mark.promise("mailbox.a-watch-wakes")
def test_a_watch_tells_of_what_a_lease_no_longer_holds(bells: str, store: MailboxStore) -> None:
    """No file changes when a lease ends; the watch looks again all the same."""
    with MailboxStore.open(store.root) as real:
        Post(real).sent("one")
        real.claim("chat", "s", 1)
        yielded = watch(real, "chat")
        assert [message.body for message in next(yielded)] == ["one"]
        yielded.close()


def test_the_bell_is_the_machines_where_the_package_is(bells: str, tmp_path: Path) -> None:
    """And the folder's own time where it is not."""
    bell = bell_for(tmp_path)
    assert isinstance(bell, NotifyBell if bells == "watchfiles" else FolderBell)
    bell.close()


def test_a_change_between_two_waits_is_not_missed(bells: str, tmp_path: Path) -> None:
    """The bell listens from when it is made: the wait that follows returns at once."""
    bell, stop = bell_for(tmp_path), threading.Event()
    (tmp_path / "a").write_text("")
    bell.wait(stop)
    stop.set()
    bell.wait(stop)
    bell.close()


@pytest.mark.promise("mailbox.a-watch-wakes")
def test_a_bell_rings_within_a_tenth_of_a_second(tmp_path: Path) -> None:
    """By the pauses that it asks for: those of the package together, and each look without it."""
    asked: list[float] = []

    class Stop(threading.Event):
        def wait(self, timeout: float | None = None) -> bool:
            asked.append(timeout or 0)
            return True

    class Notify:
        def __init__(self, *_: object) -> None:
            self.close = lambda: None

        def watch(self, debounce_ms: int, step_ms: int, *_: object) -> str:
            asked.append((debounce_ms + step_ms) / 1000)
            return "stop"

    for bell in (FolderBell(tmp_path), NotifyBell(tmp_path, SimpleNamespace(RustNotify=Notify))):
        bell.wait(Stop())
        bell.close()
    assert len(asked) == 2
    assert all(0 < pause <= 0.1 for pause in asked)


def test_a_watch_that_is_stopped_ends(bells: str, store: MailboxStore) -> None:
    """Before anything was there, too."""
    stop = threading.Event()
    stop.set()
    assert list(watch(store, "chat", stop)) == []
