"""Sessions: who is met as what, who is live, and the credentials that are issued."""

import asyncio

import pytest

from mail4agent_api.errors import (
    AttestationFailedError,
    PermissionDeniedError,
    RateLimitedError,
    SessionAccountMismatchError,
    SessionNotLiveError,
    UnauthenticatedError,
    UnknownSessionError,
)
from mail4agent_api.mail import (
    ParticipantId,
    ParticipantPermitRequest,
    ParticipantRevokeRequest,
    ParticipantRotateRequest,
    SendManyRequest,
    SendRequest,
    SessionAddress,
    SessionEntry,
    SessionIssueRequest,
    StatusRequest,
    WhoAmIRequest,
)
from mail4agent_core.clock import HandClock
from mail4agent_core.ids import digest_of
from mail4agent_core.mail.identity import Caller
from mail4agent_core.mail.memory import MemoryStore
from mail4agent_core.mail.process import Evidence, ProcessId, session_id_of
from mail4agent_core.mail.sessions import CREDENTIAL_MS, ISSUED_MAX, LISTED_MS, LIVE_MS
from mail4agent_core.mail.sqlite import SqliteStore

from .office import Office

BOOT, BOOT_MS = "boot-1", 1_699_000_000_000
PROCESS = ProcessId(BOOT, 4242, 12_345)
OTHER = ProcessId(BOOT, 4243, 12_345)


@pytest.fixture(params=["memory", "sqlite"])
def office(request: pytest.FixtureRequest, clock: HandClock) -> Office:
    """Over each store."""
    store: MemoryStore | SqliteStore = request.getfixturevalue(f"{request.param}_store")
    return Office(store, clock)


async def met(office: Office, account: Caller, process: ProcessId = PROCESS, **said: str) -> Caller:
    """A running process as a session of an account."""
    await office.sessions.prepare(BOOT, BOOT_MS)
    office.running.add(process)
    address = await office.sessions.meet(account.account, Evidence(process, **said))
    return Caller(address, account.capabilities)


async def issued(office: Office, account: Caller) -> tuple[Caller, bytes]:
    """A session that an account issued, and the digest of its credential."""
    answer = await office.engine.session(account, SessionIssueRequest())
    return Caller(answer.address, account.capabilities), digest_of(answer.secret)


async def entries(office: Office, reader: Caller) -> dict[str, SessionEntry]:
    """The sessions in the directory by their ids."""
    directory = await office.directory(reader)
    return {str(each.id): each for entry in directory.participants for each in entry.sessions}


def session_of(caller: Caller) -> SessionAddress:
    """The address of a caller that is a session."""
    assert isinstance(caller.address, SessionAddress)
    return caller.address


async def whoami(office: Office, caller: Caller):
    """Who a caller is."""
    return await office.engine.whoami(caller, WhoAmIRequest())


@pytest.mark.promise("session.one-process-one-session")
async def test_ensure_session_idempotent_refreshes_corroborated_and_keeps_declared(office: Office):
    """The same process is the same session; what its command line says is told anew, what it said stays."""
    bob = await office.account("bob")
    first = await met(office, bob, exe="/bin/agent", model="one")
    await office.engine.status(first, StatusRequest(working_on="the parser"))
    office.clock.step(5_000)
    again = await met(office, bob, exe="/bin/agent", model="two", cwd="/src")
    assert again.address == first.address
    card = (await whoami(office, again)).card
    assert card is not None
    assert card.attested.pid == PROCESS.pid
    assert card.attested.started_at_unix_ms == BOOT_MS + 123_450
    assert session_of(first).session == session_of(again).session == session_id_of(4242, BOOT_MS + 123_450)
    assert card.corroborated.model is not None
    assert card.corroborated.model.inner_ref() == "two"
    assert card.declared.working_on == "the parser"
    (entry,) = (await entries(office, bob)).values()
    assert entry.last_seen_unix_ms == office.clock.now_ms()
    assert entry.card == card


