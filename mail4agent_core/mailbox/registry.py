"""Who is running: a marker for each live session, beside the mailboxes.

A marker names its process and when that process started, so that another process with a number that was used
again is not taken for it. A marker of the original has no start and is believed as far as its number goes.
Markers are advice for people and the identity of senders; no message depends on one.

Beside a session's marker lies what its conversation must take in before it goes on: the taint of every
message that was shown to it outside its harness (``arm``). A producer that ever ran leaves its name in
``.seen``.
"""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from mail4agent_api.codec import parse
from mail4agent_api.errors import RefusalError
from mail4agent_api.mail import Taint
from mail4agent_api.mailbox import MailboxSession, ProducerName
from mail4agent_core.clock import Clock
from mail4agent_core.files import Folder, FolderError
from mail4agent_core.taint import BOTH, CLEAN, merged, recorded

from .processes import Processes
from .times import text_of

log = logging.getLogger(__name__)

AGENTS = ".agents"
SEEN = ".seen"
_MARKER_MAX_BYTES = 65_536
_OVER = object()
#: Apart from the lock of what is shown: a session is announced also where that cannot be had.
_MARKERS_LOCK = ".markers.lock"
_U32_MAX = 2**32 - 1


@dataclass(frozen=True, slots=True)
class AgentMarker:
    """One live session."""

    producer: str
    session_id: str
    pid: int
    started_at: str
    #: When the process started, in the machine's own count, and during which boot.
    process_start: int | None = None
    boot: str | None = None


