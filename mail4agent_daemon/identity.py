"""Who is calling: the secret names the account, the kernel names the process, together they name the session.

What is proved belongs to one connection: a process is attested once, at the first request that needs it, and
what was found there, failures included, holds until the connection ends. Capabilities are looked up anew for
each request. Nothing a request says about itself is believed; ``M4A-Session: parent`` only asks to act for a
process that the kernel says is an ancestor of the one that was attested.
"""

from collections.abc import Iterable
from typing import Literal, Protocol

from mail4agent_api.errors import (
    AttestationFailedError,
    MalformedError,
    SessionAccountMismatchError,
)
from mail4agent_api.mail import DeclaredText, DirectAddress, SessionAddress
from mail4agent_core.mail.identity import Caller, account_caller
from mail4agent_core.mail.process import Evidence, ProcessId
from mail4agent_core.mail.sessions import Sessions

from .attest import Attested, Reason, Unattested
from .auth import Accounts, Holder
from .dispatch import Call
from .link import LINK_IDENTITIES_MAX, Link, Standing
from .peer import Peer

#: An account's policy once the daemon's own stands in for "inherit".
Policy = Literal["required", "preferred", "off"]

HEADER = b"m4a-session"
_PARENT = b"parent"
#: Operations that make nobody a session: else an agent that once set accounts up would be the operator's for
#: good, and no session of its own account.
ADMIN = "admin."
_SENTENCES = {
    Reason.GONE: "the connection or the process behind it has ended",
    Reason.SHARED: "several processes hold this connection; connect anew from one that shares it with none",
    Reason.NOT_LOCAL: "the connection comes from another machine or network namespace",
    Reason.UNREADABLE: "the process runs as a user whose processes the daemon may not see",
    Reason.NO_OWNER: "no process that the daemon can see holds the connection",
    Reason.UNSUPPORTED: "this system has no means to prove a process",
    Reason.LATE: "the kernel did not answer in time; connect anew",
}


class Attesting(Protocol):
    """What is asked of the kernel."""

    async def attest(self, peer: Peer) -> Attested | Unattested:
        """The process at the other end of a connection."""
        ...

    def ancestors(self, process: ProcessId) -> list[Attested]:
        """Its ancestors, the nearest first."""
        ...

    def alive(self, process: ProcessId) -> bool:
        """Whether a process runs."""
        ...


class Charging(Protocol):
    """What meters accounts."""

    def admit_account(self, account: str, cost: int) -> None:
        """Take a request's cost from its account. Raises RateLimitedError."""
        ...


def acts_for_parent(headers: Iterable[tuple[bytes, bytes]]) -> bool:
    """Whether a request asks to act for an ancestor of its process. Raises MalformedError."""
    given = [value.strip(b" \t") for name, value in headers if name == HEADER]
    if not given:
        return False
    if given != [_PARENT]:
        # A session is proved, never named.
        raise MalformedError(
            field="m4a-session", reason="must be the word parent, once (the header M4A-Session)"
        )
    return True


