"""The examples of docs/cli.md and docs/client.md are true."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

DOCS = Path(__file__).resolve().parents[2] / "docs"
PATIENCE = 300.0


def _blocks(page: str, language: str) -> list[str]:
    return re.findall(
        rf"^```{language}\n(.*?)^```$", (DOCS / page).read_text("utf-8"), re.DOTALL | re.MULTILINE
    )


@pytest.fixture
def place(new_daemon: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder, with the script on the path and a new daemon in the environment."""
    script = tmp_path / "bin" / "mail4agent"
    script.parent.mkdir()
    run = "from mail4agent_daemon.cli import main; main()"
    script.write_text(f'#!/bin/sh\nexec "{sys.executable}" -c "{run}" "$@"\n')
    script.chmod(0o755)
    monkeypatch.setenv("PATH", f"{script.parent}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(sys.path))
    monkeypatch.setenv("M4A_URL", new_daemon.url)
    monkeypatch.setenv("M4A_HOME", str(new_daemon.home))
    folder = tmp_path / "work"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return folder


def test_the_command_lines_examples_run_as_printed(place: Path) -> None:
    """One after another, each ending well, in an empty folder beside one file."""
    (place / "notes.txt").write_text("All green.\n")
    examples = "\n".join(_blocks("cli.md", "sh"))
    command = ["bash", "-euo", "pipefail", "-c", examples]
    ended = subprocess.run(command, capture_output=True, timeout=PATIENCE, check=False)
    assert ended.returncode == 0, ended.stderr.decode()
    assert len(list(place.glob("m4a_*.txt"))) == 1


def test_the_clients_examples_run_as_printed(
    new_daemon: Any, place: Path, furnish: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    """One after another; what they print is what they are about."""
    furnish(new_daemon, "build")
    for account in ("alice", "bob"):
        new_daemon.key(account).rename(place / f"{account}.key")
    for block in _blocks("client.md", "python"):
        exec(compile(block, "client.md", "exec"), {"__name__": "__main__"})
    printed = capsys.readouterr().out.splitlines()
    assert printed[0].startswith("m4a_")
    assert printed[1:] == ["Done.", "bbo"]
