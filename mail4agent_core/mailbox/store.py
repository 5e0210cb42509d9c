"""The mailboxes of one machine: one folder a recipient under a root, one file a message.

What is acknowledged is on disk. Every change is made under the recipient's lock, which is the original's own
(``.lock``, flock), so that both programs may use the same root. Readers take it only when something has to be
mended. The lock is held for a look at a folder, never for a person or a network.
"""

from __future__ import annotations

import logging
import secrets
from collections.abc import Generator, Iterable
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Literal, Self

from mail4agent_api.errors import (
    MalformedError,
    NotPendingError,
    StoreUnavailableError,
    UnknownItemError,
)
from mail4agent_api.mail import Taint
from mail4agent_api.mailbox import MailboxMessageId, MailboxSession, ProducerName
from mail4agent_core.clock import Clock, SystemClock
from mail4agent_core.files import Folder

from . import leases
from .admission import USER, Limits, admit, duplicate
from .bodies import checked_body
from .box import Box, Others, Remembered, Scan
from .message import Status, StoredMessage
from .names import near
from .outcomes import Confirmation, Duplicate, Known, SendOutcome, Sent
from .processes import Processes
from .registry import AgentMarker, Registry, producers
from .times import text_of

log = logging.getLogger(__name__)

#: The operation that a refusal of the disk names.
Operation = Literal["mailbox.send", "mailbox.claim", "mailbox.confirm", "mailbox.dismiss", "mailbox.list"]


