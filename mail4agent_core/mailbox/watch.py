"""Who watches a mailbox wakes when something is put there, and sleeps until then.

By inotify through ``watchfiles`` where that is installed, by a look at the folder's own time twenty times a
second where it is not. A watch claims nothing: it says that there is something to claim.
"""

from __future__ import annotations

import importlib
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Protocol

from mail4agent_core.files import Folder

from .message import StoredMessage
from .store import MailboxStore

#: Milliseconds between two looks where nothing wakes, and between two of watchfiles at what woke it.
LOOK_MS = 50
_STEP_MS = 20
#: A lease that is over is noticed this often, also where no file changes.
_AGAIN_MS = 1000


class Bell(Protocol):
    """What wakes who waits for a folder to change."""

    def wait(self, stop: threading.Event) -> None:
        """Return when something changed, when ``stop`` is set, or after a second."""
        ...

    def close(self) -> None:
        """Let the folder go."""
        ...


class FolderBell:
    """Looks at the folder's own time: what is put there or taken away changes it."""

    def __init__(self, path: Path) -> None:
        self._folder = Folder.opened(path)
        self._changed_ns = self._folder.changed_ns()

    def wait(self, stop: threading.Event) -> None:
        """Return when a name was added or taken away, when ``stop`` is set, or after a second."""
        for _ in range(_AGAIN_MS // LOOK_MS):
            changed_ns = self._folder.changed_ns()
            if changed_ns != self._changed_ns or stop.wait(LOOK_MS / 1000):
                self._changed_ns = changed_ns
                return

    def close(self) -> None:
        """Let the folder go."""
        self._folder.close()


class NotifyBell:
    """The machine's own notification of changes. It listens from when it is made."""

    def __init__(self, path: Path, module: Any) -> None:
        # Made directly, because watchfiles.watch listens only from the first time it is asked.
        self._notify = module.RustNotify([str(path)], False, False, LOOK_MS, False, True)

    def wait(self, stop: threading.Event) -> None:
        """Return when something changed, when ``stop`` is set, or after a second."""
        if self._notify.watch(LOOK_MS, _STEP_MS, _AGAIN_MS, stop) == "signal":
            # It took the interrupt for itself.
            raise KeyboardInterrupt

    def close(self) -> None:
        """Stop listening."""
        self._notify.close()


def bell_for(path: Path) -> Bell:
    """The best that this installation has for a folder."""
    try:
        # By name: the package is an option, and nothing else here may need it.
        return NotifyBell(path, importlib.import_module("watchfiles._rust_notify"))
    except (ImportError, OSError):
        return FolderBell(path)


def watch(
    store: MailboxStore, recipient: str, stop: threading.Event | None = None
) -> Iterator[list[StoredMessage]]:
    """Yield what is pending, once at the start when there is something, then whenever something is added.

    Ends when ``stop`` is set. Raises MalformedError for no producer, FolderError.
    """
    ended = stop or threading.Event()
    bell = bell_for(store.folder_of(recipient))
    try:
        known: frozenset[str] = frozenset()
        while not ended.is_set():
            pending = store.pending_for(recipient)
            ids = frozenset(f"{message.id} {message.attempts}" for message in pending)
            if ids - known:
                yield pending
            known = ids
            if not ended.is_set():
                bell.wait(ended)
    finally:
        bell.close()
