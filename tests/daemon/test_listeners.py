"""Who may set a listener: operators for accounts, and sessions for themselves at a port of their own."""

from collections.abc import AsyncIterator, Awaitable
from pathlib import Path

import pytest

from mail4agent_api.errors import (
    AttestationFailedError,
    MalformedError,
    PermissionDeniedError,
    TooLargeError,
    UnauthenticatedError,
    UnknownParticipantError,
)
from mail4agent_api.mail import (
    ListenerGetRequest,
    ListenerRemoveRequest,
    ListenerSetRequest,
    ListenRequest,
    ParticipantId,
    SessionAddress,
    SessionId,
)
from mail4agent_core.clock import HandClock
from mail4agent_core.mail.doorbells import OWN_MAX
from mail4agent_core.mail.identity import READ, SEND, Caller, account_caller
from tests.core.mail.office import OTHER_SESSION, SESSION

from .receiver import Receiver, receiving
from .tower import OWN_PORT, Tower, sent, tower

KEY = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
BOB = ParticipantId("bob")
UID = 1000
#: The port is whosever the test says; nobody is rung there.
URL = "http://127.0.0.1:9/"


async def reason_of(call: Awaitable[object]) -> str:
    """Why a call is refused for its URL."""
    with pytest.raises(MalformedError) as caught:
        await call
    assert caught.value.refusal.field == "url"
    return caught.value.refusal.reason


@pytest.fixture
async def bells(tmp_path: Path) -> AsyncIterator[Tower]:
    """Doorbells with the accounts ann and bob."""
    async with tower(tmp_path / "mail.sqlite3", HandClock()) as one:
        await one.office.accounts("ann", "bob")
        yield one


@pytest.fixture
async def receiver() -> AsyncIterator[Receiver]:
    """A listener that answers 204."""
    async with receiving() as one:
        yield one


@pytest.fixture
async def session(bells: Tower) -> Caller:
    """A session of bob's."""
    return await bells.office.session(account_caller(BOB, (READ, SEND)))


@pytest.mark.promise("doorbell.own-port-only")
async def test_a_session_is_rung_at_its_own_port(bells: Tower, session: Caller, receiver: Receiver) -> None:
    """For the mail that it can read, until it says stop."""
    bells.owners[receiver.port] = UID
    now = await bells.desk.listen(session, ListenRequest(url=receiver.url, key=KEY), UID)
    assert now.listener is not None
    assert (now.listener.owner, now.listener.signed) == (session.address, True)
    bells.doorbells.hear(f"bob/{SESSION}")
    await sent(bells, f"bob/{SESSION}")
    (ring,) = await receiver.heard_of(1)
    assert ring.json["account"] == "bob"
    assert ring.json["to"]["session"] == SESSION
    assert ring.is_signed_with(KEY)
    for _ in range(2):
        assert (await bells.desk.listen(session, ListenRequest(url=None), UID)).listener is None
    await sent(bells)
    await bells.quiet()
    assert len(receiver.heard) == 1


@pytest.mark.promise("doorbell.own-port-only")
@pytest.mark.parametrize("holder", [None, 0, UID + 1])
async def test_anothers_port_is_refused(bells: Tower, session: Caller, holder: int | None) -> None:
    """One that nobody listens on, root's, and another user's."""
    if holder is not None:
        bells.owners[9] = holder
    assert "your own process" in await reason_of(bells.desk.listen(session, ListenRequest(url=URL), UID))
    assert await bells.store.doorbells() == []


@pytest.mark.promise("doorbell.own-port-only")
async def test_a_port_that_changed_hands_is_not_rung(
    bells: Tower, session: Caller, receiver: Receiver
) -> None:
    """It is looked at before each ring; when it is the session's again, what waited is rung."""
    bells.owners[receiver.port] = UID
    await bells.desk.listen(session, ListenRequest(url=receiver.url), UID)
    bells.owners[receiver.port] = UID + 1
    bells.doorbells.hear(f"bob/{SESSION}")
    await sent(bells)
    await bells.quiet()
    record = await bells.record(f"bob/{SESSION}")
    assert (record.failure, record.outstanding, receiver.heard) == ("port_not_yours", 1, [])
    bells.owners[receiver.port] = UID
    await bells.later(1_000)
    assert len(receiver.heard) == 1


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1:9/other",
        "http://127.0.0.1:9/doorbell/",
        "http://127.0.0.1:9/?x",
        "http://127.0.0.1:9?",
    ],
)
async def test_another_path_or_a_query_is_refused(bells: Tower, session: Caller, url: str) -> None:
    """What else that process serves cannot be made to act."""
    bells.owners[9] = UID
    assert "must have the path" in await reason_of(bells.desk.listen(session, ListenRequest(url=url), UID))


