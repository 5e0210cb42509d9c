"""Who was given a brief, so that what they stage is marked as drawn from a stranger's words.

A mark is durable before the brief is given and is never taken back while its session may act. Of an account
that calls without a session nobody knows which of its runs it is: a mark on it counts for all of them, and
any mark of a session counts for it.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Final, cast

from mail4agent_api.codec import parse
from mail4agent_api.errors import RefusalError, StoreUnavailableError
from mail4agent_core.files import Folder, FolderError

FOLDER: Final = "briefed"
#: Sessions that are told apart for one account; with more, the account itself is marked.
SESSIONS_MAX: Final = 256
_FILE_MAX_BYTES: Final = 1 << 20


class Briefed:
    """The marks in a folder. An address is ``account`` or ``account/session``, as text."""

    def __init__(self, root: Path, lock_secs: float = 10.0) -> None:
        self._path = root / FOLDER
        self._lock_secs = lock_secs

    def mark(self, address: str) -> None:
        """Remember that an address was given a brief, on disk. Raises StoreUnavailableError."""
        account, _, session = address.partition("/")
        try:
            with Folder.opened(self._path) as folder, folder.locked(wait_secs=self._lock_secs):
                held = _read(folder, account)
                if held is None or session in held:
                    return
                sessions = {*held, session} if session and len(held) < SESSIONS_MAX else None
                _write(folder, account, sessions)
                return
        except (FolderError, OSError):
            pass
        raise StoreUnavailableError(operation="frontdoor.next")

    def has(self, address: str) -> bool:
        """Whether an address may have read a brief. Raises StoreUnavailableError where that is not known."""
        account, _, session = address.partition("/")
        try:
            with Folder.opened(self._path, make=False) as folder:
                held = _read(folder, account)
                return held is None or (session in held if session else bool(held))
        except FileNotFoundError:
            return False
        except (FolderError, OSError):
            pass
        raise StoreUnavailableError(operation="frontdoor.next")

    def marked(self) -> list[str]:
        """The accounts and sessions that have marks, as addresses. Raises StoreUnavailableError."""
        found: list[str] = []
        try:
            with Folder.opened(self._path, make=False) as folder:
                for name in folder.names():
                    if name.endswith(".json"):
                        account, sessions = _held(folder.read(name, _FILE_MAX_BYTES))
                        if account is not None:
                            found += [account, *(f"{account}/{each}" for each in sessions or () if each)]
                return found
        except FileNotFoundError:
            return []
        except (FolderError, OSError):
            pass
        raise StoreUnavailableError(operation="frontdoor.next")

    def sweep(self, may_act: Callable[[str], bool]) -> None:
        """Forget the sessions that will never act again. Raises StoreUnavailableError.

        ``may_act`` says of an account or of a session's address whether it still may.
        """
        try:
            with Folder.opened(self._path, make=False) as folder, folder.locked(wait_secs=self._lock_secs):
                folder.sweep()
                for name in folder.names():
                    if name.endswith(".json"):
                        _swept(folder, name, may_act)
                return
        except FileNotFoundError:
            return
        except (FolderError, OSError):
            pass
        raise StoreUnavailableError(operation="frontdoor.next")


def _name(account: str) -> str:
    """A file's name that any account has and no two share, on disks that fold case too."""
    return f"{hashlib.sha256(account.encode()).hexdigest()}.json"


def _read(folder: Folder, account: str) -> frozenset[str] | None:
    """The marked sessions of an account; None where the account is marked, or its file cannot be read."""
    try:
        raw = folder.read(_name(account), _FILE_MAX_BYTES)
    except FileNotFoundError:
        return frozenset()
    return _held(raw)[1]


def _held(raw: bytes | None) -> tuple[str | None, frozenset[str] | None]:
    try:
        value = parse(raw or b"")
    except RefusalError:
        return None, None
    match value:
        case {"account": str(account), "sessions": [*sessions]}:
            texts = cast("list[object]", sessions)
            return account, frozenset(each for each in texts if isinstance(each, str))
        case {"account": str(account)}:
            return account, None
        case _:
            return None, None


def _write(folder: Folder, account: str, sessions: set[str] | frozenset[str] | None) -> None:
    value = {"account": account, "sessions": None if sessions is None else sorted(sessions)}
    folder.write(_name(account), json.dumps(value, indent=2).encode())


def _swept(folder: Folder, name: str, may_act: Callable[[str], bool]) -> None:
    account, sessions = _held(folder.read(name, _FILE_MAX_BYTES))
    if account is None:
        return
    if not may_act(account):
        folder.remove(name)
    elif sessions is not None:
        left = frozenset(session for session in sessions if may_act(f"{account}/{session}"))
        if left != sessions:
            _write(folder, account, left)
