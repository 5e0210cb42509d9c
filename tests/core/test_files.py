"""An open folder, whoever looks at it at once."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from mail4agent_core.files import Folder, named


@pytest.mark.promise("outbox.lists-stay-fast-and-right")
def test_threads_that_list_one_folder_at_once_each_see_every_name(tmp_path: Path) -> None:
    """They would share one place in it through one descriptor, and each get what the other left."""
    names = {f"{number:010}-meeting.json" for number in range(300)}
    for name in names:
        (tmp_path / name).touch()
    with Folder.opened(tmp_path) as folder, ThreadPoolExecutor(4) as threads:
        seen = list(threads.map(lambda _: frozenset(folder.names()), range(400)))
    assert set(seen) == {frozenset(names)}


def test_a_name_that_no_file_can_have_is_an_ordinary_fault(tmp_path: Path) -> None:
    """Settings may hold any character; who reads a named file expects OSError."""
    with pytest.raises(OSError, match="No name of a file"):
        named(tmp_path / "key\0.txt", 10)
