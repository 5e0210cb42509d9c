"""Whether the other end of a connection that is not read from has ended it.

A half-closed connection counts as ended, as everywhere in this daemon: who closes the sending side of its
connection gets no answer to what still runs.
"""

import select
from typing import Protocol

#: Linux tells so of an end behind bytes that nobody has read; elsewhere POLLHUP does.
_ENDED = getattr(select, "POLLRDHUP", 0)
_GONE = _ENDED | select.POLLHUP | select.POLLERR | select.POLLNVAL


class Descriptor(Protocol):
    """What asyncio and uvloop both offer of an open socket."""

    def fileno(self) -> int:
        """Its number."""
        ...


def has_hung_up(connection: Descriptor) -> bool:
    """Ask the kernel, without waiting."""
    poll = select.poll()
    poll.register(connection.fileno(), _ENDED)
    return any(found & _GONE for _, found in poll.poll(0))
