"""The README's examples work as printed, one after another, in an empty folder beside a new daemon."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from .running import BOUND_SECS, Daemon, environment, running

README = Path(__file__).resolve().parents[2] / "README.md"
MARKED = re.compile(
    r"^<!-- executed by tests/daemon/test_readme\.py -->\n```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL
)


@pytest.fixture
def daemon(tmp_path: Path) -> Iterator[Daemon]:
    """A daemon that nobody has used."""
    with running(tmp_path / "home") as one:
        yield one


def test_the_readme_marks_its_examples() -> None:
    """Two for a shell and one for Python; no other block claims to be run."""
    text = README.read_text("utf-8")
    assert [language for language, _ in MARKED.findall(text)] == ["sh", "sh", "python"]
    assert text.count("executed by tests/daemon/test_readme.py") == 3


def test_the_examples_run_as_printed(daemon: Daemon, tmp_path: Path) -> None:
    """Every command ends well; the mail that they are about has arrived, and was read and acknowledged."""
    folder = tmp_path / "checkout"
    script = folder / ".venv" / "bin" / "mail4agent"
    script.parent.mkdir(parents=True)
    script.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m mail4agent_daemon "$@"\n')
    script.chmod(0o755)
    home = tmp_path / "person"
    (home / ".claude").mkdir(parents=True)
    told = environment(daemon.home, M4A_URL=daemon.url, PATH=os.environ["PATH"], HOME=str(home))
    told.pop("CLAUDE_CONFIG_DIR", None)
    commands = {"sh": ["sh", "-eu", "-c"], "python": [sys.executable, "-c"]}
    printed: list[str] = []
    for language, block in MARKED.findall(README.read_text("utf-8")):
        ended = subprocess.run(
            [*commands[language], block],
            cwd=folder,
            env=told,
            capture_output=True,
            text=True,
            timeout=3 * BOUND_SECS,
            check=False,
        )
        assert ended.returncode == 0, ended.stderr
        printed.append(ended.stdout)
    assert printed[0].startswith("Claude Code is connected as claude: ")
    assert "\tReview, please\n" in printed[1]
    assert printed[2] == "bob: Re: Review, please\n"
    for account in ("alice", "bob"):
        daemon.keys[account] = (folder / f"{account}.key").read_text().strip()
        assert daemon.inbox(account, unread_only=True) == []
        assert len(daemon.inbox(account)) == 1
    daemon.keys["claude"] = (daemon.home / "clients" / "claude.key").read_text().strip()
    (message,) = daemon.inbox("claude")
    assert message["from"] == {"kind": "direct", "participant": "me"}
    assert "mail4agent" in (home / ".claude.json").read_text()