@pytest.mark.promise("session.one-process-one-session")
async def test_two_processes_of_an_account_are_two_sessions(office: Office):
    """Another pid, another start or another boot is another process."""
    bob = await office.account("bob")
    await office.sessions.prepare("boot-2", BOOT_MS + 77)
    processes = [PROCESS, OTHER, ProcessId(BOOT, 4242, 12_346), ProcessId("boot-2", 4242, 12_345)]
    met_as = [(await met(office, bob, each)).address for each in processes]
    assert len(set(met_as)) == 4
    assert [await office.sessions.known(bob.account, each) for each in processes] == met_as


@pytest.mark.promise("session.one-process-one-session")
async def test_a_clock_correction_changes_no_session(office: Office):
    """When the machine began is what the store was told first, also for a daemon started later."""
    bob = await office.account("bob")
    first = await met(office, bob)
    later = Office(office.store, office.clock)
    await later.sessions.prepare(BOOT, BOOT_MS + 3_600_000)
    assert await later.sessions.meet(bob.account, Evidence(PROCESS)) == first.address


async def test_a_process_of_another_account_is_refused(office: Office):
    """It is told which account its session belongs to; after that is purged the id is free again."""
    ann, bob = await office.accounts("ann", "bob")
    session = await met(office, ann)
    with pytest.raises(SessionAccountMismatchError) as refused:
        await met(office, bob)
    assert refused.value.refusal.expected == "ann"
    assert refused.value.refusal.presented == "bob"
    assert await office.sessions.known(bob.account, PROCESS) is None
    await office.remove("ann")
    with pytest.raises(SessionAccountMismatchError):
        await met(office, bob)
    await office.purge("ann")
    assert session_of(await met(office, bob)).session == session_of(session).session


async def test_a_process_whose_id_was_taken_inherits_nothing(office: Office):
    """Two runs of a machine that began at the same time by its clock are told apart."""
    bob = await office.account("bob")
    await met(office, bob)
    await office.sessions.prepare("boot-2", BOOT_MS)
    twin = ProcessId("boot-2", PROCESS.pid, PROCESS.start_ticks)
    with pytest.raises(AttestationFailedError):
        await met(office, bob, twin)
    assert await office.sessions.known(bob.account, twin) is None


async def test_a_process_of_no_boot_that_was_prepared_is_not_known(office: Office):
    """Nothing is said of another machine's process."""
    bob = await office.account("bob")
    assert await office.sessions.known(bob.account, ProcessId("elsewhere", 1, 1)) is None


async def test_meeting_for_a_removed_account_is_refused(office: Office):
    """Its secret is dead, so nobody can have shown it."""
    bob = await office.account("bob")
    await office.remove("bob")
    with pytest.raises(UnauthenticatedError):
        await met(office, bob)


@pytest.mark.promise("session.cheap-to-know")
async def test_meeting_a_known_unchanged_session_writes_nothing(sqlite_store: SqliteStore, clock: HandClock):
    """Nor does a sign of life, until it is flushed."""
    office = Office(sqlite_store, clock)
    bob = await office.account("bob")
    session = await met(office, bob, exe="/bin/agent")
    writes = sqlite_store.figures.writes
    for _ in range(3):
        await office.sessions.meet(bob.account, Evidence(PROCESS, exe="/bin/agent"))
        office.sessions.seen(session_of(session))
        await office.sessions.known(bob.account, PROCESS)
    assert sqlite_store.figures.writes == writes
    clock.step(1)
    office.sessions.seen(session_of(session))
    await office.sessions.flush()
    assert sqlite_store.figures.writes == writes + 1


@pytest.mark.promise("session.declared-is-replaced-whole")
async def test_status_replaces_the_whole_declared_group(office: Office):
    """What is left out is cleared, and the rest of the card stays."""
    bob = await office.account("bob")
    session = await met(office, bob, exe="/bin/agent")
    parent = session_of(await met(office, bob, OTHER)).session
    first = await office.engine.status(session, StatusRequest(working_on="a", role="b", parent=parent))
    assert (first.card.declared.role, first.card.declared.parent) == ("b", parent)
    second = await office.engine.status(session, StatusRequest(role="c"))
    assert second.card.declared.model_dump() == {"working_on": None, "role": "c", "parent": None}
    assert second.card.attested.exe == "/bin/agent"
    assert (await whoami(office, session)).card == second.card