class MailboxStore:
    """The mailboxes under a root. Close it, or use it in a ``with``.

    Every method may raise FolderError, for a root or a mailbox that is a link or another user's and for a
    lock that somebody holds too long, and StoreUnavailableError where the disk fails; nothing was changed
    then.
    """

    def __init__(
        self, root: Folder, limits: Limits, clock: Clock, processes: Processes, lock_secs: float = 10.0
    ) -> None:
        self._root = root
        self.limits = limits
        self._clock = clock
        self._lock_secs = lock_secs
        self._remembered: dict[str, Remembered] = {}
        self.registry = Registry(root, clock, processes)

    @classmethod
    def open(
        cls,
        root: Path,
        *,
        limits: Limits | None = None,
        clock: Clock | None = None,
        processes: Processes | None = None,
        lock_secs: float = 10.0,
        make: bool = True,
    ) -> MailboxStore:
        """Open a root, which is made when it is not there.

        Raises FolderError, and FileNotFoundError where there is none and none is to be made.
        """
        return cls(
            Folder.opened(root, make=make),
            limits or Limits(),
            clock or SystemClock(),
            processes or Processes(),
            lock_secs,
        )

    def with_limits(self, pending_cap: int, max_body_bytes: int) -> MailboxStore:
        """The same store with other bounds, each at least 1."""
        self.limits = replace(
            self.limits, pending_cap=max(1, pending_cap), max_body_bytes=max(1, max_body_bytes)
        )
        return self

    def with_keep(self, keep_resolved: int) -> MailboxStore:
        """The same store with another number of resolved messages that are kept, at least 1."""
        self.limits = replace(self.limits, keep_resolved=max(1, keep_resolved))
        return self

    @property
    def root(self) -> Path:
        """Where the mailboxes are."""
        return self._root.path

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Let the root go."""
        self._root.close()

    # Sending

    def send(  # noqa: PLR0917  # the order of the original
        self,
        to: str,
        from_: str,
        from_session: str | None,
        body: str,
        reply_to: str | None,
        taint: Taint,
        *,
        require_known: bool = False,
    ) -> SendOutcome:
        """Leave a message. It is on disk when this returns.

        Raises MalformedError and TooLargeError for a name, an id or a text that is none, MailboxFullError,
        and UnknownItemError with ``require_known`` for a recipient that never ran here.
        """
        recipient, sender = str(ProducerName(to)), str(ProducerName(from_))
        session = None if from_session is None else str(MailboxSession(from_session))
        thread = None if reply_to is None else str(MailboxMessageId(reply_to))
        text = checked_body(body, self.limits.max_body_bytes)
        known = self.known(recipient)
        if require_known and not known.seen:
            raise UnknownItemError(id=recipient)
        with (
            self._disk("mailbox.send"),
            self._box(recipient) as (box, folder),
            folder.locked(wait_secs=self._lock_secs),
        ):
            now_ms = self._clock.now_ms()
            scan = box.mended(now_ms)
            same = duplicate(scan.messages, sender, text, thread)
            if same is not None:
                return Duplicate(same.id, known)
            admit(scan.messages, sender, self.limits)
            message = StoredMessage(
                id=leases.next_id(scan.ids, now_ms, secrets.token_hex(4)),
                status=Status.PENDING,
                from_=sender,
                to=recipient,
                body=text,
                created_at=text_of(now_ms),
                from_session=session,
                reply_to=thread,
                taint=taint,
                taint_recorded=True,
            ).signed()
            try:
                box.write(message)
            except OSError:
                box.retract(message)
                raise
        return Sent(message.id, known)

    def known(self, recipient: str) -> Known:
        """What the machine knows of a producer. Raises MalformedError, TooLargeError."""
        name = str(ProducerName(recipient))
        with self._disk("mailbox.send"):
            live = any(marker.producer == name for marker in self.registry.agents())
            seen = {*self.registry.seen(), USER}
            if name in seen or self._was_claimed(name):
                return Known(seen=True, live=live)
            others = {other for other in self.recipients() if self._was_claimed(other)}
            return Known(seen=False, live=False, near=near(name, seen | others))

    def _was_claimed(self, recipient: str) -> bool:
        return any(message.delivered_to is not None for message in self._found(recipient).messages)

    # Receiving

    def claim_pending(self, recipient: str, session: str) -> list[StoredMessage]:
        """Take everything pending for good: it is marked as delivered to the session, then returned."""
        return self.claim(recipient, session, None)

    def claim(self, recipient: str, session: str, lease_secs: int | None) -> list[StoredMessage]:
        """Take everything pending, oldest first, for as long as a lease lasts; ``confirm`` ends it.

        Each message is marked before it is returned. A write that fails ends the claim: what was marked is
        returned, because nobody else gets it now; the rest stays pending. Raises MalformedError for a lease
        that is not 1 to 86400 seconds.
        """
        name, holder = str(ProducerName(recipient)), str(MailboxSession(session))
        if lease_secs is not None and not 1 <= lease_secs <= leases.LEASE_SECS_MAX:
            raise MalformedError(
                field="lease_secs", reason="must be a whole number of seconds from 1 to 86400"
            )
        claimed: list[StoredMessage] = []
        try:
            folder = self._folder(name)
        except FileNotFoundError:
            return claimed
        with folder, self._disk("mailbox.claim"), folder.locked(wait_secs=self._lock_secs):
            box = self._box_in(folder, name)
            now_ms = self._clock.now_ms()
            for message in box.mended(now_ms).messages:
                if message.status != Status.PENDING:
                    continue
                handed = leases.handed(message, holder, now_ms, lease_secs and lease_secs * 1000)
                try:
                    box.write(handed, settle=False)
                except OSError as failure:
                    log.warning("the claim for %s stopped after %d: %s", name, len(claimed), failure.strerror)
                    break
                claimed.append(handed)
            if claimed:
                self._settle_claim(box, name)
        if claimed:
            self.registry.note_seen(name)
        return claimed

    def _settle_claim(self, box: Box, name: str) -> None:
        """What is marked is handed out whatever comes now: at worst it is handed out again after a crash."""
        try:
            box.settle()
            box.prune(self.limits.keep_resolved)
        except OSError as failure:
            log.warning("the claim for %s is not settled: %s", name, failure.strerror)

    def confirm(self, recipient: str, session: str, ids: Iterable[str]) -> Confirmation:
        """Mark messages that the session holds as delivered. A repeat changes nothing."""
        name, holder = str(ProducerName(recipient)), str(MailboxSession(session))
        wanted = [str(MailboxMessageId(id_)) for id_ in ids]
        done: list[str] = []
        try:
            folder = self._folder(name)
        except FileNotFoundError:
            return Confirmation((), tuple(wanted))
        with folder, self._disk("mailbox.confirm"), folder.locked(wait_secs=self._lock_secs):
            box = self._box_in(folder, name)
            now_ms = self._clock.now_ms()
            for id_ in wanted:
                message = box.one(id_)
                after = None if message is None else leases.confirmed(message, holder, now_ms)
                if after is not None:
                    if after is not message:
                        box.write(after)
                    done.append(id_)
            box.prune(self.limits.keep_resolved)
        return Confirmation(tuple(done), tuple(id_ for id_ in wanted if id_ not in done))

    def dismiss(self, id_: str) -> StoredMessage:
        """Set a pending or dead message aside unread, a person's verb.

        Raises UnknownItemError, NotPendingError.
        """
        named = self.message(id_)
        with (
            self._disk("mailbox.dismiss"),
            self._box(named.to) as (box, folder),
            folder.locked(wait_secs=self._lock_secs),
        ):
            now_ms = self._clock.now_ms()
            # Read again under the lock: whoever comes second sees what the first did.
            message = next((m for m in box.mended(now_ms).messages if m.id == named.id), None)
            if message is None:
                raise UnknownItemError(id=named.id)
            if not message.may_become(Status.DISMISSED):
                raise NotPendingError(id=message.id, status=_quotable(message.status))
            message = message.changed(status=Status.DISMISSED, dismissed_at=text_of(now_ms))
            box.write(message)
            box.prune(self.limits.keep_resolved)
        return message

    # Looking

    def messages_for(self, recipient: str) -> list[StoredMessage]:
        """Every message of a recipient, oldest first; an empty list for a mailbox that there is not."""
        return self._mended(str(ProducerName(recipient))).messages

    def pending_for(self, recipient: str) -> list[StoredMessage]:
        """The pending messages of a recipient, oldest first."""
        return [message for message in self.messages_for(recipient) if message.status == Status.PENDING]

    def message(self, id_: str) -> StoredMessage:
        """The message with that id, or the only one whose id begins so, over all recipients.

        Raises UnknownItemError where there is none, MalformedError where there are several.
        """
        prefix = str(MailboxMessageId(id_))
        found = [
            message
            for recipient in self.recipients()
            for message in self._mended(recipient).messages
            if message.id.startswith(prefix)
        ]
        exact = [message for message in found if message.id == prefix]
        if len(exact or found) > 1:
            raise MalformedError(
                field="mailbox message id", reason="must begin the id of one message; several begin with it"
            )
        if not found:
            raise UnknownItemError(id=prefix)
        return (exact or found)[0]

    def folder_of(self, recipient: str) -> Path:
        """Where a recipient's messages are; the folder is made when it is not there."""
        with self._disk("mailbox.list"), self._box(str(ProducerName(recipient))) as (_, folder):
            return folder.path

    def recipients(self) -> list[str]:
        """Every producer that has a mailbox."""
        with self._disk("mailbox.list"):
            return producers(self._root.folders())

    def set_aside(self, recipient: str) -> list[str]:
        """The names of the files that were no messages, of one mailbox."""
        try:
            folder = self._folder(str(ProducerName(recipient)))
        except FileNotFoundError:
            return []
        with folder, self._disk("mailbox.list"):
            return self._box_in(folder, recipient).spoilt_names()

    def snapshot(self, recipient: str) -> list[StoredMessage]:
        """As ``messages_for``, and nothing is mended: what a lease no longer holds is shown as pending."""
        now_ms = self._clock.now_ms()
        return [leases.settled(m, now_ms) for m in self._found(str(ProducerName(recipient))).messages]

    def held(self, recipient: str, others: Others) -> tuple[list[StoredMessage], Others]:
        """Of ``snapshot``, what a lease held when it was written; ``others`` is that of ``Box.held``."""
        with self._folder(str(ProducerName(recipient))) as folder, self._disk("mailbox.list"):
            found, seen = self._box_in(folder, recipient).held(others)
        now_ms = self._clock.now_ms()
        return [leases.settled(message, now_ms) for message in found], seen

    def _found(self, recipient: str) -> Scan:
        try:
            folder = self._folder(recipient)
        except FileNotFoundError:
            return Scan()
        with folder, self._disk("mailbox.list"):
            return self._box_in(folder, recipient).scan()

    def _mended(self, recipient: str) -> Scan:
        found = self._found(recipient)
        now_ms = self._clock.now_ms()
        if not found.spoilt and all(leases.settled(m, now_ms) is m for m in found.messages):
            return found
        with (
            self._disk("mailbox.list"),
            self._box(recipient) as (box, folder),
            folder.locked(wait_secs=self._lock_secs),
        ):
            return box.mended(now_ms)

    def _box_in(self, folder: Folder, recipient: str) -> Box:
        return Box(folder, recipient, self.limits.file_max_bytes, self._remembered.setdefault(recipient, {}))

    def _folder(self, recipient: str) -> Folder:
        return self._root.inner(recipient, make=False)

    @contextmanager
    def _box(self, recipient: str) -> Generator[tuple[Box, Folder]]:
        with self._root.inner(recipient) as folder:
            yield self._box_in(folder, recipient), folder

    @contextmanager
    def _disk(self, operation: Operation) -> Generator[None]:
        try:
            yield
        except OSError as failure:
            log.warning("%s failed: %s", operation, failure.strerror)
            raise StoreUnavailableError(operation=operation) from None

    # The registry, under the names that a harness knows

    def announce(self, producer: str, session: str) -> None:
        """Say that this process runs a session."""
        with self._disk("mailbox.send"):
            self.registry.announce(producer, session)

    def depart(self, session: str) -> None:
        """Take a session's marker away."""
        self.registry.depart(session)

    def agents(self) -> list[AgentMarker]:
        """The live sessions."""
        return self.registry.agents()


def _quotable(text: str) -> str:
    """A text that a refusal may hold: what a file says may be anything."""
    plain = "".join(character for character in text if character.isprintable())
    return plain.encode("utf-8", "replace")[:64].decode("utf-8", "ignore") or "unknown"
