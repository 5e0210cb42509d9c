"""What is known of whoever stages, beside the draft itself."""

from typing import Protocol

from mail4agent_api.mail import Taint
from mail4agent_core.taint import BOTH, merged

_READ_A_BRIEF = Taint(private=False, untrusted=True)


class Briefed(Protocol):
    """Knows who has fetched what a stranger wrote, however it was extracted."""

    def has(self, address: str) -> bool:
        """Whether the caller of that address (``account`` or ``account/session``) ever has."""
        ...


class NobodyBriefed:
    """Where there is no front door."""

    def has(self, address: str) -> bool:  # noqa: ARG002
        """Nobody has."""
        return False


def staged_taint(stamped: Taint | None, *, briefed: bool) -> Taint:
    """The taint of a draft: both legs where no harness said otherwise."""
    taint = BOTH if stamped is None else stamped
    return merged(taint, _READ_A_BRIEF) if briefed else taint
