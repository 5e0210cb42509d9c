"""A conversation over the mail seam: worker and judge are two participants, a note is a message with an ack.

The driver posts a note to the party whose turn is live, and waits for that party's answer, which is a reply
in the note's thread. A note that nobody answers in time is withdrawn by a second message: mail arrives in the
order in which it was sent, so a party that reads both takes neither. A party that took it just before is
found by its turn, which names the note, so the record stays true.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, Protocol

from mail4agent_api import note as wire
from mail4agent_api.addresses import text_of
from mail4agent_api.codec import decode, encode
from mail4agent_api.errors import RefusalError
from mail4agent_api.mail import Message

from .conversation import (
    Accepted,
    ConversationCompleted,
    Interrupted,
    JudgedWith,
    MemberSettled,
    NoConversation,
    Offer,
    Queued,
    Undelivered,
)
from .note import Note
from .words import Party

NOTE_SUBJECT: Final = "note"
ANSWER_SUBJECT: Final = "note answered"
WITHDRAWN_SUBJECT: Final = "note withdrawn"
#: Seconds of one wait for mail; the contract allows 60.
_WAIT_SECS: Final = 50


class Mail(Protocol):
    """What a participant of a conversation does with mail."""

    def post(
        self, to: str, subject: str, body: str, *, correlation: str, key: str, reply_to: str | None = None
    ) -> str:
        """Send a message, once however often it is called with the same key; returns its id."""
        ...

    def page(
        self, *, correlation: str, thread: str | None = None, unread_only: bool = False, wait_secs: int = 0
    ) -> Sequence[Message]:
        """The messages that were sent to the participant, oldest first; waits while there are none."""
        ...

    def ack(self, message_id: str) -> None:
        """Acknowledge a message."""
        ...


def correlation_of(run: str, node: str) -> str:
    """What the messages about one node have in common: a node's id may be longer than a correlation."""
    return f"note-{hashlib.sha256(f'{run}/{node}'.encode()).hexdigest()[:32]}"


def answer_json(answer: Accepted | Undelivered) -> str:
    """A conversation's answer as the body of a message."""
    match answer:
        case Queued():
            made: wire.OfferAnswer = wire.OfferQueued()
        case Interrupted(party=party):
            made = wire.OfferInterrupted(party=party.value)
        case JudgedWith(completion_reason=reason):
            made = wire.OfferJudgedWith(completion_reason=reason)
        case ConversationCompleted(completion_reason=reason):
            made = wire.OfferConversationCompleted(completion_reason=reason)
        case MemberSettled(outcome=outcome):
            made = wire.OfferMemberSettled(outcome=outcome)
        case NoConversation(reason=reason):
            made = wire.OfferNoConversation(reason=reason)
    return encode(made).decode()


def answer_of(body: str) -> Accepted | Undelivered:
    """Read an answer. Raises MalformedError, TooLargeError."""
    match decode(wire.OfferAnswer, body.encode()):
        case wire.OfferQueued():
            return Queued()
        case wire.OfferInterrupted(party=party):
            return Interrupted(Party(party))
        case wire.OfferJudgedWith(completion_reason=reason):
            return JudgedWith(reason)
        case wire.OfferConversationCompleted(completion_reason=reason):
            return ConversationCompleted(reason)
        case wire.OfferMemberSettled(outcome=outcome):
            return MemberSettled(outcome)
        case wire.OfferNoConversation(reason=reason):
            return NoConversation(reason)


