"""The folder of one recipient: what lies in it, and how a message is put there.

A file that cannot be read today is skipped today. A file that will never be read (no JSON, no message of this
place, past the bound) is set aside as ``.bad``, so that it wedges nothing and is not lost; a file of a later
form is left alone. What is named like a message and is no file is left alone too. Only the holder of the lock
writes, renames or removes.
"""

from __future__ import annotations

import logging
from contextlib import suppress
from dataclasses import dataclass, field

from mail4agent_core.files import Folder

from .leases import settled
from .message import HELD, RESOLVED, NewerFileError, NotAMessageError, StoredMessage, decoded

# A name may hold anything, escapes of a terminal among it: it is logged as ASCII (%a).
log = logging.getLogger(__name__)

ENDING = ".json"
BAD = ".bad"


@dataclass(slots=True)
class Scan:
    """What one look at a folder found."""

    #: By id, which is the order of sending.
    messages: list[StoredMessage] = field(default_factory=list[StoredMessage])
    #: Every name of a message, readable or not, without its ending.
    ids: list[str] = field(default_factory=list[str])
    #: Files that will never be read.
    spoilt: list[str] = field(default_factory=list[str])
    #: Files of a later form.
    newer: list[str] = field(default_factory=list[str])
    #: Names of what could not be read today, or is no file.
    skipped: list[str] = field(default_factory=list[str])


#: What was read of each file of a mailbox, under what changes when the file does.
Remembered = dict[str, tuple[tuple[int, int, int, int], StoredMessage]]


#: The files of a mailbox that no lease held, under what changes when a file does.
Others = dict[str, tuple[int, int, int, int]]


class Box:
    """An open folder of messages, of one recipient; ``remembered`` saves reading what did not change."""

    def __init__(
        self, folder: Folder, recipient: str, file_max_bytes: int, remembered: Remembered | None = None
    ) -> None:
        self._folder = folder
        self._recipient = recipient
        self._file_max_bytes = file_max_bytes
        self._remembered: Remembered = {} if remembered is None else remembered

    def scan(self) -> Scan:
        """Look at everything and change nothing. Raises OSError when the folder cannot be listed."""
        found = Scan()
        before = dict(self._remembered)
        self._remembered.clear()
        for name in sorted(self._folder.names()):
            if not name.endswith(ENDING) or name.startswith("."):
                continue
            found.ids.append(name.removesuffix(ENDING))
            try:
                state = self._folder.state(name)
                if name in before and before[name][0] == state:
                    self._remembered[name] = before[name]
                    found.messages.append(before[name][1])
                    continue
                raw = self._folder.read(name, self._file_max_bytes)
            except OSError as failure:
                log.warning("message %a is skipped this time: %s", name, failure.strerror)
                found.skipped.append(name)
                continue
            if raw is None:
                found.skipped.append(name)
                continue
            try:
                message = self._decoded(raw, found.ids[-1])
                self._remembered[name] = state, message
                found.messages.append(message)
            except NewerFileError:
                found.newer.append(name)
            except NotAMessageError:
                found.spoilt.append(name)
        return found

    def held(self, others: Others) -> tuple[list[StoredMessage], Others]:
        """The messages that a lease holds or held too often, by id, and what the other files are.

        ``others`` is what the last look gave: a file that is as it was is not read again. Raises OSError.
        """
        found: list[StoredMessage] = []
        seen: Others = {}
        for name in sorted(self._folder.names()):
            if not name.endswith(ENDING) or name.startswith("."):
                continue
            with suppress(OSError, NewerFileError, NotAMessageError):
                state = self._folder.state(name)
                if others.get(name) != state:
                    raw = self._folder.read(name, self._file_max_bytes)
                    message = None if raw is None else self._decoded(raw, name.removesuffix(ENDING))
                    if message is not None and message.status in HELD:
                        found.append(message)
                        continue
                seen[name] = state
        return found, seen

    def _decoded(self, raw: bytes, id_: str) -> StoredMessage:
        if len(raw) > self._file_max_bytes:
            raise NotAMessageError("is past the bound of a file")
        return decoded(raw, id_, self._recipient)

    def mended(self, now_ms: int) -> Scan:
        """Look at everything, set aside what is spoilt, and give back what a lease no longer holds.

        The caller holds the lock. What cannot be written is found as it should be all the same.
        """
        self._folder.sweep()
        found = self.scan()
        for name in found.spoilt:
            try:
                aside = self._folder.move_aside(name, BAD)
            except OSError as failure:
                log.warning("message %a cannot be set aside: %s", name, failure.strerror)
            else:
                log.warning("message %a is no message and was set aside as %a", name, aside)
        for at, message in enumerate(found.messages):
            now = settled(message, now_ms)
            if now is not message:
                found.messages[at] = now
                try:
                    self.write(now)
                except OSError as failure:
                    log.warning("message %s cannot be given back: %s", message.id, failure.strerror)
        return found

    def one(self, id_: str) -> StoredMessage | None:
        """The message with that id, None where there is none that can be read."""
        try:
            raw = self._folder.read(f"{id_}{ENDING}", self._file_max_bytes)
        except OSError:
            return None
        try:
            return None if raw is None else self._decoded(raw, id_)
        except (NewerFileError, NotAMessageError):
            return None

    def write(self, message: StoredMessage, *, settle: bool = True) -> None:
        """Put a message in the place of what was there. Raises OSError, and then nothing was changed."""
        self._folder.write(f"{message.id}{ENDING}", message.encoded(), settle=settle)

    def settle(self) -> None:
        """Bring the names of what was written to disk. Raises OSError."""
        self._folder.settle()

    def retract(self, message: StoredMessage) -> None:
        """Take back a message that nobody was told of."""
        self._folder.remove(f"{message.id}{ENDING}")

    def prune(self, keep: int) -> None:
        """Remove the oldest resolved messages past so many, by creation time. The caller holds the lock."""
        resolved = [message for message in self.scan().messages if message.status in RESOLVED]
        resolved.sort(key=lambda message: (message.created_at, message.id))
        for message in resolved[: max(0, len(resolved) - keep)]:
            self._folder.remove(f"{message.id}{ENDING}")

    def spoilt_names(self) -> list[str]:
        """The names of what was set aside."""
        return sorted(name for name in self._folder.names() if name.endswith(BAD))