class Registry:
    """The markers under one root of mailboxes."""

    def __init__(self, root: Folder, clock: Clock, processes: Processes) -> None:
        self._root = root
        self._clock = clock
        self._processes = processes

    @property
    def path(self) -> Path:
        """Where the markers are."""
        return self._root.path / AGENTS

    def announce(self, producer: str, session: str) -> None:
        """Say that this process runs a session. Raises MalformedError, TooLargeError, OSError."""
        marker = AgentMarker(
            producer=str(ProducerName(producer)),
            session_id=str(MailboxSession(session)),
            pid=os.getpid(),
            started_at=text_of(self._clock.now_ms()),
            process_start=self._processes.start_of(os.getpid()),
            boot=self._processes.boot,
        )
        with self._root.inner(AGENTS) as folder, folder.locked(_MARKERS_LOCK):
            folder.write(f"{session}.json", _encoded(marker))
        self.note_seen(producer)

    def depart(self, session: str) -> None:
        """Take a session's marker away. Raises MalformedError, FolderError.

        What it was shown stays recorded: a conversation that is resumed under the same id has seen it.
        """
        with self._root.inner(AGENTS) as folder:
            folder.remove(f"{MailboxSession(session)}.json")

    def agents(self) -> list[AgentMarker]:
        """The live sessions, by producer and session. Markers of dead ones and of none are removed."""
        try:
            folder = self._root.inner(AGENTS, make=False)
        except FileNotFoundError:
            return []
        found: list[AgentMarker] = []
        over: list[str] = []
        with folder:
            for name in folder.names():
                if not name.endswith(".json"):
                    continue
                marker = self._living(folder, name)
                if isinstance(marker, AgentMarker):
                    found.append(marker)
                elif marker is _OVER:
                    over.append(name)
            if over:
                self._remove(folder, over)
        return sorted(found, key=lambda marker: (marker.producer, marker.session_id))

    def _living(self, folder: Folder, name: str) -> AgentMarker | object | None:
        """The marker in a file, ``_OVER`` for a dead one's and for none, None where that is not known."""
        try:
            raw = folder.read(name, _MARKER_MAX_BYTES)
        except OSError:
            return None
        if raw is None:
            return None
        marker = _decoded(raw, name.removesuffix(".json"))
        return marker if marker is not None and self._lives(marker) else _OVER

    def _remove(self, folder: Folder, names: Iterable[str]) -> None:
        """Look again under the lock that announcing takes: a session that came back under its name since
        would lose its marker, and with it be nobody to ``msg``.
        """
        try:
            with folder.locked(_MARKERS_LOCK, wait_secs=0):
                for name in names:
                    if self._living(folder, name) is _OVER:
                        folder.remove(name)
        except FolderError:
            log.info("markers of sessions that are over stay until the next look")

    def _lives(self, marker: AgentMarker) -> bool:
        if not self._processes.is_alive(marker.pid):
            return False
        if (
            marker.boot is not None
            and self._processes.boot is not None
            and marker.boot != self._processes.boot
        ):
            return False
        start = self._processes.start_of(marker.pid)
        return marker.process_start is None or start is None or marker.process_start == start

    def caller(self) -> AgentMarker | None:
        """The session whose process is this one or the nearest of those that started it."""
        markers = {marker.pid: marker for marker in self.agents()}
        return next((markers[pid] for pid in self._processes.ancestry() if pid in markers), None)

    def arm(self, session: str, taint: Taint) -> None:
        """Have a session's conversation take in a taint, before it is shown what has it.

        Raises FolderError and OSError, and then nothing may be shown.
        """
        name = f"{MailboxSession(session)}.taint"
        with self._root.inner(AGENTS) as folder, folder.locked():
            value = merged(self._armed(folder, name), taint)
            if value != CLEAN:
                folder.write(name, value.model_dump_json().encode())

    def armed_by(self, session: str) -> Taint:
        """What a session's conversation must take in; both legs where that cannot be read."""
        try:
            folder = self._root.inner(AGENTS, make=False)
        except FileNotFoundError:
            return CLEAN
        with folder:
            return self._armed(folder, f"{MailboxSession(session)}.taint")

    def _armed(self, folder: Folder, name: str) -> Taint:
        try:
            raw = folder.read(name, _MARKER_MAX_BYTES)
            return BOTH if raw is None else recorded(parse(raw))
        except FileNotFoundError:
            return CLEAN
        except (OSError, RefusalError):
            return BOTH

    def note_seen(self, producer: str) -> None:
        """Remember that a producer ran here. What cannot be remembered is not: it is advice for senders."""
        try:
            with self._root.inner(SEEN) as folder:
                if producer not in folder.names():
                    folder.write(producer, b"")
        except (OSError, FolderError) as failure:
            log.warning("producer %s cannot be remembered: %s", producer, failure)

    def seen(self) -> set[str]:
        """The producers that ever ran here, as far as is known."""
        live = {marker.producer for marker in self.agents()}
        try:
            folder = self._root.inner(SEEN, make=False)
        except FileNotFoundError:
            return live
        with folder:
            return live | {name for name in folder.names() if is_producer(name)}


def is_producer(name: str) -> bool:
    """Whether a name can be a producer's; no hidden file's can."""
    try:
        ProducerName(name)
    except RefusalError:
        return False
    return True


def producers(names: Iterable[str]) -> list[str]:
    """Those of the names that can be a producer's, in order."""
    return sorted(filter(is_producer, names))


def _encoded(marker: AgentMarker) -> bytes:
    value = {name: getattr(marker, name) for name in AgentMarker.__slots__}
    return json.dumps(value, separators=(",", ":")).encode()


def _decoded(raw: bytes, session: str) -> AgentMarker | None:
    try:
        value = parse(raw)
        if not isinstance(value, dict):
            return None
        keys = cast(dict[str, Any], value)
        ProducerName(keys.get("producer"))  # type: ignore[arg-type]
        MailboxSession(keys.get("session_id"))  # type: ignore[arg-type]
    except RefusalError:
        return None
    pid, start, boot = keys.get("pid"), keys.get("process_start"), keys.get("boot")
    if keys["session_id"] != session or type(pid) is not int or not 0 < pid <= _U32_MAX:
        return None
    return AgentMarker(
        producer=keys["producer"],
        session_id=session,
        pid=pid,
        started_at=str(keys.get("started_at", "")),
        process_start=start if type(start) is int else None,
        boot=boot if isinstance(boot, str) else None,
    )
