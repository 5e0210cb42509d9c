"""The script ``mail4agent-hook``: tells a running agent of its mail.

    mail4agent-hook session-start | prompt | tool | stop
    mail4agent-hook wait [--secs N]

One script for Claude Code, Codex and Gemini CLI. It reads the hook's JSON on standard input and asks
``mail.told`` for its agent, once. When there is mail that was not announced before it answers in the client's
hook JSON; otherwise, or when the daemon is away, it says nothing and exits with 0. ``wait`` is the idle
waiter (``idle``). Standard library alone, and late: what is imported costs every step of an agent its time.
See docs/hooks.md.
"""

from __future__ import annotations

import contextlib
import os
import select
import sys
import time

from mail4agent_client.errors import AnswerInvalidError, ClientError, ConnectFailedError, SettingInvalidError
from mail4agent_client.plain import Post
from mail4agent_client.settings import Settings, settings_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

#: What a client calls an event, unless the hook's input says another name.
EVENTS = {
    "session-start": "SessionStart",
    "prompt": "UserPromptSubmit",
    "tool": "PostToolUse",
    "stop": "Stop",
}
USAGE = "usage: mail4agent-hook session-start | prompt | tool | stop | wait [--secs N]"
#: Bytes of a hook's input: what a tool returned is in it.
INPUT_MAX = 16 * 1024 * 1024
#: Seconds for the input to be there, and for the daemon's whole answer. A daemon that is away refuses the
#: connection at once.
INPUT_SECS = 1.0
ANSWER_SECS = 2.0
#: Bytes of an answer: more than the most notices with the longest subjects take.
ANSWER_MAX = 1024 * 1024
NOTICES = 10
PARENT = {"M4A-Session": "parent", "User-Agent": "mail4agent-hook"}


class RefusedError(Exception):
    """The daemon refused; ``status`` is the answer's, ``kind`` the refusal's."""

    def __init__(self, status: int, kind: str) -> None:
        super().__init__(f"the daemon refused: {kind}")
        self.status = status
        self.kind = kind


def ask(settings: Settings, path: str, request: bytes, secs: float) -> bytes:
    """Call an operation for the agent above this process; returns the answer's JSON.

    Raises RefusedError and ClientError.
    """
    post = Post(settings, secs=secs, limit=ANSWER_MAX)
    try:
        post.send(path, request, PARENT)
        raw = post.read()
    finally:
        post.close()
    if post.status != 200:
        raise RefusedError(post.status, _kind((object_of(raw) or {}).get("kind")))
    return raw


def told(settings: Settings) -> str | None:
    """What there is to tell, None for nothing. Raises as ``ask`` does."""
    raw = ask(settings, "/mail/told", b'{"limit":%d}' % NOTICES, ANSWER_SECS)
    # Most hooks find nothing. These bytes can stand inside no text of JSON, and reading them is for free.
    if b'"messages":[]' in raw:
        return None
    return text_of(raw)


def text_of(raw: bytes) -> str:
    """The text for an answer of ``mail.told`` that holds messages. Raises AnswerInvalidError."""
    from mail4agent_client.notice import told_text

    try:
        return told_text(object_of(raw) or {})
    except (KeyError, TypeError, AttributeError):
        raise AnswerInvalidError(200, "it is not what the daemon tells") from None


def object_of(raw: bytes) -> dict[str, Any] | None:
    """A JSON object, None for anything else."""
    import json

    try:
        value: Any = json.loads(raw)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None  # pyright: ignore[reportUnknownVariableType]


def _kind(said: object) -> str:
    if isinstance(said, str) and len(said) <= 40 and said.isascii() and said.replace("_", "").isalpha():
        return said
    return "another answer"


def is_heard(descriptor: int) -> bool:
    """Whether somebody may read what is written there: it is open, and the other end is.

    What is told to nobody would not be told again.
    """
    poll = select.poll()
    poll.register(descriptor, 0)
    return not any(found & (select.POLLERR | select.POLLHUP | select.POLLNVAL) for _, found in poll.poll(0))


def hook_input() -> bytes:
    """The hook's JSON on standard input, nothing when it is past its bounds.

    It is read also where it is not looked at: a client may take it amiss when nobody does.
    """
    parts: list[bytes] = []
    size = 0
    until = time.monotonic() + INPUT_SECS
    try:
        # A client that never closes its end must not hold its own step up.
        while select.select([0], [], [], max(0.0, until - time.monotonic()))[0]:
            part = os.read(0, 1024 * 1024)
            size += len(part)
            if size > INPUT_MAX:
                return b""
            if not part:
                break
            parts.append(part)
    except OSError:
        return b""
    return b"".join(parts)


def answer_of(event: str, given: Mapping[str, Any], text: str) -> dict[str, Any]:
    """The client's hook JSON that carries a text."""
    if event == "stop":
        return {"decision": "block", "reason": text}
    name = given.get("hook_event_name")
    if not (isinstance(name, str) and name.isascii() and name.isalpha() and len(name) <= 64):
        name = EVENTS[event]
    return {"hookSpecificOutput": {"hookEventName": name, "additionalContext": text}}


def run(event: str) -> int:
    """One event; returns the exit status, which is never 2: that would block the client's step."""
    raw = hook_input()
    if event == "stop":
        given = object_of(raw)
        if given is None or given.get("stop_hook_active", False) is not False:
            # It went on once already for this hook, or may have: it would never end.
            return 0
    if not is_heard(1):
        return 0
    try:
        text = told(settings_of())
    except (ClientError, RefusedError) as failure:
        if event != "session-start" or isinstance(failure, ConnectFailedError):
            return 0
        # Once a session, so that a wrong credential is found and nags nobody.
        say(f"mail4agent-hook: {failure}")
        return 1
    if text is not None:
        import json

        answer = answer_of(event, object_of(raw) or {}, text)
        with contextlib.suppress(OSError):
            os.write(1, json.dumps(answer).encode() + b"\n")
    return 0


def say(text: str) -> None:
    """Write to standard error, if anybody has it."""
    with contextlib.suppress(OSError):
        os.write(2, text.encode("ascii", "backslashreplace") + b"\n")


def main() -> None:
    """Run the script."""
    words = sys.argv[1:]
    if len(words) == 1 and words[0] in EVENTS:
        sys.exit(run(words[0]))
    if words[:1] == ["wait"]:
        from mail4agent_client import idle

        try:
            sys.exit(idle.run(idle.secs_of(words[1:])))
        except SettingInvalidError as failure:
            say(f"mail4agent-hook: {failure}")
            sys.exit(1)
    say(USAGE)
    sys.exit(1)


if __name__ == "__main__":
    main()