async def test_only_a_session_has_a_status(office: Office):
    """An account as such is refused by what it lacks, and declare on unknown session refused."""
    bob = await office.account("bob")
    with pytest.raises(PermissionDeniedError) as refused:
        await office.engine.status(bob, StatusRequest())
    assert refused.value.refusal.need == "session"
    stranger = Caller(SessionAddress(participant=bob.account, session=session_id_of(1, 1)), bob.capabilities)
    with pytest.raises(UnknownSessionError):
        await office.engine.status(stranger, StatusRequest())
    assert (await whoami(office, bob)).card is None


@pytest.mark.promise("session.live-means-live")
async def test_live_flag_follows_the_supplied_checker_both_ways(office: Office):
    """The directory asks each time."""
    bob = await office.account("bob")
    session = session_of(await met(office, bob)).session
    assert (await entries(office, bob))[session].live
    office.running.clear()
    assert not (await entries(office, bob))[session].live
    office.running.add(PROCESS)
    assert (await entries(office, bob))[session].live


@pytest.mark.promise("session.dead-leave-the-directory")
async def test_a_dead_session_stays_listed_for_a_day(office: Office):
    """From when it was noticed; its account and the others stay."""
    bob = await office.account("bob")
    dead, other = await met(office, bob), await met(office, bob, OTHER)
    office.running.remove(PROCESS)
    office.clock.step(3 * LISTED_MS)
    assert len(await entries(office, bob)) == 2
    await office.sessions.flush()
    office.clock.step(LISTED_MS - 1)
    await office.sessions.flush()
    assert not (await entries(office, bob))[session_of(dead).session].live
    office.clock.step(1)
    assert list(await entries(office, bob)) == [session_of(other).session]


@pytest.mark.promise("session.dead-leave-the-directory")
async def test_sessions_of_a_removed_account_are_not_listed(office: Office):
    """Nor is the account."""
    ann, bob = await office.accounts("ann", "bob")
    await met(office, bob)
    assert len(await entries(office, ann)) == 1
    await office.remove("bob")
    assert await entries(office, ann) == {}


async def test_a_session_that_acts_after_it_was_taken_for_dead_lives(office: Office):
    """A look that failed once buries nobody for good."""
    bob = await office.account("bob")
    session = session_of(await met(office, bob))
    office.running.clear()
    await office.sessions.flush()
    office.running.add(PROCESS)
    office.clock.step(1)
    office.sessions.seen(session)
    await office.sessions.flush()
    assert (await entries(office, bob))[session.session].live


async def test_a_session_that_connects_after_it_was_taken_for_dead_lives(office: Office):
    """Though nothing else of it has changed."""
    bob = await office.account("bob")
    session = session_of(await met(office, bob))
    office.running.clear()
    await office.sessions.flush()
    await met(office, bob)
    assert (await entries(office, bob))[session.session].live


async def test_a_sign_of_life_during_a_flush_is_written_by_the_next(
    sqlite_store: SqliteStore, clock: HandClock
):
    """It is not taken for the one that is being written."""
    office = Office(sqlite_store, clock)
    session = session_of(await met(office, await office.account("bob")))
    clock.step(1_000)
    office.sessions.seen(session)
    flushing = asyncio.ensure_future(office.sessions.flush())
    await asyncio.sleep(0)
    clock.step(1_000)
    office.sessions.seen(session)
    assert not flushing.done()
    await flushing
    await office.sessions.flush()
    row = await sqlite_store.look(lambda registry: registry.sessions.get(session.session))
    assert row is not None
    assert row.last_seen == clock.now_ms()


