"""Which sessions there are, which of them live, and the credentials of those that no kernel vouches for.

The system is asked through ``alive`` and ``parked``, never within a transaction of the store. When a session
was last seen is kept in memory and written by ``flush``: a stop in between costs a minute of it.
"""

import asyncio
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from mail4agent_api._wire import Declared
from mail4agent_api.addresses import text_of
from mail4agent_api.codec import encode
from mail4agent_api.errors import (
    AttestationFailedError,
    PermissionDeniedError,
    RateLimitedError,
    SessionAccountMismatchError,
    UnauthenticatedError,
    UnknownSessionError,
)
from mail4agent_api.mail import (
    IssuedSession,
    ParticipantId,
    SessionAddress,
    SessionAttested,
    SessionCard,
    SessionCorroborated,
    SessionDeclared,
    SessionId,
)
from mail4agent_core.clock import Clock
from mail4agent_core.ids import Ids, digest_of

from .identity import Caller
from .process import TICKS_PER_SECOND, Evidence, ProcessId, session_id_of, start_ms
from .records import Account
from .session import Session
from .store import MailStore, Registry

#: How long an issued credential lasts from its last use, and how long its session counts as live.
CREDENTIAL_MS = 86_400_000
LIVE_MS = 900_000
#: How many issued credentials an account has at most.
ISSUED_MAX = 64
#: How long a dead session stays in the directory.
LISTED_MS = 86_400_000
#: How many sessions of one account the directory lists, of those alive and of the dead alike: one that starts
#: processes by the thousand makes it no longer for the others.
LISTED_MAX = 256
#: How many sessions one transaction touches, and how many processes are probed in one turn of the loop.
STEP = 256
PROBES = 16
#: What a caller lacks: a session of its own; the account's own secret.
SESSION = "session"
ACCOUNT_SECRET = "account:secret"  # noqa: S105  # the name of a capability

_NOTHING_SAID = encode(SessionCorroborated())
_NOTHING_DECLARED = encode(SessionDeclared())


@dataclass(frozen=True, slots=True)
class Issued:
    """Who an issued credential stands for."""

    address: SessionAddress
    account: Account


