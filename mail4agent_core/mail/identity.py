"""Who a request proved to be. The engine is told; no request type says it."""

from collections.abc import Iterable
from dataclasses import dataclass

from mail4agent_api.errors import PermissionDeniedError
from mail4agent_api.mail import DirectAddress, ParticipantAddress, ParticipantId

SEND = "mail:send"
READ = "mail:read"
OPERATOR = "mail:operator"


@dataclass(frozen=True, slots=True)
class Caller:
    """The exact address that acts (an account, or one of its sessions) and what its account may do."""

    address: ParticipantAddress
    capabilities: frozenset[str]

    @property
    def account(self) -> ParticipantId:
        """The account that the caller acts for."""
        return self.address.participant

    def may(self, any_of: Iterable[str]) -> bool:
        """Whether the caller holds one of the capabilities; none are needed where none are named."""
        wanted = tuple(any_of)
        return not wanted or not self.capabilities.isdisjoint(wanted)

    def only(self, capabilities: Iterable[str]) -> "Caller":
        """The same caller, of its rights with those alone that are named."""
        return Caller(self.address, self.capabilities.intersection(capabilities))

    def needs(self, any_of: Iterable[str]) -> None:
        """Raise PermissionDeniedError, naming the first, unless the caller holds one of the capabilities."""
        wanted = tuple(any_of)
        if not self.may(wanted):
            raise PermissionDeniedError(need=wanted[0])


def account_caller(account: ParticipantId, capabilities: Iterable[str]) -> Caller:
    """A caller that is known to be an account and nothing more."""
    return Caller(DirectAddress(participant=account), frozenset(capabilities))
