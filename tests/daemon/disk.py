"""Disks that are small, and folders that cannot be written: real ones for root, the nearest for others."""

import os
import resource
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

MOUNTS = os.geteuid() == 0


@contextmanager
def small_disk(folder: Path, size: str = "2m") -> Iterator[Path]:
    """A folder on a disk of its own, where the machine lets us mount one; else the folder itself."""
    folder.mkdir()
    mounted = MOUNTS and _mounted("-t", "tmpfs", "-o", f"size={size},mode=0700", "tmpfs", str(folder))
    try:
        yield folder
    finally:
        if mounted:
            subprocess.run(["umount", "--lazy", str(folder)], check=True)


@dataclass
class Filler:
    """Takes the space of a disk, or the right of a process to make files longer, and gives it back."""

    folder: Path
    pid: int | None = None

    @property
    def _ballast(self) -> Path:
        return self.folder / "ballast"

    def fill(self) -> None:
        """From now on nothing more fits."""
        if self.folder.is_mount():
            with self._ballast.open("wb", buffering=0) as file:
                _until_full(lambda: file.write(bytes(4096)))
        elif self.pid is not None:
            # The log, which is shorter, goes on.
            longest = max(path.stat().st_size for path in self.folder.rglob("*"))
            resource.prlimit(self.pid, resource.RLIMIT_FSIZE, (longest, resource.RLIM_INFINITY))

    def free(self) -> None:
        """From now on there is room again."""
        if self.folder.is_mount():
            self._ballast.unlink()
        elif self.pid is not None:
            resource.prlimit(
                self.pid, resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY)
            )


def _until_full(write: Callable[[], object]) -> None:
    try:
        while True:
            write()
    except OSError:
        return


@contextmanager
def read_only(folder: Path) -> Iterator[None]:
    """Make a folder one that nothing can be written in."""
    if MOUNTS and _mounted("--bind", str(folder), str(folder)):
        try:
            subprocess.run(["mount", "-o", "remount,bind,ro", str(folder)], check=True)
            yield
        finally:
            subprocess.run(["umount", "--lazy", str(folder)], check=True)
        return
    folder.chmod(0o500)
    try:
        yield
    finally:
        folder.chmod(0o700)


def _mounted(*arguments: str) -> bool:
    return subprocess.run(["mount", *arguments], capture_output=True, check=False).returncode == 0
