"""A client's file on the disk: read whole, put in place whole, with its mode and through its links.

A home is often a folder of links into a repository of settings, so the file that a link leads to is what
changes. What is written lies beside it before anything else is done, and takes its place in one step.
"""

from __future__ import annotations

import os
import re
import secrets
import stat
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from .faults import ConnectError

#: A client's settings are some kilobytes; Claude Code's, which keep a history, some megabytes.
BYTES_MAX = 32 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class ClientFile:
    """A file as it was found; ``raw`` is None where there is none."""

    path: Path
    target: Path
    raw: bytes | None
    mode: int

    @property
    def text(self) -> str:
        """Its text, with line ends and byte order mark as they are. Raises ConnectError."""
        try:
            return "" if self.raw is None else self.raw.decode("utf-8")
        except UnicodeDecodeError:
            raise ConnectError("document_invalid", f"{self.path} is not UTF-8; nothing was changed") from None


def read(path: Path, *, new_mode: int) -> ClientFile:
    """Read a file, or find that there is none. Raises ConnectError."""
    try:
        target = Path(os.path.realpath(path))
        try:
            # NONBLOCK: a pipe that somebody put there must not hold us up.
            opened = os.open(target, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOFOLLOW)
        except FileNotFoundError:
            return ClientFile(path, target, None, new_mode)
        with os.fdopen(opened, "rb") as file:
            found = os.fstat(file.fileno())
            if not stat.S_ISREG(found.st_mode):
                raise ConnectError("file_unusable", f"{path} is no regular file; nothing was changed")
            raw = file.read(BYTES_MAX + 1)
    except OSError as failure:
        raise _unusable(path, "cannot be read", failure) from None
    if len(raw) > BYTES_MAX:
        raise ConnectError("file_unusable", f"{path} is larger than {BYTES_MAX} bytes; nothing was changed")
    return ClientFile(path, target, raw, stat.S_IMODE(found.st_mode))


@dataclass(slots=True)
class Prepared:
    """What is to take a file's place, on the disk already; None: the file goes."""

    file: ClientFile
    raw: bytes | None
    partial: Path | None = None
    made_folders: list[Path] = field(default_factory=list[Path])

    def put(self) -> None:
        """Let it take the file's place. Raises ConnectError when the file has changed since it was read."""
        target = self.file.target
        if read(self.file.path, new_mode=self.file.mode).raw != self.file.raw:
            raise ConnectError(
                "file_changed", f"{self.file.path} was changed by somebody else just now; run this again"
            )
        try:
            if self.partial is None:
                target.unlink(missing_ok=True)
            else:
                self.partial.replace(target)
                self.partial = None
            _settled(target.parent)
        except OSError as failure:
            raise _unusable(self.file.path, "cannot be written", failure) from None

    def abandon(self) -> None:
        """Leave nothing behind."""
        if self.partial is not None:
            with suppress(OSError):
                self.partial.unlink()
            self.partial = None
        remove_empty(self.made_folders)


def prepared(file: ClientFile, raw: bytes | None) -> Prepared:
    """Write what is to take a file's place beside it, and make the folders that it needs.

    Raises ConnectError, and then nothing is left.
    """
    ready = Prepared(file, raw)
    _swept(file.target)
    if raw is None:
        return ready
    target = file.target
    try:
        for each in missing(target):
            each.mkdir(mode=0o700 if file.mode == 0o600 else 0o777)
            ready.made_folders.append(each)
        ready.partial = target.with_name(f".{target.name}.{secrets.token_hex(8)}.tmp")
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        with os.fdopen(os.open(ready.partial, flags, 0o600), "wb") as out:
            out.write(raw)
            out.flush()
            os.fchmod(out.fileno(), file.mode)
            os.fsync(out.fileno())
    except OSError as failure:
        ready.abandon()
        raise _unusable(file.path, "cannot be written", failure) from None
    return ready


def missing(target: Path) -> list[Path]:
    """The folders that a file needs and that are not there, the outermost first."""
    return [each for each in reversed(target.parents) if not each.exists()]


def _swept(target: Path) -> None:
    """Remove what a run that was killed had prepared: a copy of the person's file."""
    ours = re.compile(rf"\.{re.escape(target.name)}\.[0-9a-f]{{16}}\.tmp")
    with suppress(OSError):
        for each in target.parent.iterdir():
            if ours.fullmatch(each.name) and each.is_file() and not each.is_symlink():
                each.unlink()


def remove_empty(folders: list[Path]) -> None:
    """Remove folders that were made, the innermost first, as far as nothing is in them."""
    for each in reversed(folders):
        with suppress(OSError):
            each.rmdir()


def _settled(folder: Path) -> None:
    opened = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(opened)
    finally:
        os.close(opened)


def _unusable(path: Path, what: str, failure: OSError) -> ConnectError:
    reason = failure.strerror or "unknown"
    return ConnectError("file_unusable", f"{path} {what}: {reason}; nothing was changed")
