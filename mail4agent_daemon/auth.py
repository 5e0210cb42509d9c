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


#: More than the accounts of one daemon that are ever active together.
CALLERS_MAX = 4096


class Accounts:
    """Identifies callers. A session that proved itself will take its account's place in the Caller made here.

    Who was identified is kept until a commit tells of its account: the store tells of every change of rights
    before the change is answered. (It tells of mail to the account too; that costs one look-up.) This holds
    where this process alone writes the store: with several, each must be told of the others' changes first.
    """

    def __init__(self, store: MailStore) -> None:
        self._store = store
        self._callers: dict[bytes, Caller] = {}
        self._digests: dict[str, bytes] = {}
        self._changes = 0
        store.subscribe(self._forget)

    async def caller(self, digest: bytes) -> Caller:
        """The caller of a secret's digest as of now. Raises UnauthenticatedError, StoreUnavailableError."""
        known = self._callers.get(digest)
        if known is not None:
            return known
        changes = self._changes
        account = await self._store.authenticate(digest)
        if account is None or account.removed_at is not None:
            raise UnauthenticatedError
        caller = account_caller(account.id, account.capabilities)
        # What was read may be old news when something was committed meanwhile.
        if changes == self._changes:
            self._keep(digest, caller)
        return caller

    def _keep(self, digest: bytes, caller: Caller) -> None:
        if len(self._callers) >= CALLERS_MAX:
            self._callers.clear()
            self._digests.clear()
        self._callers[digest] = caller
        self._digests[str(caller.account)] = digest

    def _forget(self, changed: frozenset[str]) -> None:
        self._changes += 1
        for name in changed:
            digest = self._digests.pop(name, None)
            if digest is not None:
                del self._callers[digest]