async def test_flush_looks_at_every_session_and_lets_others_have_their_turn(office: Office):
    """Some hundreds of sessions are probed and buried in steps."""
    bob = await office.account("bob")
    for pid in range(600):
        await met(office, bob, ProcessId(BOOT, pid + 1, 5))
    office.running.clear()
    turns = 0

    async def count() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    counting = asyncio.ensure_future(count())
    await office.sessions.flush()
    counting.cancel()
    assert turns >= 30
    office.clock.step(LISTED_MS)
    assert await entries(office, bob) == {}


@pytest.mark.promise("session.dead-letters-are-refused")
async def test_a_send_to_a_session_that_is_not_live_is_refused(office: Office):
    """It says when it was last seen; allow_dead sends it all the same."""
    ann, bob = await office.accounts("ann", "bob")
    session = await met(office, bob)
    to = session_of(session)
    await office.send(ann, f"bob/{to.session}", "alive")
    office.clock.step(1_000)
    office.sessions.seen(to)
    office.running.clear()
    with pytest.raises(SessionNotLiveError) as refused:
        await office.send(ann, f"bob/{to.session}", "dead")
    assert refused.value.refusal.session == to.session
    assert refused.value.refusal.last_seen_unix_ms == office.clock.now_ms()
    request = SendRequest(to=to, subject="all the same", body="", allow_dead=True)
    await office.engine.send(ann, request)
    assert await office.subjects(session) == ["alive", "all the same"]


@pytest.mark.promise("session.dead-letters-are-refused")
async def test_send_many_reports_a_dead_session_for_its_message_alone(office: Office):
    """The others are posted."""
    ann, bob = await office.accounts("ann", "bob")
    dead, living = session_of(await met(office, bob)), session_of(await met(office, bob, OTHER))
    office.running.remove(PROCESS)
    messages = [
        SendRequest(to=dead, subject="1", body=""),
        SendRequest(to=living, subject="2", body=""),
        SendRequest(to=dead, subject="3", body="", allow_dead=True),
        SendRequest(to=bob.address, subject="4", body=""),
    ]
    wire = await office.engine.send_many(ann, SendManyRequest(messages=messages))
    outcomes = wire.value().outcomes
    assert [each.kind for each in outcomes] == ["refused", "sent", "sent", "sent"]
    assert outcomes[0].kind == "refused"
    assert outcomes[0].refusal.kind == "session_not_live"


@pytest.mark.promise("mail.same-key-same-effect")
async def test_a_retry_gets_its_first_answer_though_the_session_died(office: Office):
    """The key is looked up before anything is said of the recipient; allow_dead is no part of the content."""
    ann, bob = await office.accounts("ann", "bob")
    to = f"bob/{session_of(await met(office, bob)).session}"
    first = await office.send(ann, to, key="k")
    office.running.clear()
    assert await office.send(ann, to, key="k") == first
    request = SendRequest(
        to=session_of(await met(office, bob)),
        subject="note",
        body="text",
        idempotency_key="k",
        allow_dead=True,
    )
    assert (await office.engine.send(ann, request)).message_id == first


async def test_a_session_named_under_another_account_is_a_mismatch(office: Office):
    """Whose it is, and whose it was said to be."""
    ann, bob = await office.accounts("ann", "bob")
    session = session_of(await met(office, bob)).session
    with pytest.raises(SessionAccountMismatchError) as refused:
        await office.send(bob, f"ann/{session}")
    assert (refused.value.refusal.expected, refused.value.refusal.presented) == ("bob", "ann")
    await office.remove("bob")
    with pytest.raises(UnknownSessionError):
        await office.send(ann, f"bob/{session}")


