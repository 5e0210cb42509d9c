"""Whether a person decides: at a terminal, and below no agent.

The daemon asks for a credential that may review. This is what the command line can add: an agent that runs in
a person's account does not review its own drafts by running the person's command. A process that means to get
around it can; SECURITY.md says so, and which set-up closes that.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from mail4agent_api.errors import PermissionDeniedError
from mail4agent_api.mail import SessionAddress

if TYPE_CHECKING:
    from mail4agent_daemon.attest.lineage import Ancestor
    from mail4agent_daemon.cli.verbs import Mail

#: How far two readings of one process's start may lie apart, in milliseconds: a clock may be corrected.
_SAME_START_MS = 5_000


class NotAPersonError(Exception):
    """Nobody who may decide is there to read the draft."""

    kind = "not_a_person"

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


def require_person(mail: Mail) -> None:
    """Raise NotAPersonError unless a person decides, as far as can be told."""
    shown_on = sys.stderr if mail.as_json else sys.stdout
    for stream in (sys.stdin, shown_on):
        # Typed as always there, but None in a process that was started without one.
        if stream is None or not stream.isatty():
            raise NotAPersonError("a decision needs a person, who reads the draft at a terminal")
    refuse_agents(mail)


def refuse_agents(mail: Mail, *, ask: bool = True) -> None:
    """Raise NotAPersonError below an agent: one whose program is known or, with ``ask``, the daemon's
    session.

    It is for what no run may see, too.
    """
    # Only a decision asks: it takes as long to import as to answer.
    from mail4agent_daemon.attest.lineage import lineage

    ancestors = lineage()
    for each in ancestors:
        if each.program is not None:
            raise NotAPersonError(
                f"process {each.pid}, above this command, is the agent program {each.program};"
                " decide in a terminal of your own"
            )
    session = _session_among(mail, ancestors) if ask else None
    if session is not None:
        raise NotAPersonError(
            f"this command runs below the live session {session}; decide in a terminal of your own"
        )


def _session_among(mail: Mail, ancestors: list[Ancestor]) -> str | None:
    """A live session that the daemon knows and that is above this process."""
    address = mail.client.whoami().address
    if isinstance(address, SessionAddress):
        return str(address.session)
    try:
        directory = mail.client.directory()
    except PermissionDeniedError:
        # An account that only reviews is not told of others' sessions.
        return None
    started = {each.pid: each.started_ms for each in ancestors}
    for entry in directory.participants:
        for session in entry.sessions:
            attested = session.card.attested
            began = started.get(attested.pid)
            if session.live and began is not None and _is_one(began, attested.started_at_unix_ms):
                return str(session.id)
    return None


def _is_one(one_ms: int, other_ms: int) -> bool:
    return abs(one_ms - other_ms) <= _SAME_START_MS
