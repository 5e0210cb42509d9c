"""A first conversation, for a person who has just started the daemon: two accounts write to each other through the HTTP door."""

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

from .bootstrap import KEY_NAME, read_key
from .endpoints import Listeners
from .settings import Effective

NAMES = (ParticipantId("demo-ada"), ParticipantId("demo-ben"))


async def converse(effective: Effective, listeners: Listeners) -> None:
    """Register the two (or give them new secrets), let them write, read and acknowledge, and print what happens."""
    url = listeners.url or f"unix:{listeners.endpoints.socket_path}"
    secrets: list[str] = []
    async with MailClient(url, token=read_key(effective.home / KEY_NAME)) as operator:
        for name in NAMES:
            try:
                issued = await operator.admin_participant(ParticipantRegistration(id=name, may_send=True, may_read=True))
            except AlreadyExistsError:
                issued = await operator.admin_participant_rotate(ParticipantRotateRequest(id=name))
            secrets.append(issued.secret)
    async with MailClient(url, token=secrets[0]) as ada, MailClient(url, token=secrets[1]) as ben:
        asked = await ada.send(SendRequest(to=address_of(NAMES[1]), subject="Hello", body="Is the parser ready for review?"))
        page = await ben.inbox(InboxRequest(unread_only=True, order="newest", limit=1))
        for message in page.messages:
            print(f"demo: {NAMES[1]} reads “{message.subject}: {message.body}” ({page.unread} unread)")
            await ben.ack(AckRequest(message_id=message.message_id))
        await ben.send(SendRequest(to=address_of(NAMES[0]), subject="Re: Hello", body="It is. Look at the branch.", reply_to=asked.message_id))
        page = await ada.inbox(InboxRequest(unread_only=True, order="newest", limit=1))
        for message in page.messages:
            print(f"demo: {NAMES[0]} reads “{message.subject}: {message.body}”", flush=True)
