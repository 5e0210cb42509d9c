"""The worked example of docs/mailbox.md is true."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from mail4agent_core.mailbox import MailboxStore
from mail4agent_core.taint import BOTH

PAGE = Path(__file__).resolve().parents[2] / "docs" / "mailbox.md"
PATIENCE = 60.0


def test_the_worked_example_runs_as_printed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One block after another, in an empty folder; each prints what the page says."""
    script = tmp_path / "bin" / "mail4agent"
    script.parent.mkdir()
    script.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m mail4agent_daemon "$@"\n')
    script.chmod(0o755)
    monkeypatch.setenv("PATH", f"{script.parent}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(sys.path))
    monkeypatch.setenv("M4A_MESSAGES_DIR", str(tmp_path / "messages"))
    commands = {"sh": ["sh", "-eu", "-c"], "python": [sys.executable, "-c"]}
    printed: list[str] = []
    for language, block in re.findall(
        r"^```(\w+)\n(.*?)^```$", PAGE.read_text("utf-8"), re.MULTILINE | re.DOTALL
    ):
        ended = subprocess.run(
            [*commands[language], block],
            cwd=tmp_path, capture_output=True, text=True, timeout=PATIENCE, check=False,
        )  # fmt: skip
        assert ended.returncode == 0, ended.stderr
        printed.append(ended.stdout)
    assert (
        "\tmorning\tchat\tprivate untrusted\tThree drafts are staged; the second needs you.\n" in printed[0]
    )
    assert printed[1] == "True\nThree drafts are staged; the second needs you.\nFalse\n"
    with MailboxStore.open(tmp_path / "messages") as store:
        assert [message.status for message in store.messages_for("chat")] == ["delivered"]
        assert [message.effective_taint() for message in store.pending_for("morning")] == [BOTH]
