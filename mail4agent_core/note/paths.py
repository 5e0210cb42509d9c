"""Where the files of one run are. The name of a run comes from others, so it is one plain segment."""

from __future__ import annotations

import json
import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Self

from .faults import LedgerError, UnknownRunError
from .files import append, made_folder, opened, sync_folder
from .journal import NAME

_NAME = re.compile(r"[A-Za-z0-9._-]{1,128}", re.ASCII)
_LAUNCH: Final = "launch.json"
_CHANNEL: Final = "channel"


@dataclass(frozen=True, slots=True)
class RunPaths:
    """The folder of one run and what is in it."""

    folder: Path

    @property
    def run(self) -> str:
        """The run's name."""
        return self.folder.name

    @property
    def journal(self) -> Path:
        """The journal."""
        return self.folder / NAME

    @property
    def channel(self) -> Path:
        """The folder of the queues."""
        return self.folder / _CHANNEL

    @property
    def owner(self) -> Path:
        """The file that names who drives the run."""
        return self.folder / "owner.lock"

    @classmethod
    def of(cls, runs: Path, run: str) -> Self:
        """A run under the folder of runs. Raises UnknownRunError for what is none, a link among it."""
        paths = cls._named(runs, run)
        if paths.folder.is_symlink() or not paths.folder.is_dir():
            raise UnknownRunError(run, "there is no such run")
        return paths

    @classmethod
    def create(cls, runs: Path, run: str) -> Self:
        """Make the folder of a run, or find it. Raises UnknownRunError, LedgerError."""
        paths = cls._named(runs, run)
        try:
            runs.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as failure:
            raise LedgerError(runs, failure.strerror or "failed") from failure
        made_folder(paths.folder)
        launch = paths.folder / _LAUNCH
        if not launch.exists():
            # The original's views ask for it.
            with opened(launch, write=True, create=True) as handle:
                append(handle, launch, json.dumps({"run_id": run}, separators=(",", ":")).encode())
            sync_folder(paths.folder)
        return paths

    @classmethod
    def every(cls, runs: Path) -> list[Self]:
        """The runs under a folder by name; none where it is not there. Raises LedgerError."""
        try:
            with os.scandir(runs) as entries:
                names = sorted(each.name for each in entries if each.is_dir(follow_symlinks=False))
        except FileNotFoundError:
            return []
        except OSError as failure:
            raise LedgerError(runs, failure.strerror or "failed") from failure
        return [cls(runs / name) for name in names if _NAME.fullmatch(name)]

    @classmethod
    def _named(cls, runs: Path, run: str) -> Self:
        if _NAME.fullmatch(run) is None or run in (".", ".."):
            raise UnknownRunError(run[:128], "a run's name is 1 to 128 of A-Z, a-z, 0-9 and . _ -")
        return cls(runs / run)
