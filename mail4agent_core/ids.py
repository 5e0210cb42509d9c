"""Random names and secrets, given to whoever needs them."""

import hashlib
import random
import secrets
from typing import Protocol

from mail4agent_api.mail import MessageId, SessionId


class Ids(Protocol):
    """Where ids and secrets come from."""

    def message_id(self) -> MessageId:
        """A new message id, never given before."""
        ...

    def secret(self) -> str:
        """A new secret: 32 random bytes as 64 lower-case hexadecimal digits."""
        ...

    def session_id(self) -> SessionId:
        """A new session id that says nothing, of the length that a process's has."""
        ...

    def boundary(self) -> str:
        """What sets other people's text apart in one reply: 16 lower-case hexadecimal digits."""
        ...


class RandomIds:
    """From the operating system's random source."""

    def message_id(self) -> MessageId:
        """A new message id: 96 random bits."""
        return MessageId(f"m4a_{secrets.token_hex(12)}")

    def secret(self) -> str:
        """A new secret: 256 random bits."""
        return secrets.token_hex(32)

    def session_id(self) -> SessionId:
        """A new session id: 128 random bits."""
        return SessionId(f"s-{secrets.token_hex(16)}")

    def boundary(self) -> str:
        """A new boundary: 64 random bits."""
        return secrets.token_hex(8)


class SeededIds:
    """The same ids and secrets for the same seed; for tests and simulations."""

    def __init__(self, seed: int = 0) -> None:
        self._random = random.Random(seed)  # noqa: S311  # repeatable on purpose

    def message_id(self) -> MessageId:
        """The next message id of the seed."""
        return MessageId(f"m4a_{self._random.randbytes(12).hex()}")

    def secret(self) -> str:
        """The next secret of the seed."""
        return self._random.randbytes(32).hex()

    def session_id(self) -> SessionId:
        """The next session id of the seed."""
        return SessionId(f"s-{self._random.randbytes(16).hex()}")

    def boundary(self) -> str:
        """The next boundary of the seed."""
        return self._random.randbytes(8).hex()


def digest_of(secret: str) -> bytes:
    """What is kept of a secret: the SHA-256 of its text, 32 bytes."""
    return hashlib.sha256(secret.encode()).digest()