@dataclass(frozen=True, slots=True)
class MailConversation:
    """The driver's side of one node's conversation."""

    mail: Mail
    #: The addresses of the two parties.
    worker: str
    judge: str
    #: Whose turn is live, None between turns: the worker is asked then, whose turn is the next to open.
    live: Callable[[], Party | None] = lambda: None
    #: Seconds that an answer is waited for. A party may answer when its turn ends.
    answer_secs: int = 600

    def offer(self, offer: Offer) -> Accepted | Undelivered:
        """Hand a note to whoever is live. What mail cannot do is no conversation."""
        to = self.judge if self.live() is Party.SUPERVISOR else self.worker
        correlation = correlation_of(offer.run, offer.node)
        note = wire.NoteObject(
            addressee=offer.note.addressee.value, text=offer.note.text, criterion=offer.note.criterion
        )
        body = wire.NoteOffer(run=offer.run, node=offer.node, note_id=wire.NoteId(offer.note_id), note=note)
        try:
            posted = self.mail.post(
                to, NOTE_SUBJECT, encode(body).decode(), correlation=correlation, key=offer.note_id
            )
            answer = self._answer(posted, correlation, to)
            if answer is None:
                self.mail.post(
                    to,
                    WITHDRAWN_SUBJECT,
                    offer.note_id,
                    correlation=correlation,
                    key=f"{offer.note_id}-withdrawn",
                    reply_to=posted,
                )
                # Who answered while it was being withdrawn has taken it.
                answer = self._read(posted, correlation, to, 0)
        except RefusalError as refused:
            return NoConversation(f"the mail was refused: {refused.kind}")
        return answer or NoConversation(f"nobody answered within {self.answer_secs} s")

    def _answer(self, posted: str, correlation: str, party: str) -> Accepted | Undelivered | None:
        left = self.answer_secs
        while left > 0:
            wait = min(left, _WAIT_SECS)
            found = self._read(posted, correlation, party, wait)
            if found is not None:
                return found
            left -= wait
        return None

    def _read(
        self, posted: str, correlation: str, party: str, wait_secs: int
    ) -> Accepted | Undelivered | None:
        page = self.mail.page(correlation=correlation, thread=posted, wait_secs=wait_secs)
        for message in page:
            # Whoever else writes into the thread is no party of the conversation.
            if message.subject != ANSWER_SUBJECT or text_of(message.from_).partition("/")[0] != party:
                continue
            self.mail.ack(message.message_id)
            try:
                return answer_of(message.body)
            except RefusalError:
                return NoConversation("the answer was none of the contract")
        return None


@dataclass(frozen=True, slots=True)
class Offered:
    """A note that was offered to a party, and the message that it came in."""

    message_id: str
    offer: Offer


@dataclass(frozen=True, slots=True)
class MailParty:
    """A party's side of one node's conversation."""

    mail: Mail
    run: str
    node: str
    #: The account of the driver: nobody else's notes are taken.
    driver: str

    def offers(self, *, wait_secs: int = 0) -> list[Offered]:
        """The notes that are offered and not answered, oldest first; those that were withdrawn are gone."""
        correlation = correlation_of(self.run, self.node)
        page = self.mail.page(correlation=correlation, unread_only=True, wait_secs=wait_secs)
        mine = [message for message in page if text_of(message.from_).partition("/")[0] == self.driver]
        withdrawn = {message.reply_to: message for message in mine if message.subject == WITHDRAWN_SUBJECT}
        found: list[Offered] = []
        for message in mine:
            if message.subject != NOTE_SUBJECT:
                continue
            if message.message_id in withdrawn:
                self.mail.ack(message.message_id)
                continue
            offer = _offer(message)
            if offer is not None and (offer.run, offer.node) == (self.run, self.node):
                found.append(Offered(message.message_id, offer))
        for message in withdrawn.values():
            self.mail.ack(message.message_id)
        return found

    def answer(self, offered: Offered, answer: Accepted | Undelivered) -> None:
        """Answer an offer, then acknowledge it: a party that dies in between answers again, once."""
        self.mail.post(
            self.driver,
            ANSWER_SUBJECT,
            answer_json(answer),
            correlation=correlation_of(self.run, self.node),
            key=f"{offered.offer.note_id}-answer",
            reply_to=offered.message_id,
        )
        self.mail.ack(offered.message_id)


def _offer(message: Message) -> Offer | None:
    try:
        found = decode(wire.NoteOffer, message.body.encode())
        note = Note.of(found.note.addressee, found.note.text, found.note.criterion)
    except RefusalError:
        return None
    return Offer(found.run, found.node, str(found.note_id), note)
