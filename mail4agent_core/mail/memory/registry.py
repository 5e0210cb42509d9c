"""Accounts and rooms in memory."""

from collections.abc import Iterable
from dataclasses import replace
from typing import TypeVar

from mail4agent_api.addresses import participant_of, text_of
from mail4agent_api.mail import (
    AttestationPolicy,
    AuditEntry,
    ListenerState,
    MessageId,
    ParticipantAddress,
    ParticipantId,
    RoomId,
    SessionAddress,
)
from mail4agent_core.mail.audit import ENTRIES_MAX, Deed
from mail4agent_core.mail.doorbells import Doorbell
from mail4agent_core.mail.identity import OPERATOR
from mail4agent_core.mail.records import Account, Room, RoomPosting

from . import doorbells
from .sessions import MemorySessions
from .state import Chamber, Reader, Registration, State

Name = TypeVar("Name", bound=str)


class MemoryRegistry:
    """Implements the Registry Protocol; ``changed`` gathers the accounts whose rights a command changed."""

    def __init__(self, state: State) -> None:
        self._state = state
        self.changed: set[str] = set()
        self.sessions = MemorySessions(state)

    def account(self, account: ParticipantId) -> Account | None:
        present = self._state.accounts.get(account)
        return None if present is None else present.account

    def holding(self, digest: bytes) -> Account | None:
        owner = self._state.digests.get(digest)
        return None if owner is None else self.account(owner)

    def accounts(self, after: ParticipantId | None, limit: int | None) -> list[Account]:
        return [self._state.accounts[name].account for name in _slice(self._state.accounts, after, limit)]

    def live_operators(self) -> int:
        accounts = (each.account for each in self._state.accounts.values())
        return sum(OPERATOR in each.capabilities and each.secret_issued_at is not None for each in accounts)

    def add_account(  # noqa: PLR0917  # what an account is made of
        self,
        account: ParticipantId,
        label: str | None,
        digest: bytes,
        capabilities: frozenset[str],
        now: int,
        attestation: AttestationPolicy = "inherit",
    ) -> None:
        state = self._state
        registered = Account(account, label, capabilities, now, now, None, attestation)
        state.accounts[account] = Registration(state.number(), registered)
        state.digests[digest] = account
        state.boxes[account] = []
        state.readers[account] = Reader(state.number(), account)

    def _replace(self, account: ParticipantId, **fields: object) -> None:
        present = self._state.accounts[account]
        present.account = replace(present.account, **fields)  # pyright: ignore[reportArgumentType]
        self.changed.add(account)

    def set_secret(self, account: ParticipantId, digest: bytes | None, now: int) -> None:
        self._forget_secret(account)
        if digest is not None:
            self._state.digests[digest] = account
        self.sessions.end_credentials(account, now)
        self._replace(account, secret_issued_at=None if digest is None else now)

    def set_attestation(self, account: ParticipantId, attestation: AttestationPolicy) -> None:
        self._replace(account, attestation=attestation)

    def _forget_secret(self, account: ParticipantId) -> None:
        digests = self._state.digests
        self._state.digests = {kept: owner for kept, owner in digests.items() if owner != account}

    def set_capabilities(self, account: ParticipantId, capabilities: frozenset[str]) -> None:
        self._replace(account, capabilities=capabilities)

    def retire(self, account: ParticipantId, now: int) -> None:
        self.set_secret(account, None, now)
        self._replace(account, removed_at=now)
        for room in self._state.rooms.values():
            room.members.discard(account)
        doorbells.drop_listeners_of(self._state, account)

    def erase(self, account: ParticipantId) -> int:
        state = self._state
        doorbells.drop_listeners_of(state, account)
        self._forget_secret(account)
        names = [name for name, reader in state.readers.items() if reader.account == account]
        gone = [pos for name in names for pos in state.boxes.get(name, ())]
        for pos in gone:
            state.delete(pos)
        for name in names:
            state.give_up(name)
            state.forget_reader(name)
        kept = state.sessions.items()
        state.sessions = {name: each for name, each in kept if each.session.address.participant != account}
        del state.accounts[account]
        return len(gone)

    def knows(self, session: SessionAddress) -> bool:
        return text_of(session) in self._state.boxes

    def has_room(self, room: RoomId) -> bool:
        return room in self._state.rooms

    def room_ids(self) -> list[RoomId]:
        return sorted(self._state.rooms)

    def room(self, room: RoomId) -> Room | None:
        chamber = self._state.rooms.get(room)
        if chamber is None:
            return None
        messages = len(self._state.boxes[f"#{room}"])
        return Room(room, chamber.posting, len(chamber.members), messages, chamber.created_at)

    def rooms(self, after: RoomId | None, limit: int | None) -> list[Room]:
        found = (self.room(name) for name in _slice(self._state.rooms, after, limit))
        return [room for room in found if room is not None]

    def add_room(self, room: RoomId, posting: RoomPosting, now: int) -> None:
        self._state.rooms[room] = Chamber(posting, now)
        self._state.boxes[f"#{room}"] = []

    def erase_room(self, room: RoomId) -> None:
        state = self._state
        self.changed.update(state.rooms[room].members)
        for pos in list(state.boxes[f"#{room}"]):
            state.delete(pos)
        state.give_up(f"#{room}")
        del state.rooms[room]

    def members(self, room: RoomId, after: ParticipantId | None, limit: int | None) -> list[ParticipantId]:
        return _slice(self._state.rooms[room].members, after, limit)

    def rooms_of(self, account: ParticipantId) -> list[RoomId]:
        return sorted(name for name, room in self._state.rooms.items() if account in room.members)

    def join(self, room: RoomId, account: ParticipantId) -> None:
        members = self._state.rooms[room].members
        if account in members:
            return
        members.add(account)
        for reader in self._state.readers_of(account):
            reader.read.update(self._state.boxes[f"#{room}"])
        doorbells.joined(self._state, account, f"#{room}")
        self.changed.add(account)

    def leave(self, room: RoomId, account: ParticipantId) -> None:
        self._state.rooms[room].members.discard(account)
        self.changed.add(account)

    def erase_message(self, message_id: MessageId) -> bool:
        pos = self._state.positions.get(message_id)
        if pos is None:
            return False
        self._state.delete(pos)
        return True

    def listeners_of(self, account: ParticipantId) -> list[Doorbell]:
        return doorbells.doorbells_of(self._state, account)

    def listeners(self, state: ListenerState, after: str | None, limit: int) -> list[Doorbell]:
        return doorbells.listeners(self._state, state, after, limit)

    def listener_count(self, state: ListenerState) -> int:
        return len(doorbells.listeners(self._state, state, None, None))

    def retry_listener(self, owner: ParticipantAddress) -> None:
        doorbells.retry(self._state, owner)

    def set_listener(self, owner: ParticipantAddress, url: str, key: str | None, uid: int | None) -> None:
        doorbells.set_listener(self._state, owner, url, key, uid)

    def drop_listener(self, owner: ParticipantAddress) -> None:
        self._state.bells.pop(text_of(owner), None)

    def record(self, deed: Deed) -> None:
        state = self._state
        state.audited += 1
        state.audit.append(
            AuditEntry(
                number=state.audited,
                at_unix_ms=deed.at_unix_ms,
                actor=participant_of(deed.actor),
                operation=deed.operation,
                target=deed.target,
                detail=deed.detail,
            )
        )
        while state.audit[0].number <= state.audited - ENTRIES_MAX:
            del state.audit[0]

    def audit(self, before: int | None, limit: int) -> list[AuditEntry]:
        found = [entry for entry in self._state.audit if before is None or entry.number < before]
        return found[::-1][:limit]

    def expire_audit(self, before: int, limit: int) -> int:
        old = sorted(
            (entry for entry in self._state.audit if entry.at_unix_ms < before),
            key=lambda entry: entry.at_unix_ms,
        )
        gone = {entry.number for entry in old[:limit]}
        self._state.audit = [entry for entry in self._state.audit if entry.number not in gone]
        return len(gone)


def _slice(names: Iterable[Name], after: Name | None, limit: int | None) -> list[Name]:
    return [name for name in sorted(names) if after is None or name > after][:limit]
