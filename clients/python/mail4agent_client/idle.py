"""The idle waiter, ``mail4agent-hook wait``: sleeps beside an agent and wakes it when mail comes.

It waits in ``mail.wait``, and when there is mail that was not announced before it prints the notice on
standard error and exits with 2, which a client that started it with ``asyncRewake`` takes for a reason to
begin a turn. What it announces counts as told, for the other hooks too. After its time, or when its agent is
gone, or when another waiter of the same agent is there, it exits with 0 and says nothing.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import json
import os
import stat
import tempfile
import time
from pathlib import Path

from mail4agent_client.errors import ClientError, SettingInvalidError
from mail4agent_client.hook import (
    ANSWER_SECS,
    NOTICES,
    RefusedError,
    ask,
    hook_input,
    is_heard,
    object_of,
    say,
    text_of,
)
from mail4agent_client.settings import Settings, settings_of

#: Seconds that a waiter lasts, if nothing else is said, and at most.
SECS = 3_600
SECS_MAX = 86_400
#: Seconds of one call of mail.wait: an agent that ends is noticed within them.
POLL_SECS = 20
#: Seconds between two attempts, when the daemon is away for a while or has too much to do.
PAUSE_SECS = 5.0
#: Before all mail.
ORIGIN = {"created_at_unix_ms": 0, "message_id": "m4a_" + "0" * 24}


def secs_of(words: list[str]) -> int:
    """The time to wait from the command line. Raises SettingInvalidError."""
    if not words:
        return SECS
    if len(words) == 2 and words[0] == "--secs" and words[1].isascii() and words[1].isdigit():
        secs = int(words[1][:8])
        if 1 <= secs <= SECS_MAX:
            return secs
    raise SettingInvalidError("wait", f"takes --secs with a number from 1 to {SECS_MAX}, and nothing else")


def run(secs: int) -> int:
    """Wait; returns the exit status."""
    until = time.monotonic() + secs
    given = object_of(hook_input()) or {}
    # Looked at before anything else is opened, which would get the number of a stream that is closed.
    if not is_heard(2):
        return 0
    try:
        settings = settings_of()
        text, newest = _told(settings)
    except (ClientError, RefusedError):
        return 0
    place = _Place(settings, given.get("session_id"))
    if text is None and not place.take():
        return 0
    try:
        text = text or _wait(settings, newest, until)
    finally:
        place.leave()
    if text is None:
        return 0
    say(text)
    return 2


def _told(settings: Settings) -> tuple[str | None, object]:
    """What there is to tell, None for nothing, and the newest position."""
    raw = ask(settings, "/mail/told", b'{"limit":%d}' % NOTICES, ANSWER_SECS)
    answer = object_of(raw) or {}
    return text_of(raw) if answer.get("messages") else None, answer.get("newest") or ORIGIN


def _wait(settings: Settings, newest: object, until: float) -> str | None:
    """Wait for something to tell; None when the time is over or the agent is gone."""
    parent = os.getppid()
    while (left := until - time.monotonic()) > 0 and not _is_alone(parent):
        secs = int(min(POLL_SECS, max(left, 1)))
        try:
            request = json.dumps({"after": newest, "wait_secs": secs}).encode()
            ask(settings, "/mail/wait", request, secs + ANSWER_SECS)
            if _is_alone(parent):
                break
            text, newest = _told(settings)
        except RefusedError as refusal:
            if refusal.status not in {429, 503}:
                break
            time.sleep(min(PAUSE_SECS, left))
        except ClientError:
            # It is started again, perhaps.
            time.sleep(min(PAUSE_SECS, left))
        else:
            if text is not None:
                return text
    return None


def _is_alone(parent: int) -> bool:
    """Whether nobody is there to be woken: the parent has ended, or nobody reads standard error any more."""
    return os.getppid() != parent or not is_heard(2)


class _Place:
    """At most one waiter for an agent's session: a lock on a file that goes with it.

    A client starts a waiter at each of its stops; without this they would pile up.
    """

    def __init__(self, settings: Settings, session: object) -> None:
        name = session if isinstance(session, str) else f"process {os.getppid()}"
        digest = hashlib.sha256(f"{settings.url}\n{name}".encode("utf-8", "surrogatepass")).hexdigest()
        runtime = os.environ.get("XDG_RUNTIME_DIR") or tempfile.gettempdir()
        self._file = Path(runtime) / f"mail4agent-hook-{os.geteuid()}" / digest[:32]
        self._held: int | None = None

    def take(self) -> bool:
        """Take the place; False when another has it. Where no lock can be made, it is free."""
        try:
            folder = self._file.parent
            folder.mkdir(0o700, exist_ok=True)
            found = folder.lstat()
            if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.geteuid() or found.st_mode & 0o022:
                return True  # somebody else's: nothing is made there
            return self._locked()
        except OSError:
            return True

    def _locked(self) -> bool:
        # Once more for each waiter that leaves meanwhile.
        for _ in range(8):
            held = os.open(self._file, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
            try:
                fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                os.close(held)
                return False
            with contextlib.suppress(FileNotFoundError):
                if os.path.samestat(os.fstat(held), self._file.stat()):
                    self._held = held
                    return True
            os.close(held)
        return False

    def leave(self) -> None:
        """Give the place back."""
        if self._held is not None:
            with contextlib.suppress(OSError):
                self._file.unlink()
            os.close(self._held)
            self._held = None