class Sessions:
    """The sessions of one store.

    ``alive`` says whether a process runs, ``parked`` whether a reader, by its text address, waits for mail
    now. ``attestation_required`` is what an account that inherits its policy asks. Of a store that is
    ``shared``, daemons on other machines keep sessions whose processes are not seen from here.
    """

    def __init__(
        self,
        store: MailStore,
        clock: Clock,
        ids: Ids,
        *,
        alive: Callable[[ProcessId], bool],
        parked: Callable[[str], bool],
        attestation_required: bool = False,
        shared: bool = False,
    ) -> None:
        self._store = store
        self._clock = clock
        self._ids = ids
        self._alive = alive
        self._parked = parked
        self._attestation_required = attestation_required
        self._shared = shared
        #: When each run of the machine began, and the unit of its processes' starts.
        self._boots: dict[str, tuple[int, int]] = {}
        self._seen: dict[SessionId, int] = {}

    async def prepare(self, boot_id: str, boot_ms: int, ticks_per_second: int = TICKS_PER_SECOND) -> None:
        """Learn when this run of the machine began: as the store was told the first time, for ever."""
        first = await self._store.change(lambda registry: registry.sessions.boot(boot_id, boot_ms))
        self._boots[boot_id] = first, ticks_per_second

    def _named(self, account: ParticipantId, process: ProcessId) -> tuple[SessionAddress, int]:
        boot_ms, ticks_per_second = self._boots[process.boot_id]
        began = start_ms(boot_ms, process.start_ticks, ticks_per_second)
        return SessionAddress(participant=account, session=session_id_of(process.pid, began)), began

    async def meet(self, account: ParticipantId, evidence: Evidence) -> SessionAddress:
        """The session that a process is, for an account that it proved to act for.

        The first contact creates it; a later one refreshes what is attested and corroborated and keeps what
        it declared. ``prepare`` was told of the process's boot.

        Raises SessionAccountMismatchError when it is a session of another account, AttestationFailedError
        when its id is taken, UnauthenticatedError when the account is gone.
        """
        address, began = self._named(account, evidence.process)
        attested = encode(
            SessionAttested(pid=evidence.process.pid, started_at_unix_ms=began, exe=evidence.exe)
        )
        corroborated = encode(
            SessionCorroborated(
                provider_session_id=_declared(evidence.provider_session_id),
                model=_declared(evidence.model),
                cwd=_declared(evidence.cwd),
            )
        )
        known = await self._store.look(lambda registry: registry.sessions.get(address.session))
        if known is not None:
            _check_same(known, address, evidence.process)
            if (known.attested, known.corroborated, known.dead_at) == (attested, corroborated, None):
                self.seen(address)
                return address

        def command(registry: Registry) -> None:
            now = self._clock.now_ms()
            _active(registry, account)
            known = registry.sessions.get(address.session)
            if known is None:
                known = Session(
                    address, evidence.process, attested, corroborated, _NOTHING_DECLARED, now, now
                )
            _check_same(known, address, evidence.process)
            registry.sessions.keep(
                replace(
                    known,
                    attested=attested,
                    corroborated=corroborated,
                    last_seen=max(now, known.last_seen),
                    dead_at=None,
                )
            )

        await self._store.change(command)
        return address

    async def known(self, account: ParticipantId, process: ProcessId) -> SessionAddress | None:
        """The session of an account that a process is, if it was met."""
        if process.boot_id not in self._boots:
            return None
        address, _ = self._named(account, process)
        session = await self._store.look(lambda registry: registry.sessions.get(address.session))
        if session is None or session.address != address or session.process != process:
            return None
        return address

    async def living_at(self, process: ProcessId) -> SessionAddress | None:
        """The live session that a process is, of whichever account."""
        if process.boot_id not in self._boots:
            return None
        boot_ms, ticks_per_second = self._boots[process.boot_id]
        named = session_id_of(process.pid, start_ms(boot_ms, process.start_ticks, ticks_per_second))
        session = await self._store.look(lambda registry: registry.sessions.get(named))
        is_it = session is not None and session.process == process and self.live(session)
        return session.address if session is not None and is_it else None

    async def refuse_other(self, account: ParticipantId, process: ProcessId) -> None:
        """Raise SessionAccountMismatchError when a process is a session of another account."""
        if process.boot_id not in self._boots:
            return
        address, _ = self._named(account, process)
        known = await self._store.look(lambda registry: registry.sessions.get(address.session))
        if known is not None:
            _check_same(known, address, process)

    def seen(self, address: SessionAddress) -> None:
        """Take note, in memory, that a session acts now."""
        self._seen[address.session] = self._clock.now_ms()

    def last_seen(self, session: Session) -> int:
        """When a session was last seen, in Unix milliseconds."""
        return max(session.last_seen, self._seen.get(session.address.session, 0))

    def live(self, session: Session) -> bool:
        """Whether a session can read its mail: its process runs, or its credential is in use."""
        if session.dead_at is not None:
            return False
        if self._elsewhere(session):
            return self._ends(session) > self._clock.now_ms()
        if session.process is not None:
            return self._alive(session.process)
        recent = self._clock.now_ms() - self.last_seen(session) < LIVE_MS
        return recent or self._parked(text_of(session.address))

    def _elsewhere(self, session: Session) -> bool:
        """Whether it is a process of another machine, or of a time before this machine started.

        Its own daemon takes note of its death; where there is none any more, it counts as dead once it was
        not seen for as long as a credential lasts.
        """
        return self._shared and session.process is not None and session.process.boot_id not in self._boots

    async def living(self, sessions: Sequence[Session]) -> list[bool]:
        """``live`` of each, giving others their turn in between."""
        found: list[bool] = []
        for start in range(0, len(sessions), PROBES):
            if start:
                await asyncio.sleep(0)
            found += map(self.live, sessions[start : start + PROBES])
        return found

    async def not_live(self, addresses: Iterable[SessionAddress]) -> dict[SessionAddress, int]:
        """Those of some addresses that were met and are not live, with when each was last seen."""
        wanted = frozenset(addresses)
        if not wanted:
            return {}
        ids = frozenset(each.session for each in wanted)
        found = await self._store.look(lambda registry: [registry.sessions.get(each) for each in ids])
        met = [each for each in found if each is not None and each.address in wanted]
        living = await self.living(met)
        # Told now, so that whoever sends all the same finds it undeliverable at once.
        await self._bury_dead(
            [each for each, lives in zip(met, living, strict=True) if not lives and each.dead_at is None]
        )
        return {
            each.address: self.last_seen(each) for each, lives in zip(met, living, strict=True) if not lives
        }

    async def declare(self, caller: Caller, declared: SessionDeclared) -> SessionCard:
        """Replace what the calling session says about itself; its card after that.

        Raises PermissionDeniedError for a caller that is no session, UnknownSessionError for one not met.
        """
        address = caller.address
        if not isinstance(address, SessionAddress):
            raise PermissionDeniedError(need=SESSION)
        said = encode(declared)

        def command(registry: Registry) -> Session:
            _active(registry, caller.account)
            session = registry.sessions.get(address.session)
            if session is None or session.address != address:
                raise UnknownSessionError(session=address.session)
            session = replace(session, declared=said)
            registry.sessions.keep(session)
            return session

        return (await self._store.change(command)).card

    async def issue(self, caller: Caller, presented: bytes | None = None) -> IssuedSession:
        """Make a session that is proved by a secret alone, with that secret, shown this once.

        ``presented`` is the digest of the account's secret that the caller showed.

        Raises PermissionDeniedError when the caller itself is such a session, UnauthenticatedError when the
        secret is not the account's any more, AttestationFailedError when its account requires attestation,
        RateLimitedError when the account has as many as it may.
        """
        secret = self._ids.secret()
        address = SessionAddress(participant=caller.account, session=self._ids.session_id())

        def command(registry: Registry) -> None:
            account = _active(registry, caller.account)
            if isinstance(caller.address, SessionAddress):
                session = registry.sessions.get(caller.address.session)
                if session is not None and session.kind == "issued":
                    raise PermissionDeniedError(need=ACCOUNT_SECRET)
            # A rotation that was committed since the caller was believed ended what the old secret had
            # issued: it must not issue any more.
            if presented is not None and registry.holding(presented) != account:
                raise UnauthenticatedError
            if self._requires_attestation(account):
                raise AttestationFailedError(
                    reason="the account requires it, and an issued secret is no proof"
                )
            now = self._clock.now_ms()
            self._check_room(registry.sessions.issued(caller.account), now)
            attested = encode(SessionAttested(pid=0, started_at_unix_ms=now))
            made = Session(address, None, attested, _NOTHING_SAID, _NOTHING_DECLARED, now, now)
            registry.sessions.keep(made, digest_of(secret))

        await self._store.change(command)
        return IssuedSession(address=address, secret=secret)

    def _requires_attestation(self, account: Account) -> bool:
        if account.attestation == "inherit":
            return self._attestation_required
        return account.attestation == "required"

    def _check_room(self, issued: Sequence[Session], now: int) -> None:
        """Raise RateLimitedError unless one more credential may be issued."""
        left = [ends - now for ends in map(self._ends, issued) if ends > now]
        if len(left) >= ISSUED_MAX:
            raise RateLimitedError(retry_after_secs=min(-(-min(left) // 1000), CREDENTIAL_MS // 1000))

    def _ends(self, session: Session) -> int:
        """When an issued session's credential ends unless it is used."""
        return self.last_seen(session) + CREDENTIAL_MS

    async def credential(self, digest: bytes) -> Issued | None:
        """Who holds the issued credential of this digest; None when there is none or it has ended.

        A use is told by ``seen``.
        """

        def query(registry: Registry) -> tuple[Session, Account | None] | None:
            session = registry.sessions.holding(digest)
            return None if session is None else (session, registry.account(session.address.participant))

        found = await self._store.look(query)
        if found is None:
            return None
        session, account = found
        if account is None or account.removed_at is not None or self._ends(session) <= self._clock.now_ms():
            return None
        return Issued(session.address, account)

    async def flush(self) -> None:
        """Write down when sessions were last seen, and which are found dead. Raises StoreUnavailableError."""
        seen = list(self._seen.items())
        for start in range(0, len(seen), STEP):
            some = seen[start : start + STEP]
            await self._store.change(lambda registry, some=some: _see(registry, some))
            for session, at in some:
                # Unless it was seen again meanwhile.
                if self._seen.get(session) == at:
                    del self._seen[session]
        after: SessionId | None = None
        while True:
            page = await self._store.look(lambda registry, after=after: registry.sessions.undead(after, STEP))
            await self._bury_dead(page)
            if len(page) < STEP:
                return
            after = page[-1].address.session

    async def _bury_dead(self, sessions: Sequence[Session]) -> None:
        now = self._clock.now_ms()
        attested = [each for each in sessions if each.process is not None]
        living = await self.living(attested)
        dead = [(each, now) for each, lives in zip(attested, living, strict=True) if not lives]
        dead += [
            (each, self._ends(each)) for each in sessions if each.process is None and self._ends(each) <= now
        ]
        if dead:
            await self._store.change(lambda registry: _bury(registry, dead))


def _declared(text: str | None) -> Declared[str] | None:
    return None if text is None else Declared(text)


def _active(registry: Registry, account: ParticipantId) -> Account:
    found = registry.account(account)
    if found is None or found.removed_at is not None or found.secret_issued_at is None:
        raise UnauthenticatedError
    return found


def _check_same(known: Session, address: SessionAddress, process: ProcessId) -> None:
    """Refuse a session that is not the one on record."""
    if known.address.participant != address.participant:
        raise SessionAccountMismatchError(
            session=address.session, expected=known.address.participant, presented=address.participant
        )
    if known.process != process:
        # Two runs of the machine that both began, by its clock, at the same time. Nothing may be inherited.
        raise AttestationFailedError(reason="another process had its session id")


def _see(registry: Registry, seen: Iterable[tuple[SessionId, int]]) -> None:
    for session, at in seen:
        registry.sessions.see(session, at)


def _bury(registry: Registry, dead: Iterable[tuple[Session, int]]) -> None:
    for session, at in dead:
        registry.sessions.bury(session.address.session, at)
        registry.drop_listener(session.address)
