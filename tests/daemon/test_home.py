"""The data folder: private, repaired, and held by one process."""

import os
import stat
from pathlib import Path

import pytest

from mail4agent_daemon.home import Holder, HomeBusyError, HomeError, held_home

NOW_MS = 1_700_000_000_000


def mode(path: Path) -> int:
    """The permission bits of a file."""
    return stat.S_IMODE(path.lstat().st_mode)


@pytest.mark.promise("daemon.first-start-is-repairable")
def test_a_new_home_is_private(tmp_path: Path) -> None:
    """The folder is 0700 and its lock 0600, whatever the umask."""
    home = tmp_path / "a" / "home"
    before = os.umask(0)
    try:
        with held_home(home, now_ms=NOW_MS) as held:
            assert held.repaired == ()
            assert (mode(home), mode(home / "daemon.lock"), mode(home.parent)) == (0o700, 0o600, 0o700)
    finally:
        os.umask(before)


@pytest.mark.promise("daemon.first-start-is-repairable")
def test_modes_are_repaired_and_reported(tmp_path: Path) -> None:
    """A folder and files that others may read are made private at the next start."""
    home = tmp_path / "home"
    (home / "outbox").mkdir(parents=True)
    (home / "operator.key").write_text("secret")
    home.chmod(0o755)
    (home / "outbox").chmod(0o777)
    (home / "operator.key").chmod(0o644)
    with held_home(home, now_ms=NOW_MS) as held:
        assert held.repaired == (".", "operator.key", "outbox")
        assert (mode(home), mode(home / "outbox"), mode(home / "operator.key")) == (0o700, 0o700, 0o600)
    with held_home(home, now_ms=NOW_MS) as held:
        assert held.repaired == ()


def test_a_folder_that_cannot_be_entered_is_repaired(tmp_path: Path) -> None:
    """Modes that lock even the owner out of writing are mended, too."""
    home = tmp_path / "home"
    home.mkdir(mode=0o500)
    with held_home(home, now_ms=NOW_MS) as held:
        assert held.repaired == (".",)


@pytest.mark.promise("store.one-daemon-one-file")
def test_a_held_home_is_refused_with_the_name_of_its_holder(tmp_path: Path) -> None:
    """The second one learns which process holds the folder, and since when; later it may have it."""
    home = tmp_path / "home"
    with held_home(home, now_ms=NOW_MS):
        with pytest.raises(HomeBusyError) as refused, held_home(home, now_ms=NOW_MS + 1):
            pass
        assert refused.value.holder == Holder(os.getpid(), NOW_MS)
        assert f"process {os.getpid()}, since 2023-11-14T22:13:20Z" in str(refused.value)
    with held_home(home, now_ms=NOW_MS):
        pass


@pytest.mark.parametrize(
    "text", [b"", b"{", b"[]", b'{"pid": 1}', b'{"pid": 1, "since_unix_ms": 1e300}', bytes(300)]
)
def test_an_odd_lock_file_names_nobody(tmp_path: Path, text: bytes) -> None:
    """What is written in the lock file decides nothing."""
    home = tmp_path / "home"
    with held_home(home, now_ms=NOW_MS):
        (home / "daemon.lock").write_bytes(text)
        with pytest.raises(HomeBusyError, match="left no name") as refused, held_home(home, now_ms=NOW_MS):
            pass
        assert refused.value.holder is None


@pytest.mark.parametrize("name", ["operator.key", "daemon.lock"])
def test_a_symbolic_link_in_the_home_is_refused(tmp_path: Path, name: str) -> None:
    """Nothing is written where a link points."""
    target = tmp_path / "target"
    target.write_text("before")
    target.chmod(0o644)
    home = tmp_path / "home"
    home.mkdir(mode=0o700)
    (home / name).symlink_to(target)
    with pytest.raises(HomeError, match=name), held_home(home, now_ms=NOW_MS):
        pass
    assert (target.read_text(), mode(target)) == ("before", 0o644)


def test_a_home_that_is_a_symbolic_link_is_refused(tmp_path: Path) -> None:
    """The folder itself has to be named."""
    (tmp_path / "real").mkdir(mode=0o755)
    (tmp_path / "home").symlink_to(tmp_path / "real")
    with pytest.raises(HomeError, match="symbolic link"), held_home(tmp_path / "home", now_ms=NOW_MS):
        pass
    assert mode(tmp_path / "real") == 0o755


def test_a_home_that_is_a_file_is_refused(tmp_path: Path) -> None:
    """A file in the folder's place stays as it is."""
    (tmp_path / "home").write_text("mine")
    with pytest.raises(HomeError, match="cannot be made"), held_home(tmp_path / "home", now_ms=NOW_MS):
        pass
    assert (tmp_path / "home").read_text() == "mine"


def test_a_relative_home_is_refused() -> None:
    """The working directory does not choose where mail is kept."""
    with pytest.raises(HomeError, match="absolute"), held_home(Path("home"), now_ms=NOW_MS):
        pass


def test_a_home_of_another_user_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder or file that somebody else owns is neither used nor changed."""
    home = tmp_path / "home"
    home.mkdir(mode=0o755)
    monkeypatch.setattr(os, "geteuid", lambda: os.getuid() + 1)
    with pytest.raises(HomeError, match="another user"), held_home(home, now_ms=NOW_MS):
        pass
    assert mode(home) == 0o755
    assert list(home.iterdir()) == []


def test_a_failure_inside_lets_the_home_go(tmp_path: Path) -> None:
    """Whatever ends a daemon, the next one can start."""
    home = tmp_path / "home"
    with pytest.raises(ZeroDivisionError), held_home(home, now_ms=NOW_MS):
        _ = 1 / 0
    with held_home(home, now_ms=NOW_MS):
        pass