class Identifier:
    """Identifies callers. ``policy`` is for accounts that have none of their own."""

    def __init__(
        self, accounts: Accounts, sessions: Sessions, attestor: Attesting, policy: Policy, charging: Charging
    ) -> None:
        self._accounts = accounts
        self._sessions = sessions
        self._attestor = attestor
        self._policy: Policy = policy
        self._charging = charging

    async def identify(self, call: Call) -> Caller:
        """Find out who calls, once, and whether it may.

        Raises UnauthenticatedError, RateLimitedError, PermissionDeniedError (the caller is known then),
        AttestationFailedError, SessionAccountMismatchError and StoreUnavailableError.
        """
        if call.caller is None:
            await self._identify(call)
        assert call.caller is not None
        call.caller.needs(call.operation.capability)
        return call.caller

    async def again(self, call: Call) -> Caller:
        """Who the same call is by now: rights and secrets may have changed while it waited."""
        call.caller = None
        return await self.identify(call)

    async def _identify(self, call: Call) -> None:
        holder = await self._accounts.holder(call.digest)
        # Before anything that costs more: looking for a process is the dearest of all.
        self._charging.admit_account(str(holder.account), call.cost)
        call.cost = 0
        policy: Policy = self._policy if holder.attestation == "inherit" else holder.attestation
        if holder.session is not None:
            if policy == "required":
                raise AttestationFailedError(
                    reason="the account requires attestation, which an issued credential cannot give"
                )
            standing = Standing(holder.session, None)
        elif policy == "off":
            standing = Standing(DirectAddress(participant=holder.account), None)
        elif call.link is None:
            # A door without a connection of its own to the caller proves nobody.
            if policy == "required":
                raise AttestationFailedError(reason=_SENTENCES[Reason.UNSUPPORTED])
            standing = Standing(DirectAddress(participant=holder.account), None)
        else:
            account = account_caller(holder.account, holder.capabilities)
            if not account.may(call.operation.capability):
                # Refused by what its account may do; the kernel is not asked for that.
                call.caller = account
                return
            standing = await self._standing(
                call.link,
                holder,
                policy,
                for_parent=call.for_parent,
                meets=not call.operation.name.startswith(ADMIN),
            )
        if isinstance(standing.address, SessionAddress):
            self._sessions.seen(standing.address)
        call.uid = standing.uid
        call.caller = Caller(standing.address, holder.capabilities)

    async def _standing(
        self, link: Link, holder: Holder, policy: Policy, *, for_parent: bool, meets: bool
    ) -> Standing:
        # An account that was purged and registered again is another one.
        key = (str(holder.account), holder.created_at, policy, for_parent, meets)
        known = link.standings.get(key)
        if known is not None and known.ancestor is not None and not self._attestor.alive(known.ancestor):
            # A helper that outlives what it acted for must not keep the dead session's mail to itself.
            known = None
        if known is None:
            known = await self._prove(link, holder, policy, for_parent=for_parent, meets=meets)
            if len(link.standings) >= LINK_IDENTITIES_MAX:
                link.standings.clear()
            link.standings[key] = known
        return known

    async def _prove(
        self, link: Link, holder: Holder, policy: Policy, *, for_parent: bool, meets: bool
    ) -> Standing:
        if link.proof is None:
            link.proof = await self._attestor.attest(link.peer)
        proof = link.proof
        account = DirectAddress(participant=holder.account)
        if isinstance(proof, Unattested):
            if policy == "required":
                raise AttestationFailedError(reason=_SENTENCES[proof.reason])
            return Standing(account, None)
        try:
            if meets and not for_parent:
                return Standing(await self._sessions.meet(holder.account, _evidence(proof)), proof.uid)
            candidates = self._attestor.ancestors(proof.process) if for_parent else [proof]
            found = await self._known(candidates, holder)
            if found is None and meets:
                found = await self._agent(candidates, holder)
            if found is None and policy == "required":
                # To ask for a parent that there is not must not open what its own session closes.
                await self._sessions.refuse_other(holder.account, proof.process)
            return found or Standing(account, None)
        except (SessionAccountMismatchError, AttestationFailedError):
            # It is a session of another account, or its session's id is taken: it acts for this account
            # without being a session of it.
            if policy == "required":
                raise
            return Standing(account, None)

    async def _known(self, candidates: Iterable[Attested], holder: Holder) -> Standing | None:
        """The first that is a session of the account already."""
        for each in candidates:
            address = await self._sessions.known(holder.account, each.process)
            if address is not None:
                return Standing(address, each.uid, each.process)
        return None

    async def _agent(self, ancestors: Iterable[Attested], holder: Holder) -> Standing | None:
        """The nearest that is a known agent program; it becomes a session by this."""
        for each in ancestors:
            if each.program is not None:
                address = await self._sessions.meet(holder.account, _evidence(each))
                return Standing(address, each.uid, each.process)
        return None


def _evidence(proof: Attested) -> Evidence:
    said = proof.corroborated
    return Evidence(
        process=proof.process,
        exe=proof.exe,
        provider_session_id=_text(said.provider_session_id),
        model=_text(said.model),
        cwd=_text(said.cwd),
    )


def _text(said: DeclaredText | None) -> str | None:
    return None if said is None else said.inner_ref()
