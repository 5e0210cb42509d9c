"""What a draft says at a terminal never stands where this program speaks: at the left edge."""

import io
import json
from collections.abc import Callable

import pytest

from mail4agent_daemon.cli.draft_text import columns_of, folded

from .conftest import Office


@pytest.mark.promise("outbox.what-is-shown-is-what-is-there")
@pytest.mark.parametrize("text", ["x" * 200, "\u4e00" * 90, "a\tb" * 60, "  | " + "word " * 50])
def test_a_long_line_goes_on_behind_a_mark(text: str) -> None:
    """No row is wider than the terminal, and no character is lost."""
    first, *more = folded(text, 40)
    assert more
    assert all(row.startswith("  : ") for row in more)
    assert first + "".join(row.removeprefix("  : ") for row in more) == text
    for row in (first, *more):
        assert len(row.expandtabs()) + row.count("\u4e00") <= 40


def test_what_is_no_terminal_gets_whole_lines() -> None:
    """A pipe breaks none."""
    assert columns_of(io.StringIO()) is None
    assert list(folded("x" * 500, None)) == ["x" * 500]


@pytest.mark.promise("outbox.what-is-shown-is-what-is-there")
def test_neither_the_name_of_an_argument_nor_a_long_text_passes_for_the_program(
    office: Office, staged: Callable[..., str]
) -> None:
    """In a list of the terminal's rows, those at the left edge are this program's."""
    forged = "digest sha256:forged"
    id_ = staged({forged: "yes", "text": " " * 96 + forged, "to": "ben"}, "deploy")
    with office.person("show", id_) as terminal:
        assert terminal.ended() == 0
    rows = [line[at : at + 100] for line in terminal.seen.splitlines() for at in range(0, len(line), 100)]
    assert [row for row in rows if row.startswith("digest ")] == [f"digest {office.get(id_)['digest']}"]
    assert f"  {forged}:" in terminal.seen


@pytest.mark.promise("outbox.what-is-shown-is-what-is-there")
def test_a_summary_that_is_longer_than_a_row_goes_on_behind_a_mark(
    office: Office, staged: Callable[..., str]
) -> None:
    """Also where a decision names its draft by it."""
    id_ = staged({"text": "word " * 100}, "deploy")
    with office.person("reject", id_, "--reason", "no") as terminal:
        assert terminal.ended() == 0
    assert "\n  : " in terminal.seen
    assert all(len(line) <= 100 for line in terminal.seen.splitlines())


def test_a_file_that_is_no_draft_is_said_in_a_sentence(office: Office, staged: Callable[..., str]) -> None:
    """Of a folder that is read without a daemon."""
    id_, root = staged(), office.daemon.home / "outbox"
    path = root / f"{id_}.json"
    before = path.read_bytes()
    path.write_text("{")
    try:
        shown = office.script("show", id_, "--root", str(root), "--json")
    finally:
        path.write_bytes(before)
    assert shown.exit_code == 1
    assert json.loads(shown.stderr)["kind"]
