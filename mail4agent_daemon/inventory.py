"""What the daemon holds and runs on, for ``doctor``: sizes, versions, and what retention did last.

It changes nothing, and reads no file's content.
"""

import os
import platform
import sqlite3
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from itertools import islice
from pathlib import Path
from typing import Final, Literal

from mail4agent_api.operations import CONTRACT_VERSION

from .settings import Effective

#: So many names of a folder are counted.
COUNTED_MAX: Final = 10_000
#: Libraries that a fault may be of.
_LIBRARIES: Final = ("hypercorn", "starlette", "pydantic")
#: What was looked at, how it is, and the words for a person.
Said = tuple[str, Literal["good", "note", "bad"], str]


def file_size(path: Path) -> Said | None:
    """How much a database and its log take; None where there is none."""
    sizes = [_size(each) for each in (path, path.with_name(f"{path.name}-wal"))]
    whole, log = sizes
    if whole is None:
        return None
    return "size", "good", f"{path.name} takes {_bytes(whole)}, its log {_bytes(log or 0)}"


def server_size(taken: int) -> Said:
    """How much a database on a server takes, in bytes."""
    return "size", "good", f"the database takes {_bytes(taken)}"


def folders(effective: Effective) -> Said:
    """How much lies in the folders of files."""
    counted = (
        ("drafts", _count(effective.outbox, 0)),
        ("requests", _count(effective.requests, 0)),
        ("mailbox messages", _count(effective.mailboxes, 1)),
        ("runs", _count(effective.home / "runs", 0)),
    )
    words = ", ".join(
        f"{name}: {found}" if found < COUNTED_MAX else f"{name}: {COUNTED_MAX} or more"
        for name, found in counted
    )
    return "files", "good", words


def versions(server: str | None = None) -> Said:
    """Of what runs here; ``server`` is that of a PostgreSQL server."""
    store = f"SQLite {sqlite3.sqlite_version}" if server is None else f"PostgreSQL {server}"
    found = [
        f"mail4agent {_version('mail4agent')}",
        f"contract {CONTRACT_VERSION}",
        f"Python {platform.python_version()}",
        store,
        *(f"{name} {_version(name)}" for name in _LIBRARIES),
    ]
    return "versions", "good", ", ".join(found)


def retention(effective: Effective, numbers: Mapping[str, int]) -> Said:
    """The rule, and what the last run removed; ``numbers`` are those that the store keeps by name."""
    days = effective.settings.retention.keep_days
    rule = f"settled mail is kept {days} days" if days else "mail is kept for ever"
    ran = numbers.get("retention.run")
    if ran is None:
        return "retention", "note", f"{rule}; it has not run yet"
    at = datetime.fromtimestamp(ran / 1000, UTC).strftime("%Y-%m-%d %H:%M UTC")
    removed = numbers.get("retention.messages", 0), numbers.get("retention.keys", 0)
    return "retention", "good", f"{rule}; it ran {at} and removed {removed[0]} messages, {removed[1]} keys"


def _size(path: Path) -> int | None:
    try:
        return path.stat().st_size
    except OSError:
        return None


def _bytes(size: int) -> str:
    """A size for a person."""
    return f"{size / 1_048_576:.1f} MiB"


def _count(folder: Path, deeper: int) -> int:
    """How many entries a folder has, or those in it, without hidden ones; ``COUNTED_MAX`` at most."""
    return sum(1 for _ in islice(_entries(folder, deeper), COUNTED_MAX))


def _entries(folder: Path, deeper: int) -> Iterator[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                if entry.name.startswith("."):
                    continue
                if not deeper:
                    yield entry
                elif entry.is_dir(follow_symlinks=False):
                    yield from _entries(Path(entry.path), deeper - 1)
    except OSError:
        # What cannot be looked at is said elsewhere.
        return


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "unknown"
