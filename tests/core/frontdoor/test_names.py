"""Finding the files of a number without listing a folder that nobody changed."""

import os
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from mail4agent_core.files import Folder
from mail4agent_core.frontdoor.names import Names

from .records import original, placed

SECOND_NS = 1_000_000_000


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Folder]:
    """Two requests and a file of another name; its names changed a day ago."""
    with Folder.opened(tmp_path / "requests") as opened:
        for seq in (1, 2):
            placed(opened.path, original(seq=seq))
        placed(opened.path, original(seq=3), name="by-hand.json")
        os.utime(opened.path, (time.time() - 86_400,) * 2)
        yield opened


@pytest.fixture
def listed(monkeypatch: pytest.MonkeyPatch) -> list[Folder]:
    """Each folder whose names were listed, once for each time."""
    calls: list[Folder] = []
    real = Folder.names

    def counted(folder: Folder) -> list[str]:
        calls.append(folder)
        return real(folder)

    monkeypatch.setattr(Folder, "names", counted)
    return calls


def later_ns() -> int:
    """A minute from now: the folder has been at rest for long."""
    return time.time_ns() + 60 * SECOND_NS


@pytest.mark.promise("frontdoor.one-request-is-found-at-once")
def test_a_folder_at_rest_is_listed_once(folder: Folder, listed: list[Folder]) -> None:
    """However many numbers are asked for; a name that has none may hold any."""
    names = Names(later_ns)
    assert sorted(names.of(folder, 1)) == ["0000000001-meeting.json", "by-hand.json"]
    assert sorted(names.of(folder, 2)) == ["0000000002-meeting.json", "by-hand.json"]
    assert names.of(folder, 10**12) == ["by-hand.json"]
    assert len(listed) == 1


@pytest.mark.promise("frontdoor.one-request-is-found-at-once")
@pytest.mark.parametrize("name", ["0000000001-other.json", "another.json", "1-x.json", "²²²²²²²²²²-x.json"])
def test_what_another_program_puts_there_is_found_next(folder: Folder, name: str) -> None:
    """A second file of a number above all; and what is taken away is gone."""
    names = Names(later_ns)
    before = names.of(folder, 1)
    placed(folder.path, original(type_id="other"), name=name)
    assert sorted(names.of(folder, 1)) == sorted([*before, name])
    (folder.path / name).unlink()
    assert sorted(names.of(folder, 1)) == sorted(before)


@pytest.mark.promise("frontdoor.one-request-is-found-at-once")
@pytest.mark.parametrize(
    ("changed_ns", "now_ns", "kept"),
    [
        (5 * SECOND_NS + 7, 5 * SECOND_NS + 50_000_000, False),
        (5 * SECOND_NS + 7, 5 * SECOND_NS + 200_000_000, True),
        (5 * SECOND_NS, 7 * SECOND_NS, False),
        (5 * SECOND_NS, 9 * SECOND_NS, True),
        # The clock was set back.
        (5 * SECOND_NS + 7, SECOND_NS, False),
    ],
)
def test_a_listing_is_kept_only_where_the_times_would_tell_of_a_change(
    folder: Folder,
    listed: list[Folder],
    monkeypatch: pytest.MonkeyPatch,
    changed_ns: int,
    now_ns: int,
    *,
    kept: bool,
) -> None:
    """A change in the same tick, or the same second where times are whole ones, leaves them as they were."""
    monkeypatch.setattr(Folder, "times_ns", lambda _: (changed_ns, changed_ns))
    names = Names(lambda: now_ns)
    for _ in range(3):
        names.of(folder, 1)
    assert len(listed) == (1 if kept else 3)
