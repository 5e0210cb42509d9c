"""Sessions in memory."""

from collections import Counter
from dataclasses import replace
from hmac import compare_digest

from mail4agent_api.mail import ParticipantId, SessionId
from mail4agent_core.mail.session import Session

from .state import Kept, State


class MemorySessions:
    """Implements the SessionRegistry Protocol."""

    def __init__(self, state: State) -> None:
        self._state = state

    def get(self, session: SessionId) -> Session | None:
        kept = self._state.sessions.get(session)
        return None if kept is None else kept.session

    def holding(self, digest: bytes) -> Session | None:
        for kept in self._state.sessions.values():
            if kept.digest is not None and compare_digest(kept.digest, digest):
                return kept.session
        return None

    def listed(self, dead_after: int, most: int) -> list[Session]:
        # In the order in which they were met.
        sessions = [
            kept.session
            for kept in self._state.sessions.values()
            if self._state.is_active(kept.session.address.participant)
        ]
        dead = [each for each in sessions if each.dead_at is not None and each.dead_at > dead_after]
        dead.sort(key=lambda each: each.dead_at or 0)
        found = _last([each for each in sessions if each.dead_at is None], most) + _last(dead, most)
        return sorted(found, key=lambda each: (each.address.participant, each.address.session))

    def undead(self, after: SessionId | None, limit: int) -> list[Session]:
        kept = self._state.sessions
        names = sorted(name for name in kept if after is None or name > after)
        return [kept[name].session for name in names if kept[name].session.dead_at is None][:limit]

    def issued(self, account: ParticipantId) -> list[Session]:
        kept = sorted(self._state.sessions.items())
        return [
            each.session
            for _, each in kept
            if each.digest is not None and each.session.address.participant == account
        ]

    def keep(self, session: Session, digest: bytes | None = None) -> None:
        self._state.met(session.address)
        before = self._state.sessions.get(session.address.session)
        if digest is None and before is not None:
            digest = before.digest
        self._state.sessions[session.address.session] = Kept(session, digest)

    def _change(self, session: Session, digest: bytes | None) -> None:
        self._state.sessions[session.address.session] = Kept(session, digest)

    def see(self, session: SessionId, last_seen: int) -> None:
        kept = self._state.sessions.get(session)
        if kept is None or kept.session.last_seen >= last_seen:
            return
        dead_at = kept.session.dead_at
        if kept.session.process is not None and dead_at is not None and dead_at < last_seen:
            dead_at = None
        self._change(replace(kept.session, last_seen=last_seen, dead_at=dead_at), kept.digest)

    def bury(self, session: SessionId, dead_at: int) -> None:
        kept = self._state.sessions.get(session)
        if kept is not None:
            first = dead_at if kept.session.dead_at is None else kept.session.dead_at
            self._change(replace(kept.session, dead_at=first), None)

    def end_credentials(self, account: ParticipantId, now: int) -> None:
        """End those of an account's issued sessions."""
        for session in self.issued(account):
            self.bury(session.address.session, now)

    def boot(self, boot_id: str, boot_ms: int) -> int:
        return self._state.boots.setdefault(boot_id, boot_ms)


def _last(sessions: list[Session], most: int) -> list[Session]:
    """The last so many of each account."""
    taken = Counter[ParticipantId]()
    found: list[Session] = []
    for each in reversed(sessions):
        taken[each.address.participant] += 1
        if taken[each.address.participant] <= most:
            found.append(each)
    return found
