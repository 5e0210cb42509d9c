"""The mail that a note's conversation needs, over the Python client."""

from __future__ import annotations

from collections.abc import Sequence

from mail4agent_api.mail import Message
from mail4agent_client import SyncMailClient


class ClientMail:
    """One participant's mail. Raises RefusalError and ClientError."""

    def __init__(self, client: SyncMailClient) -> None:
        self._client = client

    def post(
        self, to: str, subject: str, body: str, *, correlation: str, key: str, reply_to: str | None = None
    ) -> str:
        """Send a message, once however often it is called with the same key; returns its id."""
        sent = self._client.send(
            to=to,
            subject=subject,
            body=body,
            correlation=correlation,
            idempotency_key=key,
            reply_to=reply_to,
        )
        return str(sent.message_id)

    def page(
        self, *, correlation: str, thread: str | None = None, unread_only: bool = False, wait_secs: int = 0
    ) -> Sequence[Message]:
        """The messages that were sent to the participant, oldest first; waits while there are none."""
        page = self._client.inbox(
            correlation=correlation,
            thread=thread,
            unread_only=unread_only,
            wait_secs=wait_secs,
            limit=256,
        )
        return page.messages

    def ack(self, message_id: str) -> None:
        """Acknowledge a message."""
        self._client.ack(message_id=message_id)
