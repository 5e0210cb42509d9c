"""What can go wrong between a client and the daemon besides a refusal.

A refusal is the daemon's own answer and is raised as ``mail4agent_api.errors.RefusalError``. Everything else
is one of the classes here. None of them holds a credential, a request or an answer's text.
"""

from __future__ import annotations

TYPE_CHECKING = False  # importing typing for it would cost a hook more than this module
if TYPE_CHECKING:
    from typing import ClassVar


class ClientError(Exception):
    """Base of the family: no answer of the contract was got."""

    #: The name that programs match on; unlike the sentence it does not change.
    kind: ClassVar[str]


class SettingInvalidError(ClientError):
    """A setting cannot be used; nothing was sent. The value is not repeated, it may be a secret."""

    kind = "setting_invalid"

    def __init__(self, setting: str, reason: str) -> None:
        super().__init__(f"{setting} {reason}")
        self.setting = setting
        self.reason = reason


class ConnectFailedError(ClientError):
    """No connection was made; nothing was sent."""

    kind = "connect_failed"

    def __init__(self, url: str, reason: str) -> None:
        super().__init__(f"cannot connect to {url}: {reason}")
        self.url = url
        self.reason = reason


class ConnectionLostError(ClientError):
    """The connection ended before the whole answer had come; whether the request was carried out is not
    known.
    """

    kind = "connection_lost"

    def __init__(self, url: str) -> None:
        super().__init__(f"the connection to {url} ended before the whole answer had come")
        self.url = url


class TimedOutError(ClientError):
    """The whole answer did not come in time; whether the request was carried out is not known."""

    kind = "timed_out"

    def __init__(self, url: str, secs: float) -> None:
        super().__init__(f"no whole answer from {url} within {secs:g} s")
        self.url = url
        self.secs = secs


class AnswerInvalidError(ClientError):
    """What answered does not speak the contract: another server, a proxy, or a daemon of another version."""

    kind = "answer_invalid"

    def __init__(self, status: int, reason: str) -> None:
        super().__init__(f"an answer with status {status} is not one of the contract: {reason}")
        self.status = status
        self.reason = reason


class AnswerTooLargeError(ClientError):
    """The answer is past the client's bound, in bytes; reading it was given up."""

    kind = "answer_too_large"

    def __init__(self, limit: int) -> None:
        super().__init__(f"the answer is larger than {limit} bytes")
        self.limit = limit
