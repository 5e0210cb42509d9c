"""The files that a draft would send, copied when it is staged and hashed again when it leaves.

A sink never reads the workspace: what is in there may have changed since a person looked. The copies of a
draft lie in a folder of its own, each under its SHA-256. Only regular files inside the workspace are copied,
and no link is followed below it.
"""

from __future__ import annotations

import hashlib
import os
import secrets
import stat
from collections.abc import Generator, Iterable, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path, PurePosixPath
from typing import Any, BinaryIO, Final, cast

from mail4agent_api.errors import MalformedError, TooLargeError
from mail4agent_core.files import UNFINISHED, Folder, FolderError, regular

from .item import FileRecord

#: Bytes of all files of one draft, and how many there may be.
FILES_MAX_BYTES: Final = 33_554_432
FILES_MAX: Final = 256
#: Folders in folders that a folder among the arguments may have.
FOLDERS_MAX_DEPTH: Final = 16
PATH_MAX_BYTES: Final = 4_096
_CHUNK: Final = 1 << 20
_FOLDER: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


def named_files(args: Mapping[str, Any], file_args: Iterable[str]) -> list[str]:
    """The paths that the arguments name, in the order of ``file_args``.

    Raises MalformedError for what is no path, TooLargeError for too many.
    """
    out: list[str] = []
    for name in file_args:
        value: Any = args.get(name)
        if value is None:
            continue
        for path in cast(list[Any], value) if isinstance(value, list) else [value]:
            if not isinstance(path, str) or not path or not path.isprintable():
                raise MalformedError(field="args", reason=f"must name files by their paths (at /args/{name})")
            if len(path.encode()) > PATH_MAX_BYTES:
                raise TooLargeError(field="args", limit=PATH_MAX_BYTES, actual=len(path.encode()))
            out.append(path)
    if len(out) > FILES_MAX:
        raise TooLargeError(field="files", limit=FILES_MAX, actual=len(out))
    return out


class Copies:
    """The folder ``files`` of an outbox: a folder for each draft that has any."""

    def __init__(self, root: Folder) -> None:
        self._root = root

    @contextmanager
    def _files(self, *, make: bool) -> Generator[Folder]:
        with self._root.inner("files", make=make) as folder:
            yield folder

    def path_of(self, item_id: str, sha256: str) -> Path:
        """Where a copy is."""
        return self._root.path / "files" / item_id / sha256

    def take(
        self, workspace: str | None, paths: list[str], roots: Sequence[Path] | None = None
    ) -> tuple[tuple[FileRecord, ...], str | None]:
        """Copy files, and return what they are and the unfinished folder that they are in; no folder without
        files. ``keep`` or ``drop`` comes next.

        With ``roots`` the workspace is one of those folders or below one, and no link leads there. Raises
        MalformedError and TooLargeError, and OSError where the outbox cannot be written.
        """
        if not paths:
            return (), None
        base = _workspace(workspace)
        root = base if roots is None else _root_of(base, roots)
        with self._files(make=True) as files:
            # A process that is gone leaves its folder to whoever stages next.
            _sweep(files)
            name = f".{os.getpid()}-{secrets.token_hex(8)}{UNFINISHED}"
            try:
                with files.inner(name) as into:
                    return _copied(root, base, paths, into), name
            except BaseException:
                files.remove_folder(name)
                raise

    def keep(self, unfinished: str | None, item_id: str) -> None:
        """Give the copies to a draft. Raises OSError."""
        if unfinished is not None:
            with self._files(make=False) as files:
                files.move(unfinished, item_id)
                files.settle()

    def drop(self, unfinished: str | None) -> None:
        """Remove copies that no draft has."""
        if unfinished is not None:
            with suppress(OSError, FolderError), self._files(make=False) as files:
                files.remove_folder(unfinished)

    def are_as_recorded(self, item_id: str, records: Iterable[FileRecord]) -> bool:
        """Whether every copy is there and has the bytes that were recorded, all of them read again."""
        wanted = {record.sha256: record.size for record in records}
        if not wanted:
            return True
        try:
            with self._files(make=False) as files, files.inner(item_id, make=False) as folder:
                return all(_is(folder, sha256, size) for sha256, size in wanted.items())
        except (OSError, FolderError):
            return False


def _is(folder: Folder, sha256: str, size: int) -> bool:
    file = folder.reading(sha256)
    if file is None:
        return False
    with file:
        hashed, left = hashlib.sha256(), size
        while chunk := file.read(_CHUNK):
            left -= len(chunk)
            if left < 0:
                return False
            hashed.update(chunk)
    return left == 0 and hashed.hexdigest() == sha256


def _sweep(files: Folder) -> None:
    for name in files.names():
        if name.startswith(".") and name.endswith(UNFINISHED):
            pid = name[1:].partition("-")[0]
            if not (pid.isdecimal() and _lives(int(pid))):
                files.remove_folder(name)