@pytest.mark.promise("session.dead-letters-are-refused")
async def test_mail_to_a_session_that_died_without_reading_it_is_undeliverable(office: Office):
    """What it acknowledged was delivered; what it did not, nobody will read."""
    ann, bob = await office.accounts("ann", "bob")
    session = await met(office, bob)
    to = f"bob/{session_of(session).session}"
    read = await office.send(ann, to, "read")
    await office.send(ann, to, "unread")
    await office.send(ann, "bob", "to the account")
    await office.ack(session, read)
    assert not any(row.undeliverable for row in await office.sent(ann))
    office.running.clear()
    await office.sessions.flush()
    rows = {row.message.subject: row.undeliverable for row in await office.sent(ann)}
    assert rows == {"read": False, "unread": True, "to the account": False}


@pytest.mark.promise("session.issued-credentials-end")
async def test_an_issued_credential_means_its_account_and_a_session(office: Office):
    """The card says that nothing of it is proved."""
    bob = await office.account("bob")
    session, digest = await issued(office, bob)
    holder = await office.sessions.credential(digest)
    assert holder is not None
    assert (holder.address, holder.account.id) == (session.address, "bob")
    card = (await whoami(office, session)).card
    assert card is not None
    attested = card.attested.model_dump()
    assert attested == {"pid": 0, "started_at_unix_ms": office.clock.now_ms(), "exe": None}
    assert await office.sessions.credential(b"?" * 32) is None
    letter = await office.send(bob, f"bob/{session_of(session).session}")
    assert (await office.get(session, letter)).message_id == letter


@pytest.mark.promise("session.issued-credentials-end")
async def test_an_issued_credential_lasts_a_day_from_its_last_use(office: Office):
    """Also when the use was not yet written down; after it the session is dead."""
    bob = await office.account("bob")
    session, digest = await issued(office, bob)
    office.clock.step(CREDENTIAL_MS - 1)
    assert await office.sessions.credential(digest) is not None
    office.sessions.seen(session_of(session))
    office.clock.step(CREDENTIAL_MS - 1)
    assert await office.sessions.credential(digest) is not None
    await office.sessions.flush()
    assert await office.sessions.credential(digest) is not None
    office.clock.step(1)
    assert await office.sessions.credential(digest) is None
    await office.sessions.flush()
    office.sessions.seen(session_of(session))
    await office.sessions.flush()
    assert await office.sessions.credential(digest) is None
    assert not (await entries(office, bob))[session_of(session).session].live


@pytest.mark.promise("session.live-means-live")
async def test_an_issued_session_is_live_while_it_is_used_or_parked(office: Office):
    """Fifteen minutes from the last use, and as long as it waits for mail."""
    bob = await office.account("bob")
    session = session_of((await issued(office, bob))[0])
    office.clock.step(LIVE_MS - 1)
    assert (await entries(office, bob))[session.session].live
    office.clock.step(1)
    assert not (await entries(office, bob))[session.session].live
    office.parked.add(f"bob/{session.session}")
    assert (await entries(office, bob))[session.session].live
    office.parked.clear()
    office.sessions.seen(session)
    assert (await entries(office, bob))[session.session].live


@pytest.mark.promise("session.issued-credentials-end")
@pytest.mark.parametrize("how", ["rotate", "revoke", "remove"])
async def test_issued_credentials_die_with_the_secret_that_issued_them(office: Office, how: str):
    """Rotating, revoking and removing kill them; those of another account stay."""
    ann, bob = await office.accounts("ann", "bob")
    session, digest = await issued(office, bob)
    _, other = await issued(office, ann)
    administration, operator = office.administration, office.operator
    match how:
        case "rotate":
            await administration.participant_rotate(operator, ParticipantRotateRequest(id=bob.account))
        case "revoke":
            await administration.participant_revoke(operator, ParticipantRevokeRequest(id=bob.account))
        case _:
            await office.remove("bob")
    assert await office.sessions.credential(digest) is None
    assert await office.sessions.credential(other) is not None
    living = [each.live for each in (await entries(office, ann)).values()]
    assert living == ([True] if how == "remove" else [True, False])
    assert session_of(session).session not in await entries(office, ann) or how != "remove"


