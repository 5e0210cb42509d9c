"""Typed clients of a mail4agent daemon: ``MailClient`` for asyncio, ``SyncMailClient`` for threads."""

from mail4agent_client.client import MailClient, Watch
from mail4agent_client.errors import (
    AnswerInvalidError,
    AnswerTooLargeError,
    ClientError,
    ConnectFailedError,
    ConnectionLostError,
    SettingInvalidError,
    TimedOutError,
)
from mail4agent_client.exchange import RetryPolicy
from mail4agent_client.letters import answer, idempotency_key, letter
from mail4agent_client.settings import DEFAULT_URL, Secret
from mail4agent_client.sync_client import SyncMailClient, SyncWatch

__all__ = [
    "DEFAULT_URL",
    "AnswerInvalidError",
    "AnswerTooLargeError",
    "ClientError",
    "ConnectFailedError",
    "ConnectionLostError",
    "MailClient",
    "RetryPolicy",
    "Secret",
    "SettingInvalidError",
    "SyncMailClient",
    "SyncWatch",
    "TimedOutError",
    "Watch",
    "answer",
    "idempotency_key",
    "letter",
]
