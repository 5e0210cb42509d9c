"""Standard output that is closed or full: a failure with a name, and nothing acknowledged unseen."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from mail4agent_client import SyncMailClient

PATIENCE = 20.0
SCRIPT = "import sys; from mail4agent_daemon.cli import main; sys.argv[0] = 'mail4agent'; main()"
#: Standard output is closed, or a file that may not grow at all (which no privilege overrides).
LOST = {
    "closed": 'exec "$@" >&-',
    "full": 'ulimit -f 0; exec "$@" >"$OUTPUT"',
}

pytestmark = [
    pytest.mark.promise("cli.exit-status-tells"),
    pytest.mark.skipif(os.name != "posix", reason="needs a shell"),
]


def _run(
    daemon: Any, folder: Path, lost: str, *arguments: str, account: str | None = "bob"
) -> subprocess.CompletedProcess[bytes]:
    environment = {**os.environ, "M4A_URL": daemon.url, "M4A_HOME": str(daemon.home)}
    environment |= {"OUTPUT": str(folder / "output"), "PYTHONPATH": os.pathsep.join(sys.path)}
    environment |= {"PYTHONDONTWRITEBYTECODE": "1"}
    if account is not None:
        environment["M4A_TOKEN_FILE"] = str(daemon.key(account))
    command = ["sh", "-c", LOST[lost], "sh", sys.executable, "-W", "error", "-c", SCRIPT, *arguments]
    return subprocess.run(command, env=environment, stderr=subprocess.PIPE, timeout=PATIENCE, check=False)


def _posted(daemon: Any, correlation: str) -> None:
    with SyncMailClient(daemon.url, token_file=daemon.key("alice")) as alice:
        alice.send_text("bob", "unseen", correlation=correlation)


def _unread(daemon: Any, correlation: str) -> int:
    with SyncMailClient(daemon.url, token_file=daemon.key("bob")) as bob:
        return len(bob.inbox(unread_only=True, correlation=correlation).messages)


@pytest.mark.parametrize("lost", LOST)
@pytest.mark.parametrize("how", [[], ["--json"], ["--watch"], ["--watch", "--json"]], ids=" ".join)
def test_what_was_not_printed_is_not_acknowledged(
    daemon: Any, tmp_path: Path, lost: str, how: list[str]
) -> None:
    """The messages stay unread, and one line says why."""
    marker = f"{tmp_path.name}-{lost}"
    _posted(daemon, marker)
    ended = _run(daemon, tmp_path, lost, "inbox", "--unread", "--ack", "--correlation", marker, *how)
    assert ended.returncode == 6
    if "--json" in how:
        assert json.loads(ended.stderr)["kind"] == "output_lost"
    else:
        assert ended.stderr.startswith(b"mail4agent: standard output cannot be written: ")
        assert ended.stderr.count(b"\n") == 1
    assert _unread(daemon, marker) == 1


def test_nothing_is_done_where_no_answer_can_be_shown(daemon: Any, tmp_path: Path) -> None:
    """A closed output is seen before anything is asked for: no message is posted and no secret issued."""
    marker = tmp_path.name
    sent = _run(daemon, tmp_path, "closed", "send", "bob", "x", "--correlation", marker, account="alice")
    rotated = _run(daemon, tmp_path, "closed", "admin", "account", "rotate", "bob", account=None)
    assert (sent.returncode, rotated.returncode) == (6, 6)
    assert _unread(daemon, marker) == 0


@pytest.mark.parametrize("lost", LOST)
@pytest.mark.parametrize("arguments", [["peers"], ["config"], ["doctor", "--json"]], ids=" ".join)
def test_a_lost_output_is_six(daemon: Any, tmp_path: Path, lost: str, arguments: list[str]) -> None:
    """Each sort of verb says so in one line."""
    ended = _run(daemon, tmp_path, lost, *arguments)
    assert ended.returncode == 6
    assert b"output" in ended.stderr
    assert ended.stderr.count(b"\n") == 1
