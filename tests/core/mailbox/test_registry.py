"""Which sessions live, and who a command is run by."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from mail4agent_api.errors import RefusalError
from mail4agent_core.clock import HandClock
from mail4agent_core.mailbox import MailboxStore
from mail4agent_core.mailbox.processes import Processes


def marker(store: MailboxStore, **changes: Any) -> Path:
    """A marker of this process, written by hand."""
    value = {"producer": "chat", "session_id": "s1", "pid": os.getpid(), "started_at": ""} | changes
    folder = store.root / ".agents"
    folder.mkdir(exist_ok=True)
    path = folder / f"{value['session_id']}.json"
    path.write_text(json.dumps(value))
    return path


@pytest.mark.promise("mailbox.the-sender-is-the-session")
def test_a_number_that_was_used_again_is_not_alive(store: MailboxStore) -> None:
    """Another start, or another boot, is another process; a marker of the original has neither."""
    start = Processes().start_of(os.getpid())
    assert start is not None
    marker(store)
    marker(store, session_id="s2", process_start=start, boot=Processes().boot)
    reused = [
        marker(store, session_id="s3", process_start=start + 1),
        marker(store, session_id="s4", process_start=start, boot="6b0c7a3e-5f0d-4a55-9d7e-0b1c2d3e4f50"),
    ]
    assert [live.session_id for live in store.agents()] == ["s1", "s2"]
    assert not any(path.exists() for path in reused)


@pytest.mark.promise("mailbox.the-sender-is-the-session")
def test_the_caller_is_the_nearest_live_session_among_those_that_started_it(store: MailboxStore) -> None:
    """A process that a session started is that session; one without such an ancestor is nobody's."""
    assert store.registry.caller() is None
    store.announce("chat", "s1")
    program = (
        "import sys; from pathlib import Path; from mail4agent_core.mailbox import MailboxStore\n"
        "caller = MailboxStore.open(Path(sys.argv[1])).registry.caller()\n"
        "print(caller.producer, caller.session_id)"
    )
    command = ["sh", "-c", '"$0" -c "$1" "$2"; :', sys.executable, program, str(store.root)]
    told = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    assert told.stdout == "chat s1\n"
    marker(store, pid=1, session_id="s0", producer="init")
    caller = store.registry.caller()
    assert caller is not None
    assert caller.session_id == "s1"


@pytest.mark.parametrize(
    "changes",
    [
        {"pid": 0}, {"pid": -1}, {"pid": "1"}, {"pid": True}, {"pid": 2**32}, {"pid": 2**31}, {"pid": 1.5},
        {"producer": "Chat"}, {"producer": None}, {"session_id": "s2\n"}, {"pid": None},
    ],
)  # fmt: skip
def test_a_marker_that_is_none_is_removed(store: MailboxStore, changes: dict[str, Any]) -> None:
    """It names no session and does no harm."""
    path = marker(store, **changes)
    assert store.agents() == []
    assert not path.exists()


@pytest.mark.parametrize("raw", [b"", b"{", b"[]", b"\xff", b'{"producer": "chat"}', b"[" * 100_000])
def test_a_file_among_the_markers_that_is_none_is_removed(store: MailboxStore, raw: bytes) -> None:
    """Half written, or something else."""
    path = marker(store)
    path.write_bytes(raw)
    assert store.agents() == []
    assert not path.exists()


def test_what_is_no_file_among_the_markers_is_passed_over(store: MailboxStore) -> None:
    """A pipe and a folder stay, and the live one is listed."""
    store.announce("chat", "s1")
    os.mkfifo(store.root / ".agents" / "a.json")
    (store.root / ".agents" / "b.json").mkdir()
    assert [live.session_id for live in store.agents()] == ["s1"]


@pytest.mark.promise("mailbox.the-sender-is-the-session")
def test_a_session_that_comes_back_while_its_old_marker_is_buried_keeps_its_own(
    store: MailboxStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without a marker it would be nobody to `msg`, and be shown texts that arm nothing."""
    path = marker(store, pid=2**22 + 1, session_id="s1", producer="chat")
    real, returns = Processes.is_alive, [lambda: store.announce("chat", "s1")]

    def is_alive(processes: Processes, pid: int) -> bool:
        lives = real(processes, pid)
        while returns:
            returns.pop()()
        return lives

    monkeypatch.setattr(Processes, "is_alive", is_alive)
    store.agents()
    assert path.exists()
    assert [live.session_id for live in store.agents()] == ["s1"]


@pytest.mark.parametrize("session", ["../x", "a/b", "", "s" * 129, "s\n"])
def test_a_session_that_leads_out_is_refused(store: MailboxStore, session: str) -> None:
    """It would name the marker's file."""
    for ask in (lambda: store.announce("chat", session), lambda: store.depart(session)):
        with pytest.raises(RefusalError) as caught:
            ask()
        assert caught.value.refusal.field == "session"


def test_several_sessions_of_a_producer_live_beside_each_other(store: MailboxStore, clock: HandClock) -> None:
    """By producer and session; a departed one is gone."""
    for producer, session in (("scout", "s1"), ("chat", "s3"), ("chat", "s2")):
        store.announce(producer, session)
    assert [(live.producer, live.session_id) for live in store.agents()] == [
        ("chat", "s2"), ("chat", "s3"), ("scout", "s1"),
    ]  # fmt: skip
    assert store.agents()[0].started_at == "2023-11-14T22:13:20.000000+00:00"
    store.depart("s2")
    store.depart("s2")
    assert len(store.agents()) == 2


def test_where_a_machine_says_nothing_a_process_is_known_by_its_number(tmp_path: Path) -> None:
    """Without /proc there is no start, no boot, and an ancestry of two."""
    processes = Processes(tmp_path)
    assert (processes.boot, processes.start_of(os.getpid())) == (None, None)
    assert list(processes.ancestry()) == [os.getpid(), os.getppid()]
    assert processes.is_alive(os.getpid())
    assert not processes.is_alive(2**30)


def test_a_process_that_ended_and_was_not_waited_for_is_not_alive() -> None:
    """A zombie does nothing any more; a process of another user does."""
    ended = subprocess.Popen(["true"])
    os.waitid(os.P_PID, ended.pid, os.WEXITED | os.WNOWAIT)
    assert not Processes().is_alive(ended.pid)
    ended.wait()
    assert Processes().is_alive(1)
