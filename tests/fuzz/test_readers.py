"""Hostile files: each reader answers or says what is wrong, never hangs, and reads no more than it may.

Seeded and short by default; M4A_FUZZ_EXAMPLES is how many files are drawn for each reader (`make fuzz`).
"""

from __future__ import annotations

import hashlib
import os
import socket
import threading
import tracemalloc
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from .damage import KNOWN, damaged
from .readers import READERS, Reader

EXAMPLES = int(os.environ.get("M4A_FUZZ_EXAMPLES", "12"))
#: More than any of these readers may hold of a file, with what it makes of it.
MEMORY_MAX = 48 * 1024 * 1024
pytestmark = [pytest.mark.timeout(60 + EXAMPLES), pytest.mark.promise("files.hostile-files-are-named")]


class Site:
    """A folder with one file in it, which a reader is to read."""

    def __init__(self, folder: Path, reader: Reader) -> None:
        self.root = folder / "root"
        self.reader = reader
        self.path = self.root / reader.place
        self.path.parent.mkdir(mode=0o700, parents=True)
        self.root.chmod(0o700)
        self.beside = self.path.with_name("beside.txt")
        self.beside.write_bytes(b"somebody's")

    @property
    def is_changed_by_reading(self) -> bool:
        """A database is opened to be written; what is no message is set aside under another ending."""
        return self.path.suffix == ".db" or self.reader.tidies

    def put(self, raw: bytes) -> None:
        """Put a file in place."""
        self.path.write_bytes(raw)
        self.path.chmod(0o600)

    def read(self) -> Exception | None:
        """Read, and return what was raised of what may be; anything else fails the test."""
        try:
            self.reader.read(self.root)
        except self.reader.raises as said:
            return said
        return None

    def clear(self) -> None:
        """Take away the file, and what SQLite keeps beside it."""
        for path in self.path.parent.glob(f"{self.path.stem}*"):
            if path.is_dir() and not path.is_symlink():
                path.rmdir()
            else:
                path.unlink()

    def standing(self) -> dict[str, Any]:
        """Every file of the folder, save what SQLite keeps beside a database."""
        return {
            path.name: hashlib.sha256(path.read_bytes()).hexdigest()
            for path in self.root.rglob("*")
            if path.is_file() and not path.is_symlink() and not path.name.endswith(("-wal", "-shm", ".lock"))
        }


@pytest.fixture(params=READERS.items(), ids=lambda each: each[0])
def site(request: pytest.FixtureRequest, tmp_path: Path) -> Site:
    """A place for each kind of file."""
    return Site(tmp_path, request.param[1])


@pytest.fixture
def traced() -> Iterator[None]:
    """Memory is traced."""
    tracemalloc.start()
    yield
    tracemalloc.stop()


def test_a_good_file_is_read(site: Site) -> None:
    """What the fuzz mutates is what a reader takes, so that mutations reach beyond its first look."""
    site.put(site.reader.good())
    assert site.read() is None


def test_bytes_that_break_readers_are_named(site: Site) -> None:
    """Nothing, zeros, depth, great numbers and odd letters get an answer, and what lies beside stays."""
    for what, raw in KNOWN.items():
        site.put(raw)
        before = site.standing()
        said = site.read()
        after = site.standing()
        assert said is None or 0 < len(str(said)) < 20_000, what
        assert after["beside.txt"] == before["beside.txt"], what
        assert after == before or site.is_changed_by_reading, what
        site.clear()


def test_a_damaged_file_is_named(site: Site) -> None:
    """Whatever of a good file is changed, the reader answers or says so, and changes nothing else."""
    good = site.reader.good()

    @settings(
        max_examples=EXAMPLES if len(good) < 20_000 else max(EXAMPLES // 10, 4),
        deadline=None,
        derandomize=True,
        database=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(st.one_of(damaged(good), st.binary(max_size=200)))
    def read(raw: bytes) -> None:
        site.clear()
        site.put(raw)
        site.read()
        assert site.beside.read_bytes() == b"somebody's"
        assert site.is_changed_by_reading or site.path.read_bytes() == raw

    read()


ODD = (
    "a pipe",
    "a socket",
    "a folder",
    "a link to a file",
    "a link to itself",
    "a link to nothing",
    "no rights",
)


def test_what_is_no_file_holds_nobody_up(site: Site, tmp_path: Path) -> None:
    """Pipes, sockets, folders and links end the reading at once; no planted link is read."""
    outside = tmp_path / "outside"
    for what in ODD:
        outside.write_bytes(site.reader.good())
        outside.chmod(0o600)
        match what:
            case "a pipe" if site.reader.waits_at_pipes:
                continue
            case "a pipe":
                os.mkfifo(site.path, 0o600)
            case "a socket":
                _listening(site.path)
            case "a folder":
                site.path.mkdir(mode=0o700)
            case "a link to a file":
                site.path.symlink_to(outside)
            case "a link to itself":
                site.path.symlink_to(site.path.name)
            case "a link to nothing":
                site.path.symlink_to(tmp_path / "nothing" / "there")
            case "no rights":
                site.put(site.reader.good())
                site.path.chmod(0)
            case _:
                raise AssertionError(what)
        before = outside.stat().st_atime_ns
        site.read()
        assert site.reader.follows_links or outside.stat().st_atime_ns == before, what
        assert not (tmp_path / "nothing").exists(), what
        assert site.is_changed_by_reading or site.path.is_fifo() == (what == "a pipe"), what
        site.clear()


def _listening(path: Path) -> None:
    here = Path.cwd()
    with socket.socket(socket.AF_UNIX) as listener:
        # The name of a socket is short; that of a test's folder may not be.
        os.chdir(path.parent)
        try:
            listener.bind(path.name)
        finally:
            os.chdir(here)


def test_a_huge_file_is_not_kept(site: Site, traced: None) -> None:
    """Of a file without end no more is read than the bound and one byte."""
    site.put(site.reader.good())
    if site.path.suffix == ".db":
        return
    with site.path.open("r+b") as file:
        file.truncate(1 << 36)
    site.read()
    assert tracemalloc.get_traced_memory()[1] < MEMORY_MAX


def test_a_file_that_changes_while_it_is_read_is_named(site: Site) -> None:
    """Shrunk, grown and replaced under the reader: an answer of the same kinds."""
    good = site.reader.good()
    if site.path.suffix == ".db":
        return
    site.put(good)
    over = threading.Event()

    def change() -> None:
        while not over.is_set():
            for raw in (good[: len(good) // 2], good * 3, b"", good):
                with suppress(OSError), site.path.open("r+b") as file:
                    file.write(raw)
                    file.truncate(len(raw))

    changing = threading.Thread(target=change)
    changing.start()
    try:
        for _ in range(10):
            site.read()
    finally:
        over.set()
        changing.join()
