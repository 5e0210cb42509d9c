"""Whether a mailbox takes one more message: pure rules over what lies in it.

A full mailbox refuses; it drops nothing, because silent loss is what it exists to prevent. One sender gets at
most half of the places, so that a loop cannot silence the others; the user, who clears mailboxes, is exempt.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from mail4agent_api.errors import MailboxFullError

from .message import OPEN, Status, StoredMessage

#: The producer that a person at the command line is.
USER = "user"


@dataclass(frozen=True, slots=True)
class Limits:
    """The bounds of a store; each is at least 1."""

    #: Messages of one recipient that nobody has dealt with.
    pending_cap: int = 50
    #: Bytes of a text in UTF-8; the contract's own bound holds besides.
    max_body_bytes: int = 65_536
    #: Delivered and dismissed messages of one recipient that are kept.
    keep_resolved: int = 100

    @property
    def sender_cap(self) -> int:
        """Messages of one sender among those of a recipient that nobody has dealt with."""
        return max(1, -(-self.pending_cap // 2))

    @property
    def file_max_bytes(self) -> int:
        """Bytes of a file: a text of escapes alone is six times as long as its bytes."""
        return max(1_048_576, 8 * self.max_body_bytes)


def duplicate(
    messages: Iterable[StoredMessage], sender: str, body: str, reply_to: str | None
) -> StoredMessage | None:
    """The pending message that says the same: sender, text and thread, so that two answers stay two."""
    for message in messages:
        same = (message.from_, message.body, message.reply_to) == (sender, body, reply_to)
        if same and message.status == Status.PENDING:
            return message
    return None


def admit(messages: Iterable[StoredMessage], sender: str, limits: Limits) -> None:
    """Return when there is a place. Raises MailboxFullError, scope ``sender`` or ``mailbox``."""
    open_from = [message.from_ for message in messages if message.status in OPEN]
    if len(open_from) >= limits.pending_cap:
        raise MailboxFullError(scope="mailbox")
    if sender != USER and open_from.count(sender) >= limits.sender_cap:
        raise MailboxFullError(scope="sender")