def _lives(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except (OverflowError, PermissionError):
        pass
    return True


def _workspace(workspace: str | None) -> PurePosixPath:
    if workspace is None:
        raise MalformedError(field="workspace", reason="must be given where arguments name files")
    path = PurePosixPath(workspace)
    if not path.is_absolute() or ".." in path.parts:
        raise MalformedError(field="workspace", reason="must be an absolute path without ..")
    return path


def _root_of(base: PurePosixPath, roots: Sequence[Path]) -> PurePosixPath:
    for root in roots:
        if base.is_relative_to(root):
            return PurePosixPath(root)
    raise MalformedError(
        field="workspace", reason="must be in a folder that the settings let drafts send from"
    )


def _copied(
    root: PurePosixPath, base: PurePosixPath, paths: list[str], into: Folder
) -> tuple[FileRecord, ...]:
    taking = _Taking(into)
    with ExitStack() as opened:
        try:
            workspace = os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
            opened.callback(os.close, workspace)
            for step in base.relative_to(root).parts:
                workspace = os.open(step, _FOLDER, dir_fd=workspace)
                opened.callback(os.close, workspace)
        except OSError:
            raise MalformedError(field="workspace", reason="must be a folder that can be read") from None
        for path in paths:
            taking.take(workspace, path, _inside(base, path))
    into.settle()
    return tuple(taking.records)


def _inside(base: PurePosixPath, path: str) -> tuple[str, ...]:
    """The steps from the workspace to a path. Raises MalformedError for one that leads out."""
    wanted = PurePosixPath(path)
    if wanted.is_absolute() and wanted.is_relative_to(base):
        wanted = wanted.relative_to(base)
    if wanted.is_absolute() or ".." in wanted.parts:
        raise MalformedError(field="args", reason="must name files inside the workspace")
    return wanted.parts


def _no_file() -> MalformedError:
    return MalformedError(
        field="args", reason="must name regular files in the workspace that can be read, and through no link"
    )


class _Taking:
    """Copies files into a folder, and counts them."""

    def __init__(self, into: Folder) -> None:
        self._into = into
        self._left = FILES_MAX_BYTES
        self.records: list[FileRecord] = []

    def take(self, workspace: int, path: str, steps: tuple[str, ...]) -> None:
        """Copy the file of a path, or every file of the folder that it is."""
        opened = [workspace]
        try:
            for step in steps[:-1]:
                opened.append(os.open(step, _FOLDER, dir_fd=opened[-1]))
            self._entry(opened[-1], steps[-1] if steps else ".", path, FOLDERS_MAX_DEPTH)
        except _OutboxFullError as failure:
            raise failure.cause from None
        except OSError:
            raise _no_file() from None
        finally:
            for descriptor in opened[1:]:
                os.close(descriptor)

    def _entry(self, folder: int, name: str, path: str, depth: int) -> None:
        """Whatever has the name. Raises OSError for what cannot be opened."""
        found = os.stat(name, dir_fd=folder, follow_symlinks=False)
        if stat.S_ISDIR(found.st_mode) and depth > 0:
            inner = os.open(name, _FOLDER, dir_fd=folder)
            try:
                for entry in sorted(os.listdir(inner)):  # noqa: PTH208  # by its descriptor
                    below = f"{path.rstrip('/')}/{entry}"
                    if not entry.isprintable() or len(below.encode("utf-8", "replace")) > PATH_MAX_BYTES:
                        raise _no_file()
                    self._entry(inner, entry, below, depth - 1)
            finally:
                os.close(inner)
            return
        found = regular(name, folder)
        if found is None:
            raise _no_file()
        with os.fdopen(found[0], "rb") as file:
            self._file(file, path)

    def _file(self, file: BinaryIO, path: str) -> None:
        if len(self.records) >= FILES_MAX:
            raise TooLargeError(field="files", limit=FILES_MAX, actual=len(self.records) + 1)
        name = str(len(self.records))
        hashed, size = hashlib.sha256(), 0
        with _full(), self._into.created(name) as copy:
            while chunk := _read(file):
                size += len(chunk)
                if size > self._left:
                    raise TooLargeError(
                        field="files",
                        limit=FILES_MAX_BYTES,
                        actual=FILES_MAX_BYTES - self._left + size,
                    )
                hashed.update(chunk)
                copy.write(chunk)
            copy.flush()
            os.fsync(copy.fileno())
        self._left -= size
        with _full():
            self._into.move(name, hashed.hexdigest())
        self.records.append(FileRecord(path, size, hashed.hexdigest()))


class _OutboxFullError(Exception):
    """The outbox's own disk failed, and not what was to be copied."""

    def __init__(self, cause: OSError) -> None:
        super().__init__()
        self.cause = cause


class _UnreadableError(Exception):
    """What was to be copied failed while it was read."""


def _read(file: BinaryIO) -> bytes:
    try:
        return file.read(_CHUNK)
    except OSError:
        raise _UnreadableError from None


@contextmanager
def _full() -> Generator[None]:
    try:
        yield
    except OSError as failure:
        raise _OutboxFullError(failure) from None
    except _UnreadableError:
        raise _no_file() from None
