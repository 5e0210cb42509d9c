"""A first conversation, for a person who has just started the daemon: two accounts write to each other."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mail4agent_api.addresses import address_of
from mail4agent_api.errors import AlreadyExistsError
from mail4agent_api.mail import (
    AckRequest,
    InboxRequest,
    ParticipantId,
    ParticipantRegistration,
    ParticipantRotateRequest,
    SendRequest,
)
from mail4agent_client import MailClient

from .bootstrap import read_key

if TYPE_CHECKING:
    from .serving import Serving, Show

ADA, BEN = ParticipantId("demo-ada"), ParticipantId("demo-ben")
_LATEST_UNREAD = InboxRequest(unread_only=True, order="newest", limit=1)


async def converse(serving: Serving, show: Show) -> None:
    """Register the two (or give them new secrets), let them write and read, and show what happens."""
    url = serving.client_url
    secrets: list[str] = []
    async with MailClient(url, token=read_key(serving.key)) as operator:
        for name in (ADA, BEN):
            try:
                new = ParticipantRegistration(
                    # The daemon itself speaks for both, and is a session of neither.
                    id=name,
                    may_send=True,
                    may_read=True,
                    attestation="off",
                )
                issued = await operator.admin_participant(new)
            except AlreadyExistsError:
                issued = await operator.admin_participant_rotate(ParticipantRotateRequest(id=name))
            secrets.append(issued.secret)
    async with MailClient(url, token=secrets[0]) as ada, MailClient(url, token=secrets[1]) as ben:
        question = SendRequest(to=address_of(BEN), subject="Hello", body="Is the parser ready for review?")
        asked = await ada.send(question)
        await _read(ben, BEN, show)
        answer = "It is. Look at the branch."
        await ben.send(
            SendRequest(to=address_of(ADA), subject="Re: Hello", body=answer, reply_to=asked.message_id)
        )
        await _read(ada, ADA, show)


async def _read(reader: MailClient, name: ParticipantId, show: Show) -> None:
    page = await reader.inbox(_LATEST_UNREAD)
    for message in page.messages:
        show(f"demo: {name} reads “{message.subject}: {message.body}” ({page.unread} unread)")
        await reader.ack(AckRequest(message_id=message.message_id))
