"""One message as its file has it: read leniently where that loses nothing, written in one form.

A file of the original program loads, and it loads ours: its keys stand first, in its order, and ours follow,
``schema`` first. A file that cannot be delivered safely is no message: one whose names could break out of the
delivery header, or whose id or recipient is not that of the place where it lies.

The taint of a message counts only when it was recorded: whole, by the flag that says so, and in a file of
ours under a seal over what the sender wrote. A key that is missing or was edited by hand reads as both legs.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any, cast

from mail4agent_api.bounds import MAILBOX_SCHEMA
from mail4agent_api.codec import parse
from mail4agent_api.errors import RefusalError
from mail4agent_api.mail import Taint
from mail4agent_api.mailbox import MailboxMessageId, MailboxSession, ProducerName
from mail4agent_core.taint import BOTH, recorded

from .times import ms_of, text_of

#: The greatest number that a file counts to.
_WHOLE_MAX = 2**32 - 1
#: The ids that this library gives: a second, a number within it, something random.
OURS = re.compile(r"(?P<second>[0-9]{8}T[0-9]{6})-(?P<number>[0-9a-f]{8})-[0-9a-f]{8}\Z")


class Status(StrEnum):
    """Where a message stands."""

    PENDING = "pending"
    #: Handed to a session that has not confirmed it; pending again once the lease is over.
    LEASED = "leased"
    DELIVERED = "delivered"
    DISMISSED = "dismissed"
    #: Handed out and never confirmed too often; it waits for a person.
    DEAD = "dead"


#: What a message can come to. Every other pair is no step.
STEPS: Mapping[Status, frozenset[Status]] = {
    Status.PENDING: frozenset({Status.LEASED, Status.DELIVERED, Status.DISMISSED}),
    Status.LEASED: frozenset({Status.DELIVERED, Status.PENDING, Status.DEAD}),
    Status.DEAD: frozenset({Status.DISMISSED}),
    Status.DELIVERED: frozenset(),
    Status.DISMISSED: frozenset(),
}
#: What keeps its place in the mailbox until somebody deals with it.
OPEN = frozenset({Status.PENDING, Status.LEASED, Status.DEAD})
#: What a lease holds, or held too often.
HELD = frozenset({Status.LEASED, Status.DEAD})
#: What is over, and pruned in time.
RESOLVED = frozenset({Status.DELIVERED, Status.DISMISSED})


class NotAMessageError(ValueError):
    """The bytes are no message that may lie where they lie."""


class NewerFileError(ValueError):
    """The file is of a later form than this library knows; it is left alone."""


@dataclass(frozen=True, slots=True)
class Lease:
    """Who holds a message, and until when in milliseconds since 1970."""

    session: str
    until_ms: int
    attempt: int


@dataclass(frozen=True, slots=True)
class StoredMessage:
    """One message. ``status`` is a ``Status`` or a word that only a later program knows."""

    id: str
    status: str
    from_: str
    to: str
    body: str
    created_at: str
    from_session: str | None = None
    reply_to: str | None = None
    taint: Taint = BOTH
    taint_recorded: bool = False
    delivered_at: str | None = None
    delivered_to: str | None = None
    dismissed_at: str | None = None
    #: 1 for a file of the original, which has no such key.
    schema: int = 1
    lease: Lease | None = None
    attempts: int = 0
    dead_at: str | None = None
    seal: str | None = None
    #: Keys of the file that this library does not know; they stay in it.
    others: Mapping[str, Any] = field(default_factory=dict[str, Any])

    def effective_taint(self) -> Taint:
        """The taint that a delivery merges: what was recorded, or both legs."""
        if not self.taint_recorded:
            return BOTH
        ours = self.schema >= MAILBOX_SCHEMA or OURS.match(self.id) is not None
        return BOTH if ours and self.seal != self.sealed() else self.taint

    def sealed(self) -> str:
        """The seal over what the sender wrote: it shows an edit; a whole file anybody can make."""
        said = [
            self.id, self.from_, self.from_session, self.to, self.body, self.reply_to, self.created_at,
            self.taint.private, self.taint.untrusted, self.taint_recorded,
        ]  # fmt: skip
        return hashlib.sha256(json.dumps(said, ensure_ascii=True).encode()).hexdigest()

    def signed(self) -> StoredMessage:
        """A message that is about to be posted, in today's form and under its seal."""
        return replace(self, schema=MAILBOX_SCHEMA, seal=self.sealed())

    def changed(self, **values: Any) -> StoredMessage:
        """The message in another state, in today's form. A file without a seal gets one over what it counts
        as.
        """
        if self.schema >= MAILBOX_SCHEMA:
            return replace(self, **values)
        return replace(replace(self, taint=self.effective_taint()).signed(), **values)

    def may_become(self, status: Status) -> bool:
        """Whether the table has that step."""
        return self.status in STEPS and status in STEPS[Status(self.status)]

    def encoded(self) -> bytes:
        """The bytes of the file: the original's keys in its order, then ours, then those of others."""
        lease = self.lease
        value: dict[str, Any] = {
            "id": self.id,
            "status": self.status,
            "from": self.from_,
            "from_session": self.from_session,
            "to": self.to,
            "body": self.body,
            "reply_to": self.reply_to,
            "taint": {"private": self.taint.private, "untrusted": self.taint.untrusted},
            "taint_recorded": self.taint_recorded,
            "created_at": self.created_at,
            "delivered_at": self.delivered_at,
            "delivered_to": self.delivered_to,
            "dismissed_at": self.dismissed_at,
            "schema": self.schema,
            "lease": None
            if lease is None
            else {"session": lease.session, "until": text_of(lease.until_ms), "attempt": lease.attempt},
            "attempts": self.attempts,
            "dead_at": self.dead_at,
            "seal": self.seal,
        }
        return json.dumps({**value, **self.others}, ensure_ascii=False, indent=2).encode()


