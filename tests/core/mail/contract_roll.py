"""What every store keeps of the sessions that were met, and for how long."""

from dataclasses import replace

import pytest

from mail4agent_api.errors import UnknownSessionError
from mail4agent_api.mail import (
    ParticipantPermitRequest,
    ParticipantRegistration,
    RetentionRequest,
    SessionAddress,
    SessionId,
)
from mail4agent_core.mail.identity import Caller
from mail4agent_core.mail.process import Evidence, ProcessId
from mail4agent_core.mail.session import Session

from .office import DAY_MS, OTHER_SESSION, SESSION, Office

PROCESS = ProcessId("boot", 7, 11)
SAID = b"{}"
KEPT_DAYS = 180


def attested(
    account: Caller, session: SessionId = SESSION, *, process: ProcessId | None = PROCESS
) -> Session:
    """A session as it is first met."""
    address = SessionAddress(participant=account.account, session=session)
    card = b'{"pid":7,"started_at_unix_ms":1,"exe":null}'
    return Session(address, process, card, SAID, SAID, 100, 100)


async def keep(office: Office, session: Session, digest: bytes | None = None) -> None:
    """Store a session."""
    await office.store.change(lambda registry: registry.sessions.keep(session, digest))


async def stored(office: Office, session: SessionId = SESSION) -> Session | None:
    """What is on record of a session."""
    return await office.store.look(lambda registry: registry.sessions.get(session))


async def met(office: Office, account: Caller) -> Caller:
    """A running process as a session."""
    await office.sessions.prepare("boot", 1_600_000_000_000)
    office.running.add(PROCESS)
    address = await office.sessions.meet(account.account, Evidence(PROCESS))
    return Caller(address, account.capabilities)


async def retain(office: Office) -> int:
    """Notice who is dead, run retention; how many messages it removed."""
    await office.sessions.flush()
    report = await office.administration.retention(office.operator, RetentionRequest(run=True))
    return report.removed_messages


