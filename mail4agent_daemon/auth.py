"""Who is calling: the bearer secret names the account.

A secret that is not known, was replaced or revoked, or belongs to a removed account is refused in one way; a
store that cannot look it up is a fault of ours and not a wrong secret. Nothing here keeps or logs a secret,
and it is looked up by its digest, so that the time this takes says nothing about it.
"""

from collections.abc import Iterable

from mail4agent_api.errors import UnauthenticatedError
from mail4agent_core.ids import digest_of
from mail4agent_core.mail.identity import Caller, account_caller
from mail4agent_core.mail.store import MailStore

#: Longer than any secret that was ever issued.
SECRET_MAX_BYTES = 256


def bearer_digest(headers: Iterable[tuple[bytes, bytes]]) -> bytes:
    """The digest of the bearer secret that a request presents, exactly one. Raises UnauthenticatedError."""
    presented = [value for name, value in headers if name == b"authorization"]
    if len(presented) != 1:
        raise UnauthenticatedError
    scheme, _, secret = presented[0].partition(b" ")
    secret = secret.strip(b" ")
    if scheme.lower() != b"bearer" or not secret or len(secret) > SECRET_MAX_BYTES or not secret.isascii():
        raise UnauthenticatedError
    return digest_of(secret.decode("ascii"))


class Accounts:
    """Identifies callers. A session that proved itself will take its account's place in the Caller."""

    def __init__(self, store: MailStore) -> None:
        self._store = store

    async def caller(self, digest: bytes) -> Caller:
        """The caller of a secret's digest as of now. Raises UnauthenticatedError, StoreUnavailableError."""
        account = await self._store.authenticate(digest)
        if account is None or account.removed_at is not None:
            raise UnauthenticatedError
        return account_caller(account.id, account.capabilities)
