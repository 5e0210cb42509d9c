"""The bearer secret names the account, and an issued one the session with it.

A secret that is not known, was replaced or revoked, or belongs to a removed account is refused in one way; a
store that cannot look it up is a fault of ours and not a wrong secret. Nothing here keeps or logs a secret,
and it is looked up by its digest, so that the time this takes says nothing about it.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from mail4agent_api.errors import UnauthenticatedError
from mail4agent_api.mail import AttestationPolicy, ParticipantId, SessionAddress
from mail4agent_core.ids import digest_of
from mail4agent_core.mail.records import Account
from mail4agent_core.mail.sessions import Sessions
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
HOLDERS_MAX = 4096


@dataclass(frozen=True, slots=True)
class Holder:
    """Whose secret was presented, as of now."""

    account: ParticipantId
    created_at: int
    """When it was registered, in Unix milliseconds: tells it from an earlier one of the same id."""
    capabilities: frozenset[str]
    attestation: AttestationPolicy
    session: SessionAddress | None = None
    """The session that an issued credential means."""


class Accounts:
    """Looks secrets up.

    What an account's own secret named is kept until a commit tells of its account: the store tells of every
    change of rights before the change is answered. (It tells of mail to the account too; that costs one
    look-up.) That holds where this process alone writes the store; of one that is ``shared`` it may be told
    late, so every secret is looked up each time. So is an issued credential, which ends by the clock.
    """

    def __init__(self, store: MailStore, sessions: Sessions, *, shared: bool = False) -> None:
        self._store = store
        self._shared = shared
        self._sessions = sessions
        self._holders: dict[bytes, Holder] = {}
        self._digests: dict[str, bytes] = {}
        self._changes = 0
        store.subscribe(self._forget)

    async def holder(self, digest: bytes) -> Holder:
        """Whose secret has this digest as of now. Raises UnauthenticatedError, StoreUnavailableError."""
        known = self._holders.get(digest)
        if known is not None:
            return known
        changes = self._changes
        account = await self._store.authenticate(digest)
        if account is None:
            issued = await self._sessions.credential(digest)
            if issued is None or issued.account.removed_at is not None:
                raise UnauthenticatedError
            return _holder(issued.account, issued.address)
        if account.removed_at is not None:
            raise UnauthenticatedError
        holder = _holder(account, None)
        # What was read may be old news when something was committed meanwhile.
        if changes == self._changes and not self._shared:
            self._keep(digest, holder)
        return holder

    def _keep(self, digest: bytes, holder: Holder) -> None:
        if len(self._holders) >= HOLDERS_MAX:
            self._holders.clear()
            self._digests.clear()
        self._holders[digest] = holder
        self._digests[str(holder.account)] = digest

    def _forget(self, changed: frozenset[str]) -> None:
        self._changes += 1
        for name in changed:
            digest = self._digests.pop(name, None)
            if digest is not None:
                del self._holders[digest]


def _holder(account: Account, session: SessionAddress | None) -> Holder:
    return Holder(account.id, account.created_at, account.capabilities, account.attestation, session)
