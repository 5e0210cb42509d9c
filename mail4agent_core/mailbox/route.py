"""What one run has of the mailboxes: who it is, whether it takes mail, and its taint on what it sends.

A route is attached on hold too, because it is what stamps sends: a run that reads no mail can still write
some. Until it has an identity it can neither send nor receive.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass
from enum import StrEnum

from mail4agent_api.errors import RefusalError
from mail4agent_api.mail import Taint
from mail4agent_core.files import FolderError
from mail4agent_core.taint import BOTH, merged

from .delivery import Conversation, deliver
from .message import StoredMessage
from .outcomes import Confirmation
from .store import MailboxStore

log = logging.getLogger(__name__)


class InboundPolicy(StrEnum):
    """What a run does with what comes in. Settings alone decide it, never a text."""

    #: Deliver at the next turn.
    ACCEPT = "accept"
    #: Leave it pending; a person reads it.
    HOLD = "hold"
    #: As hold: a sender does not read its recipient's policy.
    REFUSE = "refuse"

    @property
    def delivers(self) -> bool:
        """Whether messages are folded into the run."""
        return self is InboundPolicy.ACCEPT


def inbound_policy(configured: InboundPolicy | None, *, unattended: bool) -> InboundPolicy:
    """What is set, else accept where nobody is there to release a hold, and hold elsewhere."""
    if configured is not None:
        return configured
    return InboundPolicy.ACCEPT if unattended else InboundPolicy.HOLD


@dataclass(frozen=True, slots=True)
class Identity:
    """Which session of which producer a run is."""

    producer: str
    session: str


class MailboxRoute:
    """The mailboxes as one run has them."""

    def __init__(self, store: MailboxStore, deliver: bool) -> None:
        self.store = store
        self._deliver = deliver
        self._identity: Identity | None = None

    def delivers(self) -> bool:
        """Whether messages are folded into this run."""
        return self._deliver

    def identity(self) -> Identity | None:
        """Who this run is, None before its session exists."""
        return self._identity

    def set_identity(self, producer: str, session: str) -> None:
        """Say who this run is."""
        self._identity = Identity(producer, session)

    def attach(self, producer: str, session: str) -> None:
        """Say who this run is, and let others know that it runs. Without a marker it works all the same."""
        self.set_identity(producer, session)
        try:
            self.store.announce(producer, session)
        except (RefusalError, FolderError) as failure:
            log.warning("session %s of %s is not announced: %s", session, producer, failure)

    def detach(self, session: str) -> None:
        """Take this run's marker away. A marker of a process that is gone reads as none anyway."""
        try:
            self.store.depart(session)
        except (RefusalError, FolderError) as failure:
            log.warning("the marker of session %s stays: %s", session, failure)

    def claim_pending(self, lease_secs: int | None = None) -> list[StoredMessage]:
        """Take this run's messages. What fails leaves them pending, and never fails the run."""
        if self._identity is None:
            return []
        try:
            return self.store.claim(self._identity.producer, self._identity.session, lease_secs)
        except (RefusalError, FolderError) as failure:
            log.warning("the claim for %s failed: %s", self._identity.producer, failure)
            return []

    def receive(
        self, conversation: Conversation, *, lease_secs: int | None = None, mark_untrusted: bool = True
    ) -> list[StoredMessage]:
        """Claim and fold, at the top of a turn that goes on. Nothing on hold.

        The conversation first takes in what was shown to the session elsewhere. With a lease, ``confirm``
        when the turn is saved; without one nothing is to do.
        """
        if self._identity is not None:
            conversation.merge_taint(self.shown())
        claimed = self.claim_pending(lease_secs) if self._deliver else []
        deliver(claimed, conversation, mark_untrusted=mark_untrusted)
        return claimed

    def confirm(self, messages: list[StoredMessage]) -> Confirmation:
        """Say that the conversation with these messages is saved. Raises StoreUnavailableError."""
        if self._identity is None:
            return Confirmation((), tuple(message.id for message in messages))
        return self.store.confirm(
            self._identity.producer, self._identity.session, [message.id for message in messages]
        )

    def shown(self) -> Taint:
        """The taint of what was shown to this run outside its harness; both legs where that is not known."""
        if self._identity is None:
            return BOTH
        try:
            return self.store.registry.armed_by(self._identity.session)
        except (RefusalError, FolderError):
            return BOTH

    def stamped(self, taint: Taint | None) -> Taint:
        """The taint that a send of this run carries: a context without one has both legs."""
        return BOTH if taint is None else merged(taint, self.shown())
