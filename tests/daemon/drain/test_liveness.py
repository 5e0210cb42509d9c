"""What ``doctor`` says of the drain; nobody is asked."""

from __future__ import annotations

import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from mail4agent_daemon.drain.state import DrainState, LastDrain
from mail4agent_daemon.frontdoor_checkup import examined
from mail4agent_daemon.settings import load

pytestmark = pytest.mark.promise("drain.doctor-says-when-home-last-drained")

BOX = {"M4A_BOX__URL": "https://forms.example.org", "M4A_BOX__KEY": "key-of-the-box"}


def _said(home: Path, **variables: str) -> Iterator[tuple[str, str]]:
    for check, state, text in examined(load(variables, home=home)):
        if check == "box":
            assert "key-of-the-box" not in text
            yield state, text


def _drained(home: Path, hours_ago: float, left: int = 0) -> str:
    at = datetime.fromtimestamp(time.time() - hours_ago * 3_600, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    with DrainState.held(home) as state:
        state.keep(LastDrain(at, left))
    return at


def test_a_home_without_a_box_hears_nothing_of_one(tmp_path: Path) -> None:
    """There is nothing to drain."""
    assert list(_said(tmp_path)) == []


def test_a_box_that_was_never_drained_is_named(tmp_path: Path) -> None:
    """Nothing is made by asking."""
    assert [state for state, _ in _said(tmp_path, **BOX)] == ["note"]
    assert list(tmp_path.iterdir()) == []


def test_the_last_look_into_the_box_is_named_with_what_stayed_there(tmp_path: Path) -> None:
    """A home that drains is well."""
    at = _drained(tmp_path, 1, left=3)
    said = list(_said(tmp_path, **BOX))
    assert [state for state, _ in said] == ["good", "note"]
    assert at in said[0][1]
    assert said[1][1].startswith("3 rows")


def test_a_home_that_has_not_drained_for_a_day_needs_a_person(tmp_path: Path) -> None:
    """Its drain does not run."""
    _drained(tmp_path, 30)
    assert [state for state, _ in _said(tmp_path, **BOX)] == ["bad"]


def test_a_key_that_is_missing_or_open_to_others_needs_a_person(tmp_path: Path) -> None:
    """The file is named, its contents are not."""
    _drained(tmp_path, 1)
    key = tmp_path / "box.key"
    variables = {"M4A_BOX__URL": BOX["M4A_BOX__URL"], "M4A_BOX__KEY_FILE": "box.key"}
    assert [state for state, _ in _said(tmp_path, **variables)] == ["bad", "good"]
    key.write_text("key-of-the-box")
    key.chmod(0o644)
    assert [state for state, _ in _said(tmp_path, **variables)] == ["bad", "good"]
    key.chmod(0o600)
    assert [state for state, _ in _said(tmp_path, **variables)] == ["good"]
