"""Who is calling: what is kept of an identified caller never outlives its rights."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from mail4agent_api.errors import UnauthenticatedError
from mail4agent_api.mail import (
    DirectAddress,
    ParticipantId,
    ParticipantPermitRequest,
    ParticipantRegistration,
    ParticipantRemoveRequest,
    ParticipantRevokeRequest,
    ParticipantRotateRequest,
)
from mail4agent_core.clock import HandClock
from mail4agent_core.ids import SeededIds, digest_of
from mail4agent_core.mail.administration import Administration
from mail4agent_core.mail.identity import OPERATOR, READ, SEND, Caller
from mail4agent_core.mail.memory import MemoryStore
from mail4agent_core.mail.records import Account
from mail4agent_core.mail.sessions import Sessions
from mail4agent_core.mail.sqlite import SqliteStore
from mail4agent_core.mail.store import MailStore
from mail4agent_daemon import auth
from mail4agent_daemon.auth import Accounts

OPERATOR_CALLER = Caller(DirectAddress(participant=ParticipantId("operator")), frozenset((OPERATOR,)))
ADA = ParticipantId("ada")
Act = Callable[[Administration], Awaitable[object]]


def accounts_of(store: MailStore) -> Accounts:
    """The look-up of secrets in a store."""
    clock = HandClock()
    sessions = Sessions(store, clock, SeededIds(), alive=lambda _: True, parked=lambda _: False)
    return Accounts(store, sessions)


async def administration(store: MailStore) -> tuple[Administration, bytes]:
    """An administration with the account ``ada``, and the digest of its secret."""
    made = Administration(store, HandClock(), SeededIds())
    issued = await made.participant(
        OPERATOR_CALLER, ParticipantRegistration(id=ADA, may_send=True, may_read=True, operator=False)
    )
    return made, digest_of(issued.secret)


class CountedStore(MemoryStore):
    """Counts how often a digest was looked up, and lets a test hold a look-up back."""

    looked_up = 0
    gate: asyncio.Event | None = None

    def __init__(self) -> None:
        super().__init__(HandClock())
        self.begun = asyncio.Event()

    async def authenticate(self, digest: bytes) -> Account | None:
        self.looked_up += 1
        self.begun.set()
        found = await super().authenticate(digest)
        if self.gate is not None:
            await self.gate.wait()
        return found


ENDS: dict[str, Act] = {
    "rotated": lambda a: a.participant_rotate(OPERATOR_CALLER, ParticipantRotateRequest(id=ADA)),
    "revoked": lambda a: a.participant_revoke(OPERATOR_CALLER, ParticipantRevokeRequest(id=ADA)),
    "removed": lambda a: a.participant_remove(OPERATOR_CALLER, ParticipantRemoveRequest(id=ADA)),
}


@pytest.mark.promise("account.dead-secret-is-refused")
@pytest.mark.parametrize("end", ENDS)
async def test_a_secret_that_was_in_use_is_refused_once_it_has_ended(end: str, tmp_path: Path) -> None:
    """What was kept of the caller goes with the commit that ends its secret, before that is answered."""
    store = await SqliteStore.open(tmp_path / "mail.sqlite3", HandClock())
    try:
        accounts = accounts_of(store)
        made, digest = await administration(store)
        await accounts.holder(digest)
        await ENDS[end](made)
        with pytest.raises(UnauthenticatedError):
            await accounts.holder(digest)
    finally:
        await store.close()


async def test_a_capability_that_was_taken_is_gone_at_the_next_request() -> None:
    """A kept caller holds no right that its account lost."""
    store = MemoryStore(HandClock())
    accounts = accounts_of(store)
    made, digest = await administration(store)
    assert (await accounts.holder(digest)).capabilities == {SEND, READ}
    await made.participant_permit(OPERATOR_CALLER, ParticipantPermitRequest(id=ADA, revoke=[SEND]))
    assert (await accounts.holder(digest)).capabilities == {READ}


async def test_a_known_caller_is_looked_up_once() -> None:
    """While nothing changes, identifying costs no look-up."""
    store = CountedStore()
    accounts = accounts_of(store)
    _, digest = await administration(store)
    assert await accounts.holder(digest) == await accounts.holder(digest)
    assert store.looked_up == 1


async def test_a_stranger_is_not_kept() -> None:
    """Guessing secrets fills no memory and changes nothing for whoever gets one later."""
    store = CountedStore()
    accounts = accounts_of(store)
    for _ in range(2):
        with pytest.raises(UnauthenticatedError):
            await accounts.holder(digest_of("guess"))
    assert store.looked_up == 2


async def test_a_look_up_that_a_change_overtook_is_not_kept() -> None:
    """A secret that is revoked while it is being looked up is known no longer than that one request."""
    store = CountedStore()
    accounts = accounts_of(store)
    made, digest = await administration(store)
    store.gate = asyncio.Event()
    early = asyncio.create_task(accounts.holder(digest))
    await store.begun.wait()
    await ENDS["revoked"](made)
    store.gate.set()
    await early
    with pytest.raises(UnauthenticatedError):
        await accounts.holder(digest)


async def test_more_callers_than_are_kept_are_identified_all_the_same(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The bound on what is kept costs look-ups, not callers."""
    monkeypatch.setattr(auth, "HOLDERS_MAX", 2)
    store = CountedStore()
    accounts = accounts_of(store)
    made, digest = await administration(store)
    digests = [digest]
    for name in ("bob", "cem"):
        request = ParticipantRegistration(
            id=ParticipantId(name), may_send=True, may_read=True, operator=False
        )
        digests.append(digest_of((await made.participant(OPERATOR_CALLER, request)).secret))
    assert [str((await accounts.holder(each)).account) for each in digests] == ["ada", "bob", "cem"]
    assert str((await accounts.holder(digest)).account) == "ada"
