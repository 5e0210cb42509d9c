"""Who was given a brief, remembered past every restart."""

from pathlib import Path

import pytest

from mail4agent_api.errors import StoreUnavailableError
from mail4agent_core.files import Folder
from mail4agent_core.frontdoor.briefed import SESSIONS_MAX, Briefed

pytestmark = pytest.mark.promise("frontdoor.briefs-taint")


def test_a_session_that_was_given_a_brief_is_known_and_its_neighbour_is_not(tmp_path: Path) -> None:
    """Of the account alone nobody knows which run it is, so it counts as marked."""
    Briefed(tmp_path).mark("ada/s-01234567")
    again = Briefed(tmp_path)
    assert again.has("ada/s-01234567")
    assert again.has("ada")
    assert not again.has("ada/s-89abcdef")
    assert not again.has("bob")


def test_a_mark_on_an_account_counts_for_all_of_its_sessions(tmp_path: Path) -> None:
    """It called without one."""
    briefed = Briefed(tmp_path)
    briefed.mark("ada/s-01234567")
    briefed.mark("ada")
    assert briefed.has("ada/s-89abcdef")
    briefed.mark("ada/s-89abcdef")
    assert briefed.has("ada/s-00000000")


def test_looking_makes_no_folder(tmp_path: Path) -> None:
    """Nobody was given a brief yet."""
    assert not Briefed(tmp_path).has("ada")
    Briefed(tmp_path).sweep(lambda _: False)
    assert list(tmp_path.iterdir()) == []


def test_more_sessions_than_are_told_apart_mark_the_account(tmp_path: Path) -> None:
    """What is bounded fails closed."""
    briefed = Briefed(tmp_path)
    for number in range(SESSIONS_MAX):
        briefed.mark(f"ada/s-{number:08x}")
    assert not briefed.has("ada/s-ffffffff")
    briefed.mark("ada/s-fffffffe")
    assert briefed.has("ada/s-ffffffff")


def test_a_file_that_cannot_be_read_marks_its_account(tmp_path: Path) -> None:
    """Whoever spoilt it hid something."""
    briefed = Briefed(tmp_path)
    briefed.mark("ada/s-01234567")
    (path,) = (tmp_path / "briefed").glob("*.json")
    path.write_bytes(b"{")
    assert briefed.has("ada/s-89abcdef")


def test_sessions_that_never_act_again_are_swept(tmp_path: Path) -> None:
    """And nobody else."""
    briefed = Briefed(tmp_path)
    for address in ("ada/s-01234567", "ada/s-89abcdef", "bob", "cyd/s-01234567"):
        briefed.mark(address)
    briefed.sweep({"ada", "ada/s-89abcdef", "bob"}.__contains__)
    assert [briefed.has(each) for each in ("ada/s-01234567", "ada/s-89abcdef", "bob", "cyd")] == [
        False, True, True, False,
    ]  # fmt: skip


def test_a_mark_that_cannot_be_written_is_refused(tmp_path: Path) -> None:
    """Then no brief is given."""
    briefed = Briefed(tmp_path, lock_secs=0.05)
    briefed.mark("ada")
    with Folder.opened(tmp_path / "briefed") as other, other.locked(), pytest.raises(StoreUnavailableError):
        briefed.mark("bob")
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(StoreUnavailableError):
        Briefed(tmp_path / "file").has("ada")
