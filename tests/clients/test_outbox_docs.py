"""The worked example of docs/outbox.md is true."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from mail4agent_core.outbox import STEPS, OutboxStore

PAGE = Path(__file__).resolve().parents[2] / "docs" / "outbox.md"
PATIENCE = 60.0


@pytest.mark.promise("outbox.the-worked-example-is-true")
def test_the_worked_example_of_the_outbox_runs_as_printed(tmp_path: Path) -> None:
    """A draft is staged, heard, released and recorded, in an empty folder."""
    (block,) = re.findall(r"^```python\n(.*?)^```$", PAGE.read_text("utf-8"), re.MULTILINE | re.DOTALL)
    ended = subprocess.run(
        [sys.executable, "-c", block],
        cwd=tmp_path, capture_output=True, text=True, timeout=PATIENCE, check=False,
        env={"PYTHONPATH": ":".join(sys.path)},
    )  # fmt: skip
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout == (
        'mail__send to ana@example.org — "Tuesday?"\n'
        "To: ana@example.org. Subject: Tuesday?. Dear Ana, shall we meet?\n"
        "sent\n"
    )
    with OutboxStore.open(tmp_path / "outbox") as store:
        (item,) = store.items_strict()
    assert (item.decided_by, item.attempts) == ("user:ana", 1)
    assert item.sent_as is not None


@pytest.mark.promise("outbox.transitions-are-a-table")
def test_the_page_names_every_state_of_the_table() -> None:
    """What the table says stands on the page, in its words."""
    table = PAGE.read_text("utf-8").partition("## The states of a draft")[2].partition("\n## ")[0]
    assert [str(status) for status in {*(a for a, _ in STEPS), *STEPS.values()} if status not in table] == []