@pytest.mark.parametrize("url", ["http://127.0.0.1:9", "http://localhost:9/", "http://127.0.0.1:9/doorbell"])
async def test_the_paths_that_are_allowed(bells: Tower, session: Caller, url: str) -> None:
    """None, the root, and the one that is named for it."""
    bells.owners[9] = UID
    assert (await bells.desk.listen(session, ListenRequest(url=url), UID)).listener is not None


async def test_the_daemons_own_port_is_refused(bells: Tower, session: Caller) -> None:
    """To a session and to an operator."""
    bells.owners[OWN_PORT] = UID
    url = f"http://localhost:{OWN_PORT}/"
    assert "daemon's own" in await reason_of(bells.desk.listen(session, ListenRequest(url=url), UID))
    assert "daemon's own" in await reason_of(bells.hang("bob", url))


async def test_only_an_attested_session_may(bells: Tower, session: Caller) -> None:
    """Not an account, and not a session that no kernel vouched for; not even to stop."""
    account = account_caller(BOB, (READ,))
    for caller, uid in ((session, None), (account, UID), (account, None)):
        for url in ("http://127.0.0.1:9/", None):
            with pytest.raises(AttestationFailedError):
                await bells.desk.listen(caller, ListenRequest(url=url), uid)


async def test_who_may_not_read_may_not_listen(bells: Tower, session: Caller) -> None:
    """The capability is asked for first."""
    with pytest.raises(PermissionDeniedError):
        await bells.desk.listen(Caller(session.address, frozenset()), ListenRequest(url=None), UID)


async def test_a_session_of_a_removed_account_is_refused(bells: Tower, session: Caller) -> None:
    """As its next request would be."""
    bells.owners[9] = UID
    await bells.office.remove("bob")
    with pytest.raises(UnauthenticatedError):
        await bells.desk.listen(session, ListenRequest(url=URL), UID)


@pytest.mark.promise("doorbell.bounded-queue")
async def test_an_account_has_at_most_64_own_listeners(bells: Tower, session: Caller) -> None:
    """And one of its operator's; who has one may set it anew."""
    bells.owners[9] = UID
    await bells.hang("bob", "http://127.0.0.1:9/")
    for n in range(OWN_MAX):
        address = SessionAddress(participant=BOB, session=SessionId(f"s-{n:08x}"))
        await bells.desk.listen(Caller(address, session.capabilities), ListenRequest(url=URL), UID)
    more = Caller(SessionAddress(participant=BOB, session=SessionId("s-ffffffff")), session.capabilities)
    with pytest.raises(TooLargeError) as caught:
        await bells.desk.listen(more, ListenRequest(url=URL), UID)
    assert caught.value.refusal.model_dump(exclude={"kind"}) == {
        "field": "listeners",
        "limit": 64,
        "actual": 65,
    }
    again = await bells.desk.listen(session, ListenRequest(url="http://localhost:9/"), UID)
    assert again.listener is not None
    listed = await bells.desk.listener_get(bells.office.operator, ListenerGetRequest(account=BOB))
    assert len(listed.listeners) == 65
    await bells.store.change(lambda registry: registry.drop_listener(session.address))
    await bells.desk.listen(more, ListenRequest(url=URL), UID)


async def test_a_siblings_listener_is_its_own(bells: Tower, session: Caller) -> None:
    """One session's stop does not end the other's."""
    bells.owners[9] = UID
    sibling = Caller(SessionAddress(participant=BOB, session=OTHER_SESSION), session.capabilities)
    for caller in (session, sibling):
        await bells.desk.listen(caller, ListenRequest(url=URL), UID)
    await bells.desk.listen(session, ListenRequest(url=None), UID)
    assert await bells.store.doorbells() == [f"bob/{OTHER_SESSION}"]


async def test_an_account_that_is_not_registered_has_no_listener(bells: Tower) -> None:
    """Set, removed or shown, it is unknown; so is one that was removed."""
    operator, nobody = bells.office.operator, ParticipantId("nobody")
    await bells.office.remove("bob")
    for account in (nobody, BOB):
        for call in (
            bells.desk.listener(operator, ListenerSetRequest(account=account, url=URL)),
            bells.desk.listener_remove(operator, ListenerRemoveRequest(account=account)),
            bells.desk.listener_get(operator, ListenerGetRequest(account=account)),
        ):
            with pytest.raises(UnknownParticipantError):
                await call


async def test_only_an_operator_administers_listeners(bells: Tower) -> None:
    """Not even those of one's own account."""
    bob = account_caller(BOB, (READ, SEND))
    for call in (
        bells.desk.listener(bob, ListenerSetRequest(account=BOB, url=URL)),
        bells.desk.listener_remove(bob, ListenerRemoveRequest(account=BOB)),
        bells.desk.listener_get(bob, ListenerGetRequest(account=BOB)),
    ):
        with pytest.raises(PermissionDeniedError):
            await call
