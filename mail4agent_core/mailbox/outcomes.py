"""What came of a send and of a confirmation."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Known:
    """What the machine knows of a recipient."""

    #: Whether a session of that producer ever ran or claimed here.
    seen: bool
    #: Whether one is running now.
    live: bool
    #: Names of producers that were seen and are spelled alike; empty when this one was.
    near: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Sent:
    """The message was written."""

    id: str
    recipient: Known


@dataclass(frozen=True, slots=True)
class Duplicate:
    """The same text from the same sender in the same thread is pending already; nothing was written.

    This is the brake of a loop: two agents that echo each other converge on one message.
    """

    id: str
    recipient: Known


SendOutcome = Sent | Duplicate


@dataclass(frozen=True, slots=True)
class Confirmation:
    """Which messages are delivered now, and which were not the session's to confirm any more."""

    confirmed: tuple[str, ...]
    lost: tuple[str, ...]