def decoded(raw: bytes, id_: str, recipient: str) -> StoredMessage:
    """The message that a file holds, which lies under this id in this recipient's folder.

    Raises NotAMessageError, and NewerFileError for a later form, whatever else it holds.
    """
    try:
        value = parse(raw)
    except RefusalError:
        raise NotAMessageError("is no JSON") from None
    if not isinstance(value, dict):
        raise NotAMessageError("is no object")
    return _Reader(cast(dict[str, Any], value)).message(id_, recipient)


class _Reader:
    """Takes the keys of one file, each of its type."""

    def __init__(self, value: dict[str, Any]) -> None:
        self._value = value

    def message(self, id_: str, recipient: str) -> StoredMessage:
        schema = self._whole("schema", 1)
        if schema > MAILBOX_SCHEMA:
            raise NewerFileError
        if self._text("id") != id_ or self._text("to") != recipient:
            raise NotAMessageError("is not the message of this place")
        self._named(MailboxMessageId, id_)
        sender = self._named(ProducerName, self._text("from"))
        taint, flag = self._value.pop("taint", None), self._value.pop("taint_recorded", None)
        found = StoredMessage(
            id=id_,
            status=self._text("status"),
            from_=sender,
            to=recipient,
            body=self._text("body"),
            created_at=self._text("created_at"),
            from_session=self._session("from_session"),
            reply_to=self._maybe("reply_to"),
            taint=recorded(taint),
            taint_recorded=flag is True,
            delivered_at=self._maybe("delivered_at"),
            delivered_to=self._maybe("delivered_to"),
            dismissed_at=self._maybe("dismissed_at"),
            schema=schema,
            lease=self._lease(),
            attempts=self._whole("attempts", 0),
            dead_at=self._maybe("dead_at"),
            seal=self._maybe("seal"),
        )
        return replace(found, others=self._value)

    def _text(self, key: str) -> str:
        value = self._value.pop(key, None)
        if not isinstance(value, str):
            raise NotAMessageError(f"{key} is no text")
        return value

    def _maybe(self, key: str) -> str | None:
        return self._text(key) if self._value.get(key) is not None else self._value.pop(key, None)

    def _whole(self, key: str, otherwise: int) -> int:
        value = self._value.pop(key, otherwise)
        if type(value) is not int or not 0 <= value <= _WHOLE_MAX:
            raise NotAMessageError(f"{key} is no whole number")
        return value

    def _named(self, kind: type[ProducerName | MailboxMessageId | MailboxSession], text: str) -> str:
        try:
            return str(kind(text))
        except RefusalError:
            raise NotAMessageError("has a name that is none") from None

    def _session(self, key: str) -> str | None:
        text = self._maybe(key)
        return None if text is None else self._named(MailboxSession, text)

    def _lease(self) -> Lease | None:
        match self._value.pop("lease", None):
            case None:
                return None
            case {"session": str(session), "until": str(until), "attempt": int(attempt)} if (
                until_ms := ms_of(until)
            ) is not None:
                return Lease(session, until_ms, attempt)
            case _:
                # A lease that says nothing holds nothing: it is over.
                return Lease("", 0, 0)
