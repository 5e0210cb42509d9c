"""A disk that fails or slows under a process: writes and syncs of its files answer what a test says.

``faulty.c`` is preloaded into the process, so Linux and a C compiler are needed. A machine without them
leaves these tests out; with CI=true it fails them.
"""

from __future__ import annotations

import errno
import mmap
import os
import shutil
import struct
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

_NUMBER = struct.Struct("<q")
_WRITE_ERRNO, _SYNC_ERRNO, _SYNC_USECS, _WRITES_FAILED, _SYNCS_FAILED, _SYNCS_SLOWED, _NUMBERS = range(7)
_SOURCE = Path(__file__).with_suffix(".c")


@dataclass(frozen=True, slots=True)
class Told:
    """How often the disk did what it was told to."""

    writes_failed: int
    syncs_failed: int
    syncs_slowed: int

    @property
    def total(self) -> int:
        """All of them."""
        return self.writes_failed + self.syncs_failed + self.syncs_slowed


class FaultyDisk:
    """The disk under the files of a folder, for the processes that are started with its environment."""

    def __init__(self, folder: Path, under: Path, owner: tuple[int, int] | None = None) -> None:
        """Build what is preloaded in ``folder``, where ``owner`` may write. Skips, or fails in CI."""
        compiler = shutil.which("cc")
        if compiler is None or not sys.platform.startswith("linux"):
            if os.environ.get("CI") == "true":
                pytest.fail("there is no C compiler on this machine")
            pytest.skip("there is no C compiler on this machine")
        library, control = folder / "faulty.so", folder / "faulty.numbers"
        flags = ("-std=gnu11", "-O2", "-Wall", "-Wextra", "-shared", "-fPIC")
        subprocess.run([compiler, *flags, "-o", library, _SOURCE, "-ldl"], check=True)
        control.write_bytes(bytes(_NUMBERS * _NUMBER.size))
        if owner is not None:
            os.chown(control, *owner)
        with control.open("r+b") as file:
            self._numbers = mmap.mmap(file.fileno(), 0)
        self.environment = {
            "LD_PRELOAD": str(library),
            "FAULTY_CONTROL": str(control),
            "FAULTY_UNDER": f"{under.resolve()}/",
        }

    def _set(self, place: int, number: int) -> None:
        _NUMBER.pack_into(self._numbers, place * _NUMBER.size, number)

    def _get(self, place: int) -> int:
        return _NUMBER.unpack_from(self._numbers, place * _NUMBER.size)[0]

    @property
    def told(self) -> Told:
        """What it has done since it was made."""
        return Told(self._get(_WRITES_FAILED), self._get(_SYNCS_FAILED), self._get(_SYNCS_SLOWED))

    def fail_writes(self, number: int = errno.EIO) -> None:
        """From now on every write fails, after half of it."""
        self._set(_WRITE_ERRNO, number)

    def fail_syncs(self, number: int = errno.EIO) -> None:
        """From now on what is written is taken, and cannot be made durable."""
        self._set(_SYNC_ERRNO, number)

    def slow_syncs(self, secs: float) -> None:
        """From now on a sync takes so much longer."""
        self._set(_SYNC_USECS, round(secs * 1_000_000))

    def mend(self) -> None:
        """From now on it works."""
        for place in (_WRITE_ERRNO, _SYNC_ERRNO, _SYNC_USECS):
            self._set(place, 0)