class RollContract:
    """Sessions on record."""

    async def test_upsert_stores_exactly_what_it_is_given(self, office: Office):
        """First and again, and under its id alone."""
        bob = await office.account("bob")
        first = attested(bob)
        await keep(office, first)
        assert await stored(office) == first
        assert await stored(office, OTHER_SESSION) is None
        second = replace(first, declared=b'{"role":"x"}', last_seen=300, dead_at=400)
        await keep(office, second)
        assert await stored(office) == second
        assert await office.store.look(lambda registry: registry.knows(first.address))

    async def test_a_session_on_record_starts_where_its_account_stands(self, office: Office):
        """Being put on record is the first contact of its reader."""
        ann, bob = await office.accounts("ann", "bob")
        await office.ack(bob, await office.send(ann, "bob", "read"))
        await office.send(ann, "bob", "unread")
        session = attested(bob)
        await keep(office, session)
        reader = Caller(session.address, bob.capabilities)
        assert await office.subjects(reader, unread_only=True) == ["unread"]

    async def test_a_session_was_last_seen_at_the_latest_time_it_was(self, office: Office):
        """An earlier sign of life, told late, changes nothing; nor does one of an unknown session."""
        bob = await office.account("bob")
        await keep(office, attested(bob))
        for session, at in ((SESSION, 500), (SESSION, 400), (OTHER_SESSION, 900)):
            await office.store.change(lambda registry, s=session, at=at: registry.sessions.see(s, at))
        row = await stored(office)
        assert row is not None
        assert row.last_seen == 500

    async def test_a_session_dies_once_and_its_credential_with_it(self, office: Office):
        """The first time stays; a sign of life after it revives a process and no credential."""
        ann, bob = await office.accounts("ann", "bob")
        await keep(office, attested(bob))
        await keep(office, attested(ann, OTHER_SESSION, process=None), b"d" * 32)

        async def holder() -> Session | None:
            return await office.store.look(lambda registry: registry.sessions.holding(b"d" * 32))

        found = await holder()
        assert found is not None
        assert found.address.session == OTHER_SESSION
        for session in (SESSION, OTHER_SESSION):
            for at in (600, 700):
                await office.store.change(lambda registry, s=session, at=at: registry.sessions.bury(s, at))
        rows = [await stored(office, session) for session in (SESSION, OTHER_SESSION)]
        assert [row.dead_at for row in rows if row is not None] == [600, 600]
        assert await holder() is None
        for session in (SESSION, OTHER_SESSION):
            await office.store.change(lambda registry, s=session: registry.sessions.see(s, 601))
        rows = [await stored(office, session) for session in (SESSION, OTHER_SESSION)]
        assert [row.dead_at for row in rows if row is not None] == [None, 600]

    @pytest.mark.promise("session.one-account-fills-no-directory")
    async def test_of_one_account_no_more_sessions_are_listed_than_was_asked(self, office: Office):
        """Those met last, and as many of those that died last; another account's are all there."""
        ann, bob = await office.accounts("ann", "bob")
        ids = [SessionId(f"s-{9 - n}0000000") for n in range(9)]
        deaths = (None, 400, None, 300, None, 500, 350, None)
        for session, dead_at in zip(ids[:8], deaths, strict=True):
            await keep(office, replace(attested(ann, session), dead_at=dead_at))
        await keep(office, attested(bob, ids[8]))
        rows = await office.store.look(lambda registry: registry.sessions.listed(100, 2))
        assert [row.address.session for row in rows] == [ids[7], ids[5], ids[4], ids[1], ids[8]]

    async def test_sessions_are_listed_by_account_and_paged_by_id(self, office: Office):
        """Those that died before a time, and those of removed accounts, are not listed."""
        ann, bob, cid = await office.accounts("ann", "bob", "cid")
        ids = [SessionId(f"s-0000000{n}") for n in range(5)]
        for account, session, dead_at in zip(
            (cid, bob, ann, bob, ann), ids, (None, None, None, 200, 300), strict=True
        ):
            await keep(office, replace(attested(account, session), dead_at=dead_at))
        await office.remove("cid")

        async def listed(dead_after: int) -> list[SessionId]:
            rows = await office.store.look(lambda registry: registry.sessions.listed(dead_after, 9))
            return [row.address.session for row in rows]

        assert await listed(100) == [ids[2], ids[4], ids[1], ids[3]]
        assert await listed(200) == [ids[2], ids[4], ids[1]]

        async def undead(after: SessionId | None) -> list[SessionId]:
            rows = await office.store.look(lambda registry: registry.sessions.undead(after, 2))
            return [row.address.session for row in rows]

        assert await undead(None) == [ids[0], ids[1]]
        assert await undead(ids[1]) == [ids[2]]

    async def test_when_a_machine_began_is_what_was_told_first(self, office: Office):
        """For each run of it."""
        told = [("a", 5), ("a", 6), ("b", 7)]
        kept = [
            await office.store.change(lambda registry, b=boot, ms=ms: registry.sessions.boot(b, ms))
            for boot, ms in told
        ]
        assert kept == [5, 5, 7]

    async def test_what_a_refused_change_did_to_sessions_is_undone(self, office: Office):
        """As everything else in it."""
        bob = await office.account("bob")

        def command(registry):
            registry.sessions.keep(attested(bob))
            registry.sessions.boot("a", 5)
            raise UnknownSessionError(session=SESSION)

        with pytest.raises(UnknownSessionError):
            await office.store.change(command)
        assert await stored(office) is None
        assert await office.store.change(lambda registry: registry.sessions.boot("a", 6)) == 6

    async def test_a_purged_accounts_sessions_are_gone(self, office: Office):
        """Their ids are free."""
        ann, bob = await office.accounts("ann", "bob")
        await keep(office, attested(bob))
        await office.remove("bob")
        assert await stored(office) is not None
        await office.purge("bob")
        assert await stored(office) is None
        await keep(office, attested(ann))

    async def test_an_attestation_policy_is_kept(self, office: Office):
        """From the registration, until a permit names another."""
        request = ParticipantRegistration(id="bob", attestation="required")
        await office.administration.participant(office.operator, request)
        policies: list[str] = []
        for policy in (None, "off"):
            permit = ParticipantPermitRequest(id=request.id, attestation=policy)
            record = await office.administration.participant_permit(office.operator, permit)
            policies.append(record.attestation)
        account = await office.store.look(lambda registry: registry.account(request.id))
        assert account is not None
        assert [*policies, account.attestation] == ["required", "off", "off"]

    @pytest.mark.promise("session.mail-is-kept-while-it-may-be-read")
    async def test_a_sessions_mail_stays_until_180_days_after_its_death(self, office: Office):
        """However long it lives; then its mail and its record leave together, and it is no recipient."""
        ann, bob = await office.accounts("ann", "bob")
        session = await met(office, bob)
        assert isinstance(session.address, SessionAddress)
        to = f"bob/{session.address.session}"
        await office.send(ann, to)
        office.clock.step(400 * DAY_MS)
        assert await retain(office) == 0
        office.running.clear()
        assert await retain(office) == 0
        office.clock.step(KEPT_DAYS * DAY_MS)
        assert await retain(office) == 0
        assert len(await office.sent(ann)) == 1
        office.clock.step(1)
        assert await retain(office) == 1
        assert await office.sent(ann) == []
        with pytest.raises(UnknownSessionError):
            await office.send(ann, to)
        with pytest.raises(UnknownSessionError):
            await office.inbox_of(office.operator, to)

    async def test_a_session_without_mail_is_forgotten_a_day_after_its_death(self, office: Office):
        """As it leaves the directory: a script that runs each minute fills no store."""
        bob = await office.account("bob")
        session = await met(office, bob)
        assert isinstance(session.address, SessionAddress)
        office.running.clear()
        await retain(office)
        office.clock.step(DAY_MS)
        await retain(office)
        assert await stored(office, session.address.session) is not None
        office.clock.step(1)
        await retain(office)
        assert await stored(office, session.address.session) is None
        assert not await office.store.look(lambda registry: registry.knows(session.address))

    @pytest.mark.promise("session.mail-is-kept-while-it-may-be-read")
    async def test_a_session_settles_its_mail_by_its_own_acknowledgement(self, office: Office):
        """180 days after it, as any mail."""
        ann, bob = await office.accounts("ann", "bob")
        session = await met(office, bob)
        assert isinstance(session.address, SessionAddress)
        await office.ack(session, await office.send(ann, f"bob/{session.address.session}"))
        office.clock.step(KEPT_DAYS * DAY_MS)
        assert await retain(office) == 0
        office.clock.step(1)
        assert await retain(office) == 1

    @pytest.mark.promise("admin.retention-spares-unsettled-mail")
    async def test_what_a_forgotten_session_acknowledged_or_sent_goes_on_to_count(self, office: Office):
        """For its account, whose mail it settled, and for those who wrote."""
        ann, bob, cid = await office.accounts("ann", "bob", "cid")
        await office.room("hall", bob, cid)
        session = await met(office, bob)
        letter = await office.send(ann, "#hall", "to all")
        own = await office.send(session, "#hall", "of a session")
        await office.ack(session, letter)
        office.running.clear()
        await retain(office)
        office.clock.step((KEPT_DAYS + 1) * DAY_MS)
        assert await retain(office) == 0
        assert isinstance(session.address, SessionAddress)
        assert await stored(office, session.address.session) is None
        (row,) = await office.sent(ann)
        assert [ack.reader for ack in row.acks] == [session.address]
        assert await office.subjects(bob) == ["to all", "of a session"]
        await office.ack_many(cid, letter, own)
        office.clock.step((KEPT_DAYS + 1) * DAY_MS)
        assert await retain(office) == 2

    async def test_a_forgotten_session_that_turns_up_begins_anew(self, office: Office):
        """As at any first contact."""
        ann, bob = await office.accounts("ann", "bob")
        session = await met(office, bob)
        assert isinstance(session.address, SessionAddress)
        to = f"bob/{session.address.session}"
        await office.send(ann, to, "old")
        await office.send(ann, "bob", "to the account")
        office.running.clear()
        await retain(office)
        office.clock.step((KEPT_DAYS + 1) * DAY_MS)
        assert await retain(office) == 1
        assert (await met(office, bob)).address == session.address
        await office.send(ann, to, "anew")
        assert await office.subjects(session, unread_only=True) == ["to the account", "anew"]
        assert await retain(office) == 0
