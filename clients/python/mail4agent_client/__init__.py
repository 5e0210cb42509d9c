"""Typed clients of a mail4agent daemon: ``MailClient`` for asyncio, ``SyncMailClient`` for threads.

Each name is imported when it is first asked for: the hook and the stdio bridge stand in this package too, and
start without the clients' dependencies.
"""

TYPE_CHECKING = False
if TYPE_CHECKING:
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

_MODULES = {
    "client": ("MailClient", "Watch"),
    "errors": (
        "AnswerInvalidError",
        "AnswerTooLargeError",
        "ClientError",
        "ConnectFailedError",
        "ConnectionLostError",
        "SettingInvalidError",
        "TimedOutError",
    ),
    "exchange": ("RetryPolicy",),
    "letters": ("answer", "idempotency_key", "letter"),
    "settings": ("DEFAULT_URL", "Secret"),
    "sync_client": ("SyncMailClient", "SyncWatch"),
}


def __getattr__(name: str) -> object:
    """Import a public name."""
    for module, names in _MODULES.items():
        if name in names:
            from importlib import import_module

            value = globals()[name] = getattr(import_module(f"{__name__}.{module}"), name)
            return value
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    """The public names, too."""
    return sorted({*globals(), *__all__})