@pytest.mark.promise("session.issued-credentials-end")
@pytest.mark.parametrize("how", ["rotate", "remove"])
async def test_a_secret_that_ended_issues_nothing_to_a_caller_who_was_believed_before(
    office: Office, how: str
):
    """What it issued so late would outlive the rotation, or pass to whoever gets the account's id."""
    bob = await office.account("bob")
    administration, operator = office.administration, office.operator
    rotation = ParticipantRotateRequest(id=bob.account)
    first = digest_of((await administration.participant_rotate(operator, rotation)).secret)
    await office.engine.session(bob, SessionIssueRequest(), first)
    if how == "remove":
        await office.remove("bob")
        await office.purge("bob")
        await office.account("bob")
    else:
        second = digest_of((await administration.participant_rotate(operator, rotation)).secret)
        await office.engine.session(bob, SessionIssueRequest(), second)
    with pytest.raises(UnauthenticatedError):
        await office.engine.session(bob, SessionIssueRequest(), first)


@pytest.mark.promise("session.issued-credentials-end")
async def test_an_account_has_at_most_64_issued_credentials(office: Office):
    """The next one is refused with when there will be room; it comes when one has ended."""
    bob = await office.account("bob")
    await issued(office, bob)
    office.clock.step(60_000)
    for _ in range(ISSUED_MAX - 1):
        await issued(office, bob)
    with pytest.raises(RateLimitedError) as refused:
        await issued(office, bob)
    assert refused.value.refusal.retry_after_secs == CREDENTIAL_MS // 1000 - 60
    office.clock.step(refused.value.refusal.retry_after_secs * 1000)
    await issued(office, bob)


async def test_an_issued_session_issues_no_other(office: Office):
    """That takes the account's own secret; an attested session presents it."""
    bob = await office.account("bob")
    session, _ = await issued(office, bob)
    with pytest.raises(PermissionDeniedError) as refused:
        await issued(office, session)
    assert refused.value.refusal.need == "account:secret"
    await issued(office, await met(office, bob))


async def test_an_account_that_requires_attestation_issues_nothing(office: Office):
    """Its own policy counts, or that of the daemon when it inherits."""
    bob = await office.account("bob")
    for policy in ("required", "preferred", "off", "inherit"):
        request = ParticipantPermitRequest(id=bob.account, attestation=policy)
        record = await office.administration.participant_permit(office.operator, request)
        assert record.attestation == policy
        if policy == "required":
            with pytest.raises(AttestationFailedError):
                await issued(office, bob)
        else:
            await issued(office, bob)


async def test_session_ids_name_no_participant(office: Office):
    """Issued ones are random and as long as the others."""
    bob = await office.account("bob")
    sessions = {session_of((await issued(office, bob))[0]).session for _ in range(8)}
    assert len(sessions) == 8
    assert {len(each) for each in sessions} == {34}
    assert ParticipantId("bob") not in sessions


@pytest.mark.promise("doorbell.ends-with-its-account")
async def test_a_dead_sessions_listener_ends_with_it(office: Office):
    """What its process was rung at may be anybody's by now; a living sibling keeps its own."""
    (ann,) = await office.accounts("ann")
    dead, alive = await met(office, ann), await met(office, ann, OTHER)
    for session in (dead, alive):
        await office.store.change(
            lambda registry, session=session: registry.set_listener(
                session.address, "http://127.0.0.1:9/", None, 1
            )
        )
    office.running.discard(PROCESS)
    await office.sessions.flush()
    found = await office.store.look(lambda registry: registry.listeners_of(ann.account))
    assert [each.owner for each in found] == [alive.address]


@pytest.mark.promise(
    "session.live-means-live", "session.dead-leave-the-directory", "session.issued-credentials-end"
)
def test_the_bounds_of_sessions_are_those_that_are_promised():
    """A day, a quarter of an hour and 64: the other tests take them as they stand in the code."""
    day_ms = 24 * 60 * 60 * 1_000
    assert (day_ms, day_ms, 15 * 60 * 1_000, 64) == (LISTED_MS, CREDENTIAL_MS, LIVE_MS, ISSUED_MAX)
